package grid_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gemu/interp"
	"gemu/interp/internal/grid"
	"gemu/ptx"
)

// nextCTAKernels are kernels of 3·2·20 CTAs of 80 threads; machine code continues with the next CTA without an exit where
// it can. In a body %n is the index of the thread in the grid, %i its index in the CTA, %c the index of the CTA, and %a the
// address of the thread's element of out. %never and %wide are 0 at the start.
var nextCTAKernels = map[string]countedKernel{
	"memory and registers that begin as zeros": {runs: [3]int{5, 5, 5}, entries: [3]int{11, 11, 25}, body: `
	shl.b32 %x, %i, 2;
	mov.u32 %y, block;
	add.u32 %x, %x, %y;
	ld.shared.u32 %y, [%x];
	add.u32 %y, %y, %never;
	mad.lo.u32 %y, %y, 1000, %n;
	st.global.u32 [%a], %y;
	mov.u32 %never, %n;
	bar.sync 0;
	st.shared.u32 [%x], %never;`},
	"local memory that begins as zeros": {runs: [3]int{241, 241, 241}, entries: [3]int{243, 243, 243}, body: `
	.local .b32 own[4];
	ld.local.u32 %x, [own+8];
	st.local.u32 [own+8], %n;
	st.global.u32 [%a], %x;`},
	"lanes that end early": {runs: [3]int{722, 722, 722}, entries: [3]int{724, 724, 724}, body: `
	and.b32 %x, %n, 5;
	setp.eq.u32 %p, %x, 5;
	@%p exit;
	setp.lt.u32 %p, %i, 40;
	@%p bra Y;
	mad.lo.u32 %n, %n, 3, 1;
Y:	st.global.u32 [%a], %n;`},
	"more instructions in some CTAs than a slice": {runs: [3]int{1265, 1265, 1265}, entries: [3]int{1387, 1387, 3065}, body: `
	and.b32 %x, %c, 3;
	mul.lo.u32 %x, %x, 700;
L:	mad.lo.u32 %n, %n, 5, 3;
	setp.eq.u32 %p, %x, 0;
	sub.u32 %x, %x, 1;
	@!%p bra L;
	st.global.u32 [%a], %n;`},
	"warps that wait at barriers": {runs: [3]int{484, 484, 484}, entries: [3]int{486, 486, 486}, body: `
	setp.ge.u32 %p, %i, 64;
	@%p bra Y;
	bar.sync 1, 64;
Y:	bar.sync 0;
	st.global.u32 [%a], %n;
	bar.sync 0;`},
	"a globally ordered instruction": {runs: [3]int{481, 481, 1440}, entries: [3]int{609, 609, 1440}, body: `
	atom.global.exch.b32 %x, [%o], %c;
	st.global.u32 [%a], %n;`},
	"instructions that Go executes": {runs: [3]int{481, 481, 1440}, entries: [3]int{1265, 1265, 1440}, body: `
	cvt.rn.f64.u32 %d, %n;
	red.global.add.f64 [%o], %d;
	mov.u32 %x, %clock;
	st.global.u32 [%a], %n;`},
	"zeros and a uniform register": {runs: [3]int{5, 5, 5}, entries: [3]int{9, 9, 23}, body: `
	add.u32 %x, %c, %never;
	st.global.u32 [%a], %x;
	add.u32 %never, %i, %c;
	bar.sync 0;
	st.shared.u32 [block], %never;`},
	"64-bit zeros and a uniform register": {runs: [3]int{5, 5, 5}, entries: [3]int{11, 11, 25}, body: `
	cvt.u64.u32 %q, %c;
	add.s64 %q, %q, %wide;
	cvt.u32.u64 %x, %q;
	st.global.u32 [%a], %x;
	add.u32 %x, %i, %c;
	cvt.u64.u32 %wide, %x;
	bar.sync 0;
	cvt.u32.u64 %x, %wide;
	st.shared.u32 [block], %x;`},
	"the warp's index": {runs: [3]int{241, 241, 241}, entries: [3]int{243, 243, 243}, body: `
	mov.u32 %x, %warpid;
	st.global.u32 [%a], %x;`},
	"the multiprocessor": {runs: [3]int{241, 241, 241}, entries: [3]int{243, 243, 243}, body: `
	mov.u32 %x, %smid;
	mov.u32 %y, %nctaid.y;
	add.u32 %x, %x, %y;
	st.global.u32 [%a], %x;`},
	"asynchronous effects": {runs: [3]int{241, 241, 241}, entries: [3]int{481, 481, 1441}, body: `
	setp.ne.u32 %p, %i, 0;
	mov.u32 %x, block;
	st.shared.u32 [%x], %n;
	@%p bra E;
	cp.async.bulk.global.shared::cta.bulk_group [%q], [block], 16;
	cp.async.bulk.commit_group;
E:`},
	"diverged lanes at a collective instruction": {runs: [3]int{963, 963, 963}, entries: [3]int{485, 485, 485}, body: `
	setp.lt.u32 %p, %i, 50;
	@%p bra Y;
	shfl.sync.bfly.b32 %x, %n, 4, 31, -1;
	ret;
Y:	shfl.sync.bfly.b32 %x, %n, 4, 31, -1;
	st.global.u32 [%a], %x;`},
	"an instruction that Go executes, for diverged lanes": {runs: [3]int{5, 5, 5}, entries: [3]int{487, 487, 487}, body: `
	setp.lt.u32 %p, %i, 40;
	@%p bra Y;
	mov.u32 %x, %clock;
	add.u32 %n, %n, 1;
Y:	st.global.u32 [%a], %n;`},
	"halves that end early": {runs: [3]int{722, 722, 722}, entries: [3]int{1084, 1084, 1086}, body: `
	and.b32 %x, %c, 1;
	setp.eq.u32 %p, %x, 0;
	@%p exit;
	bar.sync 1;
	st.global.u32 [%a], %n;
	mov.u32 %x, %clock;
	st.global.u32 [%a], %c;`},
	"lanes that diverge, in some CTAs deeper than in others": {runs: [3]int{6, 6, 6}, entries: [3]int{728, 728, 728}, body: `
	and.b32 %x, %i, 1;
	setp.eq.u32 %p, %x, 0;
	@%p bra A;
	and.b32 %y, %c, 1;
	setp.eq.u32 %p, %y, 0;
	@%p bra G;
	and.b32 %x, %i, 2;
	setp.eq.u32 %p, %x, 0;
	@%p bra B;
	mov.u32 %y, %clock; // Go executes it
	add.u32 %n, %n, 5;
B:	bra E;
G:	mov.u32 %y, %clock;
E:	add.u32 %n, %n, 1;
A:	st.global.u32 [%a], %n;`},
	"a barrier at which one warp arrives in machine code and others in Go": {runs: [3]int{482, 482, 482}, entries: [3]int{484, 484, 484}, body: `
	setp.ge.u32 %p, %i, 32;
	@!%p bra OWN;
	@%p bar.sync 0;
	bra Y;
OWN:	bar.sync 0;
Y:	st.global.u32 [%a], %n;`},
	"output of some CTAs": {runs: [3]int{21, 21, 21}, entries: [3]int{71, 71, 71}, body: `
	and.b32 %x, %c, 15;
	setp.ne.u32 %p, %x, 3;
	@%p bra Y;
	mov.u64 %q, text;
	mov.u64 %wide, 0;
	call (%x), vprintf, (%q, %wide);
Y:	st.global.u32 [%a], %n;`},
	"alloca": {runs: [3]int{241, 241, 241}, entries: [3]int{963, 963, 963}, body: `
	and.b32 %x, %i, 16;
	add.u32 %x, %x, 16;
	cvt.u64.u32 %q, %x;
	alloca.u64 %q, %q, 8;
	st.local.u32 [%q], %n;
	ld.local.u32 %x, [%q];
	cvt.u32.u64 %y, %q;
	add.u32 %x, %x, %y;
	st.global.u32 [%a], %x;`},
	"a trap in one CTA": {runs: [3]int{5, 5, 5}, entries: [3]int{9, 9, 15}, traps: true, body: `
	setp.eq.u32 %p, %c, 77;
	@%p mov.b64 %a, 16;
	st.global.u32 [%a], %n;`},
	"an endless loop in one CTA": {runs: [3]int{53, 53, 53}, entries: [3]int{57, 57, 113}, traps: true, body: `
	setp.eq.u32 %p, %c, 85;
L:	@%p bra L;
	st.global.u32 [%a], %n;`},
}

