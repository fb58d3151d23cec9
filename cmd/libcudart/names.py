#!/usr/bin/env python3
"""Lists the functions that the runtime library of a major version of CUDA exports, by its headers:

	cmd/libcudart/names.py INCLUDE...

Those are the functions declared with CUDARTAPI, what the code calls that nvcc generates among them,
and the variants that macros rename functions to. names.txt is what it gives for the headers of both
majors; TestNamesOfHeaders compares.
"""
import pathlib
import re
import sys

HEADERS = """cuda_runtime_api.h cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h
    cuda_profiler_api.h crt/host_runtime.h crt/device_functions.h""".split()

# The first is for Windows, the rest for texture references, which ended with version 12.
NOT_EXPORTED = {"cudaWGLGetDevice", "__cudaRegisterTexture", "__cudaRegisterSurface"}

names = set()
for directory in sys.argv[1:]:
    for header in HEADERS:
        path = pathlib.Path(directory, header)
        if not path.exists():
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(encoding="utf-8"), flags=re.S)
        names.update(re.findall(r"\b(?:CUDARTAPI(?:_CDECL)?|extern\s+__host__\s+cudaError_t)\s+(\w+)\s*\(", text))
        for name, renamed in re.findall(r"^\s*#\s*define\s+(cuda\w+)\s+(.*?)\s*$", text, flags=re.M):
            if m := re.fullmatch(r"__CUDART_API_(PTDS|PTSZ)\((\w+)\)", renamed):
                names.add(m[2])
                names.add(m[2] + "_" + m[1].lower())
            elif re.fullmatch(name + r"(_v\d+)?(_ptds|_ptsz)?", renamed):
                names.add(renamed)
if not names:
    sys.exit("names.py: no headers of CUDA there: " + " ".join(sys.argv[1:]))
print(*sorted(names - NOT_EXPORTED), sep="\n")
