#!/usr/bin/env python3
"""Makes modules that occur in no test, and loads each with gemu, which should accept and run them.

    tools/assembler/unseen.py [--ptxas PTXAS] [--out DIR] [--number N] PART ...

Prints each module that does not load though the assembler takes it, or loads though it does
not, each kernel that cannot be lowered, and the counts of each PART: modules, kernels, those that
load and run, and those that wait for instructions or functions that are not there. PARTs, and what they need:

    headers   the inline assembler in the headers of CUDA, CCCL and CUTLASS, an instruction or
              a few to a module   (pip install nvidia-cuda-cccl-cu12 nvidia-cuda-runtime-cu12 nvidia-cutlass)
    nvrtc     CUDA C++ over these headers, for several targets and with several options
              (pip install nvidia-cuda-nvrtc-cu12, or nvidia-cuda-nvrtc)
    nvcc      the same with nvcc   (pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-cccl)
    cuda      the same with clang's CUDA mode, with libdevice   (clang-19; pip install nvidia-cuda-nvcc-cu12==12.4.131
              nvidia-cuda-runtime-cu12==12.4.127 nvidia-curand-cu12==10.3.5.147, and a newer nvidia-cuda-cccl-cu12)
    clang     random programs in C: --number of them (csmith, clang, llc), for four targets
    libdevice the functions of NVIDIA's libdevice, a kernel for each (clang, llc and
              pip install nvidia-cuda-nvcc-cu12)
    numba     the kernels of numba-cuda's own tests, which run on gemu's libcuda.so.1
              (LD_LIBRARY_PATH; pip install numba numba-cuda nvidia-nvvm nvidia-cuda-nvrtc filecheck pytest psutil)
    triton    kernels in --number configurations   (pip install triton)
    tinygrad  random expressions, --number of them, on gemu's libcuda.so.1   (LD_LIBRARY_PATH; pip install tinygrad numpy; clang)
    FILE.ptx  modules that are there, or all those of a folder

--number N makes of nvrtc, nvcc and cuda N modules, drawn by a fixed seed; without it all there are
(--match PATTERN: only of sources whose names have it).
--judge N has the assembler judge N of the modules, where all are too many.
--sample N has gemu run kernels of N of the modules in every mode and under every policy, and the
oracle beside it: interp/made_up_arguments_test.go says how.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import glob
import importlib.util
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import ptxas as assembler

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def folders():
    """The folders of headers: gemu's, and the folders of installed Python packages."""
    found = [HERE / "unseen"]
    for package, pattern in ("nvidia", "*/include"), ("nvidia", "*/include/cccl"), ("nvidia", "*/nvvm/.."), ("cutlass_library", "source/include"):
        found += [f for f in packaged(package, pattern) if os.path.isdir(f)]
    return found


def packaged(package, pattern):
    """The files of a Python package that a pattern matches."""
    spec = importlib.util.find_spec(package)
    return [f for place in (spec.submodule_search_locations or []) if spec for f in sorted(glob.glob(f"{place}/{pattern}"))] if spec else []


# Inline assembler in headers.

TYPES = {"r": ".b32", "l": ".b64", "h": ".b16", "f": ".f32", "d": ".f64", "q": ".b128"}
STRING = r'"(?:[^"\\\n]|\\.)*"'


def closing(text, at):
    """The place after the parenthesis that closes the parenthesis at a place; strings are skipped."""
    depth = 0
    for token in re.finditer(STRING + r"|[()]", text[at:]):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth == 0:
            return at + token.end()
    return None


def inline(text):
    """The inline assembler of a C++ source: of each piece its text and its constraints."""
    for found in re.finditer(r"\basm\b\s*(?:volatile|__volatile__)?\s*\(", text):
        end = closing(text, found.end() - 1)
        if end is None:
            continue
        parts, last, depth = [], found.end(), 0
        for token in re.finditer(STRING + r"|::|[():,]", text[found.end() : end - 1]):
            at = found.end() + token.start()
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth == 0 and token.group() in (":", "::"):
                parts.append(text[last:at])
                last = at + len(token.group())
                if token.group() == "::":
                    parts.append("")
        parts.append(text[last : end - 1])
        code = parts[0].strip()
        if not re.fullmatch(rf"(?:{STRING}\s*)+", code):
            continue  # expansions of macros and directives
        lines = "".join(json.loads(s.replace("\\t", " ").replace("\\'", "'")) for s in re.findall(STRING, code))
        yield lines, [c for part in parts[1:3] for c in re.findall(r'"([^"]*)"\s*\(', part)]


