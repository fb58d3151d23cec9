"""Adds two arrays with CuPy."""

import cupy

assert (cupy.arange(10) + cupy.ones(10)).sum() == 55
