#!/usr/bin/env python3
"""Lists the machine instructions that the assembler makes of each tensor instruction, by
generation.

    tools/assembler/tensor.py PTXAS-12 NVDISASM-12 PTXAS-13 NVDISASM-13 >interp/internal/matrix/testdata/machine.txt

Those of version 12 are for sm_70 (pip install nvidia-cuda-nvcc-cu12; triton 3.1.0 has an nvdisasm),
those of version 13 for the others (nvidia-cuda-nvcc, nvidia-cuda-nvdisasm). Instructions are those of the instruction table (tools/assembler/mutants), of
wgmma with n = 8 and 256. Below an instruction stand the machine instructions that multiply, convert or
add, each with its number, of some generations; generations that do not have the
instruction are left out, and so are saturation, other roundings, layouts that others have too, and
metadata that need not be ordered: they change none of the rest.
"""

import collections
import json
import re
import subprocess
import sys
import tempfile

import ptxas as assembler

TARGETS = "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a"
LEFT_OUT = r"m64n(?!8k|256k)|satfinite|\.r[zmp]\.|\.sp\.sync|col\.row|row\.row|col\.col"
# Instructions that multiply matrices, or compute with or convert floats. Integer instructions are omitted:
# they may be there for addresses and descriptors.
FLOATS = r"[A-Z]*MMA|FFMA|FADD|FMUL|HFMA2|HADD2|HMUL2|DFMA|DADD|F2F|F2FP"


def instructions():
    """Names of instructions, their texts, and the texts before them. Operands come from memory and
    results go there, so that the assembler keeps the instruction."""
    run = subprocess.run(["go", "run", "-C", "tools", "./assembler/mutants", "-forms", "200", "mma", "wmma", "wgmma"], capture_output=True, text=True, check=True)
    for line in run.stdout.splitlines():
        m = json.loads(line)
        name = m["Text"].split()[0]
        if m["Kind"] or m["Error"] or not re.match(r"mma|wmma\.mma|wgmma\.mma_async", name) or re.search(LEFT_OUT, name):
            continue
        moves = [(register, "b" + re.sub(r"\D", "", kind[:-2] if kind.endswith("x2") and kind != "f16x2" else kind.replace("f16x2", "b32"))) for kind, register in re.findall(r"\.reg \.(\w+) (%\w+);", m["Decls"]) if kind != "pred"]
        loads = "".join(f" ld.volatile.global.{kind} {register}, [%memory];" for register, kind in moves)
        stores = "".join(f"; st.volatile.global.{kind} [%memory], {register}" for register, kind in moves)
        yield name, m["Text"] + stores, m["Decls"].replace("\n", " ") + " .reg .b64 %memory; ld.param.b64 %memory, [p];" + loads


def machine(ptxas, nvdisasm, target, version, list):
    """For each instruction that the target has, its machine instructions with their numbers."""
    said = assembler.assemble_all(ptxas, version, target, [(decls, text) for _, text, decls in list])
    has = [i for i, message in enumerate(said) if message == ""]
    text = assembler.PROLOGUE.format(version=version, target=target) + "".join(assembler.KERNEL.format(i=i, decls=list[i][2], text=list[i][1]) for i in has)
    found = {}
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source, tempfile.NamedTemporaryFile(suffix=".cubin") as made:
        source.write(text)
        source.flush()
        subprocess.run([ptxas, "-O0", "-arch=" + target, "-o", made.name, source.name], check=True, capture_output=True)
        listing = subprocess.run([nvdisasm, "-c", made.name], check=True, capture_output=True, text=True).stdout
    for part in re.split(r"^\s*\.section\s+", listing, flags=re.M):
        if name := re.match(r"\.text\.e(\d+)", part):
            ops = re.findall(rf"^\s*/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?((?:{FLOATS})\b[\w.]*)", part, re.M)
            found[int(name.group(1))] = dict(sorted(collections.Counter(ops).items()))
    return found


def main():
    old, new = sys.argv[1:3], sys.argv[3:5]
    list = [*{name: (name, text, decls) for name, text, decls in instructions()}.values()]
    says = collections.defaultdict(dict)
    for target in TARGETS:
        ptxas, nvdisasm = old if target == "sm_70" else new
        version = re.search(r"current version is '(.*?)'", assembler.assemble(ptxas, ".version 99.9\n.target sm_100\n")).group(1)
        for i, ops in machine(ptxas, nvdisasm, target, version, list).items():
            text = " + ".join(f"{n} {op}" if n > 1 else op for op, n in ops.items())
            says[list[i][0]].setdefault(text, []).append(target)
    lines = {name: "".join(f"\n    {' '.join(targets)}: {text}" for text, targets in by.items()) for name, by in says.items()}
    for name, text in lines.items():
        print(name + text)


if __name__ == "__main__":
    main()
