#!/usr/bin/env bash
# Mitsuba: numbers, sampling and warps on Dr.Jit's arrays. Its ray tracing on CUDA wants OptiX, which is machine code.
source "$(dirname "$0")/common.sh"
packages mitsuba==3.9.1 numpy==2.4.6
cat >"$work/sampling.py" <<'PROGRAM'
import numpy as np
import drjit as dr
import mitsuba as mi

mi.set_variant("cuda_ad_rgb")

# Points on the sphere: of length 1, and with a mean of 0.
count = 1 << 12
sampler = mi.load_dict({"type": "independent"})
sampler.seed(1, wavefront_size=count)
points = mi.warp.square_to_uniform_sphere(sampler.next_2d())
host = np.array(points)
np.testing.assert_allclose(np.linalg.norm(host, axis=0), 1, rtol=1e-5)
np.testing.assert_allclose(host.mean(axis=1), 0, atol=0.05)

# A rotation keeps lengths, and its inverse takes it back.
turn = mi.Transform4f().rotate(axis=[0, 0, 1], angle=30)
np.testing.assert_allclose(np.array(turn.inverse() @ (turn @ points)), host, atol=1e-5)

# The derivative of the sum of x² is 2x.
x = dr.arange(mi.Float, 1000)
dr.enable_grad(x)
dr.backward(dr.sum(x * x))
np.testing.assert_array_equal(np.array(dr.grad(x)), 2 * np.arange(1000))
PROGRAM
gemu exec --require-launches -- python "$work/sampling.py"
