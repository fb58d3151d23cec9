#!/usr/bin/env bash
# Dr.Jit: arrays whose operations become PTX. The sanitizer race finds races in its own reductions.
source "$(dirname "$0")/common.sh"
packages "drjit==1.5.0" "numpy==2.4.6"
gemu exec --sanitize bounds --require-launches -- python -c '
import drjit as dr
from drjit.cuda import Float
x = dr.arange(Float, 1000)
assert dr.sum(x * 2 + 1)[0] == 1000 * 1000, dr.sum(x * 2 + 1)
'
