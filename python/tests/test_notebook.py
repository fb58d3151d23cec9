"""The tutorial notebook runs from the first cell to the last, and its magics report errors."""

from pathlib import Path

import pytest

import gemu
from test_cuda import compiler

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@compiler
def test_tutorial():
    notebook = nbformat.read(EXAMPLES / "tutorial.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    texts = [o.get("text", "") for cell in notebook.cells for o in cell.get("outputs", [])]
    assert any("saxpy.cu" in t and "lane 8" in t for t in texts)


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.extension_manager.load_extension("gemu")
    yield shell
    InteractiveShell.clear_instance()


def test_ptx_magic(shell, capsys):
    from IPython.core.error import UsageError

    from conftest import PTX

    shell.run_cell_magic("ptx", "kernels", PTX)
    assert isinstance(shell.user_ns["kernels"], gemu.Module) and "saxpy" in capsys.readouterr().out
    shell.run_cell_magic("ptx", "", PTX)
    assert shell.user_ns["module"].name == "module.ptx"
    for line, cell, message in (("k", "nonsense", "k.ptx:1:1"), ("1x", PTX, "no name of a variable"), ("k -DN=1", PTX, "unknown arguments"), ("'k", PTX, "quotation")):
        with pytest.raises(UsageError, match=message):
            shell.run_cell_magic("ptx", line, cell)


@compiler
def test_cuda_magic(shell):
    from IPython.core.error import UsageError

    shell.run_cell_magic("cuda", "-I include -DN=3", "__global__ void f(int *p) { *p = N; }")
    assert list(shell.user_ns["module"].kernels) == ["_Z1fPi"] and "include" not in shell.user_ns
    shell.run_cell_magic("cuda", "my --keep-branches -DN=3", "__global__ void f(int *p) { *p = N; }")
    assert list(shell.user_ns["my"].kernels) == ["_Z1fPi"]
    with pytest.raises(UsageError, match="my.cu:1"):
        shell.run_cell_magic("cuda", "my", "__global__ void f(int *p) { *p = N; }")
