#!/usr/bin/env python3
"""Runs a client's own tests over gemu's libraries, and compares their outcomes with the record.

    testdata/clients/run.py CLIENT [--match PATTERN] [--record] [--jobs N] [--work FOLDER]

CLIENT.toml describes the client; its keys are the fields of Client below. The packages come from
the registry that pip is set to, into a virtual environment, and nothing of them is changed. Each
file of tests has a process of its own, and a test fails if it takes too long or ends its process.
CLIENT.txt is the record: each test that fails or is skipped, with its reason, and the number of
passed tests of each file. Prints the differences from it, and ends with status 1 if there are any.

--match PATTERN runs only the files of tests whose path matches it (a regular expression).
--record writes the outcomes of the run files to CLIENT.txt. Explanations stay; failures that are
new have "?" and the message of the test, to be replaced by hand.
--jobs N runs N processes at once.
--work FOLDER keeps the environments and logs there, instead of in the user's cache:
FOLDER/CLIENT/log has a file for each process, with the calls that gemu refuses (GEMU_TRACE=1).
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclasses.dataclass
class Client:
    """What CLIENT.toml says. In its strings {site} is the environment's folder of packages, {source}
    that of the unpacked source, {gemu} that of gemu's libraries, {here} that of this file."""

    packages: list  # requirements for pip
    tests: str  # a folder; names of tests are relative to it
    files: list  # patterns of files in it; each has a process of its own
    versions: list  # distributions that the record names with their versions
    like: str = ""  # another client: it supplies the fields missing here, and its environment
    source: str = ""  # a package whose source distribution is unpacked
    prepare: str = ""  # bash commands that prepare the tests from the packages and the source, in the client's folder
    source_environment: dict = dataclasses.field(default_factory=dict)  # to have pip unpack it
    environment: dict = dataclasses.field(default_factory=dict)  # of the tests
    runner: str = "pytest"  # or "program": each file is a test, which passes if its exit status is 0
    options: list = dataclasses.field(default_factory=list)  # of pytest, or arguments of each program
    plugin: str = ""  # Python that pytest loads as a plugin
    timeout: int = 120  # seconds for a test