// nextCTASource returns the PTX of a kernel with the given body.
func nextCTASource(body string) string {
	return `.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .b8 text[4] = {79, 104, 33, 0};
.entry k(.param .u64 out)
{
	.reg .b32 %x, %y, %i, %c, %n, %never;
	.reg .pred %p;
	.reg .b64 %o, %a, %q, %wide;
	.reg .f64 %d;
	.shared .align 16 .b32 block[80];
	ld.param.u64 %o, [out];
	mov.u32 %i, %tid.x;
	mov.u32 %c, %ctaid.z;
	mov.u32 %x, %ctaid.y;
	mad.lo.u32 %c, %c, 2, %x;
	mov.u32 %x, %ctaid.x;
	mad.lo.u32 %c, %c, 3, %x;
	mad.lo.u32 %n, %c, 80, %i;
	mad.wide.u32 %a, %n, 4, %o;
	add.s64 %a, %a, 8;
	mad.wide.u32 %q, %c, 320, %o;
	add.s64 %q, %q, 16;` + body + `
	ret;
}`
}

// TestNextCTAsInMachineCode compares CTAs that machine code begins with CTAs that Go begins: results and counts must be
// equal, in all modes and with several workers. The numbers of entries show that machine code does begin CTAs.
func TestNextCTAsInMachineCode(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	limits := []int64{500, 2047, 2048, 1 << 14} // a slice has 2048 instructions
	if testing.Short() {
		limits = limits[3:]
	}
	for name, k := range nextCTAKernels {
		for i, mode := range modes {
			for _, maxSteps := range limits {
				outcome := func(b interp.Engine, workers int) string {
					// Two launches, the second of them in pooled contexts.
					text, out := ran(t, nextCTASource(k.body), interp.Launch{Grid: ptx.Dim(3, 2, 20), Block: ptx.Dim(80), MaxSteps: maxSteps, Mode: mode, Engine: b}, 2+120*80, 2, workers)
					if !strings.Contains(text, "trap:") { // the results of CTAs after a trapped CTA are undefined
						text += fmt.Sprint(out)
					}
					return text
				}
				want := outcome(interp.Portable, 1)
				if maxSteps == 1<<14 && strings.Contains(want, "trap:") != k.traps {
					t.Errorf("%s, %v mode: %s", name, mode, want)
				}
				grid.Counting.Runs, grid.Counting.Entries = 0, 0
				for workers, got := range []string{outcome(counting, 1), outcome(interp.Native, 2)} {
					if got != want {
						t.Errorf("%s, %v mode, at most %d instructions, %d threads: machine code\n%s\nGo\n%s", name, mode, maxSteps, 1+workers, got, want)
					}
				}
				if maxSteps == 1<<14 {
					k.compareCounts(t, fmt.Sprintf("%s, %v mode", name, mode), i)
				}
			}
		}
	}
}

