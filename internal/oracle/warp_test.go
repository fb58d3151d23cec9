package oracle

import (
	"fmt"
	"testing"
)

// perThread wraps code that computes the 32-bit %r0 (to %r3) of each thread from its index %t, and stores them.
func perThread(code string) string {
	return `
.visible .entry k(.param .u64 out) {
	.reg .b64 %o, %d<4>;
	.reg .b32 %t, %l, %r<8>;
	.reg .f32 %f<8>;
	.reg .pred %p<8>;
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %l, %laneid;
	mad.wide.u32 %o, %t, 16, %o;
	` + code + `
	st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3};
	ret;
}`
}

// runThreads runs perThread code in a CTA of n threads and returns the stored words of each thread.
func runThreads(t *testing.T, n int, code string) [][]uint32 {
	t.Helper()
	r := newHarness(t, perThread(code))
	o := r.buffer(make([]uint32, 4*n)...)
	r.mustRun("k", 1, n, o)
	var out [][]uint32
	for i := range n {
		out = append(out, r.words(o+uint64(16*i), 4))
	}
	return out
}

// checkThreads compares the first words that each thread stored.
func checkThreads(t *testing.T, n int, code string, want func(i int) []uint32) {
	t.Helper()
	for i, got := range runThreads(t, n, code) {
		w := want(i)
		if fmt.Sprint(got[:len(w)]) != fmt.Sprint(w) {
			t.Errorf("thread %d: got %#x, want %#x", i, got[:len(w)], w)
			return
		}
	}
}

// TestScanByShuffles runs the manual's inclusive plus scan, its reverse, and the butterfly reduction (9.7.9.5), in both
// forms of shfl.
func TestScanByShuffles(t *testing.T) {
	for _, form := range []struct{ name, mask string }{{"shfl", ""}, {"shfl.sync", ", -1"}} {
		step := func(mode string, by int, clamp string) string {
			return fmt.Sprintf("%s.%s.b32 %%f1|%%p0, %%f0, %d, %s%s;\n@%%p0 add.f32 %%f0, %%f1, %%f0;\n", form.name, mode, by, clamp, form.mask)
		}
		begin := "add.u32 %r0, %l, 1;\ncvt.rn.f32.u32 %f0, %r0;\n"
		suffix := "cvt.rzi.u32.f32 %r0, %f0;\n"
		up, down, bfly := begin, begin, begin
		for by := 1; by < 32; by *= 2 {
			up += step("up", by, "0x0")
			down += step("down", by, "0x1f")
			bfly += fmt.Sprintf("%s.bfly.b32 %%f1, %%f0, %d, 0x1f%s;\nadd.f32 %%f0, %%f1, %%f0;\n", form.name, 32/2/by, form.mask)
		}
		checkThreads(t, 64, up+suffix, func(i int) []uint32 { n := uint32(i%32) + 1; return []uint32{n * (n + 1) / 2} })
		checkThreads(t, 64, down+suffix, func(i int) []uint32 { n := uint32(i % 32); return []uint32{528 - n*(n+1)/2} })
		checkThreads(t, 64, bfly+suffix, func(int) []uint32 { return []uint32{528} })
	}
}

// TestShuffleSegments checks segments of eight lanes, and the predicate.
func TestShuffleSegments(t *testing.T) {
	const seg8 = 0x1807 // mask 0x18, clamp 7
	code := func(mode string, b string, c int) string {
		return fmt.Sprintf("mul.lo.u32 %%r4, %%l, 10;\nshfl.sync.%s.b32 %%r0|%%p0, %%r4, %s, %d, 0xffffffff;\nselp.u32 %%r1, 1, 0, %%p0;", mode, b, c)
	}
	result := func(lane, from int, ok bool) []uint32 {
		if !ok {
			from = lane
		}
		return []uint32{uint32(10 * from), uint32(bit(ok))}
	}
	checkThreads(t, 32, code("idx", "11", seg8), func(i int) []uint32 { return result(i, i&^7|3, true) })
	checkThreads(t, 32, code("down", "3", seg8), func(i int) []uint32 { return result(i, i+3, i%8+3 < 8) })
	checkThreads(t, 32, code("up", "3", 0x1800), func(i int) []uint32 { return result(i, i-3, i%8 >= 3) })
	checkThreads(t, 32, code("bfly", "6", seg8), func(i int) []uint32 { return result(i, i^6, true) })
	checkThreads(t, 32, code("bfly", "8", seg8), func(i int) []uint32 { return result(i, i^8, i&8 != 0) })
	checkThreads(t, 32, code("idx", "31", 20), func(i int) []uint32 { return result(i, 31, false) })
}

