#!/usr/bin/env python3
"""Compares the times of clients' programs under gemu exec and on the clients' own CPU backends.

    testdata/clients/cpu_times.py FOLDER [CLIENT ...] [--runs N]

Prints a table in Markdown. Each program runs in two processes of its own, under gemu exec (which must be on the path) and on the
backend, first once to compile its kernels and then N times (default 5). A time is the least of these N, in seconds: launches
and the wait for their end, without copies. Results are compared with NumPy's. The times are rough: other programs of the
machine disturb them, and they compare a machine that checks every access with compiled code.

The packages come from the registry of pip, into FOLDER; those of PyTorch need 8 GB. Dr.Jit needs libLLVM, tinygrad clang, and PyTorch
g++ and Python's headers, from the system.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The end of each program: run() runs the kernel, result() returns what it has computed, want is NumPy's result.
MEASURE = """
import sys, time
import numpy as np
run()
times = []
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    run()
    times.append(time.perf_counter() - began)
np.testing.assert_allclose(result(), want, rtol=1e-3, atol=1e-3)
print(min(times))
"""

# The packages of PyTorch, which include Triton.
TORCH = ["torch==2.9.1", "numpy==2.4.6"]

# A product of matrices, in NumPy.
MATRICES = """
import numpy as np
a, b = np.random.default_rng(1).random((2, N, N), dtype=np.float32)
want = a @ b
"""


@dataclasses.dataclass
class Client:
    """A client and its program, which reads cuda or cpu from sys.argv[1]."""

    packages: list  # requirements for pip
    subject: str  # of the program
    backend: str  # the name of the backend
    program: str
    cuda: dict = dataclasses.field(default_factory=dict)  # variables under gemu exec
    cpu: dict = dataclasses.field(default_factory=dict)  # variables on the backend
    like: str = ""  # the client whose environment it uses; its own if it is empty


# A product of matrices in Taichi, and in Quadrants, which has the same names.
FIELDS = """
import sys
ti.init(arch=getattr(ti, sys.argv[1]), offline_cache=False)
x, y, z = (ti.field(ti.f32, shape=(N, N)) for _ in range(3))
x.from_numpy(a)
y.from_numpy(b)

@ti.kernel
def multiply():
    for i, j in z:
        s = 0.0
        for k in range(N):
            s += x[i, k] * y[k, j]
        z[i, j] = s

def run():
    multiply()
    ti.sync()

result = z.to_numpy
"""

CLIENTS = {
    "taichi": Client(
        ["taichi==1.7.4", "numpy==2.4.6"],
        "product of matrices, 128×128",
        "`ti.cpu`, LLVM",
        "N = 128" + MATRICES + "import taichi as ti" + FIELDS,
    ),
    "quadrants": Client(
        ["quadrants==1.3.3", "numpy==2.4.6"],
        "product of matrices, 128×128",
        "`qd.cpu`, LLVM",
        "N = 128" + MATRICES + "import quadrants as ti" + FIELDS,
    ),
    "drjit": Client(
        ["drjit==1.5.0", "numpy==2.4.6"],
        "32 steps of x ← x·x + c for 65,536 numbers",
        "`drjit.llvm`",
        """
import sys
import numpy as np
import drjit as dr
if sys.argv[1] == "cuda":
    from drjit.cuda import Float
else:
    from drjit.llvm import Float
N = 1 << 16
c = np.linspace(-1, 0.2, N, dtype=np.float32)
want = np.zeros(N, np.float32)
for _ in range(32):
    want = want * want + c
start, x = Float(c), None
dr.eval(start)

def run():
    global x
    x = dr.zeros(Float, N)
    for _ in range(32):
        x = x * x + start
    dr.eval(x)
    dr.sync_thread()

def result():
    return np.array(x)
""",
    ),
    "tinygrad": Client(
        ["tinygrad==0.13.0", "numpy==2.4.6"],
        "product of matrices, 128×128",
        "`CPU`, clang",
        "N = 128" + MATRICES + """
from tinygrad import Tensor, TinyJit, Device
x, y = Tensor(a).realize(), Tensor(b).realize()

@TinyJit
def multiply(x, y):
    return (x @ y).realize()

z = None

def run():
    global z
    z = multiply(x, y)
    Device[z.device].synchronize()

run()  # TinyJit records the second call, and replays it from the third on
run()

def result():
    return z.numpy()
""",
        cuda={"DEV": "CUDA:PTX"},
        cpu={"DEV": "CPU", "CC": shutil.which("clang") or "clang-19"},
    ),
    "halide": Client(
        ["halide==21.0.0", "numpy==2.4.6", "imageio==2.*"],
        "product of matrices, 128×128",
        "`host`, without a schedule for it",
        "N = 128" + MATRICES + """
import sys
import halide as hl
x, y, xi, yi = (hl.Var(n) for n in ("x", "y", "xi", "yi"))
k = hl.RDom([(0, N)])
left, right = hl.Buffer(a), hl.Buffer(b)
f = hl.Func("multiply")
f[x, y] = 0.0
f[x, y] += left[k, y] * right[x, k]
if sys.argv[1] == "cuda":
    f.gpu_tile(x, y, xi, yi, 16, 16)
    f.update().gpu_tile(x, y, xi, yi, 16, 16)