def kernel(code, constraints):
    """A module around a piece of inline assembler; None if that is not possible."""
    decls, names = [], []
    for i, c in enumerate(constraints):
        letter = c.lstrip("=+&")
        if letter.isdigit():
            names.append(names[int(letter)])
        elif TYPES.get(letter):
            names.append(f"%in{i}")
            decls.append(f".reg {TYPES[letter]} %in{i};")
        else:
            names.append("128" if "fence" in code else "1")
    try:
        body = re.sub(r"%%|%(\d+)", lambda m: "%" if m.group() == "%%" else names[int(m.group(1))], code)
    except IndexError:
        return None
    return ".entry e()\n{\n" + " ".join(decls) + "\n" + body + "\nret;\n}\n"


def make_headers(out, args):
    seen = set()
    for folder in folders():
        for file in sorted(glob.glob(f"{folder}/**/*", recursive=True)):
            if not re.search(r"\.(h|hpp|cuh|inl|cu)$", file):
                continue
            for code, constraints in inline(pathlib.Path(file).read_text(errors="replace")):
                text = kernel(code, constraints)
                if text and text not in seen:
                    seen.add(text)
                    path = out / f"{pathlib.Path(file).stem}_{len(seen)}.ptx"
                    path.write_text(".version 8.8\n.target sm_100a\n.address_size 64\n// " + os.path.basename(file) + "\n" + text)
                    yield path


# Random programs.

# Options of clang, and of llc, which compiles its output to PTX.
TARGETS = [("-O0", "-O0 -mcpu=sm_50"), ("-O1", "-O1 -mcpu=sm_70"), ("-O2 -ffast-math", "-O3 -mcpu=sm_80"), ("-Os -g", "-O2 -mcpu=sm_86 -mattr=+ptx75")]


def run(command):
    """Runs a command of a shell, and says whether it did well."""
    try:
        return subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, cwd="/tmp").returncode == 0
    except subprocess.TimeoutExpired:
        return False


def make_clang(out, args):
    for seed in range(args.number or 200):
        source = out / f"random{seed}.c"
        if not run(f"csmith --seed {seed} --no-argc --concise --no-safe-math --max-funcs 4 {'--float' if seed % 2 else ''} -o {source}"):
            continue
        text = source.read_text().replace('#include "csmith.h"', '#include "stand_in.h"')
        source.write_text(text + "\nvoid kernel(void) { main(); }\n")
        for i, (front, back) in enumerate(TARGETS):
            path = out / f"random{seed}_{i}.ptx"
            mark = """'!nvvm.annotations = !{!99999}' '!99999 = !{ptr @kernel, !"kernel", i32 1}'"""
            if run(f"set -o pipefail; (clang-19 -target nvptx64 {front} -w -ffreestanding -I{HERE}/unseen -S -emit-llvm -o - {source} && printf '%s\\n' {mark}) | llc-19 -march=nvptx64 {back} -o {path}"):
                yield path
        source.unlink()


# CUDA C++.


