"""The programs on a device of compute capability 9.0."""

import os

os.environ["GEMU_SM"] = "9.0"  # before the library is loaded

from programs import *  # noqa: E402, F403
