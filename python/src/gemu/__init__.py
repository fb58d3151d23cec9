"""gemu runs NVIDIA PTX and CUDA C++ kernels on any CPU, on NumPy arrays, with every access checked.

::

    import gemu, numpy as np
    module = gemu.load_cuda('''
        extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = a * x[i] + y[i];
        }''')
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    module.saxpy[4, 256](1000, 2.0, x, y)

``load``, ``load_ptx`` and ``load_cuda`` make a ``Module``; its attributes are ``Kernel`` objects. docs/python.md has more.
"""

from ._document import Record, Rows
from ._errors import CallError, CompileError, Error, InternalError, LibraryError, OutOfMemory, PTXError, SanitizerError, Trap, UnsupportedPTX
from ._memory import Buffer, array, share, zeros
from ._module import Kernel, Launcher, Module, Parameter, Variable, load, load_cuda, load_ptx
from ._options import options
from ._recorded import Recording
from ._result import Finding, Memory, Place, Result
from ._run import Access, Run, Step


def __getattr__(name: str) -> "object":
    if name == "Player":  # it needs anywidget, which is optional
        from .widget import Player

        return Player
    raise AttributeError(f"module gemu has no attribute {name}")


def load_ipython_extension(shell: "object") -> None:
    """Registers the magics ``%%cuda`` and ``%%ptx``: ``%load_ext gemu`` in a notebook."""
    from ._magics import register

    register(shell)


__version__ = "0.1.0"

__all__ = [
    "Access",
    "Buffer",
    "CallError",
    "CompileError",
    "Error",
    "Finding",
    "InternalError",
    "Kernel",
    "Launcher",
    "LibraryError",
    "Memory",
    "Module",
    "OutOfMemory",
    "PTXError",
    "Parameter",
    "Place",
    "Record",
    "Recording",
    "Result",
    "Rows",
    "Run",
    "SanitizerError",
    "Step",
    "Trap",
    "UnsupportedPTX",
    "Variable",
    "array",
    "load",
    "load_cuda",
    "load_ptx",
    "options",
    "share",
    "zeros",
]
