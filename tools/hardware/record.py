#!/usr/bin/env python3
"""Runs launches on an NVIDIA GPU and records the final memory.

    go run -C tools ./hardware/launches | tools/hardware/record.py >testdata/hw/NAME.jsonl

Needs the driver, and nothing else: LIBCUDA names its library if it is not libcuda.so.1. A line for
the device, then one for each launch: a hash of each of its buffers, or why it failed. Each launch
that breaks its context, or has not ended after --limit seconds, costs a process, and the next goes
on in another. --jobs processes share the GPU: most of the time goes into compiling modules.

A module whose version or target is newer than the driver or the device is tried with theirs in
its header instead, and a line says so, "as".
"""
import argparse
import base64
import ctypes
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import zlib


class Failure(Exception):
    pass


# The newest version of PTX that a driver accepts, by the driver's version (release notes of PTX).
VERSIONS = {
    11080: (7, 8), 12000: (8, 0), 12010: (8, 1), 12020: (8, 2), 12030: (8, 3), 12040: (8, 4), 12050: (8, 5), 12060: (8, 5), 12070: (8, 6),
    12080: (8, 7), 12090: (8, 8), 13000: (9, 0), 13010: (9, 1), 13020: (9, 2),
}


class Attribute(ctypes.Structure):
    """CUlaunchAttribute."""
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint),
    ]


