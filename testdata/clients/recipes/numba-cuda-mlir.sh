#!/usr/bin/env bash
# numba-cuda-mlir: the programs of testdata/clients/numba-cuda-mlir. NVIDIA's nvJitLink of the package translates its LTO-IR.
source "$(dirname "$0")/common.sh"
packages "numba-cuda-mlir[cu13]==0.6.0" numpy==2.4.6 pytest
gemu exec --sanitize all --require-launches -- python -m pytest -q -p no:cacheprovider "$here/../numba-cuda-mlir"
