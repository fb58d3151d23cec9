#!/usr/bin/env python3
"""Compiles nvrtc.cu with NVRTC, for several GPUs and with debugging, texture.cu and cluster.cu, to
the PTX next to them.

    pip install nvidia-cuda-nvrtc-cu12==12.9.86
    testdata/corpus/make_nvrtc.py

The expected results of the kernels are in internal/corpus/compiled.go.
"""
import ctypes
import glob
import importlib.util
import os
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
os.chdir("/")  # which is in the debug information
folder = importlib.util.find_spec("nvidia").submodule_search_locations[0]
nvrtc = ctypes.CDLL(glob.glob(f"{folder}/cuda_nvrtc/lib/libnvrtc.so.*")[0])


def call(name, *args):
    return getattr(nvrtc, "nvrtc" + name)(*args)


def make(name, *options, file="nvrtc.cu"):
    source, program = (here / file).read_bytes(), ctypes.c_void_p()
    assert call("CreateProgram", ctypes.byref(program), source, file.encode(), 0, None, None) == 0
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status, size = call("CompileProgram", program, len(options), array), ctypes.c_size_t()
    call("GetProgramLogSize", program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    call("GetProgramLog", program, log)
    if status:
        sys.exit(log.value.decode())
    call("GetPTXSize", program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    call("GetPTX", program, text)
    major, minor = ctypes.c_int(), ctypes.c_int()
    call("Version", ctypes.byref(major), ctypes.byref(minor))
    head = f"// NVRTC {major.value}.{minor.value}: {file} {' '.join(options)}\n"
    (here / f"nvrtc_{name}.ptx").write_text(head + text.value.decode().strip() + "\n")


if __name__ == "__main__":
    make("52", "-arch=compute_52")
    make("90", "-arch=compute_90")
    make("G_80", "-arch=compute_80", "-G")
    make("texture_75", "-arch=compute_75", file="texture.cu")
    make("cluster_90", "-arch=compute_90", file="cluster.cu")
