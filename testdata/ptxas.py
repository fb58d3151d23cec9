#!/usr/bin/env python3
"""Compares what gemu takes for PTX with what NVIDIA's assembler takes for it.

    testdata/ptxas.py PTXAS             (of the Python package nvidia-cuda-nvcc)
    testdata/ptxas.py PTXAS --mutants [N] [OPCODE ...]

Without --mutants: every case and workload has to assemble, and every line of bad/ that
bears ERROR has to be refused, alone among the lines that do not. With it: instructions
of every form of the instruction table, and what becomes of them when modifiers are moved,
doubled or dropped and operands exchanged, dropped or added (ptx/internal/mutants), have to
be taken by both or refused by both; with N, that many at random. Prints where that is not
so, but for the differences below, and ends with status 1 if there are any.
"""

import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

# Files that gemu takes and the assembler does not.
TAKEN = {
    "testdata/good/manual.ptx": "examples of the manual, old ones among them",
    "testdata/good/shapes.ptx": "texture examples of the manual, which mix both modes of textures",
    "testdata/good/wgmma.ptx": "types that the file's version does not have yet",
    "testdata/control/call_list.ptx": "passes a parameter of the function on",
    "testdata/control/extern.ptx": "an .extern variable that the module defines",
}

# Lines that gemu refuses and the assembler does not.
REFUSED = {
    "at most 65536": "a limit of gemu's",
    "registers": "a limit of gemu's",
    "declared twice": "clashes with a line that gemu refuses",
    "0..255": "lop3 with a table of nine bits: the manual has eight",
}

# Mutants that one side takes: what was changed, the instruction, and why it stays.
MUTANTS = [
    (r"operand x\+4", r".", "a float, a predicate or 8 bits plus a constant: the assembler takes it, then fails to compile it"),
    (r"operand", r"^(st\.async|red\.async)", "the assembler fails with an internal error"),
    (r"", r"^st\.async\.\S*mbarrier", "a vector without .v2: the assembler guesses, and warns"),
    (r"operand g", r"^mov\.(v2\.)?(b16|b32|u16|s16|u32|s32)", "the address of a variable cut to fewer bits"),
    (r"operand more", r"^(atom|red)\.", "a fourth operand without .L2::cache_hint, which the manual does not have"),
    (r"modifier missing", r"^(st\.async|testp|vote)", "an operation that is not named: the assembler takes some default"),
    (r"modifier moved", r"^tensormap", "it lets .b1024 and the type change places"),
    (r"operand (0f3F800000|1\.0)", r"^(fns|bmsk|movmatrix|cvt\S*tf32|w?mma|cp|isspacep|redux|shfl|mbarrier|tcgen05|wgmma)", "a float where bits are wanted: the assembler takes it in some instructions and not in others"),
    (r"operand 1$", r"^v\w+[24]\.", "a constant in a SIMD video instruction, which the manual allows"),
    (r"operand 1$", r"^(tcgen05|cp|stackrestore)", "a number that this operand cannot have"),
    (r"operand \{x, x\}", r"^mma\.sp|^cp\.async\.bulk\S*cp_mask|bf16", "two registers in braces where one is wanted: the assembler does not look"),
    (r"operand 1$", r"^mma\.sp|^fma\S*f32\.bf16", "a number as metadata, or as .bf16"),
    (r"operand more", r"^createpolicy", "a fraction in a register"),
]


def assemble(ptxas, text):
    """The messages of the assembler; none if it takes the text, None if it crashes."""
    target = re.search(r"^\s*\.target\s+(sm_\d+\w*)", text, re.M)
    arch = target.group(1) if target else "sm_80"
    for oldest in "", "sm_50", "sm_75":  # a target that is too old assembles for a newer one
        for attempt in range(3):  # it crashes at random, on some texts
            with tempfile.NamedTemporaryFile("w", suffix=".ptx", encoding="ascii", errors="replace") as f:
                f.write(text + "\n" * attempt)
                f.flush()
                try:
                    run = subprocess.run([ptxas, "-O0", "-arch=" + (oldest or arch), "-o", os.devnull, f.name], capture_output=True, text=True, timeout=20)
                except subprocess.TimeoutExpired:
                    return None
                output = (run.stdout + run.stderr).replace(f.name, "line")
            if run.returncode >= 0:
                break
        else:
            return None
        if "is not defined for option 'gpu-name'" not in output:
            break
    if run.returncode == 0:
        return ""
    errors = [line for line in output.splitlines() if "error" in line or "fatal" in line]
    return "\n".join(errors or output.splitlines() or ["fails without a message"])


