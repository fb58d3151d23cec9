package oracle

import (
	"fmt"
	"testing"
)

// TestPrmt: 9.7.9.7. The bytes of b:a are numbered 7 to 0; a is 0x03020100 and b 0x07060504, so that each byte has its
// number as value.
func TestPrmt(t *testing.T) {
	const a, b = 0x03020100, 0x07060504
	for mode, rows := range map[string][4]uint64{
		"f4e":  {0x03020100, 0x04030201, 0x05040302, 0x06050403},
		"b4e":  {0x05060700, 0x06070001, 0x07000102, 0x00010203},
		"rc8":  {0x00000000, 0x01010101, 0x02020202, 0x03030303},
		"ecl":  {0x03020100, 0x03020101, 0x03020202, 0x03030303},
		"ecr":  {0x00000000, 0x01010100, 0x02020100, 0x03020100},
		"rc16": {0x01000100, 0x03020302, 0x01000100, 0x03020302},
	} {
		for c, d := range rows {
			checkAll(t, []want{{"prmt.b32." + mode, u(a, b, uint64(c)|0x10), u(d)}})
		}
	}
	checkAll(t, []want{
		{"prmt.b32", u(a, b, 0x3210), u(a)},
		{"prmt.b32", u(a, b, 0x0167), u(0x00010607)},
		{"prmt.b32", u(0x80, 0x7f00, 0xd8d8), u(0x00ff00ff)}, // signs of bytes 5 and 0
	})
}

// TestMovPacksAndUnpacks packs and unpacks, and reads addresses.
func TestMovPacksAndUnpacks(t *testing.T) {
	r := newHarness(t, `
.global .u32 g[4];
.shared .align 16 .b8 s[64];
.visible .entry k(.param .u64 p, .param .u64 where) {
	.reg .b128 %q;
	.reg .b64 %rd<16>;
	.reg .b32 %r<16>;
	.reg .b16 %h<4>;
	.reg .pred %p0;
	.local .align 8 .b8 l[32];
	.local .u32 m;
	ld.param.u64 %rd0, [p];
	mov.b64 %rd1, {0x11111111, 0x22222222};
	st.global.b64 [%rd0], %rd1;
	mov.b64 {%r1, _}, %rd1;
	st.global.b32 [%rd0+8], %r1;
	mov.b32 {%h0, %h1}, %r1;
	mov.b16 %h1, 0x1234;
	mov.b32 %r2, {%h0, %h1};
	st.global.b32 [%rd0+12], %r2;
	mov.b64 %rd2, {%h1, %h0, %h0, %h1};
	mov.b128 %q, {%rd1, %rd2};
	st.global.b128 [%rd0+16], %q;
	mov.b128 {%rd3, %rd4}, %q;
	st.global.v2.b64 [%rd0+32], {%rd4, %rd3};
	mov.u64 %rd5, g+4;
	mov.u64 %rd6, s;
	mov.u32 %r6, s+12;
	mov.u64 %rd7, l;
	mov.u64 %rd8, m;
	mov.u64 %rd9, p;
	mov.f32 %r7, 2.0;
	mov.f64 %rd10, 0.5;
	mov.pred %p0, 1;
	st.global.v2.b64 [%rd0+48], {%rd5, %rd6};
	st.global.v2.b64 [%rd0+64], {%rd7, %rd8};
	st.global.b64 [%rd0+80], %rd9;
	@%p0 st.global.v2.b32 [%rd0+88], {%r6, %r7};
	st.global.b64 [%rd0+96], %rd10;
	ret;
}`)
	p := r.buffer(make([]uint32, 26)...)
	r.mustRun("k", 1, 1, p, 0)
	param := uint64(paramBlock)
	address, _ := r.mod.Address(r.mod.Lookup("g"))
	g := uint32(address)
	got := fmt.Sprintf("%#x", r.words(p, 26))
	want := fmt.Sprintf("%#x", []uint32{
		0x11111111, 0x22222222, 0x11111111, 0x12341111,
		0x11111111, 0x22222222, 0x11111234, 0x12341111,
		0x11111234, 0x12341111, 0x11111111, 0x22222222,
		g + 4, 0, 0, 0,
		0x10, 0, 0x30, 0, // the kernel's frame begins at 0x10
		uint32(param), uint32(param >> 32), 12, 0x40000000,
		0, 0x3fe00000,
	})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSpecialRegisters launches 2×2×2 CTAs of 5×3×2 threads.
func TestSpecialRegisters(t *testing.T) {
	regs := []string{"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z",
		"%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid",
		"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"}
	src := `
.visible .entry k(.param .u64 p) {
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>, t, b;
	ld.param.u64 %rd0, [p];
	.reg .u32 %tidz, %ntidy, %tidy, %ntidx, %tidx, %ctaidz, %nctaidy, %ctaidy, %nctaidx, %ctaidx;
	mov.u32 %tidz, %tid.z;
	mov.u32 %ntidy, %ntid.y;
	mov.u32 %tidy, %tid.y;
	mov.u32 %ntidx, %ntid.x;
	mov.u32 %tidx, %tid.x;
	mov.u32 %ctaidz, %ctaid.z;
	mov.u32 %nctaidy, %nctaid.y;
	mov.u32 %ctaidy, %ctaid.y;
	mov.u32 %nctaidx, %nctaid.x;
	mov.u32 %ctaidx, %ctaid.x;
	mad.lo.u32 t, %tidz, %ntidy, %tidy;
	mad.lo.u32 t, t, %ntidx, %tidx;
	mad.lo.u32 b, %ctaidz, %nctaidy, %ctaidy;
	mad.lo.u32 b, b, %nctaidx, %ctaidx;
	mad.lo.u32 t, b, 30, t;
	mad.wide.u32 %rd0, t, 80, %rd0;
`
	for i, name := range regs {
		src += fmt.Sprintf("	mov.u32 %%r0, %s;\n	st.global.u32 [%%rd0+%d], %%r0;\n", name, 4*i)
	}
	r := newHarness(t, src+"	ret;\n}")
	p := r.buffer(make([]uint32, 8*30*20)...)
	r.launch.Grid, r.launch.Block, r.launch.WarpSize = [3]int{2, 2, 2}, [3]int{5, 3, 2}, 8
	r.mustRun("k", 0, 0, p)
	for cta := range uint32(8) {
		for tid := range uint32(30) {
			lane := tid % 8
			want := []uint32{tid % 5, tid / 5 % 3, tid / 15, 5, 3, 2, cta % 2, cta / 2 % 2, cta / 4, 2, 2, 2, lane, tid / 8, 4,
				1 << lane, 2<<lane - 1, 1<<lane - 1, ^(1<<lane - 1), ^(2<<lane - 1)}
			got := r.words(p+uint64(80*(30*cta+tid)), 20)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("cta %d thread %d: got %v, want %v", cta, tid, got, want)
			}
		}
	}
}
