"""Functions compiled to kernels by torch.compile, compared with the results of PyTorch on the host."""

import pytest
import torch
from torch.nn import functional as F

generator = torch.Generator().manual_seed(1)


def normal(*shape):
    return torch.randn(*shape, generator=generator)


def compiled(f, *args):
    """The result on the device. Nothing is tuned: a measurement would begin with a kernel of PyTorch's own."""
    torch._dynamo.reset()
    f = torch.compile(f, options={"triton.autotune_pointwise": False})
    return f(*(a.cuda() for a in args))


FUNCTIONS = {
    "elementwise": (lambda x, y: torch.sin(x) * y + x.relu(), (normal(1000), normal(1000))),
    "broadcast": (lambda x, y: x / (1 + y.exp()), (normal(30, 1), normal(1, 50))),
    "transcendental": (lambda x: torch.erf(x) + torch.tanh(x) + torch.log1p(x.abs()) + x.abs().pow(1.7), (normal(1000),)),
    "integers": (lambda x, y: (x * y) // 7 % 13 ^ (x >> 2), (torch.arange(1000), torch.arange(1000) * 31)),
    "half": (lambda x: (x * 2 + 1).relu(), (normal(1000).half(),)),
    "sum": (lambda x: x.sum(1), (normal(65, 300),)),
    "sum of all": (lambda x: x.sum(), (normal(200, 300),)),
    "argmax": (lambda x: x.argmax(1), (normal(30, 100),)),
    "variance": (lambda x: x.var(0), (normal(100, 30),)),
    "softmax": (lambda x: torch.softmax(x, 1), (normal(33, 100),)),
    "layer norm": (lambda x: F.layer_norm(x, (64,)), (normal(20, 64),)),
    "mean of squares": (lambda x, y: F.mse_loss(x, y), (normal(20, 10), normal(20, 10))),
    "product of matrices": (lambda a, b: (a[:, :, None] * b[None]).sum(1), (normal(20, 30), normal(30, 17))),
    "transpose": (lambda x: x.t().contiguous() + 1, (normal(30, 50),)),
    "gather": (lambda w, i: w[i] * 2, (normal(20, 30), torch.tensor([3, 1, 7]))),
    "pool": (lambda x: F.max_pool2d(x, 2), (normal(1, 3, 12, 12),)),
    "running sum": (lambda x: x.cumsum(1), (normal(4, 100),)),
    "sort": (lambda x: x.sort(1)[0], (normal(4, 100),)),
    "where": (lambda x, y: torch.where(x > y, x, -y), (normal(1000), normal(1000))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    f, args = FUNCTIONS[name]
    digits = 1e-3 if args[0].dtype == torch.half else 1e-4
    torch.testing.assert_close(compiled(f, *args).cpu(), f(*args), rtol=digits, atol=digits)


def test_gradients():
    def loss(w, x):
        return ((w * x).sin().sum(1) ** 2).mean()

    w, x = normal(30), normal(20, 30)
    a = w.clone().requires_grad_()
    loss(a, x).backward()
    torch._dynamo.reset()
    b = w.cuda().requires_grad_()
    result = torch.compile(loss, options={"triton.autotune_pointwise": False})(b, x.cuda())
    gradient = torch.autograd.grad(result, b, grad_outputs=torch.tensor(1.0).cuda())[0]
    torch.testing.assert_close(gradient.cpu(), a.grad, rtol=1e-4, atol=1e-4)


def test_dynamic_shapes():
    torch._dynamo.reset()
    f = torch.compile(lambda x: x * 2 + x.sum(), dynamic=True, options={"triton.autotune_pointwise": False})
    for n in (10, 33, 1000):
        x = normal(n)
        torch.testing.assert_close(f(x.cuda()).cpu(), x * 2 + x.sum(), rtol=1e-4, atol=1e-4)
