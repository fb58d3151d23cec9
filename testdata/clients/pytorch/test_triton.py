"""Kernels written for Triton, on tensors of PyTorch."""

import torch
import triton
import triton.language as tl


@triton.jit
def saxpy(n, a, x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, a * tl.load(x + i, inside) + tl.load(y + i, inside), inside)


def test_saxpy():
    x, y = torch.arange(1000.0), torch.ones(1000)
    on = y.cuda()
    saxpy[triton.cdiv(1000, 128),](1000, 2.0, x.cuda(), on, BLOCK=128)
    assert torch.equal(on.cpu(), 2 * x + y)


@triton.jit
def product(a, b, c, N: tl.constexpr, K: tl.constexpr, M: tl.constexpr):
    n, k, m = tl.arange(0, N), tl.arange(0, K), tl.arange(0, M)
    x = tl.load(a + n[:, None] * K + k[None])
    y = tl.load(b + k[:, None] * M + m[None])
    tl.store(c + n[:, None] * M + m[None], tl.dot(x, y))


def test_product_of_matrices_by_tensor_cores():
    a, b = (torch.randn(32, 32, generator=torch.Generator().manual_seed(s)).half() for s in (1, 2))
    c = torch.empty(32, 32, device="cuda")
    product[1,](a.cuda(), b.cuda(), c, N=32, K=32, M=32)
    torch.testing.assert_close(c.cpu(), a.float() @ b.float(), rtol=1e-3, atol=1e-3)
