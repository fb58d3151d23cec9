"""The build hook: wheels that contain the shared library and the command.

GEMU_WHEEL_PREFIX names a directory into which cmd/install.sh has installed gemu, or in which tools/release has laid out a
release. The wheel then contains its libgemu in the package, and the command, the other libraries, the engine of the page, the
manual page and completions, which pip installs at the same places below the prefix of Python: bin/gemu, lib/gemu.

Without it, files below src/gemu/lib (libgemu) are part of the wheel; without them, the wheel needs a libgemu that GEMU_LIBRARY
names. A wheel with a library is for one platform: that of the environment variable GEMU_WHEEL_PLATFORM, such as
manylinux2014_x86_64, or that of this machine. The library does not depend on the version of Python.
"""

import os
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The files of a prefix, beside the command and libgemu, that a wheel contains: files and directories. Clients in C use an archive or
# a package of the system, which have the header.
SHARED = (
    "lib/gemu/", "share/doc/gemu/", "share/man/man1/gemu.1", "share/bash-completion/completions/gemu",
    "share/fish/vendor_completions.d/gemu.fish",
)

# A wheel contains no links, and a second copy of the command is large: in a wheel, ptxas is a script.
PTXAS = '#!/bin/sh\nexec "$(dirname "$0")/../../bin/gemu" ptxas "$@"\n'


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        prefix = os.environ.get("GEMU_WHEEL_PREFIX")
        if version == "editable":
            return
        if prefix:
            self.add_prefix(Path(prefix), build_data)
        elif not any(Path(self.root, "src/gemu/lib").glob("*gemu*")):
            return
        platform = os.environ.get("GEMU_WHEEL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def add_prefix(self, prefix, build_data):
        if any(Path(self.root, "src/gemu/lib").glob("*gemu*")):
            raise RuntimeError("python/src/gemu/lib has a library, and GEMU_WHEEL_PREFIX is set: remove one of them")
        for name in ("gemu", "gemu.exe"):
            if (prefix / "bin" / name).is_file():
                build_data["shared_scripts"][str(prefix / "bin" / name)] = name
        for below in ("lib/libgemu.so", "bin/gemu.dll"):
            if (prefix / below).is_file():
                build_data["force_include"][str(prefix / below)] = f"gemu/lib/{Path(below).name}"
        for start in SHARED:
            at = prefix / start
            for path in sorted(at.rglob("*")) if at.is_dir() else [at]:
                below = path.relative_to(prefix).as_posix()
                if below == "lib/gemu/ptxas":
                    self.script = Path(self.directory, "ptxas")
                    self.script.parent.mkdir(parents=True, exist_ok=True)
                    self.script.write_text(PTXAS)
                    self.script.chmod(0o755)
                    path = self.script
                elif path.is_symlink() or not path.is_file():
                    continue
                build_data["shared_data"][str(path)] = below
        if not build_data["shared_scripts"]:
            raise RuntimeError(f"GEMU_WHEEL_PREFIX: {prefix}/bin has no command gemu: cmd/install.sh {prefix} installs it")

    def finalize(self, version, build_data, artifact_path):
        script = getattr(self, "script", None)
        if script is not None:
            script.unlink()
