#!/usr/bin/env python3
"""Compares what gemu takes for PTX with what NVIDIA's assembler takes for it.

    testdata/ptxas.py PTXAS        (from the Python package nvidia-cuda-nvcc-cu12)

Every case and workload has to assemble, and every line of bad/ that bears ERROR has to
be refused, alone among the lines that do not. Prints where that is not so, but for the
differences below, and ends with status 1 if there are any.
"""

import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

# Files that gemu takes and the assembler does not.
TAKEN = {
    "testdata/good/manual.ptx": "examples of the manual, old ones among them",
    "testdata/insn/array_operand.ptx": "a negative index of an array: only t[r+-4] assembles",
    "testdata/insn/mov.ptx": "mov.b128 into the sink _",
}

# Lines that gemu refuses and the assembler does not.
REFUSED = {
    "at most 65536": "a limit of gemu's",
    "registers": "a limit of gemu's",
    "declared twice": "clashes with a line that gemu refuses",
    "range": "an empty range of labels",
    "0..255": "lop3 with a table of nine bits: the manual has eight",
    "32 bits": "a 16-bit parameter in a register: refused where the function is called",
}


def assemble(ptxas, text):
    """The messages of the assembler; none if it takes the text."""
    target = re.search(r"^\s*\.target\s+(sm_\d+\w*)", text, re.M)
    arch = target.group(1) if target else "sm_80"
    if int(re.search(r"\d+", arch).group()) < 50:
        arch = "sm_50"
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", encoding="ascii", errors="replace") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([ptxas, "-O0", "-arch=" + arch, "-o", os.devnull, f.name], capture_output=True, text=True)
    return "" if run.returncode == 0 else (run.stdout + run.stderr).replace(f.name, "line")


def read(file):
    with open(file, encoding="utf-8", errors="replace") as f:
        return f.read()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ptxas = sys.argv[1]
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    good, left, bad = [], 0, []
    for pattern in "testdata/insn/*.ptx", "testdata/control/*.ptx", "testdata/nvcc/*.ptx", "testdata/good/*.ptx", "kernels/cuda/*.ptx", "docs/*.ptx":
        for file in sorted(glob.glob(pattern)):
            if re.search(r"^\s*\.version\s+1\.|^\s*\.address_size\s+32", read(file), re.M):
                left += 1  # 32-bit addresses no longer assemble
            else:
                good.append(file)
    for file in sorted(glob.glob("testdata/bad/*.ptx")):
        lines = read(file).split("\n")
        errors = [i for i, line in enumerate(lines) if "// ERROR" in line]
        for e in errors:
            bad.append((file, e, lines[e], "\n".join(line for i, line in enumerate(lines) if i == e or i not in errors)))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        taken = pool.map(lambda file: assemble(ptxas, read(file)), good)
        refused = pool.map(lambda case: assemble(ptxas, case[3]), bad)
        differences, known = [], 0
        for file, message in zip(good, taken):
            if "Unsupported .version" in message:
                left += 1
            elif message and file in TAKEN:
                known += 1
            elif message:
                differences.append(f"{file}: does not assemble: {message.splitlines()[0]}")
        for (file, i, line, _), message in zip(bad, refused):
            if not message and any(f'"{why}' in line or f'{why}"' in line for why in REFUSED):
                known += 1
            elif not message:
                differences.append(f"{file}:{i + 1}: assembles: {line.strip()}")
    print("\n".join(differences + [f"{len(good)} files, {len(bad)} bad lines: {len(differences)} differences, {known} known ones; {left} files left out: 32-bit addresses, or newer than the assembler"]))
    sys.exit(bool(differences))


main()