def config(launch):
    """Describes a launch with clusters."""
    list = (Attribute * 2)()
    list[0].id, list[0].value[0:3] = 4, launch["cluster"]  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    list[1].id, list[1].value[0] = 2, launch["cooperative"]  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    three = ctypes.c_uint * 3
    return Config(three(*launch["grid"]), three(*launch["block"]), launch["shared"], None, list, 2)


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL(os.environ.get("LIBCUDA", "libcuda.so.1"))
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.device = device
        self.headers = {}  # of sources: see load

    def call(self, name, *args):
        function = getattr(self.lib, name, None)
        if not function:
            raise Failure(f"{name}: the driver does not have it")
        status = function(*args)
        if status:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(status, ctypes.byref(text))
            raise Failure(f"{name}: {(text.value or str(status).encode()).decode()}")

    def describe(self):
        name, version, major, minor = ctypes.create_string_buffer(100), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetName", name, 100, self.device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, self.device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, self.device)
        return {"device": name.value.decode(), "sm": 10 * major.value + minor.value, "cuda": version.value, "driver": driver_version(), "date": datetime.date.today().isoformat()}

    def load(self, source):
        """Loads a module, if need be with another header. Says with which."""
        module, headers = ctypes.c_void_p(), self.headers.get(source) or [None, *self.others(source)]
        if isinstance(headers, Failure):
            raise headers
        failed = None
        for header in headers:
            try:
                text = reheaded(source, header).encode("ascii", "replace")  # drivers expect it even in comments
                self.call("cuModuleLoadData", ctypes.byref(module), text)
                self.headers[source] = [header]
                return module, header
            except Failure as e:
                failed = failed or e
        self.headers[source] = failed
        raise failed

    def others(self, source):
        """Lists the headers to try in place of a source's own: version and target, or None for its own."""
        about, header = self.describe(), header_of(source)
        if not header:
            return []
        version, sm = tuple(map(int, header[1].split("."))), int(header[3])
        last = VERSIONS.get(about["cuda"])
        newer = ".".join(map(str, last)) if last and version > last else None
        if sm <= about["sm"] and not (header[4] and sm != about["sm"]):
            return [(newer, None)] if newer else []
        target = f"sm_{about['sm']}"
        return [(newer, target + "a"), (newer, target)]

    def tensor_map(self, tensor, address):
        """Makes a tensor map over the memory at an address."""
        room = ctypes.create_string_buffer(128 + 63)
        at = -ctypes.addressof(room) % 64
        result = (ctypes.c_char * 128).from_buffer(room, at)  # which keeps the room
        row = lambda type, list: (type * max(len(list or []), 1))(*list or [])
        head = [ctypes.byref(result), tensor["type"], len(tensor["dims"]), ctypes.c_uint64(address + tensor["offset"]),
                row(ctypes.c_uint64, tensor["dims"]), row(ctypes.c_uint64, tensor["strides"])]
        tail = [row(ctypes.c_uint, tensor["steps"]), tensor["interleave"], tensor["swizzle"], 0, tensor["nan"]]
        if tensor["im2col"]:
            corners = [row(ctypes.c_int, tensor[name]) for name in ("lower", "upper")]
            self.call("cuTensorMapEncodeIm2col", *head, *corners, *tensor["box"], *tail)
        else:
            self.call("cuTensorMapEncodeTiled", *head, row(ctypes.c_uint, tensor["box"]), *tail)
        return result

    def run(self, launch, source):
        """Runs a launch, and returns the final contents of its buffers, and the header of the run."""
        function = ctypes.c_void_p()
        module, header = self.load(source)  # loaded again: variables have their initial values
        self.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
        if launch["shared"] > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, launch["shared"])
        for name, data in launch.get("vars", {}).items():
            at, size, data = ctypes.c_uint64(), ctypes.c_size_t(), base64.b64decode(data)
            self.call("cuModuleGetGlobal_v2", ctypes.byref(at), ctypes.byref(size), module, name.encode())
            self.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
        buffers = []
        for data in launch["buffers"] or []:
            data, at = base64.b64decode(data), ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(len(data), 1)))
            if data:
                self.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
            buffers.append((at, len(data)))
        values = []
        for arg in launch["args"] or []:
            if "tensor" in arg:
                values.append(self.tensor_map(arg["tensor"], buffers[arg["buffer"]][0].value))
            elif arg["buffer"] >= 0:
                values.append(ctypes.c_uint64(buffers[arg["buffer"]][0].value))
            else:
                values.append(ctypes.create_string_buffer(base64.b64decode(arg["bytes"])))
        params = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        extent = [ctypes.c_uint(n) for n in launch["grid"] + launch["block"]] + [ctypes.c_uint(launch["shared"]), None, params]
        if any(launch.get("cluster", [])):
            self.call("cuLaunchKernelEx", ctypes.byref(config(launch)), function, params, None)
        elif launch["cooperative"]:
            self.call("cuLaunchCooperativeKernel", function, *extent)
        else:
            self.call("cuLaunchKernel", function, *extent, None)
        self.call("cuCtxSynchronize")
        left = []
        for at, size in buffers:
            data = ctypes.create_string_buffer(max(size, 1))
            if size:
                self.call("cuMemcpyDtoH_v2", data, at, ctypes.c_size_t(size))
            left.append(data.raw[:size])
            self.call("cuMemFree_v2", at)
        self.call("cuModuleUnload", module)
        return left, header


def driver_version():
    """The version of the driver, as the kernel's module has it; "" if that does not tell."""
    try:
        with open("/proc/driver/nvidia/version") as f:
            found = re.search(r"\b\d{3}\.\d+(\.\d+)?\b", f.read())
            return found[0] if found else ""
    except OSError:
        return ""


def header_of(source):
    """Finds a source's version, target, and the target's number and letter."""
    blank = re.sub(r"//.*|(?s:/\*.*?\*/)", lambda comment: re.sub(r"\S", " ", comment[0]), source)
    return re.search(r"\.version\s+(\d+\.\d+)\s+\.target\s+(sm_(\d+)(\w*))", blank)


def reheaded(source, header):
    """Gives a source another version, another target, or both."""
    for at, other in reversed(list(enumerate(header or [], 1))):
        if other:
            begin, end = header_of(source).span(at)
            source = source[:begin] + other + source[end:]
    return source


def broken(left):
    """Reports whether the context may be broken after the outcome of a launch."""
    return "error" in left and "cuModule" not in left["error"]