// TestNextCTAsCancelled checks that machine code begins no further CTA after the launch is cancelled, before an entry or
// during the execution of machine code.
func TestNextCTAsCancelled(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	const ctas = 996 // with at least 60 instructions each: together many times the maximum of an entry
	ended := func(body string, mode interp.Mode, cancelled func(context.CancelFunc)) (n int, stopped bool) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cancelled(cancel)
		launch := interp.Launch{Grid: ptx.Dim(3, 2, ctas/6), Block: ptx.Dim(80), Engine: counting, Mode: mode}
		text, out := ranUntil(ctx, t, nextCTASource(body+"\n\tst.global.u32 [%a], 1;"), launch, 2+80*ctas, 1, 1)
		for _, v := range out {
			n += int(v)
		}
		return n / 80, strings.Contains(text, context.Canceled.Error())
	}
	for _, mode := range modes {
		n, stopped := ended("", mode, func(cancel context.CancelFunc) {
			grid.Counting.Cancel, grid.Counting.Runs, grid.Counting.CancelAt = cancel, 0, 3 // then machine code has all warps of a CTA, and may continue with all CTAs
		})
		if grid.Counting.CancelAt = 0; !stopped || n == 0 || n > ctas/5 {
			t.Errorf("%v mode: %d CTAs of %d have ended; the launch is stopped: %v", mode, n, ctas, stopped)
		}
	}
	delay := time.Millisecond
	for range 30 { // until the launch is cancelled while CTAs execute
		n, stopped := ended(`
	mov.u32 %x, 600; // the loop is shorter than a slice
L:	sub.u32 %x, %x, 1;
	setp.ne.u32 %p, %x, 0;
	@%p bra L;`, interp.Vector, func(cancel context.CancelFunc) { time.AfterFunc(delay, cancel) })
		if stopped && n > 0 && n < ctas {
			return
		}
		if delay = delay * 2 / 3; n == 0 {
			delay = delay * 9 / 4
		}
	}
	t.Error("all CTAs end of a launch that is cancelled")
}
