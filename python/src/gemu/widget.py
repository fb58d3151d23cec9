"""The page of ``gemu play`` as a widget of Jupyter: ``gemu.Player``. It needs the package anywidget."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from ._recorded import Recording
from ._result import Result

try:
    import anywidget
    import traitlets
except ImportError:
    raise ImportError("gemu.Player needs anywidget: pip install anywidget") from None

__all__ = ["Player"]

def _command() -> Optional[str]:
    """The command gemu: of the wheel, or on the path."""
    beside = shutil.which("gemu", path=os.path.dirname(sys.executable))
    return beside or shutil.which("gemu")


@functools.lru_cache(maxsize=4)
def _page_of(recording: Optional[bytes]) -> bytes:
    """The page, which the command writes: with a recording, or without one with the engine in WebAssembly."""
    command = _command()
    if command is None:
        raise FileNotFoundError("the page comes from the command gemu, which is neither next to Python nor on the path; wheels of gemu contain it")
    with tempfile.TemporaryDirectory(prefix="gemu-") as directory:
        file, page = Path(directory, "run.gemu"), Path(directory, "play.html")
        words = [command, "play", "--single", os.fspath(page)]
        if recording is not None:
            file.write_bytes(recording)
            words.insert(2, os.fspath(file))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OSError(f"{' '.join(words[:2])} --single: {done.stderr.strip()}")
        return page.read_bytes()


def _bytes_of(source: Any) -> bytes:
    """The bytes of a recording."""
    if isinstance(source, Result):
        source = source.recording
    if isinstance(source, Recording):
        return bytes(source._data)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    raise TypeError(f"cannot play {type(source).__name__}: want a Result of a launch with record=\"all\", a Recording, or its bytes")


class Player(anywidget.AnyWidget):
    """The page of ``gemu play``: every step of every lane, forward and back, with the program, registers and memory.

    ``gemu.Player(result)`` shows the recording of a launch with ``record="all"``; several results have a strip each.
    ``Player.program(text, ...)`` runs a program of PTX in the page, with its engine in WebAssembly, and lets the user edit it.
    """

    _esm = Path(__file__).parent / "widget.js"

    recordings = traitlets.List(traitlets.Bytes(), help="recordings, each with a strip").tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), help="names of the recordings").tag(sync=True)
    request = traitlets.Dict(help="program to run in the page: a request of docs/play.md").tag(sync=True)
    policies = traitlets.List(traitlets.Unicode(), help="reconvergence policies under which the program runs").tag(sync=True)
    step = traitlets.Int(0, min=0, help="the step that the page shows").tag(sync=True)
    state = traitlets.Dict(help="what the page shows: step, steps, line, policy, sentence, height").tag(sync=True)
    height = traitlets.Int(720, min=100, help="height in pixels").tag(sync=True)

    def __init__(self, *sources: Union[Result, Recording, bytes], names: Sequence[str] = (), **traits: Any) -> None:
        recordings = [_bytes_of(s) for s in sources]
        super().__init__(recordings=recordings, names=[*names], **traits)
        self.on_msg(self._answer)

    @classmethod
    def program(
        cls, ptx: str, kernel: str = "", grid: Sequence[int] = (1, 1, 1), block: Sequence[int] = (32, 1, 1), arguments: Sequence[str] = (), policies: Sequence[str] = ("stack",), name: str = "program.ptx", **traits: Any
    ) -> "Player":
        """A page that runs a program. arguments are written as for ``gemu run -a``, such as ``"u32[32]=iota"``."""
        extents: Dict[str, List[int]] = {}
        for what, value in (("grid", grid), ("block", block)):
            values = [int(v) for v in (value if isinstance(value, (tuple, list)) else (value,))]
            extents[what] = (values + [1, 1, 1])[:3]
        request = {"name": name, "source": ptx, "kernel": kernel, **extents, "arguments": list(arguments)}
        return cls(request=request, policies=list(policies), **traits)

    def _answer(self, _: Any, content: Any, buffers: Any) -> None:
        """Sends the page to a view."""
        if not isinstance(content, dict) or content.get("gemu") != "page":
            return
        try:
            page = _page_of(self.recordings[0] if self.recordings else None)
        except OSError as e:
            self.send({"gemu": "error", "message": f"gemu.Player: {e}"})
            return
        self.send({"gemu": "page"}, [page])

    def next(self) -> None:
        """Goes a step forward."""
        self.send({"gemu": "next"})

    def back(self) -> None:
        """Goes a step back."""
        self.send({"gemu": "back"})

    def next_split(self) -> None:
        """Goes to the next divergence or reconvergence."""
        self.send({"gemu": "next-split"})

    def previous_split(self) -> None:
        """Goes to the divergence or reconvergence before."""
        self.send({"gemu": "previous-split"})
