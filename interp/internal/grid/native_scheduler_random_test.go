package grid_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/ptx"
)

// schedulerProgram draws the body of a kernel for schedulerSource: blocks of instructions that end in barriers, branches,
// or exits of all or some lanes, with loops. Each block changes a word of shared memory, so that the order of warps is
// visible. Each thread counts its blocks and ends at a limit.
func schedulerProgram(r *rand.Rand) string {
	var b strings.Builder
	blocks := 2 + r.IntN(5)
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\n\t"+format, args...) }
	// condition sets %q, which depends on the CTA, on the warp, on the lane, on the thread's own sum, or on the number of
	// its blocks.
	condition := func() {
		switch r.IntN(6) {
		case 0:
			line("mov.u32 %%i, %%ctaid.x;")
			line("setp.eq.u32 %%q, %%i, %d;", r.IntN(3))
		case 1, 2:
			line("setp.eq.u32 %%q, %%w, %d;", r.IntN(4))
		case 3:
			line("mov.u32 %%i, %%laneid;")
			line("and.b32 %%i, %%i, %d;", 1<<r.IntN(5))
			line("setp.eq.u32 %%q, %%i, 0;")
		case 4:
			line("shr.u32 %%i, %%t, %d;", r.IntN(8))
			line("and.b32 %%i, %%i, 1;")
			line("setp.eq.u32 %%q, %%i, 0;")
		default:
			line("and.b32 %%i, %%k, %d;", 1+r.IntN(7))
			line("setp.eq.u32 %%q, %%i, 0;")
		}
	}
	target := func() int { return r.IntN(blocks) }
	line("mov.u32 %%k, 0;")
	if r.IntN(2) == 0 {
		line("bra B%d;", target())
	}
	limit := 1 + r.IntN(1<<r.IntN(7))
	for i := range blocks {
		fmt.Fprintf(&b, "\nB%d:", i)
		line("ld.volatile.shared.u32 %%j, [block];")
		line("mad.lo.u32 %%j, %%j, 3, %%w;")
		line("st.volatile.shared.u32 [block], %%j;")
		line("xor.b32 %%t, %%t, %%j;")
		for range r.IntN(1 << r.IntN(8)) {
			line("add.u32 %%t, %%t, %d;", r.IntN(1000))
		}
		switch r.IntN(12) {
		case 0:
			line("atom.global.add.u32 %%i, [%%o], %%w;") // globally ordered
			line("add.u32 %%t, %%t, %%i;")
		case 1:
			line("mov.u32 %%i, %%clock;") // Go executes it
			line("add.u32 %%t, %%t, %%i;")
		case 2:
			condition()
			line("@%%q add.u32 %%t, %%t, %d;", r.IntN(9))
		case 3:
			line("call f, (%%k);") // f exits for one value of %k
		}
		line("add.u32 %%k, %%k, 1;")
		line("setp.gt.u32 %%q, %%k, %d;", limit)
		line("@%%q bra DONE;")
		switch r.IntN(8) {
		case 0, 1, 2:
			line("bar.sync %d;", []int{0, 0, 0, 5, 15}[r.IntN(5)])
		case 3:
			condition()
			line("@%%q bar.sync 0;")
		case 4:
			line("barrier.sync 1;")
		}
		switch r.IntN(5) {
		case 0, 1:
			condition()
			line("@%%q bra B%d;", target())
		case 2:
			line("bra B%d;", target())
		case 3:
			condition()
			line("@%%q bra DONE;")
		default:
			if condition(); r.IntN(2) == 0 {
				line("@%%q exit;")
			}
		}
	}
	// Each thread stores a number that depends on its sum and on the order in which warps arrive here.
	b.WriteString("\nDONE:")
	line("ld.volatile.shared.u32 %%j, [block];")
	line("mad.lo.u32 %%j, %%j, 5, %%t;")
	line("st.volatile.shared.u32 [block], %%j;")
	line("mov.u32 %%i, %%ctaid.x;")
	line("mov.u32 %%k, %%ntid.x;")
	line("mov.u32 %%l, %%tid.x;")
	line("mad.lo.u32 %%i, %%i, %%k, %%l;")
	line("mad.wide.u32 %%o, %%i, 4, %%o;")
	line("st.global.u32 [%%o+4], %%j;")
	return b.String()
}

// TestSchedulerOnRandomPrograms compares the warp scheduler of machine code with the portable engine on random programs
// with barriers, diverging lanes, exits, globally ordered instructions, and loops beyond a warp's budget. Memory, counts
// and trap texts must be equal, in every mode and under every policy. The scheduler of the portable engine is runWarps.
func TestSchedulerOnRandomPrograms(t *testing.T) {
	t.Parallel()
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	r := rand.New(rand.NewPCG(part.Seed(t), 77))
	trapped, count := 0, part.Count(150, 400, 4000)
	for n := range count {
		source := schedulerSource(schedulerProgram(r))
		ctas, threads := 1+r.IntN(6), []int{32, 64, 80, 96, 160}[r.IntN(5)]
		launch := interp.Launch{Grid: ptx.Dim(ctas), Block: ptx.Dim(threads), MaxSteps: 1 << (9 + r.IntN(6)), Mode: modes[n%len(modes)], Reconverge: interp.Reconvergers()[0]}
		if r.IntN(4) == 0 {
			launch.Reconverge = interp.Reconvergers()[r.IntN(len(interp.Reconvergers()))]
		}
		outcome := func(b interp.Engine) string {
			launch.Engine = b
			text, out := ran(t, source, launch, 1+ctas*threads, 1, 1)
			if strings.Contains(text, "trap:") {
				return text // without memory, because CTAs after the trapped CTA may or may not have run
			}
			return text + fmt.Sprint(out)
		}
		want := outcome(interp.Portable)
		if strings.Contains(want, "trap:") {
			trapped++
		}
		if got := outcome(interp.Native); got != want {
			t.Fatalf("program %d, %d CTAs of %d threads, %v mode, policy %s, at most %d instructions: machine code\n%s\nGo\n%s\n%s", n, ctas, threads, launch.Mode, launch.Reconverge.Name(), launch.MaxSteps, got, want, source)
		}
	}
	if trapped > count*2/3 {
		t.Errorf("%d of %d programs trap", trapped, count)
	}
	t.Logf("%d of %d programs trap", trapped, count)
}
