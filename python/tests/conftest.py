"""Kernels of the tests. Results are computed by NumPy or counted by hand."""

import numpy as np
import pytest

import gemu

PTX = """.version 7.8
.target sm_80
.address_size 64
.global .align 4 .f32 weights[2][3];
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
	.reg .pred %p; .reg .u32 %r<5>; .reg .f32 %f<4>; .reg .u64 %rd<5>;
	ld.param.u32 %r0, [n]; ld.param.f32 %f0, [a]; ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	setp.ge.u32 %p, %r1, %r0;
	@%p ret;
	mul.wide.u32 %rd2, %r1, 4; add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;
	ld.global.f32 %f1, [%rd0];
	ld.global.f32 %f2, [%rd1];
	fma.rn.f32 %f2, %f0, %f1, %f2;
	st.global.f32 [%rd1], %f2;
	ret;
}
.visible .entry race(.param .u64 x)
{
	.reg .u32 %r<5>; .reg .u64 %rd<3>; .shared .align 4 .u32 tile[64];
	ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;
	st.shared.u32 [%r1], %r0;
	ld.shared.u32 %r3, [tile];
	st.global.u32 [%rd0], %r3;
	ret;
}
.visible .entry endless(.param .u64 x)
{
	.reg .u32 %r<3>; .reg .u64 %rd;
	ld.param.u64 %rd, [x];
again:
	ld.global.u32 %r0, [%rd]; add.u32 %r0, %r0, 1; st.global.u32 [%rd], %r0;
	bra again;
}
.visible .entry store(.param .u64 place, .param .u64 value)
{
	.reg .u64 %rd<3>;
	ld.param.u64 %rd0, [place]; ld.param.u64 %rd1, [value]; st.global.u64 [%rd0], %rd1;
	ret;
}
.visible .entry follow(.param .u64 place)
{
	.reg .u64 %rd<3>; .reg .u32 %r;
	ld.param.u64 %rd0, [place]; ld.global.u64 %rd1, [%rd0]; mov.u32 %r, 7; st.global.u32 [%rd1], %r;
	ret;
}
.visible .entry sum(.param .align 4 .b8 pair[8], .param .b16 h, .param .u64 out)
{
	.reg .s32 %r<2>; .reg .f32 %f<4>; .reg .b16 %h; .reg .u64 %rd;
	ld.param.u32 %r0, [pair]; ld.param.f32 %f0, [pair+4]; ld.param.b16 %h, [h]; ld.param.u64 %rd, [out];
	cvt.rn.f32.s32 %f1, %r0; cvt.f32.f16 %f2, %h;
	add.f32 %f0, %f0, %f1; add.f32 %f0, %f0, %f2;
	st.global.f32 [%rd], %f0;
	ret;
}
"""


@pytest.fixture(scope="session")
def module():
    return gemu.load_ptx(PTX, "tests.ptx")


@pytest.fixture
def x():
    return np.arange(100, dtype=np.float32)


@pytest.fixture
def y():
    return np.ones(100, np.float32)