class Nvrtc:
    """Compiles with NVRTC, from the Python package."""

    def __init__(self):
        self.lib = ctypes.CDLL([f for f in packaged("nvidia", "*/lib/libnvrtc.so.*") if "alt" not in f][0])

    def compile(self, source, options):
        """The PTX of a source, or None and the compiler's messages."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        call = lambda name, *args: getattr(self.lib, "nvrtc" + name)(*args)
        call("CreateProgram", ctypes.byref(program), source.encode(), b"unseen.cu", 0, None, None)
        array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        status = call("CompileProgram", program, len(options), array)
        kind = "ProgramLog" if status else "PTX"
        call(f"Get{kind}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        call(f"Get{kind}", program, text)
        call("DestroyProgram", ctypes.byref(program))
        return (None, text.value.decode()) if status else (text.value.decode(), "")


def sources():
    """Sources in CUDA C++: name, text, the least compute capability, and the only compute
    capability if the source needs a certain one."""
    for file in sorted((HERE / "unseen").glob("*.cu")):
        text = file.read_text()
        # A line "// with NAME = A | B | C" makes a source of each choice.
        choices = re.findall(r"^// with (\w+) = (.*)$", text, re.M)
        least = int(re.search(r"^// from (\d+)$", text, re.M).group(1)) if "// from " in text else 50
        only = re.search(r"^// for (\w+)$", text, re.M)
        for pick in itertools.product(*[c.split("|") for _, c in choices]):
            made = text
            for (name, _), value in zip(choices, pick):
                value = value.strip()
                if re.fullmatch(r"[a-z]+( [a-z]+)+", value):  # a type of several words
                    made = f"typedef {value} {value.replace(' ', '_')};\n" + made
                    value = value.replace(" ", "_")
                made = re.sub(rf"\b{name}\b", value, made)
            yield "_".join([file.stem, *[re.sub(r"\W+", "", p) for p in pick]]), made, least, only and only.group(1)


def compile_sources(out, args, targets, compile):
    """Compiles sources for targets, pairs of an architecture and options: all, or up to a number.
    compile returns PTX, or None and messages. If a source does not compile, its remaining targets
    are left out."""
    pairs = [(name, text, arch, options) for name, text, least, only in sources() if re.search(args.match, name) for arch, options in targets if (arch == only if only else int(arch.rstrip("a")) >= least)]
    if args.number:
        pairs = random.Random(1).sample(pairs, min(args.number, len(pairs)))
    failed = set()
    for name, text, arch, options in pairs:
        if name in failed:
            continue
        ptx, messages = compile(text, arch, options)
        if ptx is None:
            failed.add(name)
            error = next((line for line in messages.splitlines() if "error" in line), "")
            print(f"{name} for {arch} does not compile: {error[-150:]}", file=sys.stderr)
            continue
        path = out / f"{name}_{arch}.ptx"
        path.write_text(ptx)
        yield path


def make_nvrtc(out, args):
    nvrtc = Nvrtc()
    include = [f"-I{f}" for f in folders()]
    targets = [("50", []), ("75", ["-use_fast_math"]), ("80", ["-G"]), ("90a", ["-lineinfo", "-fmad=false"]), ("100a", []), ("120a", ["-ftz=true", "-prec-div=false"])]
    if "cu13" in "".join(include):
        targets[0] = "75", []
    yield from compile_sources(out, args, targets, lambda text, arch, options: nvrtc.compile(text, [f"-arch=compute_{arch}", "-std=c++17", "-default-device", *options, *include]))


def by_command(command, timeout=300):
    """Compiles a source by a command that ends in the names of the result and the source."""
    with tempfile.TemporaryDirectory() as folder:
        def compile(text, arch, options):
            source, result = pathlib.Path(folder) / "unseen.cu", pathlib.Path(folder) / "unseen.ptx"
            source.write_text(text)
            try:
                said = subprocess.run([*command(arch), *options, "-o", result, source], capture_output=True, text=True, timeout=timeout, cwd=folder)
            except subprocess.TimeoutExpired:
                return None, "error: it takes too long"
            return (result.read_text(), "") if said.returncode == 0 else (None, said.stderr)

        yield compile


def make_nvcc(out, args):
    nvcc = packaged("nvidia", "*/bin/nvcc")[0]
    include = [f"-I{f}" for f in folders()]
    for compile in by_command(lambda arch: [nvcc, "-ptx", f"-arch=sm_{arch}", "-std=c++17", "--expt-relaxed-constexpr", "-w", *include]):
        yield from compile_sources(out, args, [("75", []), ("80", ["-G"]), ("86", ["-O1"]), ("90a", ["-lineinfo"]), ("100a", ["-use_fast_math"]), ("120a", [])], compile)


def make_cuda(out, args):
    # A single folder, as in a toolkit.
    root = out / "toolkit"
    for pattern in "*/include", "cuda_nvcc/*":
        for folder in packaged("nvidia", pattern):
            if os.path.isdir(folder):
                shutil.copytree(folder, root / os.path.basename(folder), copy_function=lambda a, b: os.path.lexists(b) or os.symlink(a, b), dirs_exist_ok=True)
    (root / "version.json").write_text('{"cuda": {"version": "12.4.1"}}')
    cutlass = [f"-I{f}" for f in packaged("cutlass_library", "source/include")]
    for compile in by_command(lambda arch: ["clang-19", "-x", "cuda", f"-I{HERE}/unseen", f"--cuda-path={root}", "--cuda-device-only", f"--cuda-gpu-arch=sm_{arch}", "-std=c++17", "-Wno-everything", "-S", *cutlass]):
        yield from compile_sources(out, args, [("50", ["-O1"]), ("70", ["-O2"]), ("75", ["-O0"]), ("80", ["-O3", "-ffast-math"]), ("86", ["-Os", "-g"]), ("90a", ["-O2"])], compile)


# Compilers in Python.


def listed(script, out, *arguments, env={}):
    """What a script of unseen/ writes: it prints names of files, and may end at any time."""
    with subprocess.Popen([sys.executable, "-W", "ignore", HERE / "unseen" / script, out, *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=os.environ | env) as process:
        for line in process.stdout:
            yield pathlib.Path(line.strip())


def make_numba(out, args):
    yield from listed("numba_tests.py", out)


def make_triton(out, args):
    number = args.number or 1000
    for first in range(0, number, 50):  # a compiler that crashes must not stop the remaining compilations
        yield from listed("triton_kernels.py", out, first, min(first + 50, number))


def make_tinygrad(out, args):
    number = args.number or 300
    for i, sm in enumerate(["75", "80", "86", "89", "90"]):
        yield from listed("tinygrad_ops.py", out, number * i // 5, number * (i + 1) // 5, env={"SM": sm})


# libdevice.


def make_libdevice(out, args):
    for folder in folders():
        for bitcode in glob.glob(f"{folder}/**/libdevice*.bc", recursive=True):
            listing = subprocess.run(["llvm-nm-19", "--defined-only", bitcode], capture_output=True, text=True).stdout
            for i, name in enumerate(re.findall(r" [Tt] (__nv_\w+)", listing)):
                path = out / f"{name}.ptx"
                # The function alone, with its callees.
                if run(f"llvm-extract-19 --recursive --func={name} {bitcode} | opt-19 -O2 | llc-19 -march=nvptx64 -mcpu=sm_{[50, 70, 80, 90][i % 4]} -o {path}"):
                    yield path


PARTS = {name.removeprefix("make_"): make for name, make in list(globals().items()) if name.startswith("make_")}


def verdict(ptxas, path, part):
    """What the assembler says of a module, as assemble; of headers for some target."""
    text = path.read_text(errors="replace")
    said = assembler.assemble(ptxas, text)
    for target in ["sm_90a", "sm_120a"] if part == "headers" else []:
        if said:
            said = assembler.assemble(ptxas, text.replace("sm_100a", target, 1))
    # PTX with functions of another module is PTX: only the launch fails.
    return "" if said and all("Unresolved extern" in line for line in said.splitlines()) else said


# The reasons for which a kernel cannot run yet: tensor memory, or a function of another module.
WAITS = {"another module": r"declared only|not defined|\.extern"}


def report(part, files, outcomes, said):
    """Prints the outcomes of the modules of a part, and returns the number of differences."""
    counts, notrun, differ = collections.Counter(), collections.Counter(), []
    for path, o, message in zip(files, outcomes, said):
        lowered = o["Kernels"] - len(o["NotLower"] or []) - len(o["NotRun"] or [])
        counts.update(modules=1, kernels=o["Kernels"], loaded=not o["Error"], lowered=lowered, judged=message is not None, agree=message is not None and bool(message) == bool(o["Error"]), refused=bool(message) and bool(o["Error"]))
        if o["Error"] and not message:  # not the question here: the text should be PTX
            differ.append(f"{path.name}: does not load: {o['Error'].splitlines()[0]}")
        elif message and not o["Error"]:
            differ.append(f"{path.name}: does not assemble: {message.splitlines()[0]}")
        differ += [f"{path.name}: {e}" for e in o["NotLower"] or []]
        for e in o["NotRun"] or []:
            what = next((name for name, pattern in WAITS.items() if re.search(pattern, e)), "")
            notrun[what or re.sub(r"^.*?:\d+:\d+: |kernel \S+ ", "", e)[:60]] += 1
    for line in differ:
        print(line)
    print(f"{part}: {counts['modules']} modules, {counts['loaded']} load; {counts['kernels']} kernels, {counts['lowered']} lowered; the assembler, asked about {counts['judged']}, agrees about {counts['agree']}, {counts['refused']} of them no PTX")
    for e, n in notrun.most_common(20):
        print(f"    {n:5} kernels wait for {e}")
    return len(differ)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--ptxas")
    args.add_argument("--out", default="/tmp/unseen")
    args.add_argument("--number", type=int, default=0)
    args.add_argument("--match", default="", help="a pattern in the names of CUDA C++ sources")
    args.add_argument("--judge", type=int, default=1 << 30)
    args.add_argument("--sample", type=int, default=0)
    args.add_argument("--load", default="go run -C tools ./assembler/load", help="the command that loads")
    args.add_argument("part", nargs="+")
    args = args.parse_args()
    status = 0
    for part in args.part:
        if part in PARTS:
            out = pathlib.Path(args.out).resolve() / part
            out.mkdir(parents=True, exist_ok=True)
            files = list(dict.fromkeys(PARTS[part](out, args)))
        else:
            files = sorted(pathlib.Path(part).resolve().glob("*.ptx")) if os.path.isdir(part) else [pathlib.Path(part).resolve()]
        loaded = subprocess.run(args.load.split(), input="\n".join(map(str, files)), capture_output=True, text=True, check=True, cwd=ROOT)
        outcomes = [json.loads(line) for line in loaded.stdout.splitlines()]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
            asked = set(random.Random(2).sample(files, min(args.judge, len(files)))) if args.ptxas else set()
            said = list(pool.map(lambda f: verdict(args.ptxas, f, part) if f in asked else None, files))
        status |= report(part, files, outcomes, said) > 0
        if args.sample:
            chosen = random.Random(1).sample(files, min(args.sample, len(files)))
            status |= subprocess.run(["go", "test", "./interp", "-run", "MadeUp", "-count=1", "-timeout=2h"], env=os.environ | {"GEMU_UNSEEN": ":".join(map(str, chosen))}, cwd=ROOT).returncode > 0
    sys.exit(status)


if __name__ == "__main__":
    main()
