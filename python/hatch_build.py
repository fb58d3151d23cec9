"""The build hook: the tag of a wheel that contains the shared library.

Files below src/gemu/lib (libgemu) are part of the wheel. With them, the wheel is for one platform: that of the environment
variable GEMU_WHEEL_PLATFORM, such as manylinux_2_28_x86_64, or that of this machine. Without them it is for all, and needs a
libgemu that GEMU_LIBRARY names. The library does not depend on the version of Python.
"""

import os
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable" or not any(Path(self.root, "src/gemu/lib").glob("*gemu*")):
            return
        platform = os.environ.get("GEMU_WHEEL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
