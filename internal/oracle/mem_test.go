package oracle

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gemu/ptx"
)

// wantTrap checks that err is a trap of the kind, with the text in its message.
func wantTrap(t *testing.T, err error, kind, text string) *Trap {
	t.Helper()
	var trap *Trap
	if !errors.As(err, &trap) {
		t.Fatalf("got error %v, want a trap (%s)", err, kind)
	}
	if trap.Kind != kind || !strings.Contains(trap.Error(), text) {
		t.Errorf("got %q (%s), want kind %s and %q", trap, trap.Kind, kind, text)
	}
	return trap
}

func checkWords(t *testing.T, r *harness, addr uint64, want ...uint32) {
	t.Helper()
	if got := r.words(addr, len(want)); fmt.Sprintf("%#x", got) != fmt.Sprintf("%#x", want) {
		t.Errorf("got  %#x\nwant %#x", got, want)
	}
}

// TestStateSpaces reads and writes every space by its own addresses, by generic addresses, and by the name of a
// variable without a space.
func TestStateSpaces(t *testing.T) {
	r := newHarness(t, `
.global .align 8 .u32 g[4] = {1, 2, 3, 4};
.const .u32 c[2] = {0xc0, 0xc1};
.shared .u32 s[4];
.visible .entry k(.param .u64 out, .param .align 8 .b8 agg[12]) {
	.reg .b64 %o, %a, %b;
	.reg .b32 %r<16>;
	.reg .pred %p<8>;
	.local .align 4 .b8 l[16];
	ld.param.u64 %o, [out];

	ld.global.u32 %r1, [g+4];
	ld.u32 %r2, [g+8];
	mov.u64 %a, g;
	cvta.global.u64 %a, %a;
	ld.u32 %r3, [%a+12];
	ld.const.u32 %r4, [c+4];
	st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};

	mov.u32 %r5, 77;
	st.shared.u32 [s+4], %r5;
	cvta.shared.u64 %a, s;
	ld.u32 %r6, [%a+4];
	st.u32 [%a+8], 78;
	ld.u32 %r7, [s+8];
	cvta.to.shared.u64 %b, %a;
	ld.shared.u32 %r8, [%b+8];
	st.global.v2.u32 [%o+16], {%r6, %r7};
	st.global.u32 [%o+24], %r8;

	st.local.u32 [l+12], 79;
	mov.u64 %a, l;
	ld.local.u32 %r9, [%a+12];
	cvta.local.u64 %a, %a;
	ld.u32 %r10, [%a+12];
	st.global.v2.u32 [%o+32], {%r9, %r10};

	ld.param.u32 %r11, [agg+8];
	mov.b64 %b, agg;
	ld.param.u32 %r12, [%b+4];
	cvta.param.u64 %b, %b;
	ld.u32 %r13, [%b];
	st.global.v2.u32 [%o+40], {%r11, %r12};
	st.global.u32 [%o+48], %r13;

	mov.u32 %r14, 0;
	isspacep.local %p1, %a;
	isspacep.global %p2, %a;
	isspacep.param %p3, %b;
	isspacep.global %p4, %b;
	isspacep.global %p5, %o;
	cvta.shared.u64 %a, s;
	isspacep.shared %p6, %a;
	isspacep.shared %p7, %o;
	mov.u64 %a, c;
	isspacep.const %p0, %a;
	@%p0 or.b32 %r14, %r14, 1;
	@%p1 or.b32 %r14, %r14, 2;
	@%p2 or.b32 %r14, %r14, 4;
	@%p3 or.b32 %r14, %r14, 8;
	@%p4 or.b32 %r14, %r14, 16;
	@%p5 or.b32 %r14, %r14, 32;
	@%p6 or.b32 %r14, %r14, 64;
	@%p7 or.b32 %r14, %r14, 128;
	st.global.u32 [%o+52], %r14;
	ret;
}`)
	o := r.buffer(make([]uint32, 14)...)
	r.mustRun("k", 1, 1, o, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})
	checkWords(t, r, o, 2, 3, 4, 0xc1, 77, 78, 78, 0, 79, 79, 3, 2, 1, 1|2|8|16|32|64)
}

