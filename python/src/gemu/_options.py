"""The options of a launch."""

from __future__ import annotations

import contextlib
import contextvars
import difflib
import operator
from typing import Any, Callable, Dict, Iterator

__all__ = ["options"]


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: want a string")
    if not value or any(c.isspace() or c == "\0" for c in value):
        raise ValueError(f"{name}={value!r}: want a name without spaces and null characters")
    return value


def _number(name: str, value: Any) -> str:
    if isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: want an integer")
    try:
        return str(operator.index(value))
    except TypeError:
        raise TypeError(f"{name}={value!r}: want an integer") from None


def _flag(name: str, value: Any) -> str:
    if not isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: want True or False")
    return "1" if value else "0"


def _time(name: str, value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 <= value < 1e9:
            raise ValueError(f"{name}={value!r}: want seconds from 0 to 1e9; 0 is no limit")
        return f"{max(round(value * 1e9), 1)}ns" if value else "0"
    return _word(name, value)


def _names(name: str, value: Any) -> str:
    if isinstance(value, str):
        return _word(name, value.replace(", ", ","))
    try:
        return ",".join(_word(name, v) for v in value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: want a name, or a list of names") from None


def _version(name: str, value: Any) -> str:
    if isinstance(value, float):
        value = f"{value:.1f}"
    return _word(name, value)


def _parts(name: str, value: Any) -> str:
    return "events" if value is True else _names(name, value)


_OPTIONS: Dict[str, Callable[[str, Any], str]] = {
    "mode": _word,
    "engine": _word,
    "policy": _word,
    "reconverge": _word,
    "asynchronous": _word,
    "workers": _number,
    "steps": _number,
    "time_limit": _time,
    "warp": _number,
    "seed": _number,
    "sm": _version,
    "structure": _flag,
    "profile": _flag,
    "record": _parts,
    "sanitize": _names,
    "regfile": _names,
    "machine": _names,
}

# Names of the options in libgemu, where they differ.
_RENAMED = {"asynchronous": "async"}

_defaults: "contextvars.ContextVar[Dict[str, Any]]" = contextvars.ContextVar("gemu_options", default={})


def _check_names(given: Dict[str, Any]) -> None:
    """Raises an exception for an unknown option."""
    for name in given:
        if name not in _OPTIONS and name != "findings":
            close = difflib.get_close_matches(name, [*_OPTIONS, "findings"], 1)
            hint = f": did you mean {close[0]}?" if close else f": want some of {', '.join(_OPTIONS)}, findings"
            raise TypeError(f"unknown launch option {name}{hint}")


class Chosen:
    """The options of a launch, with the defaults of the context."""

    def __init__(self, given: Dict[str, Any]) -> None:
        _check_names(given)
        merged = {k: v for k, v in {**_defaults.get(), **given}.items() if v is not None and v is not False and v != [] and v != ()}
        self.findings = merged.pop("findings", "raise")
        if self.findings not in ("raise", "return"):
            raise ValueError(f"findings={self.findings!r}: want 'raise' or 'return'")
        self.names = set(merged)
        self.text = " ".join(f"{_RENAMED.get(name, name)}={_OPTIONS[name](name, value)}" for name, value in merged.items())


@contextlib.contextmanager
def options(**chosen: Any) -> Iterator[None]:
    """Default options of the launches in a block of code::

        with gemu.options(mode="check", sanitize="race"):
            kernel[1, 64](x)

    The options are those of ``Kernel``; options of a single launch come first.
    """
    Chosen(chosen)
    token = _defaults.set({**_defaults.get(), **chosen})
    try:
        yield
    finally:
        _defaults.reset(token)
