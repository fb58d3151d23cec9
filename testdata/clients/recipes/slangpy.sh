#!/usr/bin/env bash
# SlangPy: functions of Slang, which NVRTC compiles, on NumPy arrays. It warns that there is no OptiX.
source "$(dirname "$0")/common.sh"
packages slangpy==0.43.1 "numpy==2.4.6" nvidia-cuda-nvrtc-cu12==12.9.86 "nvidia-cuda-runtime-cu12==12.9.*"
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
cat >"$work/saxpy.slang" <<'PROGRAM'
float saxpy(float a, float x, float y) { return a * x + y; }
PROGRAM
cd "$work"
gemu exec --toolkit "$work/cuda" --require-launches -- python -c '
import pathlib
import numpy as np
import slangpy
device = slangpy.create_device(type=slangpy.DeviceType.cuda, include_paths=[pathlib.Path.cwd()])
module = slangpy.Module.load_from_file(device, "saxpy.slang")
x = np.arange(1000, dtype=np.float32)
np.testing.assert_array_equal(module.saxpy(2.0, x, np.ones(1000, np.float32), _result="numpy"), 2 * x + 1)
'