// TestVectorAccesses: elements in order, _ skipped, .v8 and .b128.
func TestVectorAccesses(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b64 %i, %o;
	.reg .b32 %r<8>;
	.reg .b16 %h<4>;
	.reg .b128 %q;
	ld.param.u64 %i, [in];
	ld.param.u64 %o, [out];
	ld.global.v8.b32 {%r0, %r1, _, %r3, %r4, %r5, %r6, %r7}, [%i];
	st.global.v8.b32 [%o], {%r7, %r6, %r5, _, %r4, %r3, %r1, %r0};
	ld.global.nc.v4.u8 {%h0, %h1, %h2, %h3}, [%i+4];
	st.global.v4.u8 [%o+32], {%h3, %h2, %h1, %h0};
	ld.global.b128 %q, [%i+16];
	st.global.b128 [%o+48], %q;
	ldu.global.v2.u32 {%r0, %r1}, [%i+8];
	st.v2.u32 [%o+40], {%r1, %r0};
	st.global.u32 [%o+36], 42;
	ret;
}`)
	i := r.buffer(0, 0x04030201, 2, 3, 4, 5, 6, 7)
	o := r.buffer(9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)
	r.mustRun("k", 1, 1, i, o)
	checkWords(t, r, o, 7, 6, 5, 9, 4, 3, 0x04030201, 0, 0x01020304, 42, 3, 2, 4, 5, 6, 7)
}

// TestFaultingAccesses has accesses that must trap, with a part of the message.
func TestFaultingAccesses(t *testing.T) {
	for _, c := range []struct{ code, kind, text string }{
		{"ld.global.u32 %r, [%p+2];", KindMisaligned, "test.ptx:22:2: trap: misaligned: global address"},
		{"ld.global.v2.u32 {%r, _}, [%p+4];", KindMisaligned, "multiple of 8"},
		{"mov.b64 %c, 1; st.shared.u16 [%c], %h;", KindMisaligned, "shared"},
		{"ld.global.u32 %r, [%p+16];", KindMemory, "nothing is at"},
		{"mov.b64 %c, 0; ld.global.u32 %r, [%c];", KindMemory, "nothing is at"},
		{"st.u32 [%c], %r;", KindMemory, "not to be changed"},
		{"mov.b64 %c, 64; ld.shared.u32 %r, [%c];", KindMemory, "outside shared memory, which has 64"},
		{"mov.b64 %c, -4; ld.shared.u32 %r, [%c];", KindMemory, "outside shared"},
		{"ld.local.u32 %r, [0];", KindMemory, "outside local"},
		{"ld.local.u32 %r, [32];", KindMemory, "outside local"},
		{"ld.const.u32 %r, [%p];", KindMemory, "not const"},
		{"atom.add.u32 %r, [%l], 1;", KindMemory, "atomic operation on local"},
		{"trap;", KindTrap, "cta (1,0,0) thread (2,0,0)"},
		{"brkpt;", KindBreak, ""},
	} {
		r := newHarness(t, `.const .u32 c;
.visible .entry k(.param .u64 p) {
	.reg .b64 %p, %c, %l;
	.reg .b32 %r;
	.reg .b16 %h;
	.reg .pred %q;
	.shared .b8 s[64];
	.local .align 8 .b8 l[16];
	.reg .u32 %tidx, %ctaidx;
	mov.u32 %tidx, %tid.x;
	mov.u32 %ctaidx, %ctaid.x;
	setp.ne.u32 %q, %tidx, 2;
	@%q exit;
	setp.ne.u32 %q, %ctaidx, 1;
	@%q exit;
	mov.u64 %c, c;
	cvta.local.u64 %l, l;
	ld.param.u64 %p, [p];
	`+c.code+`
	ret;
}`)
		wantTrap(t, r.tryRun("k", 2, 4, r.buffer(1, 2, 3, 4)), c.kind, c.text)
	}
}

// TestAtomics: 9.7.13.5: result and new memory of each operation.
func TestAtomics(t *testing.T) {
	for _, c := range []struct {
		op                string
		mem, b, c, result uint64
	}{
		{"and.b32", 0xff0f, 0x0ff0, 0, 0x0f00},
		{"or.b32", 0xff0f, 0x0ff0, 0, 0xffff},
		{"xor.b64", 0xff00000000, 0x0ff0, 0, 0xff00000ff0},
		{"exch.b32", 1, 2, 0, 2},
		{"exch.b64", 1, 1 << 60, 0, 1 << 60},
		{"add.u32", 0xffffffff, 2, 0, 1},
		{"add.u64", 0xffffffff, 2, 0, 0x100000001},
		{"inc.u32", 5, 6, 0, 6},
		{"inc.u32", 6, 6, 0, 0},
		{"inc.u32", 7, 6, 0, 0},
		{"dec.u32", 5, 6, 0, 4},
		{"dec.u32", 0, 6, 0, 6},
		{"dec.u32", 7, 6, 0, 6},
		{"min.s32", 0xffffffff, 1, 0, 0xffffffff},
		{"min.u32", 0xffffffff, 1, 0, 1},
		{"max.s32", 0xffffffff, 1, 0, 1},
		{"max.u64", 1 << 63, 1, 0, 1 << 63},
		{"max.s64", 1 << 63, 1, 0, 1},
		{"add.f32", fOne, fTwo, 0, 0x40400000},
		{"add.f32", fSub, fSub, 0, 0}, // flushed in global memory
		{"add.f32", fMin | fNeg, 0x00400000, 0, fMin | fNeg},
		{"add.f64", dOne, dOne, 0, dTwo},
		{"cas.b16", 5, 5, 7, 7},
		{"cas.b32", 5, 5, 7, 7},
		{"cas.b32", 5, 6, 7, 5},
		{"cas.b64", 1 << 40, 1 << 40, 7, 7},
	} {
		_, typ, _ := strings.Cut(c.op, ".")
		bits := ptx.TypeByName(typ).Bits()
		third := ""
		if strings.HasPrefix(c.op, "cas") {
			third = ", %c"
		}
		for _, space := range []string{".global", ""} {
			red := fmt.Sprintf("red%s.%s [%%p+24], %%b;", space, c.op)
			if third != "" || strings.HasPrefix(c.op, "exch") { // red has neither
				red = fmt.Sprintf("atom%s.%s _, [%%p+24], %%b%s;", space, c.op, third)
			}
			r := newHarness(t, fmt.Sprintf(`
