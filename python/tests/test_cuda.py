"""CUDA C++: kernels by name, types from the source, errors of the compiler. Without a compiler only the parsing of types runs."""

import shutil

import numpy as np
import pytest

import gemu
from gemu import _types

compiler = pytest.mark.skipif(not any(map(shutil.which, ["nvcc", "clang-18", "clang-19", "clang-20", "clang-21"])), reason="no compiler of CUDA C++ on the path")

SOURCE = """
extern "C" __global__ void __launch_bounds__(256) saxpy(int n, float a, const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
namespace my { __global__ void fill(unsigned char *p, unsigned char v) { p[threadIdx.x] = v + N; } }
"""


@compiler
def test_cuda(x, y):
    module = gemu.load_cuda(SOURCE, "my.cu", arguments=["-DN=1"])
    module.saxpy[4, 32](100, 2.0, x, y)
    assert (y == 2 * x + 1).all()
    assert [p.name for p in module.saxpy.parameters] == ["n", "a", "x", "y"]
    with pytest.raises(TypeError, match=r"argument 2 \(x\) is const float \*, not an array of int32"):
        module.saxpy[4, 32](100, 2.0, x.astype(np.int32), y)
    with pytest.raises(gemu.Trap) as e:
        module.saxpy[4, 32](101, 2.0, x, y)
    assert e.value.source.split("/")[-1].startswith("my.cu:4:") and "argument 2 (x)" in str(e.value)
    out = np.zeros(4, np.uint8)
    module.fill[1, 4](out, 6)
    assert out.tolist() == [7] * 4
    with pytest.raises(OverflowError, match="outside 0 to 255"):
        module.fill[1, 4](out, 256)


@compiler
def test_files_and_errors(tmp_path):
    file = tmp_path / "my.cu"
    file.write_text(SOURCE)
    with pytest.raises(gemu.CompileError, match="undeclared identifier|is undefined"):
        gemu.load(file)
    assert "fill" in dir(gemu.load(file, arguments=["-DN=2"]))
    with pytest.raises(gemu.CompileError):
        gemu.load_cuda("__global__ void f( {")


def test_no_compiler(tmp_path, monkeypatch):
    from test_errors import python

    (tmp_path / "my.cu").write_text("")
    status, out, err = python(f"import gemu; gemu.load({str(tmp_path / 'my.cu')!r})", PATH=str(tmp_path))
    assert status == 1 and "CompileError" in err and "install clang" in err


@pytest.mark.parametrize(
    "text, name, dtype, pointer, constant",
    [
        ("int n", "int", "i4", False, False),
        ("const float *__restrict__ x", "const float *", "f4", True, True),
        ("float const* x", "const float *", "f4", True, True),
        ("unsigned long long", "unsigned long long", "u8", False, False),
        ("long unsigned int x", "unsigned long", "u8", False, False),
        ("unsigned", "unsigned int", "u4", False, False),
        ("short const v", "short", "i2", False, False),
        ("void *p", "void *", None, True, False),
        ("const __half *h", "const __half *", "f2", True, True),
    ],
)
def test_declared_types(text, name, dtype, pointer, constant):
    t = _types.parse_type(text)
    assert (t.name, t.dtype, t.pointer, t.constant) == (name, None if dtype is None else np.dtype(dtype), pointer, constant)


@pytest.mark.parametrize("text", ["float **p", "Vec<float> v", "my::type x", "float x[3]", "cudaTextureObject_t t", "", "float &x"])
def test_other_types(text):
    assert _types.parse_type(text) is None


# Names that clang and nvcc make (Itanium C++ ABI, 5.1).
@pytest.mark.parametrize(
    "mangled, name, types",
    [
        ("saxpy", "saxpy", None),
        ("_Z5saxpyifPKfPf", "saxpy", ["int", "float", "const float *", "float *"]),
        ("_Z1fv", "f", []),
        ("_Z1fPfS_", "f", ["float *", "float *"]),
        ("_Z1fPKfS0_Pf", "f", ["const float *", "const float *", "float *"]),
        ("_ZN2my4fillEPhh", "fill", ["unsigned char *", "unsigned char"]),
        ("_Z1fP4Pair", "f", None),
        ("_Z1gIfEvPT_", "g", None),
        ("_Zrubbish", "_Zrubbish", None),
    ],
)
def test_mangled_names(mangled, name, types):
    got_name, got = _types.demangle(mangled)
    assert got_name == name and (got if got is None else [t.name for t in got]) == types
