"""The programs on a device of compute capability 8.6."""

import os

os.environ["GEMU_SM"] = "8.6"  # before the library is loaded

from programs import *  # noqa: E402, F403
