"""Runs operations of tinygrad and compares their results with numpy's. Environment variables select the
library that computes them: see run.sh."""

import sys

import numpy as np
from tinygrad import Device, Tensor, TinyJit, nn
from tinygrad.helpers import Context

rng = np.random.default_rng(1)
bad = []


def normal(*shape):
    return rng.standard_normal(shape, dtype=np.float32)


def same(name, got, want):
    if not np.allclose(got.numpy(), want, rtol=1e-4, atol=1e-4):
        bad.append(name)


a, b = normal(33, 65), normal(65, 17)
A, B = Tensor(a), Tensor(b)
e = np.exp(a - a.max(1, keepdims=True))
same("matmul", A @ B, a @ b)
same("sum", A.sum(), a.sum())
same("max", A.max(axis=1), a.max(axis=1))
same("softmax", A.softmax(), e / e.sum(1, keepdims=True))
same("exp", A.exp(), np.exp(a))
same("log", A.abs().log(), np.log(abs(a)))
same("sin", A.sin(), np.sin(a))
same("sqrt", A.abs().sqrt(), np.sqrt(abs(a)))
same("cumsum", A.cumsum(1), a.cumsum(1))
same("where", (A > 0).where(A, 0), np.maximum(a, 0))
same("gather", A[Tensor([3, 1, 2])], a[[3, 1, 2]])
same("sort", A[0].sort()[0], np.sort(a[0]))
i = np.arange(1000, dtype=np.int32)
same("int32", Tensor(i) * 7 % 13, i * 7 % 13)
l = i.astype(np.int64)
same("int64", Tensor(l) * 70000000001 // 13, l * 70000000001 // 13)
x, w = normal(1, 3, 12, 12), normal(4, 3, 3, 3)
conv = [[[[(x[0, :, r:r + 3, c:c + 3] * k).sum() for c in range(10)] for r in range(10)] for k in w]]
same("conv2d", Tensor(x).conv2d(Tensor(w)), np.array(conv))


@TinyJit
def step(x, y):
    return ((x @ y).relu() + 1).sum(0).realize(), (x * 2).realize()


for _ in range(5):  # from the third call on a graph is launched
    u = normal(16, 16)
    r, d = step(Tensor(u).realize(), Tensor(u).realize())
    same("jit", r, (np.maximum(u @ u, 0) + 1).sum(0))
    same("jit of two", d, u * 2)

model = nn.Linear(8, 2)
optimiser = nn.optim.SGD(nn.state.get_parameters(model), lr=0.1)
losses = []
with Context(TRAINING=1):
    X = Tensor(normal(32, 8))
    for _ in range(8):
        loss = ((model(X) - X[:, :2] * 3) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
if losses[-1] >= losses[0]:
    bad.append("training")

if not Device.DEFAULT.startswith("CUDA"):
    sys.exit(f"the device is {Device.DEFAULT}")
if bad:
    sys.exit("wrong: " + ", ".join(bad))
print("ok")
