# y = a * x + y on NumPy arrays: sys.argv[1] is the PTX.
import sys

import gemu
import numpy as np

module = gemu.load_ptx(open(sys.argv[1]).read(), name="saxpy.ptx")
x = np.arange(100, dtype=np.float32)
y = np.ones(100, np.float32)
module.saxpy[4, 32](100, 2.0, x, y)
print(y[:4])