// TestVoteOfDivergedLanes votes in a diverged warp: odd lanes vote at another place than even lanes.
func TestVoteOfDivergedLanes(t *testing.T) {
	code := `
	and.b32 %r4, %l, 1;
	setp.eq.u32 %p0, %r4, 1;
	setp.lt.u32 %p1, %l, 10;
	@%p0 bra odd;
	vote.sync.ballot.b32 %r0, %p1, 0x55555555;
	vote.sync.any.pred %p2, %p1, 0x55555555;
	vote.sync.all.pred %p3, %p1, 0x55555555;
	vote.sync.uni.pred %p4, %p1, 0x55555555;
	bra.uni join;
odd:
	vote.sync.ballot.b32 %r0, !%p1, 0xaaaaaaaa;
	setp.eq.u32 %p5, %r4, 1;
	vote.sync.any.pred %p2, !%p5, 0xaaaaaaaa;
	vote.sync.all.pred %p3, %p5, 0xaaaaaaaa;
	vote.sync.uni.pred %p4, %p5, 0xaaaaaaaa;
join:
	selp.u32 %r1, 1, 0, %p2;
	selp.u32 %r2, 1, 0, %p3;
	selp.u32 %r3, 1, 0, %p4;
`
	checkThreads(t, 32, code, func(i int) []uint32 {
		if i%2 == 0 {
			return []uint32{0x155, 1, 0, 0}
		}
		return []uint32{0xaaaaa800, 0, 1, 1}
	})
	// Without .sync the threads that execute it together take part; exited threads do not count.
	code = `
	setp.ge.u32 %p0, %l, 24;
	@%p0 exit;
	setp.lt.u32 %p1, %l, 8;
	vote.all.pred %p3, !%p0;
	selp.u32 %r2, 1, 0, %p3;
	activemask.b32 %r3;
	@%p1 vote.ballot.b32 %r0, %p3;
	@!%p1 vote.ballot.b32 %r0, !%p3;
	activemask.b32 %r1;
`
	checkThreads(t, 24, code, func(i int) []uint32 {
		if i < 8 {
			return []uint32{0xff, 0xffffff, 1, 0xffffff}
		}
		return []uint32{0, 0xffffff, 1, 0xffffff}
	})
}

// TestActivemask: threads diverge in the branches of an if and are together after it; they leave a loop together.
func TestActivemask(t *testing.T) {
	checkThreads(t, 32, `
	setp.lt.u32 %p0, %l, 4;
	@%p0 bra then;
	activemask.b32 %r0;
	bra join;
then:
	activemask.b32 %r0;
join:
	activemask.b32 %r1;
	mov.u32 %r4, 0;
	mov.u32 %r2, 0;
loop:
	activemask.b32 %r5;
	popc.b32 %r5, %r5;
	add.u32 %r2, %r2, %r5;
	add.u32 %r4, %r4, 1;
	setp.le.u32 %p0, %r4, %l;
	@%p0 bra loop;
	activemask.b32 %r3;
`, func(i int) []uint32 {
		w := []uint32{0xf, 0xffffffff, 0, 0xffffffff}
		if i >= 4 {
			w[0] = 0xfffffff0
		}
		for n := 0; n <= i; n++ { // 32 - n lanes run iteration n
			w[2] += uint32(32 - n)
		}
		return w
	})
}

// TestSyncAtTwoPlaces: threads that reach the same instruction text with the same mask at different places exchange
// values.
func TestSyncAtTwoPlaces(t *testing.T) {
	checkThreads(t, 32, `
	mov.u32 %r4, %l;
	setp.lt.u32 %p0, %l, 16;
	@%p0 bra low;
	add.u32 %r4, %r4, 100;
	shfl.sync.bfly.b32 %r0, %r4, 16, 31, 0xffffffff;
	bra join;
low:
	shfl.sync.bfly.b32 %r0, %r4, 16, 31, 0xffffffff;
join:
	bar.warp.sync 0xffffffff;
`, func(i int) []uint32 {
		if i < 16 {
			return []uint32{uint32(i + 16 + 100)}
		}
		return []uint32{uint32(i - 16)}
	})
}

