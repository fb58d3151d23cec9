#!/usr/bin/env python3
"""Runs the steps of action.yml as GitHub does, on the small CUDA project in testdata/action.

    tools/action/test.py ARCHIVE [--here]

ARCHIVE is gemu-linux-*.tar.gz of a release, or a prefix into which cmd/install.sh has installed gemu. The steps run in a new
root of Debian with gcc and make, which mmdebstrap makes (as root); with --here on this machine, with /usr/bin and /bin on the path.
It needs PyYAML.

The project must pass, and fail with an annotation of the line if its barrier is taken out; an archive that does not exist is an
error that names it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def expand(text, inputs, action):
    """The value of a text with expressions of GitHub."""
    github = {"action_path": action, "server_url": "https://github.example", "action_repository": "owner/gemu", "action_ref": "v1"}

    def value(m):
        space, name = m[1].split(".", 1)
        return (inputs if space == "inputs" else github)[name]

    return re.sub(r"\$\{\{ *([a-z_.-]+) *\}\}", value, str(text))


def run_action(root, **given):
    """Runs the steps below a root, and returns the exit status and the output of the first step that fails, or of the last."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: i.get("default", "") for name, i in action["inputs"].items()} | {n.replace("_", "-"): v for n, v in given.items()}
    prefix = "" if root is None else str(root)
    with tempfile.TemporaryDirectory(dir=prefix + "/tmp") as temp:
        inside = temp[len(prefix):]
        paths = Path(temp, "path")
        paths.touch()
        for step in action["runs"]["steps"]:
            assert step["shell"] == "bash" and set(step) <= {"name", "shell", "run", "env", "working-directory"}, step
            path = ":".join([*reversed(paths.read_text().split()), "/usr/bin", "/bin"])
            env = {"PATH": path, "HOME": inside, "RUNNER_TEMP": inside, "GITHUB_PATH": inside + "/path", "GITHUB_ACTIONS": "true", "CI": "true"}
            source = "/action" if root else str(ROOT)
            env |= {name: expand(text, inputs, source) for name, text in step.get("env", {}).items()}
            directory = Path(given["workspace"], expand(step.get("working-directory", "."), inputs, source))
            words = ["env", "-i", "-C", str(directory), *(f"{n}={v}" for n, v in env.items()), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            if root:
                words = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", f"--root={root}", *words]  # with /proc of its own
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                break
        return done.returncode, done.stdout


def check(what, ok, output):
    if not ok:
        sys.exit(f"{what}:\n{output}")
    print("ok:", what, flush=True)


def test(root, archive, workspace):
    """Runs the action on the project in the workspace; paths are those that the steps see."""
    here = Path(str(root or "") + workspace)
    given = {"workspace": workspace, "archive": archive, "sanitize": "race", "run": "make program\n./program"}
    status, output = run_action(root, **given)
    check("the project passes", status == 0 and "4 sums are right" in output and "::error" not in output, f"status {status}\n{output}")

    ptx = here / "sum.ptx"
    lines = ptx.read_text().splitlines(keepends=True)
    ptx.write_text("".join(line for line in lines if "bar.sync" not in line))
    line = next(n for n, text in enumerate((here / "sum.cu").read_text().splitlines(), 1) if "part[i] += part[i + n]" in text)
    status, output = run_action(root, **given)
    check("a planted race fails", status != 0 and "race: read after write" in output, f"status {status}\n{output}")
    check("and its line is annotated", re.search(rf"(?m)^::error file=sum\.cu,line={line},", output) is not None, output)
    ptx.write_text("".join(lines))

    status, output = run_action(root, **given | {"archive": "/missing.tar.gz"})
    check("a missing archive is named", status == 2 and "::error title=gemu::there is no archive /missing.tar.gz" in output, f"status {status}\n{output}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--here", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        temp = Path(temp)
        archive = args.archive.resolve()
        if archive.is_dir():
            packed = temp / "gemu.tar.gz"
            subprocess.run(["tar", "-c", "-I", "gzip -1", "-f", packed, "-C", archive, "bin", "lib", "include"], check=True)
            archive = packed
        project = ROOT / "testdata" / "action"
        if args.here:
            shutil.copytree(project, temp / "project")
            test(None, str(archive), str(temp / "project"))
            return
        root = temp / "root"
        include = "--include=gcc,libc6-dev,make"
        release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)["VERSION_CODENAME"]
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", include, release, root, *[s for s in sources()]], check=True)
        shutil.copytree(project, root / "project")
        os.makedirs(root / "action" / "tools")
        shutil.copytree(ROOT / "tools" / "action", root / "action" / "tools" / "action")
        shutil.copy(archive, root / "gemu.tar.gz")
        test(root, "/gemu.tar.gz", "/project")


def sources():
    """This machine's lists of packages, if it has its own."""
    found = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*.sources"))]
    return [str(f) for f in found if f.is_file() and f.stat().st_size > 0]


if __name__ == "__main__":
    main()