def load(name):
    """The client that NAME.toml describes."""
    said = tomllib.loads((HERE / f"{name}.toml").read_text())
    if "like" in said:
        said = vars(load(said["like"])) | said
    return Client(**said)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a test."""

    outcome: str  # passed, failed or skipped
    message: str = ""  # of a failure or a skip: a line


class Workplace:
    """The folder of a client, where all is installed that its tests need."""

    def __init__(self, name, folder, client):
        self.folder, self.client = folder / (client.like or name), client
        self.python = self.folder / "venv/bin/python"
        self.logs = folder / name / "log"
        self.plugins = folder / name / "plugin"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.plugins.mkdir(exist_ok=True)

    def prepare(self):
        """Installs gemu's libraries, the packages and the source, if they are not there."""
        self.gemu = self.folder / "gemu"
        run([ROOT / "cmd/install.sh", self.gemu])
        wanted = "\n".join([*self.client.packages, self.client.source, self.client.prepare])
        done = self.folder / "installed"
        fresh = not done.exists() or done.read_text() != wanted
        if fresh:
            run([sys.executable, "-m", "venv", "--clear", self.folder / "venv"])
            run([self.python, "-m", "pip", "install", "--quiet", *self.client.packages])
            if self.client.source:
                self.unpack()
        site = run([self.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]).strip()
        source = next((p for p in (self.folder / "source").glob("*") if p.is_dir()), "")
        self.places = {"site": site, "source": str(source), "gemu": str(self.gemu / "lib/gemu"), "here": str(HERE), "folder": str(self.folder)}
        self.places["path"] = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        if fresh:
            run(["bash", "-ec", f"cd {self.folder}\n" + self.fill(self.client.prepare)], self.environment())
            done.write_text(wanted)
        self.root = pathlib.Path(self.fill(self.client.tests))
        (self.plugins / "client_plugin.py").write_text(self.client.plugin)
        shutil.copy(HERE / "outcomes.py", self.plugins)

    def unpack(self):
        """Unpacks the source distribution. pip asks it for its dependencies, so it may want an environment."""
        to = self.folder / "source"
        shutil.rmtree(to, ignore_errors=True)
        name = re.split("[=<>]", self.client.source)[0]
        run([self.python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--dest", to, self.client.source], self.client.source_environment)
        for archive in to.glob("*.tar.gz"):
            with tarfile.open(archive) as tar:
                tar.extractall(to, filter="data")
            archive.unlink()

    def fill(self, text):
        return text.format(**self.places)

    def environment(self):
        env = {"LD_LIBRARY_PATH": self.places["gemu"], "GEMU_TRACE": "1", "PYTHONPATH": str(self.plugins), "PATH": self.places["path"]}
        return os.environ | env | {k: self.fill(v) for k, v in self.client.environment.items()}

    def files(self, match):
        """The files of tests, by their paths from the folder of tests."""
        every = {str(p.relative_to(self.root)) for pattern in self.client.files for p in self.root.glob(pattern)}
        return sorted(f for f in every if re.search(match, f))

    def log(self, file):
        """The path of the logs of a file of tests, less their suffixes."""
        return self.logs / re.sub(r"\W", "_", file)

    def forget(self, files):
        """Removes the logs of these files of tests, and of files that no longer exist."""
        kept = {self.log(f).name for f in self.files("") if f not in files}
        for log in self.logs.glob("*"):
            if log.stem not in kept:
                log.unlink()

    def versions(self):
        code = "import importlib.metadata as m, sys; print(*(f'{d} {m.version(d)}' for d in sys.argv[1:]), sep=', ')"
        return run([self.python, "-c", code, *self.client.versions]).strip()


def run(command, environment={}):
    """Runs a command that has to succeed, and returns its output."""
    made = subprocess.run(command, env=os.environ | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"{made.stdout}{made.stderr}run.py: {command[0]}: status {made.returncode}")
    return made.stdout


def run_file(place, file):
    """The outcomes of the tests of a file, by name. When a test fails, takes too long or ends its
    process, the next tests run in a new process: a fault stays in the context of a process, and
    must not affect them."""
    log = place.log(file)
    events, output = log.with_suffix(".jsonl"), log.with_suffix(".log")
    client, found = place.client, {}
    if client.runner == "program":
        command = [place.python, place.root / file, *map(place.fill, client.options)]
    else:
        command = [place.python, "-m", "pytest", "-p", "outcomes", "-p", "client_plugin", "-p", "no:cacheprovider", "--capture=no", "--quiet", "--exitfirst",
                   "--rootdir", place.root, *map(place.fill, client.options), file]
    with open(output, "w") as out:
        while True:
            events.write_text("".join(json.dumps({"known": test}) + "\n" for test in found))
            env = place.environment() | {"OUTCOMES": str(events)}
            process = subprocess.Popen(command, cwd=place.root, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
            end = ended(process, wait(process, events, client.timeout), client.timeout)
            if client.runner == "program":
                return {file: end if process.returncode else Outcome("passed")}
            began, seen = read(events)
            found |= seen
            if began is not None:
                found[began] = end
            elif process.returncode in (0, 5):  # pytest: all pass, none are there
                return found
            elif not seen:
                return {file: end} | found


def wait(process, events, limit):
    """Waits for a process, and kills it and its children when it writes no event for the given
    number of seconds. Reports whether it ended by itself."""
    written, since = 0, time.monotonic()
    while True:
        try:
            process.wait(1)
            return True
        except subprocess.TimeoutExpired:
            pass
        if (size := events.stat().st_size) != written:
            written, since = size, time.monotonic()
        if time.monotonic() - since > limit:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False


def ended(process, by_itself, limit):
    """The failure of a process by its end; None if it ended well."""
    if not by_itself:
        return Outcome("failed", f"no end within {limit} s")
    if process.returncode < 0:
        return Outcome("failed", f"ends the process by {signal.Signals(-process.returncode).name}")
    return Outcome("failed", f"ends the process with status {process.returncode}")


def read(events):
    """The unfinished test that began last, or None, and the outcomes of the finished tests."""
    began, found = None, {}
    for line in events.read_text().splitlines():
        event = json.loads(line)
        if "begin" in event:
            began = event["begin"]
        elif "test" in event:
            found[event["test"]] = Outcome(event["outcome"], event["message"])
            began = None
    return began, found


def lacking(place):
    """The calls that gemu refused because it does not have them, of all logs."""
    names = set()
    for log in place.logs.glob("*.log"):
        names |= set(re.findall(r"gemu: (\w+): .*gemu does not have this function", log.read_text(errors="replace")))
    return sorted(names)


class Record:
    """The contents of CLIENT.txt: a paragraph for the tests that fail or are skipped for the same
    reason, and a paragraph with the number of passed tests of each file."""

    def __init__(self, path):
        self.path = path
        self.reasons = {}  # of tests that do not pass: ("failed", why)
        self.passes = collections.Counter()  # by file
        if not path.exists():
            return
        for paragraph in path.read_text().split("\n\n")[1:]:
            head, *lines = paragraph.strip().splitlines()
            kind, _, why = head.partition(": ")
            if kind == "passed":
                self.passes.update({file: int(n) for n, file in (line.split(maxsplit=1) for line in lines)})
            elif kind in ("failed", "skipped"):
                self.reasons |= {line.strip(): (kind, why) for line in lines}

    def compare(self, files, found):
        """Lines with the differences between the record and the outcomes in the files."""
        for test in sorted(found.keys() | {t for t in self.reasons if file_of(t) in files}):
            was, now = self.reasons.get(test, ("passed",))[0], found.get(test, Outcome("not there"))
            if was != now.outcome and (was, now.outcome) != ("passed", "skipped"):
                yield f"{test}: recorded {was}, now {now.outcome} {now.message}"
        passes = passing(found)
        for file in files:
            if passes[file] != self.passes[file]:
                yield f"{file}: {passes[file]} pass, recorded {self.passes[file]}"

    def unexplained(self):
        return sum(why.startswith("?") for kind, why in self.reasons.values() if kind == "failed")

    def update(self, files, found):
        """Replaces the record of the files by their outcomes."""
        reasons = {t: r for t, r in self.reasons.items() if file_of(t) not in files}
        for test, now in found.items():
            if now.outcome == "passed":
                continue
            kind, why = self.reasons.get(test, ("", ""))
            if now.outcome == "skipped" or kind != "failed" or why.startswith("?"):
                why = now.message if now.outcome == "skipped" else "? " + now.message
            reasons[test] = (now.outcome, why)
        self.reasons = reasons
        for file in files:
            self.passes[file] = passing(found)[file]

    def write(self, versions, calls):
        """Writes the record; calls are the calls missing in gemu."""
        kinds = collections.Counter(kind for kind, _ in self.reasons.values())
        text = [f"{versions}\n{sum(self.passes.values())} pass, {kinds['failed']} fail, {kinds['skipped']} are skipped\n"]
        by_reason = lambda item: (item[1], item[0])
        for (kind, why), group in itertools.groupby(sorted(self.reasons.items(), key=by_reason), key=lambda item: item[1]):
            text.append(f"{kind}: {why}\n" + "".join(f"    {test}\n" for test, _ in group))
        if calls:
            text.append("calls that gemu does not have:\n" + "".join(f"    {name}\n" for name in calls))
        text.append("passed: of each file\n" + "".join(f"{n:5} {file}\n" for file, n in sorted(self.passes.items()) if n))
        self.path.write_text("\n".join(text))


def file_of(test):
    return test.partition("::")[0]


def passing(found):
    return collections.Counter(file_of(test) for test, now in found.items() if now.outcome == "passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    clients = sorted(p.stem for p in HERE.glob("*.toml"))
    parser.add_argument("client", choices=clients)
    parser.add_argument("--match", default="")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    parser.add_argument("--work", type=pathlib.Path, default=cache / "gemu-clients")
    args = parser.parse_args()

    place = Workplace(args.client, args.work.resolve(), load(args.client))
    place.prepare()
    files = place.files(args.match)
    if not files:
        parser.error(f"no file of tests matches {args.match!r}")
    place.forget(files)
    record, differences = Record(HERE / f"{args.client}.txt"), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for file, found in zip(files, pool.map(lambda f: run_file(place, f), files)):
            counts = collections.Counter(o.outcome for o in found.values())
            print(f"{file}: {', '.join(f'{n} {k}' for k, n in sorted(counts.items()))}", flush=True)
            differences += record.compare([file], found)
            if args.record:
                record.update([file], found)
                record.write(place.versions(), lacking(place))
    print(*differences, sep="\n")
    for name in lacking(place):
        print(f"gemu does not have {name}")
    if args.record:
        print(f"{record.path}: {record.unexplained()} failures to explain")
        return
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
