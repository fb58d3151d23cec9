"""Documents of libgemu (docs/json.md) as plain objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List

if TYPE_CHECKING:
    import pandas

__all__ = ["Record", "Rows"]


class Record:
    """An object of a document: its fields are attributes, and ``record["name"]`` works, too.

    ``dict(record)`` has the fields, and ``record.to_dict()`` has them with plain dictionaries and lists inside.
    """

    def __init__(self, fields: Dict[str, Any]) -> None:
        self.__dict__.update({name: wrap(value) for name, value in fields.items()})

    def __getattr__(self, name: str) -> Any:  # only for missing fields; for readers of types: any field
        raise AttributeError(f"the document has no field {name}: it has {', '.join(self.__dict__)}")

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def keys(self) -> Iterable[str]:
        """The names of the fields."""
        return self.__dict__.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" if not isinstance(value, (Record, Rows)) else f"{name}=…" for name, value in self.__dict__.items())
        return f"<{shown}>"

    def to_dict(self) -> Dict[str, Any]:
        """The fields as plain dictionaries and lists."""
        return {name: unwrap(value) for name, value in self.__dict__.items()}


class Rows(List[Any]):
    """A list of records, such as the lines of a profile."""

    def frame(self) -> "pandas.DataFrame":
        """The records as a pandas.DataFrame. Fields of inner objects have columns such as ``counts.execs``."""
        return frame_of([flat(r) for r in self])


def frame_of(rows: Any) -> "pandas.DataFrame":
    """A DataFrame; the error without pandas says what to do."""
    try:
        import pandas
    except ImportError:
        raise ImportError("DataFrames need pandas: pip install pandas") from None
    return pandas.DataFrame(rows)


def flat(record: Record, prefix: str = "") -> Dict[str, Any]:
    """The fields of a record and of its inner records, by name."""
    fields: Dict[str, Any] = {}
    for name, value in record.__dict__.items():
        if isinstance(value, Record):
            fields.update(flat(value, prefix + name + "."))
        else:
            fields[prefix + name] = unwrap(value)
    return fields


def wrap(value: Any) -> Any:
    """A value of JSON as records and rows."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return Rows(wrap(v) for v in value)
    return value


def unwrap(value: Any) -> Any:
    """The opposite of wrap."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [unwrap(v) for v in value]
    return value
