#!/usr/bin/env python3
"""Writes the files of this folder with NumPy, the reference of the format: python3 make.py (NumPy 2.4.6)."""
import pathlib
import warnings

import numpy as np

here = pathlib.Path(__file__).parent
arrays = {
    "f2": np.array([[1, -2, 0.5], [65504, np.inf, 2.0**-24]], "<f2"),
    "f4": np.array(3.25, "<f4"),  # no dimension
    "f8": np.array([1e300, -0.1], "<f8"),
    "i1": np.array([-128, 127], "i1"),
    "u1": np.array([[[1], [2]], [[3], [255]]], "u1"),
    "i2": np.array([-2, 3], "<i2"),
    "u2": np.array([65535], "<u2"),
    "i4": np.array([-70000, 5], "<i4"),
    "u4": np.array([4294967295, 0], "<u4"),
    "i8": np.array([-(2**62), 1], "<i8"),
    "u8": np.array([2**64 - 1, 1], "<u8"),
    "b1": np.array([True, False, True]),
    "empty": np.zeros((0, 3), "<f4"),
    "big": np.array([[1, -2], [3, 70000]], ">i4"),
    "fortran": np.asfortranarray(np.arange(6, dtype="<i4").reshape(2, 3)),
    "column": np.asfortranarray(np.arange(3, dtype="<i4")),  # both orders
    "complex": np.array([1 + 2j], "<c8"),
}
for name, a in arrays.items():
    np.save(here / f"{name}.npy", a)
for version in (2, 3):
    with open(here / f"version{version}.npy", "wb") as f, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(f, arrays["i4"], version=(version, 0))