.visible .entry k(.param .u64 p) {
	.reg .b64 %%p;
	.reg .b%[1]d %%d, %%b, %%c;
	ld.param.u64 %%p, [p];
	ld.global.b%[1]d %%b, [%%p+8];
	ld.global.b%[1]d %%c, [%%p+16];
	atom%[2]s.%[3]s %%d, [%%p], %%b%[4]s;
	st.global.b%[1]d [%%p+8], %%d;
	%[5]s
	ret;
}`, bits, space, c.op, third, red))
			p := r.buffer(make([]uint32, 8)...)
			for i, v := range []uint64{c.mem, c.b, c.c, c.mem} {
				r.write(p+uint64(8*i), bytesOf(value{lo: v}, 8))
			}
			r.mustRun("k", 1, 1, p)
			b := r.read(p, 32)
			if got := valueOf(b[:8]).lo; got != c.result {
				t.Errorf("%s %#x, %#x, %#x leaves %#x, want %#x", c.op, c.mem, c.b, c.c, got, c.result)
			}
			if got := low(valueOf(b[8:16]).lo, bits); got != c.mem {
				t.Errorf("%s %#x returns %#x", c.op, c.mem, got)
			}
			if got := valueOf(b[24:]).lo; got != c.result {
				t.Errorf("red or _: %s %#x, %#x leaves %#x, want %#x", c.op, c.mem, c.b, got, c.result)
			}
		}
	}
}

// TestAtomicSubnormals: atom.add.f32 in shared memory keeps subnormals, also with a generic address; .f64 keeps them in
// global memory, too (9.7.13.5).
func TestAtomicSubnormals(t *testing.T) {
	r := newHarness(t, `
.shared .u32 s[2];
.visible .entry k(.param .u64 p) {
	.reg .b64 %p, %s;
	.reg .b32 %r<2>;
	.reg .f32 %f;
	.reg .f64 %d;
	ld.param.u64 %p, [p];
	st.shared.v2.u32 [s], {1, 1};
	atom.shared.add.f32 %f, [s], 0f00000002;
	cvta.shared.u64 %s, s;
	red.add.f32 [%s+4], 0f80000003;
	ld.shared.v2.u32 {%r0, %r1}, [s];
	st.global.v2.u32 [%p], {%r0, %r1};
	atom.global.add.f64 %d, [%p+8], 0d0000000000000002;
	ret;
}`)
	p := r.buffer(0, 0, 1, 0)
	r.mustRun("k", 1, 1, p)
	checkWords(t, r, p, 3, 0x80000002, 3, 0)
}

// TestAtomics128 exchanges and compares 16 bytes.
func TestAtomics128(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 p) {
	.reg .b64 %p;
	.reg .b128 %a, %b, %d;
	ld.param.u64 %p, [p];
	ld.global.b128 %a, [%p];
	ld.global.b128 %b, [%p+16];
	atom.global.exch.b128 %d, [%p], %b;
	st.global.b128 [%p+32], %d;
	atom.global.cas.b128 %d, [%p], %a, %a;
	st.global.b128 [%p+48], %d;
	atom.global.cas.b128 %d, [%p], %b, %a;
	ret;
}`)
	p := r.buffer(1, 2, 3, 4, 1, 2, 3, 5, 0, 0, 0, 0, 0, 0, 0, 0)
	r.mustRun("k", 1, 1, p)
	checkWords(t, r, p, 1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3, 4, 1, 2, 3, 5)
}

