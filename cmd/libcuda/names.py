#!/usr/bin/env python3
"""Lists the functions of the driver API by CUDA's headers:

	cmd/libcuda/names.py INCLUDE... >cmd/libcuda/names.txt

Each INCLUDE is a directory with cuda.h of some version. A line is the name of a function, the version of CUDA that
cuGetProcAddress knows it from (12030 is 12.3), and the name that cuGetProcAddress takes, where that is another than the
name without suffixes. The versions are those of the types of function pointers (cudaTypedefs.h), or else the version of the
oldest header that declares the function. names.txt is the list for the headers of CUDA 11.8 to 13.5; TestNamesOfHeaders compares.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = "cuda.h cudaProfiler.h cudaGL.h cudaEGL.h cudaVDPAU.h".split()
FOREIGN = "GL/gl.h EGL/egl.h EGL/eglext.h vdpau/vdpau.h".split()  # headers of graphics: only their types are missed
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
            text = re.sub(r"static inline CUresult \w+", "", text)  # functions of the header alone
            names.update(re.findall(r"\bCUresult\s+(?:CUDAAPI\s+)?(cu[A-Z]\w*)\s*\(", text))
    return names


def split(name):
    """The parts of a name: the base, the number of its version, and the suffix of the thread's own default stream."""
    base, version, thread = re.fullmatch(r"(\w+?)(?:_v(\d+))?(_ptds|_ptsz)?", name).groups()
    return base, int(version or 1), thread or ""


oldest = {}  # version of the oldest header with a name
typed = collections.defaultdict(set)  # versions of a base with a suffix
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

versions = {}  # of names
families = collections.defaultdict(list)
for name in oldest:
    base, number, thread = split(name)
    families[base, thread].append((number, name))
for key, family in families.items():
    for (_, name), version in zip(sorted(family), sorted(typed.get(key, ()))):
        versions[name] = version
    if len(typed.get(key, ())) > len(family):
        sys.exit(f"names.py: {key}: {sorted(typed[key])} are versions of {sorted(family)}")

first = min(oldest.values())
print("""# The functions that the driver library exports, one per line: the name, the version of CUDA that cuGetProcAddress
# knows it from (12030 is 12.3; 0 is before all that is known), and the name that cuGetProcAddress takes, where that is
# another than the name without suffixes. names.py makes this list from CUDA's headers.""")
for name in sorted(oldest):
    print(name, versions.get(name, oldest[name] if oldest[name] > first else 0))
    if name in RENAMED:
        print(name, *RENAMED[name])
