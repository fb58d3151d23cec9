"""Compiles programs with nvcc, and returns their output over gemu's runtime library."""

import os
import pathlib
import subprocess

CUDA = pathlib.Path(os.environ["GEMU_CUDA"])  # made by cmd/libcudart/toolkit.sh
MAJORS = ("12", "13")
PTX = ("-arch=compute_80", "-code=compute_80")


def build(major, folder, sources, *options):
    """Builds a program of sources in a folder, and returns its path."""
    program = folder / "program"
    command = [CUDA / major / "bin/nvcc", "-std=c++17", "-cudart=shared", "-w", "-o", program, *options, *sources]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(made.stdout)
    assert made.returncode == 0, "nvcc: " + next((line for line in made.stdout.splitlines() if "error" in line), made.stdout)
    return program


def run(program, *arguments):
    """Runs a program in its folder, and returns what it prints. It must end with status 0."""
    done = subprocess.run([program, *arguments], cwd=program.parent, stdout=subprocess.PIPE, text=True, errors="replace")
    print(done.stdout)
    assert done.returncode == 0, f"ends with status {done.returncode}"
    return done.stdout
