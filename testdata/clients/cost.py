#!/usr/bin/env python3
"""Measures the processor time that a client's tests spend inside gemu's libraries.

    testdata/clients/cost.py CLIENT PREFIX [PREFIX ...] [--match PATTERN] [--runs N] [--work FOLDER]

Each PREFIX is a folder that cmd/install.sh has filled, such as those of two commits. The tests run
as run.py runs them, under perf (Linux), in turn with the libraries of each PREFIX, N times (default
1). The time of a run is the sum over the samples in gemu's files and in machine code that gemu has
written to memory; the kernel's work on their behalf is not in it. Prints a line for each file of
tests: the least time of the runs with each PREFIX, in seconds, and its ratio to that of the first.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

import run

RATE = 499  # samples a second and core
NAMES = re.compile(r"^(libcuda\.so|libgemu\.so|libcudart\.so|libnvJitLink\.so|gemu$|ptxas$|\[anon|//anon|memfd:|anon_inode)")


@dataclasses.dataclass
class Cost:
    """Processor seconds of a run of tests."""

    inside: float  # in gemu's libraries
    whole: float  # of all processes


def measure(place, file):
    """The cost of a file of tests with the libraries of a place."""
    data = place.log(file).with_suffix(".perf")
    client = place.client
    command = [place.python, place.root / file] if client.runner == "program" else [
        place.python, "-m", "pytest", "-p", "client_plugin", "-p", "no:cacheprovider", "--capture=no", "--quiet", "--rootdir", place.root, *map(place.fill, client.options), file]
    perf = ["perf", "record", "--quiet", "--event", "cpu-clock:u", "--freq", str(RATE), "--output", data, "--", *command]
    with open(data.with_suffix(".log"), "w") as out:
        subprocess.run(perf, cwd=place.root, env=place.environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    said = run.run(["perf", "report", "--input", data, "--sort", "dso", "--show-nr-samples", "--stdio", "--field-separator", "\t"])
    data.unlink()
    inside = whole = 0
    for line in said.splitlines():
        fields = [f.strip() for f in line.split("\t")]
        if line.startswith("#") or len(fields) < 3:
            continue
        whole += int(fields[1])
        if NAMES.match(fields[2]):
            inside += int(fields[1])
    return Cost(inside / RATE, whole / RATE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=sorted(p.stem for p in run.HERE.glob("*.toml")))
    parser.add_argument("prefixes", metavar="PREFIX", nargs="+", type=pathlib.Path)
    parser.add_argument("--match", default="")
    parser.add_argument("--runs", type=int, default=1)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    parser.add_argument("--work", type=pathlib.Path, default=cache / "gemu-clients")
    args = parser.parse_args()
    for prefix in args.prefixes:
        if not (prefix / "lib/gemu/libcuda.so.1").exists():
            parser.error(f"{prefix}/lib/gemu/libcuda.so.1 does not exist: fill the folder by cmd/install.sh {prefix}")

    place = run.Workplace(args.client, args.work.resolve(), run.load(args.client))
    place.prepare()
    files = place.files(args.match)
    if not files:
        parser.error(f"no file of tests matches {args.match!r}")
    total = [Cost(0, 0) for _ in args.prefixes]
    print(*(f"{p}  all" for p in args.prefixes), "ratio  file", sep="  ")
    for file in files:
        costs = [[] for _ in args.prefixes]
        for _ in range(args.runs):
            for i, prefix in enumerate(args.prefixes):
                place.places["gemu"] = str((prefix / "lib/gemu").resolve())
                costs[i].append(measure(place, file))
        best = [min(c, key=lambda c: c.inside) for c in costs]
        total = [Cost(t.inside + b.inside, t.whole + b.whole) for t, b in zip(total, best)]
        show(best, file)
    show(total, "all")


def show(costs, name):
    """Prints the line of a file, or of all."""
    first = costs[0].inside
    ratio = [f"{c.inside / first:.3f}" if first else "-" for c in costs[1:]]
    print("  ".join([f"{c.inside:8.2f} {c.whole:8.2f}" for c in costs] + ratio + [name]), flush=True)


if __name__ == "__main__":
    main()
