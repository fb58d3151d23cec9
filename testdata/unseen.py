#!/usr/bin/env python3
"""Makes modules that no test has seen, and loads each with gemu: does it take them, and run them?

    testdata/unseen.py [--ptxas PTXAS] [--out DIR] [--number N] PART ...

Prints each module that does not load though the assembler takes it, or loads though it does
not, and how many kernels have instructions that do not run yet. PARTs, and what they need:

    headers   the inline assembler in the headers of CUDA, CCCL and CUTLASS, an instruction or
              a few to a module   (pip install nvidia-cuda-cccl-cu12 nvidia-cuda-runtime-cu12 nvidia-cutlass)
    nvrtc     CUDA C++ over these headers, for several targets and with several options
              (pip install nvidia-cuda-nvrtc-cu12)
    clang     random programs in C: --number of them (csmith, clang, llc), for four targets
    libdevice the functions of NVIDIA's libdevice, a kernel for each (clang, llc and
              pip install nvidia-cuda-nvcc-cu12)
    FILE.ptx  modules that are there
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
import re
import subprocess
import sys

import ptxas as assembler

HERE = pathlib.Path(__file__).resolve().parent


def folders():
    """The folders of headers of the Python packages that there are."""
    found = []
    for package, pattern in ("nvidia", "*/include"), ("nvidia", "*/nvvm/.."), ("cutlass_library", "source/include"):
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            found += [f for f in glob.glob(f"{place}/{pattern}") if os.path.isdir(f)]
    return found


# Inline assembler in headers.

TYPES = {"r": ".b32", "l": ".b64", "h": ".b16", "f": ".f32", "d": ".f64", "q": ".b128"}
STRING = r'"(?:[^"\\\n]|\\.)*"'


def closing(text, at):
    """The place behind the parenthesis that closes the one at a place, strings left out."""
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
            continue  # what macros and directives make
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


def make_headers(out, _):
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

# Options of clang, and of llc, which makes PTX of what it makes.
TARGETS = [("-O0", "-O0 -mcpu=sm_50"), ("-O1", "-O1 -mcpu=sm_70"), ("-O2 -ffast-math", "-O3 -mcpu=sm_80"), ("-Os -g", "-O2 -mcpu=sm_86 -mattr=+ptx75")]


def run(command):
    """Runs a command of a shell, and says whether it did well."""
    try:
        return subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, cwd="/tmp").returncode == 0
    except subprocess.TimeoutExpired:
        return False


def make_clang(out, number):
    for seed in range(number):
        source = out / f"random{seed}.c"
        if not run(f"csmith --seed {seed} --no-argc --concise --no-safe-math --max-funcs 4 {'--float' if seed % 2 else ''} -o {source}"):
            continue
        text = source.read_text().replace('#include "csmith.h"', '#include "stand_in.h"')
        source.write_text(text + "\nvoid kernel(void) { main(); }\n")
        for i, (front, back) in enumerate(TARGETS):
            path = out / f"random{seed}_{i}.ptx"
            mark = """'!nvvm.annotations = !{!99999}' '!99999 = !{void ()* @kernel, !"kernel", i32 1}'"""
            if run(f"set -o pipefail; (clang -target nvptx64 {front} -w -ffreestanding -I{HERE}/unseen -S -emit-llvm -o - {source} && printf '%s\\n' {mark}) | llc-14 -march=nvptx64 {back} -o {path}"):
                yield path
        source.unlink()


# CUDA C++.


class Nvrtc:
    """Compiles with NVRTC, from the Python package."""

    def __init__(self):
        folder = importlib.util.find_spec("nvidia").submodule_search_locations[0]
        self.lib = ctypes.CDLL(glob.glob(f"{folder}/cuda_nvrtc/lib/libnvrtc.so.*")[0])

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
    """Sources in CUDA C++, by name, each with the least compute capability that has it."""
    for file in sorted((HERE / "unseen").glob("*.cu")):
        text = file.read_text()
        # A line "// with NAME = A | B | C" makes a source of each choice.
        choices = re.findall(r"^// with (\w+) = (.*)$", text, re.M)
        least = int(re.search(r"^// from (\d+)$", text, re.M).group(1)) if "// from " in text else 50
        for pick in itertools.product(*[c.split("|") for _, c in choices]):
            made = text
            for (name, _), value in zip(choices, pick):
                value = value.strip()
                if re.fullmatch(r"[a-z]+( [a-z]+)+", value):  # a type of several words
                    made = f"typedef {value} {value.replace(' ', '_')};\n" + made
                    value = value.replace(" ", "_")
                made = re.sub(rf"\b{name}\b", value, made)
            yield "_".join([file.stem, *[re.sub(r"\W+", "", p) for p in pick]]), made, least


def make_nvrtc(out, _):
    nvrtc = Nvrtc()
    include = [f"-I{f}" for f in folders()]
    for name, text, least in sources():
        for arch, options in ("50", []), ("75", ["-use_fast_math"]), ("80", ["-G"]), ("90a", ["-lineinfo", "-fmad=false"]), ("100a", []), ("120a", ["-ftz=true", "-prec-div=false"]):
            if int(arch.rstrip("a")) < least:
                continue
            ptx, messages = nvrtc.compile(text, [f"-arch=compute_{arch}", "-std=c++17", "-default-device", *options, *include])
            if ptx is None:
                print(f"{name} for {arch}: {messages.splitlines()[0] if messages else 'does not compile'}", file=sys.stderr)
                break
            path = out / f"{name}_{arch}.ptx"
            path.write_text(ptx)
            yield path


# libdevice.


def make_libdevice(out, _):
    for folder in folders():
        for bitcode in glob.glob(f"{folder}/**/libdevice*.bc", recursive=True):
            listing = subprocess.run(["llvm-nm-14", "--defined-only", bitcode], capture_output=True, text=True).stdout
            for i, name in enumerate(re.findall(r" [Tt] (__nv_\w+)", listing)):
                path = out / f"{name}.ptx"
                # The function alone, and what it calls.
                if run(f"llvm-extract-14 --recursive --func={name} {bitcode} | opt-14 -O2 | llc-14 -march=nvptx64 -mcpu=sm_{[50, 70, 80][i % 3]} -o {path}"):
                    yield path


PARTS = {"headers": make_headers, "nvrtc": make_nvrtc, "clang": make_clang, "libdevice": make_libdevice}


def verdict(ptxas, path, part):
    """What the assembler says of a module, as assemble; of headers for some target."""
    text = path.read_text(errors="replace")
    said = assembler.assemble(ptxas, text)
    for target in ["sm_90a", "sm_120a"] if part == "headers" else []:
        if said:
            said = assembler.assemble(ptxas, text.replace("sm_100a", target, 1))
    return said


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--ptxas")
    args.add_argument("--out", default="/tmp/unseen")
    args.add_argument("--number", type=int, default=200)
    args.add_argument("--load", default="go run ./internal/corpus/load", help="the command that loads")
    args.add_argument("part", nargs="+")
    args = args.parse_args()
    status = 0
    for part in args.part:
        if part in PARTS:
            out = pathlib.Path(args.out) / part
            out.mkdir(parents=True, exist_ok=True)
            files = list(PARTS[part](out, args.number))
        else:
            files = [pathlib.Path(part).resolve()]
        loaded = subprocess.run(args.load.split(), input="\n".join(map(str, files)), capture_output=True, text=True, check=True, cwd=HERE.parent)
        outcomes = [json.loads(line) for line in loaded.stdout.splitlines()]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
            said = list(pool.map(lambda f: verdict(args.ptxas, f, part), files)) if args.ptxas else [""] * len(files)
        refused, lax, both, notrun = 0, 0, 0, collections.Counter()
        for path, o, message in zip(files, outcomes, said):
            if o["Error"] and message == "":
                refused += 1
                print(f"{path.name}: does not load: {o['Error'].splitlines()[0]}")
            elif message and not o["Error"]:
                lax += 1
                print(f"{path.name}: does not assemble: {message.splitlines()[0]}")
            elif message:
                both += 1
            for e in o["NotLower"] or []:
                refused += 1
                print(f"{path.name}: {e}")
            for e in o["NotRun"] or []:
                notrun[re.sub(r"^.*?: ", "", e)[:60]] += 1
        kernels = sum(o["Kernels"] for o in outcomes)
        print(f"{part}: {len(files)} modules, {kernels} kernels: {refused} refused by gemu alone, {lax} by the assembler alone, {both} by both; {sum(notrun.values())} kernels with instructions that do not run yet")
        for e, n in notrun.most_common(20):
            print(f"    {n:5} {e}")
        status |= bool(refused or lax)
    sys.exit(status)


if __name__ == "__main__":
    main()
