#!/usr/bin/env python3
"""Runs the tests of LLVM's NVPTX back end through llc, and loads each module that comes out with gemu.

    tools/assembler/llvm.py [--llc LLC] [--limit N] [--match PATTERN] [--out DIR] --ptxas PTXAS [--ptxas PTXAS] FOLDER

FOLDER is llvm/test/CodeGen/NVPTX of LLVM's sources, of the release of LLC (default llc-22). Debian has them:
"apt-get source --download-only llvm-toolchain-22", then unpack that folder alone:

    tar -xJf llvm-toolchain-22_*.orig.tar.xz --wildcards '*/llvm/test/CodeGen/NVPTX/*' --strip-components=1

Of each RUN line the command of llc is executed as it stands; opt, split-file, and what else stands before
llc in a pipe, are not. What it writes is assembled by each PTXAS that knows the module's .version; an
assembler that does not is no judge. Every module that one takes has to load here, and its kernels have to be
lowered; a kernel may hold legal instructions that do not run. With --limit, that many modules, spread evenly.
Prints the differences with their reasons, and ends with status 1 if there are any.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import ptxas as assembler

# The command that replaces llc in the tests' notation.
DEFINES = re.compile(r"^\s*(?:;|//)\s*DEFINE:\s*(%\{[^}]*\})\s*=\s*(.*)$")
RUN = re.compile(r"^\s*(?:;|//|#)\s*RUN:\s*(.*)$")


def commands(file):
    """The command lines of llc in a test, without the rest of a pipe."""
    lines, names, joined = [], {}, ""
    for line in file.read_text(errors="replace").split("\n"):
        if d := DEFINES.match(line):
            names[d[1]] = d[2]
        elif r := RUN.match(line):
            joined += r[1].rstrip()
            if joined.endswith("\\"):
                joined = joined[:-1] + " "
                continue
            lines.append(joined)
            joined = ""
    for line in lines:
        for name, value in names.items():
            line = line.replace(name, value)
        line = re.sub(r"^%if [^%]*%\{|%\}|%if \S+ %\{", "", line)
        command = line.split("|")[0].strip()
        if re.match(r"llc\b", command) and "-filetype=obj" not in command and "-filetype=null" not in command and "%t" not in command.split(">")[0]:
            yield command.split(">")[0].strip()


def made(job):
    """A module: its text, or None if llc refuses or stops before machine code."""
    llc, file, command = job
    text = command.replace("%s", shlex.quote(str(file))).replace("%p", shlex.quote(str(file.parent))).replace("%S", shlex.quote(str(file.parent)))
    text = re.sub(r"^llc\b", llc, text)
    text = re.sub(r"\s-o\s+\S+", "", text)
    text = re.sub(r"2>&1|2>/dev/null", "", text)
    if "<" not in text and str(file) not in text or "%" in re.sub(r"'[^']*'", "", text):
        return None
    try:
        run = subprocess.run(["bash", "-c", text + " -o -"], capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return None
    return run.stdout if run.returncode == 0 and re.search(r"^\s*\.version", run.stdout, re.M) else None


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--llc", default="llc-22")
    args.add_argument("--ptxas", action="append", required=True)
    args.add_argument("--limit", type=int)
    args.add_argument("--match", default="")
    args.add_argument("--out")
    args.add_argument("folder", type=pathlib.Path)
    a = args.parse_args()
    folder = a.folder.resolve()
    judges = [os.path.abspath(p) for p in a.ptxas]
    out = pathlib.Path(a.out or tempfile.mkdtemp()).resolve()
    out.mkdir(parents=True, exist_ok=True)
    files = [f for f in sorted(folder.rglob("*")) if f.suffix in (".ll", ".mir") and re.search(a.match, str(f.relative_to(folder)))]
    jobs = [(a.llc, f, c) for f in files for c in dict.fromkeys(commands(f))]
    if a.limit and a.limit < len(jobs):
        jobs = [jobs[i * len(jobs) // a.limit] for i in range(a.limit)]
    if not jobs:
        sys.exit(f"{folder} has no test that runs llc")
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    modules = []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
        seen = set()
        for (_, f, command), text in zip(jobs, pool.map(made, jobs)):
            if text is None or text in seen:
                continue
            seen.add(text)
            name = out / f"{str(f.relative_to(folder)).replace('/', '_')}.{len(modules)}.ptx"
            name.write_text(text, errors="replace")
            modules.append((name, f"{f.relative_to(folder)}: {command}", text))
        loaded = subprocess.run(["go", "run", "-C", "tools", "./assembler/load"], input="\n".join(str(n) for n, _, _ in modules), capture_output=True, text=True, check=True).stdout
        outcomes = [json.loads(line) for line in loaded.splitlines()]
        verdicts = [list(pool.map(lambda m: assembler.assemble(j, m[2]), modules)) for j in judges]
    taken = loads = no_judge = refused = 0
    differences, waits = [], collections.Counter()
    for i, ((name, what, _), o) in enumerate(zip(modules, outcomes)):
        said = [v[i] for v in verdicts]
        unknown = [s for s in said if s is None or re.search(r"Unsupported \.version|32-Bit compilation is no longer|is not defined for option", s)]
        good = o["Error"] == "" and not o["NotLower"]
        loads += good
        waits.update(re.sub(r".*: ", "", w).split(" is legal")[0] for w in o["NotRun"] or [])
        if "" in said:
            taken += 1
            if not good:
                differences.append(f"{what}\n    {name}\n    {(o['Error'] or o['NotLower'][0]).splitlines()[0]}")
        elif len(unknown) == len(said):
            no_judge += 1
        else:
            refused += 1
    print("\n".join(differences))
    print(f"{len(jobs)} commands of {len(files)} tests: {len(modules)} modules, {taken} of them taken by the assembler, {loads} load here; "
          f"{refused} refused by it, {no_judge} that it cannot judge; {len(differences)} differences")
    for instruction, n in waits.most_common(10):
        print(f"legal, but not run, in {n} kernels: {instruction}")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
