"""The programs on a device of compute capability 7.5."""

import os

os.environ["GEMU_SM"] = "7.5"  # before the library is loaded

from programs import *  # noqa: E402, F403