def read(file):
    with open(file, encoding="utf-8", errors="replace") as f:
        return f.read()


def compare_files(ptxas, pool):
    """Lines that say where cases differ, and a summary."""
    good, bad, left, known, differences = [], [], 0, 0, []
    for pattern in "testdata/insn/*.ptx", "testdata/control/*.ptx", "testdata/nvcc/*.ptx", "testdata/good/*.ptx", "kernels/cuda/*.ptx", "docs/*.ptx":
        good += sorted(glob.glob(pattern))
    for file in sorted(glob.glob("testdata/bad/*.ptx")):
        lines = read(file).split("\n")
        errors = [i for i, line in enumerate(lines) if "// ERROR" in line]
        for e in errors:
            bad.append((file, e, lines[e], "\n".join(line for i, line in enumerate(lines) if i == e or i not in errors)))
    taken = pool.map(lambda file: assemble(ptxas, read(file)), good)
    refused = pool.map(lambda case: assemble(ptxas, case[3]), bad)
    for file, message in zip(good, taken):
        if message is None or re.search(r"Unsupported \.version|32-Bit compilation is no longer supported|SM version specified by .target", message):
            left += 1
        elif message and file in TAKEN:
            known += 1
        elif message:
            differences.append(f"{file}: does not assemble: {message.splitlines()[0]}")
    for (file, i, line, _), message in zip(bad, refused):
        if message == "" and any(f'"{why}' in line or f'{why}"' in line for why in REFUSED):
            known += 1
        elif message == "":
            differences.append(f"{file}:{i + 1}: assembles: {line.strip()}")
    return differences, f"{len(good)} files, {len(bad)} bad lines: {len(differences)} differences, {known} known ones; {left} files left out: 32-bit addresses, newer than the assembler, or it crashes"


def compare_mutants(ptxas, pool, args):
    """Lines that say where mutants differ, and a summary."""
    size = int(args.pop(0)) if args and args[0].isdigit() else None
    run = subprocess.run(["go", "run", "./ptx/internal/mutants"] + args, capture_output=True, text=True, check=True)
    mutants = [json.loads(line) for line in run.stdout.splitlines()]
    bases = {m["Src"]: m for m in mutants if m["Kind"] == ""}
    verdicts = dict(zip(bases, pool.map(lambda src: assemble(ptxas, src), bases)))
    sound = {m["Base"] for src, m in bases.items() if verdicts[src] == ""}
    changed = [m for m in mutants if m["Kind"] and m["Base"] in sound]
    if size is not None and size < len(changed):
        changed = random.sample(changed, size)
    found, known = collections.defaultdict(list), 0
    for m, message in zip(changed, pool.map(lambda m: assemble(ptxas, m["Src"]), changed)):
        if message is None or bool(message) == bool(m["Error"]):
            continue
        if any(re.search(kind, m["Kind"]) and re.search(text, m["Text"]) for kind, text, _ in MUTANTS):
            known += 1
            continue
        side = "taken here, refused by the assembler" if message else "refused here, taken by the assembler"
        reason = message.splitlines()[0] if message else m["Error"]
        found[side, m["Kind"], m["Text"].split(".")[0]].append(f"{m['Text']}: {reason}")
    differences = [f"{op}, {kind}, {side}, {len(list)} times: {list[0]}" for (side, kind, op), list in sorted(found.items())]
    n = sum(len(list) for list in found.values())
    return differences, f"{len(changed)} mutants of {len(sound)} opcodes: {n} differences, {known} known ones; {len(bases) - len(sound)} opcodes left out: refused by the assembler as they are"


def main():
    if len(sys.argv) < 2 or len(sys.argv) > 2 and sys.argv[2] != "--mutants":
        sys.exit(__doc__)
    ptxas = os.path.abspath(sys.argv[1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        if len(sys.argv) > 2:
            differences, summary = compare_mutants(ptxas, pool, sys.argv[3:])
        else:
            differences, summary = compare_files(ptxas, pool)
    print("\n".join(differences + [summary]))
    sys.exit(bool(differences))


main()
