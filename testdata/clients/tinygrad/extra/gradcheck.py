"""Derivatives of a function of a tensor, as tinygrad computes them and by differences, which its tests compare.
Its source distribution leaves them out."""

import numpy as np
from tinygrad import Tensor


def jacobian(function, x):
    """The derivatives of each element of a function's result (rows) by each of x (columns)."""
    rows = []
    for i in range(function(x).numel()):
        at = Tensor(x.numpy(), requires_grad=True)
        rows.append(function(at).flatten()[i].gradient(at)[0].numpy().flatten())
    return np.array(rows)


def numerical_jacobian(function, x, eps=1e-3):
    """The same by differences of values eps to both sides."""
    at, columns = x.numpy().flatten(), []
    for i in range(at.size):
        step = np.zeros_like(at)
        step[i] = eps
        above, below = (function(Tensor((at + s).reshape(x.shape))).numpy().flatten() for s in (step, -step))
        columns.append((above - below) / (2 * eps))
    return np.array(columns).T


def gradcheck(function, x, eps=1e-3, atol=1e-3, rtol=1e-3):
    """Whether both agree."""
    return np.allclose(jacobian(function, x), numerical_jacobian(function, x, eps), atol=atol, rtol=rtol)
