"""Files of devices, which those that tinygrad drives without a driver library are reached by: these are the host's own."""

from tinygrad.runtime.support.hcq import FileIOInterface as MockFileIOInterface  # noqa: F401
