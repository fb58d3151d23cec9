"""The magics of notebooks: ``%load_ext gemu`` makes ``%%cuda`` and ``%%ptx``."""

from __future__ import annotations

import keyword
import shlex
from typing import Any, List, Tuple

from ._errors import CompileError, PTXError
from ._module import load_cuda, load_ptx


def _arguments(magic: str, line: str) -> Tuple[str, List[str]]:
    """The name of the variable, which is the first word unless that is an option, and the other words."""
    from IPython.core.error import UsageError

    try:
        words = shlex.split(line)
    except ValueError as e:
        raise UsageError(f"{magic}: {e}") from None
    name = words.pop(0) if words and not words[0].startswith("-") else "module"
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"{magic}: {name} is no name of a variable")
    if words and magic == "%%ptx":
        raise UsageError(f"{magic}: unknown arguments: {' '.join(words)}")
    return name, words


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
        name, words = _arguments("%%cuda", line)
        further = [w for w in words if w != "--keep-branches"]
        _make(shell, name, lambda: load_cuda(cell, name + ".cu", further, len(further) < len(words)))

    def ptx(line: str, cell: str) -> None:
        """%%ptx [NAME]: makes a module of the cell, PTX, in the variable NAME (module)."""
        name, _ = _arguments("%%ptx", line)
        _make(shell, name, lambda: load_ptx(cell, name + ".ptx"))

    shell.register_magic_function(cuda, "cell", "cuda")
    shell.register_magic_function(ptx, "cell", "ptx")
