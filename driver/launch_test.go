package driver

import "testing"

// A kernel that is not a tile kernel refuses a block that differs from its .reqntid.
func TestRequiredBlock(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(".version 8.0 .target sm_80 .address_size 64 .visible .entry k(.param .u64 x) .reqntid 32 { ret; }")
	x := c.alloc(4)
	c.want(InvalidValue, "requires blocks of (32,1,1)", c.launch("k", 1, 1, x))
	c.ok(c.launch("k", 1, 32, x))
}

// A tile kernel is launched with one thread, and runs with the threads of its .reqntid.
func TestTileKernel(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(`.version 9.4 .target sm_86 .address_size 64
.visible .entry fill(.param .u64 p) .reqntid 4 .minnctapersm 1 .language 7
{
	.reg .u64 %p; .reg .u32 %t;
	ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 4, %p; add.u32 %t, %t, 1; st.global.u32 [%p], %t;
	ret;
}`)
	x := c.alloc(16)
	c.ok(c.launch("fill", 1, 1, x))
	c.expect(x, 1, 2, 3, 4)
	c.want(InvalidValue, "requires blocks of (4,1,1)", c.launch("fill", 1, 2, x))
}
