#!/usr/bin/env bash
# tinygrad: its own PTX, without a compiler of NVIDIA's.
source "$(dirname "$0")/common.sh"
packages tinygrad numpy
DEV=CUDA:PTX gemu exec --require-launches -- python -c '
import numpy as np
from tinygrad import Tensor
a = np.arange(16, dtype=np.float32).reshape(4, 4)
np.testing.assert_array_equal((Tensor(a) @ Tensor(a)).numpy(), a @ a)
'