// TestIncompleteMask: the warp does not wait for named threads that have exited. If live threads can never arrive, the
// waiting threads wait for ever.
func TestIncompleteMask(t *testing.T) {
	checkThreads(t, 32, `
	setp.ge.u32 %p0, %l, 20;
	@%p0 bra gone;
	vote.sync.ballot.b32 %r0, 1, 0xffffffff;
gone:
	@%p0 exit;
`, func(i int) []uint32 {
		if i < 20 {
			return []uint32{0xfffff}
		}
		return []uint32{0}
	})
	r := newHarness(t, `
.visible .entry k() {
	.reg .b32 %l, %r;
	.reg .pred %p, %q;
	mov.u32 %l, %laneid;
	setp.ge.u32 %p, %l, 20;
	@%p bra other;
	vote.sync.ballot.b32 %r, 1, 0xffffffff;
	bra join;
other:
	vote.sync.any.pred %q, 1, 0xffffffff;
join:
	ret;
}`)
	wantTrap(t, r.tryRun("k", 1, 32), KindDeadlock, "20 at vote.sync.ballot.b32 (11:2), 12 at vote.sync.any.pred (14:2)")
}

// TestMatch shows the masks of match.any and match.all. They follow from the lanes' values.
func TestMatch(t *testing.T) {
	checkThreads(t, 32, `
	and.b32 %r4, %l, 3;
	match.any.sync.b32 %r0, %r4, 0xffffffff;
	cvt.u64.u32 %d0, %r4;
	match.all.sync.b64 %r1|%p0, %d0, 0xffffffff;
	selp.u32 %r2, 1, 0, %p0;
	mov.u32 %r4, 7;
	match.all.sync.b32 %r3, %r4, 0xffffffff;
`, func(i int) []uint32 { return []uint32{0x11111111 << (i & 3), 0, 0, 0xffffffff} })
}

// TestRedux shows reductions of all lanes; the sums and extremes follow from the values lane - 5.
func TestRedux(t *testing.T) {
	checkThreads(t, 32, `
	sub.u32 %r4, %l, 5;
	redux.sync.add.s32 %r0, %r4, 0xffffffff;
	redux.sync.min.s32 %r1, %r4, 0xffffffff;
	redux.sync.min.u32 %r2, %r4, 0xffffffff;
	redux.sync.max.u32 %r3, %r4, 0xffffffff;
`, func(int) []uint32 { return []uint32{496 - 160, 0xfffffffb, 0, 0xffffffff} })
	checkThreads(t, 32, `
	setp.lt.u32 %p0, %l, 8;
	@!%p0 exit;
	redux.sync.and.b32 %r0, %l, 0xff;
	redux.sync.or.b32 %r1, %l, 0xff;
	redux.sync.xor.b32 %r2, %l, 0xff;
	redux.sync.max.s32 %r3, %l, 0xff;
`, func(i int) []uint32 {
		if i < 8 {
			return []uint32{0, 7, 0, 7}
		}
		return []uint32{0}
	})
	checkThreads(t, 4, `
	cvt.rn.f32.u32 %f0, %l;
	sub.f32 %f0, %f0, 0f40200000;     // -2.5 -1.5 -0.5 0.5
	redux.sync.min.f32 %f1, %f0, 0xf;
	redux.sync.min.abs.f32 %f2, %f0, 0xf;
	setp.eq.u32 %p0, %l, 2;
	@%p0 mov.f32 %f0, 0fffc00000;
	redux.sync.max.f32 %f3, %f0, 0xf;
	redux.sync.max.NaN.f32 %f4, %f0, 0xf;
	mov.b32 %r0, %f1;
	mov.b32 %r1, %f2;
	mov.b32 %r2, %f3;
	mov.b32 %r3, %f4;
`, func(int) []uint32 { return []uint32{0xc0200000, fHalf, fHalf, fNaN} })
}

