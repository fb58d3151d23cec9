#!/usr/bin/env bash
# Triton without PyTorch: the programs of testdata/clients/triton. gemu exec gives it gemu's ptxas.
source "$(dirname "$0")/common.sh"
packages "triton==3.9.0" "numpy==2.4.6" pytest
gemu exec --require-launches -- python -m pytest -q -p no:cacheprovider "$here/../triton/test_sm_86.py" -k "${2:-add}"
