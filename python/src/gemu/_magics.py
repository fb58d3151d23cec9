"""The magics of notebooks: ``%load_ext gemu`` makes ``%%cuda`` and ``%%ptx``."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, List

from ._errors import CompileError, PTXError
from ._module import load_cuda, load_ptx


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are errors of a magic."""

    def error(self, message: str) -> Any:
        from IPython.core.error import UsageError

        raise UsageError(f"{self.prog}: {message}")


def _arguments(magic: str, line: str) -> "tuple[argparse.Namespace, List[str]]":
    parser = _Parser(prog=magic, add_help=False, description="Makes a module of the cell and stores it in a variable.")
    parser.add_argument("name", nargs="?", default="module")
    if magic == "%%cuda":
        parser.add_argument("--keep-branches", action="store_true")
    try:
        words = shlex.split(line)
    except ValueError as e:
        parser.error(str(e))
    parsed, further = parser.parse_known_args(words)
    if not parsed.name.isidentifier():
        parser.error(f"{parsed.name} is no name of a variable")
    if further and magic == "%%ptx":
        parser.error(f"unknown arguments: {' '.join(further)}")
    return parsed, further


def _make(shell: Any, name: str, make: Any) -> None:
    """Stores a module in a variable of the notebook. An error of the program shows its message without a traceback: its place is in
    the cell."""
    from IPython.core.error import UsageError

    try:
        module = make()
    except (CompileError, PTXError) as e:
        raise UsageError(str(e)) from None
    if module.messages:
        print(module.messages, end="")
    shell.user_ns[name] = module
    print(f"{name}: {', '.join(map(repr, module)) or 'no kernels'}")


def register(shell: Any) -> None:
    """Registers the magics in a shell of IPython."""

    def cuda(line: str, cell: str) -> None:
        """%%cuda [NAME] [--keep-branches] [ARGUMENTS]: compiles the cell, CUDA C++, to a module in the variable NAME (module).

        ARGUMENTS are further arguments of the compiler, such as -DN=8."""
        parsed, further = _arguments("%%cuda", line)
        _make(shell, parsed.name, lambda: load_cuda(cell, parsed.name + ".cu", further, parsed.keep_branches))

    def ptx(line: str, cell: str) -> None:
        """%%ptx [NAME]: makes a module of the cell, PTX, in the variable NAME (module)."""
        parsed, _ = _arguments("%%ptx", line)
        _make(shell, parsed.name, lambda: load_ptx(cell, parsed.name + ".ptx"))

    shell.register_magic_function(cuda, "cell", "cuda")
    shell.register_magic_function(ptx, "cell", "ptx")