target = hl.Target("host-cuda-cuda_capability_80" if sys.argv[1] == "cuda" else "host")
f.compile_jit(target)
z = hl.Buffer(hl.Float(32), [N, N])

def run():
    f.realize(z)
    z.device_sync()

def result():
    z.copy_to_host()
    return np.array(z)
""",
    ),
    "numba": Client(
        ["numba-cuda[cu13]==0.30.4", "numba==0.68.1"],
        "product of matrices, 128×128",
        "`njit(parallel=True)`, LLVM",
        "N = 128" + MATRICES + """
import sys

if sys.argv[1] == "cuda":
    from numba import cuda
    x, y, z = cuda.to_device(a), cuda.to_device(b), cuda.device_array((N, N), np.float32)

    @cuda.jit
    def multiply(x, y, z):
        i, j = cuda.grid(2)
        s = np.float32(0)
        for k in range(x.shape[1]):
            s += x[i, k] * y[k, j]
        z[i, j] = s

    def run():
        multiply[(N // 16, N // 16), (16, 16)](x, y, z)
        cuda.synchronize()

    def result():
        return z.copy_to_host()
else:
    import numba
    z = np.zeros((N, N), np.float32)

    @numba.njit(parallel=True)
    def multiply(x, y, z):
        for i in numba.prange(x.shape[0]):
            for j in range(y.shape[1]):
                s = np.float32(0)
                for k in range(x.shape[1]):
                    s += x[i, k] * y[k, j]
                z[i, j] = s

    def run():
        multiply(a, b, z)

    def result():
        return z

""",
    ),
    "triton": Client(
        TORCH,
        "product of matrices, 128×128",
        "`@` of PyTorch, a library",
        "N = 128" + MATRICES + """
import sys
import torch
x, y = (torch.from_numpy(m).to(sys.argv[1]) for m in (a, b))
z = torch.empty(N, N, device=sys.argv[1])

if sys.argv[1] == "cuda":
    import triton
    import triton.language as tl

    @triton.jit
    def multiply(x, y, z, N: tl.constexpr, TILE: tl.constexpr):
        row = tl.program_id(0) * TILE + tl.arange(0, TILE)
        column = tl.program_id(1) * TILE + tl.arange(0, TILE)
        s = tl.zeros((TILE, TILE), tl.float32)
        for start in range(0, N, TILE):
            k = start + tl.arange(0, TILE)
            left, right = tl.load(x + row[:, None] * N + k[None]), tl.load(y + k[:, None] * N + column[None])
            s += tl.dot(left, right, input_precision="ieee")
        tl.store(z + row[:, None] * N + column[None], s)

    def run():
        multiply[N // 32, N // 32](x, y, z, N, 32)
        torch.cuda.synchronize()
else:
    def run():
        torch.mm(x, y, out=z)

def result():
    return z.cpu().numpy()
""",
        like="pytorch",
    ),
    "pytorch": Client(
        TORCH,
        "softmax of 256 rows of 1,024 numbers",
        "`torch.compile`, g++",
        """
import sys
import numpy as np
import torch
a = np.random.default_rng(1).standard_normal((256, 1024), dtype=np.float32)
e = np.exp(a - a.max(axis=1, keepdims=True))
want = e / e.sum(axis=1, keepdims=True)
x, z = torch.from_numpy(a).to(sys.argv[1]), None

# Autotuning would begin with a kernel of PyTorch's own, in machine code.
@torch.compile(options={"triton.autotune_pointwise": False})
def softmax(x):
    return torch.softmax(x, dim=1)

def run():
    global z
    z = softmax(x)
    if x.is_cuda:
        torch.cuda.synchronize()

def result():
    return z.cpu().numpy()
""",
        cuda={"TORCHINDUCTOR_COMPILE_THREADS": "1"},
    ),
}


def environment(name, client, folder):
    """The Python of a client's environment, which has its packages."""
    python = folder / name / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *client.packages], check=True)
    return python


def measure(command, variables):
    """The time that a program prints in its last line; None if it fails, whose output goes to standard error."""
    done = subprocess.run(command, env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{done.stdout}{done.stderr}cpu_times.py: {' '.join(map(str, command))}: status {done.returncode}", file=sys.stderr)
        return None
    return float(done.stdout.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("client", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    for name in args.client:
        if name not in CLIENTS:
            parser.error(f"there is no client {name}; there are {', '.join(CLIENTS)}")
    if not shutil.which("gemu"):
        parser.error("gemu is not on the path: cmd/install.sh PREFIX, and add PREFIX/bin")
    print("| client | program | under `gemu exec` | its CPU backend | backend | ratio |\n|---|---|---|---|---|---|")
    failed = False
    for name in args.client or CLIENTS:
        client = CLIENTS[name]
        python = environment(client.like or name, client, args.folder.resolve())
        with tempfile.TemporaryDirectory() as temp:
            program = pathlib.Path(temp, "program.py")
            program.write_text(client.program + MEASURE)
            cuda = measure(["gemu", "exec", "--quiet", "--require-launches", "--python", python, "--", python, program, "cuda", str(args.runs)], client.cuda)
            cpu = measure([python, program, "cpu", str(args.runs)], client.cpu)
        if cuda is None or cpu is None:
            failed = True
            continue
        print(f"| {name} | {client.subject} | {cuda:.4f} s | {cpu:.4f} s | {client.backend} | {cuda / cpu:.1f} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