// TestHistogramOfManyCTAs counts with shared and global atomics from many CTAs.
func TestHistogramOfManyCTAs(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b64 %i, %o, %a;
	.reg .b32 %r<8>;
	.reg .pred %p;
	.shared .u32 bins[8];
	ld.param.u64 %i, [in];
	ld.param.u64 %o, [out];
	.reg .u32 %ctaidx, %ntidx, %tidx;
	mov.u32 %ctaidx, %ctaid.x;
	mov.u32 %ntidx, %ntid.x;
	mov.u32 %tidx, %tid.x;
	mad.lo.u32 %r0, %ctaidx, %ntidx, %tidx;
	mad.wide.u32 %i, %r0, 4, %i;
	ld.global.u32 %r1, [%i];
	and.b32 %r1, %r1, 7;
	mul.wide.u32 %a, %r1, 4;
	mov.u64 %i, bins;
	add.u64 %i, %i, %a;
	red.shared.add.u32 [%i], 1;
	bar.sync 0;
	setp.gt.u32 %p, %tidx, 7;
	@%p ret;
	mul.wide.u32 %a, %tidx, 4;
	mov.u64 %i, bins;
	add.u64 %i, %i, %a;
	ld.shared.u32 %r2, [%i];
	add.u64 %o, %o, %a;
	atom.global.add.u32 %r3, [%o], %r2;
	ret;
}`)
	var data []uint32
	var bins [8]uint32
	for i := range uint32(4 * 64) {
		x := i * i * 2654435761 >> 13
		data = append(data, x)
		bins[x&7]++
	}
	o := r.buffer(make([]uint32, 8)...)
	r.mustRun("k", 4, 64, r.buffer(data...), o)
	checkWords(t, r, o, bins[:]...)
}

// TestInstructionsWithoutEffect has instructions without an effect, and cache policies.
func TestInstructionsWithoutEffect(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 p) {
	.reg .b64 %p, %c;
	.reg .b32 %r;
	.reg .f32 %f;
	ld.param.u64 %p, [p];
	createpolicy.fractional.L2::evict_last.b64 %c, 0.25;
	ld.global.L2::cache_hint.u32 %r, [%p], %c;
	st.global.L2::cache_hint.u32 [%p+4], %r, %c;
	atom.global.add.L2::cache_hint.u32 %r, [%p+4], 1, %c;
	prefetch.global.L2 [%p];
	prefetchu.L1 [%p];
	applypriority.global.L2::evict_normal [%p], 128;
	discard.global.L2 [%p], 128;
	membar.gl;
	fence.acq_rel.gpu;
	fence.proxy.async;
	nanosleep.u32 10;
	pmevent 1;
	griddepcontrol.wait;
	ret;
}`)
	p := r.buffer(5, 0)
	r.mustRun("k", 1, 1, p)
	checkWords(t, r, p, 5, 6)
	if r.stats.ThreadInstructions != 16 {
		t.Errorf("%d instructions, want 16", r.stats.ThreadInstructions)
	}
}

// TestAllocaAndStacksave: alloca, stacksave and stackrestore (9.7.17).
func TestAllocaAndStacksave(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 out, .param .u64 n) {
	.reg .b64 %o, %n, %a, %b, %c, %s, %t;
	.reg .b32 %r;
	.local .u32 l;
	ld.param.u64 %o, [out];
	ld.param.u64 %n, [n];
	stacksave.u64 %s;
	alloca.u64 %a, %n, 64;
	alloca.u64 %b, 4;
	st.local.u32 [%a], 11;
	st.local.u32 [%b], 12;
	st.local.u32 [l], 13;
	stackrestore.u64 %s;
	alloca.u64 %c, %n, 64;
	sub.u64 %t, %c, %a;   // taken back
	st.global.u64 [%o], %t;
	and.b64 %t, %a, 63;
	st.global.u64 [%o+8], %t;
	ld.local.u32 %r, [l];
	st.global.u32 [%o+16], %r;
	st.local.u32 [%c], %r;
	ret;
}`)
	o := r.buffer(make([]uint32, 6)...)
	r.mustRun("k", 1, 1, o, 100)
	checkWords(t, r, o, 0, 0, 0, 0, 13, 0)
	wantTrap(t, r.tryRun("k", 1, 1, o, 1<<20), KindStack, "")
	wantTrap(t, r.tryRun("k", 1, 1, o, uint64(math.MaxUint64)), KindStack, "")
}
