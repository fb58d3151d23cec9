#!/usr/bin/env python3
"""Runs launches on an NVIDIA GPU and writes down what they leave in memory.

    go run ./internal/corpus/launches | testdata/hw/record.py >testdata/hw/NAME.jsonl

Needs the driver, and nothing else: LIBCUDA names its library where it is not libcuda.so.1.
A line for the device, then one for each launch: a hash of each of its buffers, or why it
failed. Each launch that breaks its context, or has not ended after --limit seconds, costs a
process, and the next goes on in another.
"""
import argparse
import base64
import ctypes
import datetime
import hashlib
import json
import os
import subprocess
import sys
import threading


class Failure(Exception):
    pass


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
    """Says what a launch in clusters is like."""
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
        self.device, self.modules = device, {}

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
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
        return {"device": name.value.decode(), "sm": 10 * major.value + minor.value, "cuda": version.value, "date": datetime.date.today().isoformat()}

    def run(self, launch, source):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), source.encode())  # anew: variables have their first values
        self.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
        if launch["shared"] > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, launch["shared"])
        buffers = []
        for data in launch["buffers"] or []:
            data, at = base64.b64decode(data), ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(len(data), 1)))
            if data:
                self.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
            buffers.append((at, len(data)))
        values = []
        for arg in launch["args"] or []:
            if arg["buffer"] >= 0:
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
        sums = []
        for at, size in buffers:
            data = ctypes.create_string_buffer(max(size, 1))
            if size:
                self.call("cuMemcpyDtoH_v2", data, at, ctypes.c_size_t(size))
            sums.append(hashlib.sha256(data.raw[:size]).hexdigest()[:32])
            self.call("cuMemFree_v2", at)
        self.call("cuModuleUnload", module)
        return sums


def work():
    """Runs launches from standard input, until one fails."""
    driver, sources = Driver(), {}
    print(json.dumps(driver.describe()), flush=True)
    for line in sys.stdin:
        item = json.loads(line)
        if "source" in item:
            sources[item["source"]] = item["text"]
            continue
        left = {"id": item["id"], "name": item["name"]}
        try:
            left["buffers"] = driver.run(item, sources[item["module"]])
        except Failure as e:
            left["error"] = str(e)
        print(json.dumps(left), flush=True)
        if "error" in left and "cuModule" not in left["error"]:
            os._exit(0)  # the context may be broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, default=30, help="seconds for a launch")
    options = parser.parse_args()
    if options.worker:
        return work()
    lines = sys.stdin.read().splitlines()
    sources, launches = {}, []
    for line in lines:
        item = json.loads(line)
        if "source" in item:
            sources[item["source"]] = line
        else:
            launches.append((item, line))
    worker, described = None, False
    for item, line in launches:
        if worker is None or worker.poll() is not None:
            worker = subprocess.Popen([sys.executable, __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            head, sent = worker.stdout.readline(), set()
            if not head:
                sys.exit("no GPU that a driver runs")
            if not described:
                print(head, end="")
                described = True
        if item["module"] not in sent:
            sent.add(item["module"])
            print(sources[item["module"]], file=worker.stdin)
        clock = threading.Timer(options.limit, worker.kill)
        clock.start()
        try:
            print(line, file=worker.stdin, flush=True)
            answer = worker.stdout.readline()
        except BrokenPipeError:
            answer = ""
        clock.cancel()
        if not answer:
            answer = json.dumps({"id": item["id"], "name": item["name"], "error": f"no answer within {options.limit} s"}) + "\n"
            worker.kill()
            worker.wait()
        elif "error" in json.loads(answer):
            worker.stdin.close()
            worker.wait()
        print(answer, end="", flush=True)


if __name__ == "__main__":
    main()
