#!/usr/bin/env python3
"""Lists the functions of the driver API by CUDA's headers:

	cmd/libcuda/names.py INCLUDE... >cmd/libcuda/names.txt

Each INCLUDE is a directory with the cuda.h of one version. Each line of the output has the name of a function, the
version of CUDA from which cuGetProcAddress finds it (12030 is 12.3), and the name by which cuGetProcAddress finds it if
this is not the name without suffixes. The version is in the name of the function's pointer type (cudaTypedefs.h). For a
function without such a type it is the version of the oldest header that declares the function. names.txt is the output
for the headers of CUDA 11.8 to 13.5; TestNamesOfHeaders compares both.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = "cuda.h cudaProfiler.h cudaGL.h cudaEGL.h cudaVDPAU.h".split()
FOREIGN = "GL/gl.h EGL/egl.h EGL/eglext.h vdpau/vdpau.h".split()  # included headers of other libraries: empty files replace them
MODES = [[], ["-D__CUDA_API_VERSION_INTERNAL"]]
MODES += [["-DCUDA_API_PER_THREAD_DEFAULT_STREAM", *mode] for mode in MODES]

# The header defines cuGraphInstantiate as this function, which has the older interface of the same name since 12.0.
RENAMED = {"cuGraphInstantiateWithFlags": (12000, "cuGraphInstantiate")}


def declared(include, foreign):
    """The functions that a directory's headers declare."""
    names = set()
    for header in HEADERS:
        path = pathlib.Path(include, header)
        if not path.exists():
            continue
        for mode in MODES:
            command = [os.environ.get("CC", "cc"), "-E", "-P", *mode, f"-I{include}", f"-I{foreign}", path]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            text = re.sub(r"static inline CUresult \w+", "", text)  # inline functions, which the library does not export
            names.update(re.findall(r"\bCUresult\s+(?:CUDAAPI\s+)?(cu[A-Z]\w*)\s*\(", text))
    return names


def split(name):
    """The parts of a name: the base name, the number of the version, and the suffix for the thread's own default stream."""
    base, version, thread = re.fullmatch(r"(\w+?)(?:_v(\d+))?(_ptds|_ptsz)?", name).groups()
    return base, int(version or 1), thread or ""


oldest = {}  # by name: version of the oldest header that declares it
typed = collections.defaultdict(set)  # by base name and suffix: versions of the function pointer types
for include in sys.argv[1:]:
    header = pathlib.Path(include, "cuda.h").read_text(encoding="utf-8")
    version = int(re.search(r"#define CUDA_VERSION\s+(\d+)", header)[1])
    with tempfile.TemporaryDirectory() as foreign:
        for name in FOREIGN:
            path = pathlib.Path(foreign, name)
            path.parent.mkdir(exist_ok=True)
            path.touch()
        for name in declared(include, foreign):
            oldest[name] = min(version, oldest.get(name, version))
    for path in pathlib.Path(include).glob("cuda*Typedefs.h"):
        for name, v, thread in re.findall(r"\*?\bPFN_(cu\w+?)_v(\d{4,5})(_ptds|_ptsz)?\)", path.read_text(encoding="utf-8")):
            typed[name, thread].add(int(v))
if not oldest:
    sys.exit("names.py: name directories with cuda.h")

versions = {}  # by name: version of its function pointer type
families = collections.defaultdict(list)  # by base name and suffix: version numbers and names
for name in oldest:
    base, number, thread = split(name)
    families[base, thread].append((number, name))
for key, family in families.items():
    for (_, name), version in zip(sorted(family), sorted(typed.get(key, ()))):
        versions[name] = version
    if len(typed.get(key, ())) > len(family):
        sys.exit(f"names.py: {key}: {sorted(typed[key])} are versions of {sorted(family)}")

first = min(oldest.values())
print("""# The functions that the driver library exports, one per line: the name, the version of CUDA from which cuGetProcAddress
# finds it (12030 is 12.3; 0: from every version), and the name by which cuGetProcAddress finds it if this is not the name
# without suffixes. names.py makes this list from CUDA's headers.""")
for name in sorted(oldest):
    print(name, versions.get(name, oldest[name] if oldest[name] > first else 0))
    if name in RENAMED:
        print(name, *RENAMED[name])