// TestElect shows that the lowest lane of the mask is elected.
func TestElect(t *testing.T) {
	checkThreads(t, 32, `
	setp.ge.u32 %p0, %l, 6;
	@%p0 elect.sync %r0|%p1, 0xffffffc0;
	@%p0 selp.u32 %r1, 1, 0, %p1;
`, func(i int) []uint32 {
		if i < 6 {
			return []uint32{0, 0}
		}
		return []uint32{6, uint32(bit(i == 6))}
	})
}

// TestSpinBesideCollective: lanes spin until a lane that waits at activemask continues. The wait must end.
func TestSpinBesideCollective(t *testing.T) {
	r := newHarness(t, `
.global .u32 flag;
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .b32 %m, %f;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	.reg .u32 %lane;
	mov.u32 %lane, %laneid;
	setp.eq.u32 %p, %lane, 0;
	@%p bra first;
spin:
	ld.volatile.global.u32 %f, [flag];
	setp.eq.u32 %p, %f, 0;
	@%p bra spin;
	ret;
first:
	activemask.b32 %m;
	st.volatile.global.u32 [flag], 1;
	st.global.u32 [%o], %m;
	ret;
}`)
	o := r.buffer(0)
	r.mustRun("k", 1, 2, o)
	checkWords(t, r, o, 1)
}

// TestBarrierOfWarps reverses an array through shared memory, with warps of several widths.
func TestBarrierOfWarps(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8, 16, 32, 64} {
		r := newHarness(t, `
.visible .entry k(.param .u64 out) {
	.reg .b64 %o, %s, %a;
	.reg .b32 %r<4>;
	.shared .u32 s[100];
	ld.param.u64 %o, [out];
	mov.u64 %s, s;
	.reg .u32 %tidx, %ctaidx;
	mov.u32 %tidx, %tid.x;
	mov.u32 %ctaidx, %ctaid.x;
	mad.wide.u32 %a, %tidx, 4, %s;
	mul.lo.u32 %r0, %tidx, %tidx;
	st.shared.u32 [%a], %r0;
	bar.sync 0;
	sub.u32 %r1, 99, %tidx;
	mad.wide.u32 %a, %r1, 4, %s;
	ld.shared.u32 %r2, [%a];
	mad.lo.u32 %r1, %ctaidx, 100, %tidx;
	mad.wide.u32 %o, %r1, 4, %o;
	st.global.u32 [%o], %r2;
	ret;
}`)
		r.launch.WarpSize = width
		o := r.buffer(make([]uint32, 200)...)
		r.mustRun("k", 2, 100, o)
		for i, got := range r.words(o, 200) {
			if n := uint32(99 - i%100); got != n*n {
				t.Fatalf("width %d: thread %d got %d, want %d", width, i, got, n*n)
			}
		}
	}
}

// TestProducerConsumer is the manual's example: the producer warp arrives and continues, the consumer waits; then they
// exchange roles (9.7.13.1).
func TestProducerConsumer(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b64 %g, %a;
	.reg .b32 %i, %v, %l;
	.reg .pred %p, %q;
	.shared .u32 buf[32];
	mov.u64 %a, buf;
	mov.u32 %l, %laneid;
	mad.wide.u32 %a, %l, 4, %a;
	mov.u32 %i, 0;
	.reg .u32 %tidx;
	mov.u32 %tidx, %tid.x;
	setp.ge.u32 %p, %tidx, 32;
	@%p bra consumer;
	ld.param.u64 %g, [in];
	mad.wide.u32 %g, %l, 4, %g;
produce:
	ld.global.u32 %v, [%g];
	st.shared.u32 [%a], %v;
	bar.arrive 0, 64;
	bar.sync 1, 64;
	add.u64 %g, %g, 128;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 5;
	@%q bra produce;
	ret;
consumer:
	ld.param.u64 %g, [out];
	mad.wide.u32 %g, %l, 4, %g;
consume:
	bar.sync 0, 64;
	ld.shared.u32 %v, [%a];
	bar.arrive 1, 64;
	st.global.u32 [%g], %v;
	add.u64 %g, %g, 128;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 5;
	@%q bra consume;
	ret;
}`)
	data := make([]uint32, 160)
	for i := range data {
		data[i] = uint32(7 * i)
	}
	o := r.buffer(make([]uint32, 160)...)
	r.mustRun("k", 1, 64, r.buffer(data...), o)
	checkWords(t, r, o, data...)
}

// TestBarrierRed checks population count, and, or, also with a number of threads.
func TestBarrierRed(t *testing.T) {
	checkThreads(t, 96, `
	and.b32 %r4, %t, 3;
	setp.eq.u32 %p0, %r4, 0;
	bar.red.popc.u32 %r0, 1, %p0;
	barrier.red.and.pred %p1, 2, %p0;
	bar.red.or.pred %p2, 3, !%p0;
	selp.u32 %r1, 1, 0, %p1;
	selp.u32 %r2, 1, 0, %p2;
	setp.lt.u32 %p3, %t, 64;
	mov.u32 %r3, 5;
	@%p3 bar.red.popc.u32 %r3, 4, 64, !%p0;
