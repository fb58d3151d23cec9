"""y = a*x + y on the CPU, from PTX, with nothing but ctypes.

    python3 saxpy.py [LIBRARY]      (default: libgemu.so, as the loader finds it)
"""

import array
import ctypes
import struct
import sys

PTX = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
	.reg .pred %p; .reg .u32 %r<5>; .reg .f32 %f<4>; .reg .u64 %rd<5>;
	ld.param.u32 %r0, [n];
	ld.param.f32 %f0, [a];
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	setp.ge.u32 %p, %r1, %r0;
	@%p ret;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd0, %rd0, %rd2;
	add.u64 %rd1, %rd1, %rd2;
	ld.global.f32 %f1, [%rd0];
	ld.global.f32 %f2, [%rd1];
	fma.rn.f32 %f2, %f0, %f1, %f2;
	st.global.f32 [%rd1], %f2;
	ret;
}
"""

gemu = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libgemu.so")
gemu.gemu_last_error.restype = ctypes.c_char_p


def check(result):
    if result != 0:
        sys.exit(f"error {result}: {gemu.gemu_last_error().decode()}")


class LaunchParams(ctypes.Structure):
    _fields_ = [
        ("kernel", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint32),
        ("args", ctypes.POINTER(ctypes.c_void_p)),
        ("observer", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
    ]


def pointers(values):
    """The addresses of ctypes values, as an array."""
    return (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])


N = 100
x = array.array("f", range(N))
y = array.array("f", [1.0] * N)

# ptx_run computes on host memory. Its arguments are 64-bit values.
a_bits = struct.unpack("I", struct.pack("f", 2.0))[0]
values = (ctypes.c_void_p * 4)(N, a_bits, x.buffer_info()[0], y.buffer_info()[0])
check(gemu.ptx_run(PTX, 4, values, 32, 1, 1, 4, 1, 1, 0))
print(f"y[99] = {y[99]:g}")

# The other functions use device memory, where every access is checked. Arguments are pointers to values.
module, kernel, dx, dy = (ctypes.c_uint64() for _ in range(4))
size = ctypes.c_size_t(4 * N)
check(gemu.gemu_load(PTX, ctypes.c_size_t(0), ctypes.byref(module)))
check(gemu.gemu_get_kernel(module, b"saxpy", ctypes.byref(kernel)))
for address, data in (dx, x), (dy, y):
    check(gemu.gemu_alloc(size, ctypes.byref(address)))
    check(gemu.gemu_copy_in(address, ctypes.c_void_p(data.buffer_info()[0]), size))
args = [ctypes.c_uint32(N), ctypes.c_float(2), dx, dy]
launch = LaunchParams(kernel.value, (4, 1, 1), (32, 1, 1), 0, pointers(args), None, None)
check(gemu.gemu_launch(ctypes.byref(launch), None))
check(gemu.gemu_copy_out(ctypes.c_void_p(y.buffer_info()[0]), dy, size))
print(f"y[99] = {y[99]:g}")

# Errors have a message.
args[0].value = N + 1
if gemu.gemu_launch(ctypes.byref(launch), None) != 700:
    sys.exit("an access out of bounds was not noticed")
print(gemu.gemu_last_error().decode().splitlines()[0])
for address in dx, dy:
    check(gemu.gemu_free(address))
check(gemu.gemu_unload(module))