def work(keep):
    """Runs launches from standard input, until one fails."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of kernels and of the driver is no answer
    try:
        driver, sources = Driver(), {}
        print(json.dumps(driver.describe()), file=out, flush=True)
    except (Failure, OSError) as e:
        sys.exit(str(e))
    for line in sys.stdin:
        item = json.loads(line)
        if "source" in item:
            sources[item["source"]] = item["text"]
            continue
        left = {"id": item["id"], "name": item["name"]}
        try:
            buffers, header = driver.run(item, sources[item["module"]])
            left["buffers"] = [hashlib.sha256(b).hexdigest()[:16] for b in buffers]
            if header:
                left["as"] = " ".join(filter(None, header))
            if keep:
                left["data"] = [base64.b64encode(zlib.compress(b)).decode() for b in buffers]
        except Failure as e:
            left["error"] = str(e)
        print(json.dumps(left), file=out, flush=True)
        if broken(left):
            os._exit(0)


class Line:
    """Launches that run in sequence, and their process."""

    def __init__(self, options):
        self.options, self.worker, self.sent = options, None, set()

    def begin(self):
        """Starts a process, if there is none, and returns its description of the device."""
        if self.worker is not None and self.worker.poll() is None:
            return None
        command = [sys.executable, __file__, "--worker"] + ["--keep"] * self.options.keep
        self.worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sent = set()
        return self.ask("")

    def ask(self, text):
        """Sends lines and gives the answer. If there is none in time the process is ended."""
        late = threading.Event()

        def kill():
            late.set()
            self.worker.kill()

        clock = threading.Timer(self.options.limit, kill)
        clock.start()
        try:
            self.worker.stdin.write(text)
            self.worker.stdin.flush()
            answer = json.loads(self.worker.stdout.readline())
        except (OSError, ValueError):  # the connection is closed
            answer = None
        clock.cancel()
        clock.join()
        if answer is None or late.is_set():
            try:
                self.worker.wait(2)  # if it ends by itself, it has a status
            except subprocess.TimeoutExpired:
                pass
            self.end()
            why = f"no answer within {self.options.limit} s" if late.is_set() else f"the process ended, status {self.worker.returncode}"
            raise Failure(why)
        return answer

    def end(self):
        if self.worker:
            self.worker.kill()
            self.worker.communicate()

    def run(self, item, line, source):
        """Runs a launch and returns its outcome."""
        try:
            self.begin()
            new = item["module"] not in self.sent
            self.sent.add(item["module"])
            left = self.ask(source + line if new else line)
        except Failure as e:
            return {"id": item["id"], "name": item["name"], "error": str(e)}
        if broken(left):
            self.end()
        return left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, default=30, help="seconds for a launch")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", action="store_true", help="write what is in buffers, too: Base64 of zlib")
    options = parser.parse_args()
    if options.worker:
        return work(options.keep)
    if options.jobs < 1:
        parser.error("--jobs wants 1 or more")
    sources, modules, answers, done = {}, {}, [], 0
    for number, line in enumerate(sys.stdin.read().splitlines(keepends=True), 1):
        try:
            item = json.loads(line)
        except ValueError as e:
            sys.exit(f"line {number} does not describe a launch: {e}")
        if "source" in item:
            sources[item["source"]] = line
        elif item["module"] not in sources:
            sys.exit(f"{item['name']}: there is no source of {item['module']}")
        else:
            modules.setdefault(item["module"], []).append((len(answers), item, line))
            answers.append(None)
    first = Line(options)
    try:
        print(json.dumps(first.begin()), flush=True)
    except Failure as e:
        sys.exit(f"no usable driver or GPU: {e}")
    first.end()
    lock, left = threading.Lock(), iter(list(modules.values()))

    def go():
        nonlocal done
        one = Line(options)
        while True:
            with lock:
                launches = next(left, None)
            if launches is None:
                break
            for at, item, line in launches:
                answer = one.run(item, line, sources[item["module"]])
                with lock:
                    answers[at] = answer
                    while done < len(answers) and answers[done]:  # in the order of the launches
                        print(json.dumps(answers[done]), flush=True)
                        done += 1
        one.end()

    threads = [threading.Thread(target=go) for _ in range(options.jobs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if done < len(answers):
        sys.exit(f"{len(answers) - done} launches have not run")


if __name__ == "__main__":
    main()