`, func(i int) []uint32 {
		if i < 64 {
			return []uint32{24, 0, 1, 48}
		}
		return []uint32{24, 0, 1, 5}
	})
}

// TestBarrierExit: threads that exit release a barrier for all threads (9.7.12.7), within a warp and as whole warps; a
// partly filled warp counts.
func TestBarrierExit(t *testing.T) {
	checkThreads(t, 80, `
	mov.u32 %r0, 1;
	setp.lt.u32 %p0, %t, 40;
	@%p0 bra stay;
	and.b32 %r4, %t, 1;
	setp.eq.u32 %p1, %r4, 0;
	@%p1 exit;
	setp.ge.u32 %p1, %t, 64;
	@%p1 exit;
stay:
	bar.sync 0;
	bar.red.popc.u32 %r0, 0, 1;
`, func(i int) []uint32 {
		switch {
		case i < 40 || i < 64 && i%2 == 1:
			return []uint32{52}
		}
		return []uint32{0}
	})
}

// TestDivergedBarrier: the same barrier at two places counts as a single barrier.
func TestDivergedBarrier(t *testing.T) {
	checkThreads(t, 64, `
	and.b32 %r4, %t, 1;
	setp.eq.u32 %p0, %r4, 0;
	@%p0 bra even;
	barrier.sync 3;
	mov.u32 %r0, 1;
	bra join;
even:
	barrier.sync 3;
	mov.u32 %r0, 2;
join:
`, func(i int) []uint32 { return []uint32{2 - uint32(i%2)} })
}

// TestBarrierFaults shows the trap of each misuse of a barrier.
func TestBarrierFaults(t *testing.T) {
	for _, c := range []struct{ code, kind, text string }{
		{"mov.u32 %r0, 16; bar.sync %r0;", KindBarrier, "not in 0..15"},
		{"mov.u32 %r0, 40; bar.sync 1, %r0;", KindBarrier, "multiple of the warp size"},
		{"mov.u32 %r0, 0; bar.arrive 1, %r0;", KindBarrier, "multiple of the warp size"},
		{"setp.lt.u32 %p0, %t, 32; @%p0 bar.sync 0, 64; @!%p0 bar.sync 0, 96;", KindBarrier, "not 96"},
		{"setp.lt.u32 %p0, %t, 32; @%p0 bar.sync 1; @!%p0 bar.sync 2;", KindDeadlock, "32 at bar.sync (14:32), 32 at bar.sync (14:50)"},
		{"bar.sync 0, 96;", KindDeadlock, "waiting: 64 at bar.sync"},
	} {
		r := newHarness(t, perThread(c.code))
		wantTrap(t, r.tryRun("k", 1, 64, r.buffer(make([]uint32, 256)...)), c.kind, c.text)
	}
}

// TestNarrowWarps: collectives in warps of eight.
func TestNarrowWarps(t *testing.T) {
	r := newHarness(t, perThread(`
	vote.sync.ballot.b32 %r0, 1, 0xffffffff;
	shfl.sync.up.b32 %r1, %t, 1, 0, 0xffffffff;
	activemask.b32 %r2;
	redux.sync.add.u32 %r3, %t, 0xffffffff;
`))
	r.launch.WarpSize = 8
	o := r.buffer(make([]uint32, 4*20)...)
	r.mustRun("k", 1, 20, o)
	for i := range uint32(20) {
		all, sum := uint32(0xff), 8*(i&^7)+28
		if i >= 16 {
			all, sum = 0xf, 70
		}
		from := i
		if i%8 > 0 {
			from--
		}
		checkWords(t, r, o+uint64(16*i), all, from, all, sum)
	}
}
