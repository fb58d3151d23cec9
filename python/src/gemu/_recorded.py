"""Recordings of launches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from . import recording
from ._document import frame_of

if TYPE_CHECKING:
    import pandas

__all__ = ["Recording"]


class Recording(recording.Recording):
    """The recording of a launch: tables whose columns are NumPy arrays, such as ``recording.events.lanes``.

    docs/recording.md describes the tables. ``recording.tables`` has them by name, ``recording.lanes("results", row)`` the value of
    each lane, and ``recording.names("events", "kind")`` the names of the values of a column.
    """

    def frame(self, table: str, start: int = 0, count: Optional[int] = None) -> "pandas.DataFrame":
        """Rows of a table as a pandas.DataFrame. Columns of numbers with names, such as kind, have the names."""
        if table not in self.tables:
            raise KeyError(f"the recording has no table {table}: it has {', '.join(self.tables)}")
        t = self.tables[table]
        columns = {}
        for column in t.types:
            values = t.read(column, start, count)
            names = self.names(table, column) if table != "enumerations" else {}
            columns[column] = [names.get(int(v), int(v)) for v in values] if names else values
        return frame_of(columns)

    def save(self, file: "str | os.PathLike[str]") -> None:
        """Writes the recording to a file, for ``gemu play``, ``gemu machine --from`` and other programs."""
        with open(file, "wb") as f:
            f.write(self._data)

    @classmethod
    def load(cls, file: "str | os.PathLike[str]") -> "Recording":
        """The recording in a file of ``gemu record``."""
        opened: Any = recording.open(file)
        return cls(opened._data)

    def __repr__(self) -> str:
        return f"<gemu.Recording of {len(self._data)} bytes with {len(self.events)} events>"
