package grid_test

import (
	"fmt"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/interp/internal/grid"
	"gemu/probe"
	"gemu/ptx"
)

// schedulerKernels are kernels of three warps, which machine code and Go must schedule in the same order. In a body %w is
// the index of the warp, %t that of the thread, %p holds in warp 0, and %o is the address of out.
var schedulerKernels = map[string]countedKernel{
	"a barrier between arrival and wait at the cluster's barrier": {runs: [3]int{33, 33, 33}, entries: [3]int{33, 33, 33}, body: `
	barrier.cluster.arrive.aligned;
	bar.sync 0;
	barrier.cluster.wait.aligned;`},
	"a warp that ends while others wait at the cluster's barrier": {runs: [3]int{25, 25, 25}, entries: [3]int{29, 29, 29}, body: `
	setp.eq.u32 %q, %w, 2;
	@%q bra X;
	barrier.cluster.arrive.aligned;
	bar.sync 1;
	@%p bra Y;
	mov.u32 %i, %clock;
Y:	bar.sync 0;
	barrier.cluster.wait.aligned;
	bra Z;
X:	bar.sync 1;
Z:`},
	"a warp that continues after bar.arrive": {runs: [3]int{2, 2, 2}, entries: [3]int{2, 2, 2}, traps: true, body: `
	@!%p bra S;
	bar.arrive 0, 96;
S:	bar.sync 0;`},
	"clocks and atomics": {runs: [3]int{16, 16, 16}, entries: [3]int{54, 54, 54}, body: `
	mov.u32 %i, %clock;
	bar.sync 0;
	mov.u32 %t, %clock;
	add.u32 %t, %t, %i;
	bar.sync 3;
	setp.lt.u32 %q, %w, 2;
	@%q bra Y;
	nanosleep.u32 50;
Y:	bar.sync 4;
	atom.global.add.u32 %i, [%o], %t;
	bar.sync 5;
	@%p exit;
	mov.u32 %i, %clock;
	atom.global.add.u32 %i, [%o], %i;`},
	"a deadlock": {runs: [3]int{5, 5, 5}, entries: [3]int{5, 5, 5}, traps: true, body: `
	bar.sync 0;
	@%p bar.sync 1;
	setp.eq.u32 %q, %w, 1;
	@%q bar.sync 2;`},
	"too many instructions": {runs: [3]int{819, 819, 819}, entries: [3]int{829, 829, 860}, traps: true, body: `
L:	bar.sync 0;
	setp.eq.u32 %q, %w, 5;
	@%q bra Z;
	add.u32 %i, %i, 1;
	bra L;
Z:`},
	"lanes that end in a function": {runs: [3]int{43, 43, 84}, entries: [3]int{45, 56, 0}, body: `
	and.b32 %i, %t, 3;
	setp.eq.u32 %q, %i, 1;
	@%q bra E;
	call f, (%i);
	atom.global.add.u32 %i, [%o], %i;
E:	bar.sync 0;
	atom.global.add.u32 %i, [%o], %t;`},
	"lanes that wait for others when the budget of their warp ends": {runs: [3]int{56, 56, 56}, entries: [3]int{34, 34, 47}, body: `
	mov.u32 %i, %ctaid.x;
	mad.lo.u32 %i, %i, 3, 666;
	setp.eq.u32 %q, %w, 1;
	@%q add.u32 %i, %i, 400;
	setp.eq.u32 %q, %w, 2;
	@%q add.u32 %i, %i, -500;
L:	add.u32 %i, %i, -1;
	setp.ne.u32 %q, %i, 0;
	@%q bra L;
	and.b32 %i, %t, 1;
	setp.eq.u32 %q, %i, 1;
	@%q bra ODD;` + strings.Repeat("\n\tadd.u32 %t, %t, 3;", 20) + `
	shfl.sync.bfly.b32 %i, %t, 1, 0x1f, -1;
	bra E;
ODD:` + strings.Repeat("\n\tadd.u32 %t, %t, 5;", 20) + `
	shfl.sync.bfly.b32 %i, %t, 1, 0x1f, -1;
E:	ld.global.u32 %i, [%o]; // makes the order of warps visible
	mad.lo.u32 %i, %i, 3, %w;
	st.global.u32 [%o], %i;
	bar.sync 0;`},
	"lanes that diverge while others wait": {runs: [3]int{62, 62, 62}, entries: [3]int{63, 74, 74}, body: `
	and.b32 %i, %t, 1;
	setp.eq.u32 %q, %i, 1;
	@%q bra ODD;
	barrier.sync 0;
	add.u32 %t, %t, 7;
	bra E;
ODD:
	and.b32 %i, %t, 2;
	setp.eq.u32 %q, %i, 2;
	@%q bra TWO;
	add.u32 %t, %t, 100;
	bra F;
TWO:	add.u32 %t, %t, 300;
F:	add.u32 %t, %t, 1;
	barrier.sync 0;
E:	atom.global.add.u32 %i, [%o], %t;`},
	"a branch to twenty targets": {runs: [3]int{25, 25, 25}, entries: [3]int{26, 37, 37}, body: `
	and.b32 %i, %t, 31;
	min.u32 %i, %i, 19;
ways:	.branchtargets ` + repeat(20, "W%d", ", ") + `;
	brx.idx %i, ways;` + repeat(20, "\nW%d:\tmad.lo.u32 %%t, %%t, 3, %[1]d;\n\tand.b32 %%i, %%t, 1;\n\tsetp.eq.u32 %%q, %%i, 0;\n\t@%%q add.u32 %%t, %%t, 1;\n\tbra E;", "") + `
E:	bar.sync 0;
	atom.global.add.u32 %i, [%o], %t;`},
	"a branch to as many targets as machine code supports": {runs: [3]int{13, 13, 13}, entries: [3]int{14, 25, 25}, body: `
	and.b32 %i, %t, 31;
	min.u32 %i, %i, 16;
ways:	.branchtargets ` + repeat(17, "W%d", ", ") + `;
	brx.idx %i, ways;` + repeat(17, "\nW%d:\tmad.lo.u32 %%t, %%t, 3, %[1]d;\n\tbra E;", "") + `
E:	atom.global.add.u32 %i, [%o], %t;`},
	"lanes that end while warps alternate": {runs: [3]int{53, 53, 360}, entries: [3]int{415, 55, 0}, body: `
	and.b32 %t, %t, 31;
	mov.u32 %j, 0;
L:	add.u32 %j, %j, 1;
	setp.eq.u32 %q, %j, %t;
	@%q bra Z; // one lane each time
	setp.lt.u32 %q, %j, 25;
	@%q bra L;
	call f, (%j); // Go executes it
M:	add.u32 %j, %j, 1;
	ld.global.u32 %i, [%o]; // makes the order of warps visible
	mad.lo.u32 %i, %i, 3, %w;
	st.global.u32 [%o], %i;
	setp.lt.u32 %q, %j, 700;
	@%q bra M;
Z:`},
	"budgets that end at different instructions": {runs: [3]int{25, 25, 25}, entries: [3]int{423, 30, 66}, body: `
	mov.u32 %j, %ctaid.x;
	bar.sync 0;` + strings.Repeat("\n\tadd.u32 %t, %t, 3;", 5) + repeat(3, "\n\tsetp.lt.u32 %%q, %%j, %[1]d;\n\t@%%q bra S%[1]d;\n\tadd.u32 %%t, %%t, 1;\nS%[1]d:", "") + ` // a different number of instructions in each CTA
	mov.u32 %j, 0;
M:	add.u32 %j, %j, 1;
	ld.global.u32 %i, [%o]; // makes the order of warps visible
	mad.lo.u32 %i, %i, 3, %w;
	st.global.u32 [%o], %i;
	setp.lt.u32 %q, %j, 900;
	@%q bra M;`},
	"a lock": {runs: [3]int{951, 951, 50654}, entries: [3]int{10274, 10274, 49898}, body: `
L:	atom.global.cas.b32 %i, [%o+4], 0, 1;
	setp.ne.u32 %q, %i, 0;
	@%q bra L;
	and.b32 %i, %t, 3;
	setp.eq.u32 %q, %i, 1;
	@%q bra F;
	add.u32 %t, %t, 100;
F:	ld.volatile.global.u32 %i, [%o];
	mad.lo.u32 %i, %i, 3, %t;
	st.volatile.global.u32 [%o], %i;
	atom.global.exch.b32 %i, [%o+4], 0;`},
	"stores of some lanes to a variable": {runs: [3]int{2, 2, 2}, entries: [3]int{3, 3, 3}, body: `
	setp.gt.u32 %q, %t, 70;
	@%q st.global.u32 [there+4], %w;
	setp.lt.u32 %q, %t, 20;
	@%q st.shared.u32 [block+8], %t;
	bar.sync 0;
	ld.global.u32 %i, [there+4];
	ld.shared.u32 %j, [block+8];
	mad.lo.u32 %i, %i, 100, %j;
	atom.global.add.u32 %i, [%o], %i;`},
	"a branch on a launch constant": {runs: [3]int{2, 2, 2}, entries: [3]int{3, 14, 14}, body: `
	mov.u32 %i, %ntid.x;
	setp.eq.u32 %q, %i, 96;
	@%q bra X;
	add.u32 %t, %t, 1;
X:	setp.ne.u32 %q, %i, 96;
	@%q bra Y;
	add.u32 %t, %t, 2;
Y:	atom.global.add.u32 %i, [%o], %t;`},
	"a barrier whose number is a launch constant": {runs: [3]int{13, 13, 13}, entries: [3]int{14, 25, 25}, body: `
	mov.u32 %i, %nctaid.x;
	bar.sync %i;
	atom.global.add.u32 %i, [%o], %t;`},
	"a warp whose end completes the cluster's barrier": {runs: [3]int{45, 45, 45}, entries: [3]int{369, 49, 86}, body: `
	setp.eq.u32 %q, %w, 1;
	@%q bra ONE;
	setp.eq.u32 %q, %w, 2;
	@%q bra TWO;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ld.global.u32 %k, [%o]; // makes the order of warps visible
	mad.lo.u32 %k, %k, 3, 7;
	st.global.u32 [%o], %k;
	bra Z;
ONE:	mov.u32 %j, 0;
L:	add.u32 %j, %j, 1;
	setp.lt.u32 %q, %j, 900; // more than a warp's budget
	@%q bra L;
	bra Z;
TWO:	barrier.cluster.arrive.aligned;
	mov.u32 %j, 0;
M:	add.u32 %j, %j, 1;
	ld.global.u32 %k, [%o];
	mad.lo.u32 %k, %k, 5, 1;
	st.global.u32 [%o], %k;
	setp.lt.u32 %q, %j, 2000;
	@%q bra M;
	barrier.cluster.wait.aligned;
Z:`},
	"a pointer that points to itself": {runs: [3]int{2, 2, 2}, entries: [3]int{6, 17, 39}, body: `
	@%p st.global.u64 [%o], %o;
	bar.sync 0;
	ld.global.u64 %o, [%o];
	ld.global.u64 %o, [%o];
	bar.sync 0;
	@!%p bra Y;
	mov.b64 {%i, %j}, %o;
	add.u32 %t, %t, %j;
Y:	atom.global.add.u32 %i, [%o], %t;`},
	"lanes that wait at different depths of divergence": {runs: [3]int{133, 133, 133}, entries: [3]int{9, 9, 9}, body: `
	and.b32 %i, %t, 7;
	setp.eq.u32 %q, %i, 7;
	@%q bra OUT;
	setp.ge.u32 %q, %i, 4;
	@%q bra C;
	setp.ge.u32 %q, %i, 2;
	@%q bra IN;
	barrier.sync 0;
IN:	ld.volatile.global.u32 %j, [%o]; // makes the order of lanes visible
	mad.lo.u32 %j, %j, 3, 5;
	st.volatile.global.u32 [%o], %j;
	bra OUT;
C:	barrier.sync 0;
	add.u32 %t, %t, 1;
OUT:	ld.volatile.global.u32 %j, [%o];
	mad.lo.u32 %j, %j, 3, %i;
	st.volatile.global.u32 [%o], %j;`},
	"a barrier with another number of threads in one warp": {runs: [3]int{2, 2, 2}, entries: [3]int{4, 4, 4}, traps: true, body: `
	@%p bra F;
	ld.global.u32 %j, [%o];
	mad.lo.u32 %j, %j, 3, %w;
	st.global.u32 [%o], %j;
	bar.sync 0;
	bra E;
F:	bar.sync 0, 64;
E:`},
	"lanes that end before others arrive": {runs: [3]int{13, 13, 13}, entries: [3]int{13, 13, 13}, body: `
	and.b32 %i, %t, 3;
	setp.eq.u32 %q, %i, 1;
	@%q exit;
	bar.sync 0;
	setp.eq.u32 %q, %i, 2;
	@%q bra E;
	bar.sync 0;
E:`},
}

// repeat returns n copies of a text, with the numbers from 0 to n − 1 formatted into them and a separator between them.
func repeat(n int, format, separator string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, separator)
}

// schedulerSource returns the PTX of a kernel with the given body.
func schedulerSource(body string) string {
	return `.version 8.0
.target sm_90
.address_size 64
.func f(.param .b32 i)
{
	.reg .b32 %i;
	.reg .pred %p;
	ld.param.u32 %i, [i];
	setp.eq.u32 %p, %i, 2;
	@%p bra X;
	ret;
X:	exit;
}
.global .b32 there[4];
.entry k(.param .u64 out)
{
	.shared .b32 block[4];
	.reg .b32 %t, %w, %i, %j, %k, %l;
	.reg .pred %p, %q;
	.reg .b64 %o;
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	shr.u32 %w, %t, 5;
	setp.eq.u32 %p, %w, 0;` + body + `
	ret;
}`
}

// TestSchedulerAgreesWithGo compares warps that machine code schedules with warps that Go schedules: results, counts and
// trap texts must be equal, in every mode and under every policy.
func TestSchedulerAgreesWithGo(t *testing.T) {
	t.Parallel()
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	for name, k := range schedulerKernels {
		for i, mode := range modes {
			launch := interp.Launch{Grid: ptx.Dim(4), Block: ptx.Dim(96), MaxSteps: 1 << 14, Mode: mode}
			outcome := func(b interp.Engine) string {
				launch.Engine = b
				text, out := ran(t, schedulerSource(k.body), launch, 2, 1, 1)
				return text + fmt.Sprint(out)
			}
			grid.Counting.Runs, grid.Counting.Entries = 0, 0
			got, want := outcome(counting), outcome(interp.Portable)
			if got != want {
				t.Errorf("%s, %v mode: machine code\n%s\nGo\n%s", name, mode, got, want)
			} else if traps := strings.Contains(want, "trap:"); traps != k.traps {
				t.Errorf("%s, %v mode: %s", name, mode, want)
			}
			k.compareCounts(t, fmt.Sprintf("%s, %v mode", name, mode), i)
			for _, launch.Reconverge = range interp.Reconvergers() {
				if got, want := outcome(interp.Native), outcome(interp.Portable); got != want {
					t.Errorf("%s, %v mode, policy %s: machine code\n%s\nGo\n%s", name, mode, launch.Reconverge.Name(), got, want)
				}
			}
		}
	}
}

// TestSchedulerOfConvergedWarps checks that converged warps stay in machine code under every policy, also under policies
// that are notified of every block of a diverged warp.
func TestSchedulerOfConvergedWarps(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	source := schedulerSource(`
	mov.u32 %i, 0;
L:	add.u32 %i, %i, 1;
	setp.ne.u32 %q, %i, 1000;
	@%q bra L;`)
	for _, policy := range interp.Reconvergers() {
		launch := interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: interp.Vector, Engine: interp.Portable, Reconverge: policy}
		want, _ := ran(t, source, launch, 1, 1, 1)
		grid.Counting.Entries, launch.Engine = 0, counting
		if text, _ := ran(t, source, launch, 1, 1, 1); text != want || grid.Counting.Entries == 0 || grid.Counting.Entries > 100 {
			t.Errorf("policy %s enters machine code %d times\n%s\nGo\n%s", policy.Name(), grid.Counting.Entries, text, want)
		}
	}
}

// TestSchedulerOnSeveralThreads checks that no addition is lost if CTAs on several host threads add to one word.
func TestSchedulerOnSeveralThreads(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	const ctas, rounds = 64, 2000
	source := schedulerSource(fmt.Sprintf(`
	mov.u32 %%i, %d;
L:	red.global.add.u32 [%%o], 1;
	add.u32 %%i, %%i, -1;
	setp.ne.u32 %%q, %%i, 0;
	@%%q bra L;`, rounds))
	launch := interp.Launch{Grid: ptx.Dim(ctas), Block: ptx.Dim(96), Mode: interp.Vector, Engine: interp.Native}
	if text, out := ran(t, source, launch, 1, 1, 2); out[0] != ctas*96*rounds {
		t.Errorf("%d of %d\n%s", out[0], ctas*96*rounds, text)
	}
}

// TestSchedulerNearStepLimit checks that machine code stops where Go stops, for every step limit. Machine code gives a warp
// a slice only if the step limit permits a whole slice.
func TestSchedulerNearStepLimit(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	for before := range 3 { // instructions before the loop, which move the ends of blocks
		source := schedulerSource(`
	bar.sync 0;
	bar.sync 0; // two of the warps run once more before it` + repeat(before, "\n\tadd.u32 %%t, %%t, %d;", "") + `
L:	add.u32 %t, %t, 1;
	setp.eq.u32 %q, %w, 5;
	@!%q bra L;`)
		for extra := range int64(24) { // a slice has 2048 instructions, and begins between the barriers
			launch := interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(96), MaxSteps: 2048 + extra, Mode: interp.Vector, Engine: interp.Portable}
			want, _ := ran(t, source, launch, 1, 1, 1)
			grid.Counting.Entries, launch.Engine = 0, counting
			if text, _ := ran(t, source, launch, 1, 1, 1); text != want || grid.Counting.Entries == 0 {
				t.Errorf("at most %d instructions, %d before the loop: machine code\n%s\nGo\n%s", launch.MaxSteps, before, text, want)
			}
		}
	}
}

// TestSchedulerAtSliceEnds compares the order of CTAs with many warps, whose slice ends before they end, and of short CTAs.
// Lanes diverge and exit.
func TestSchedulerAtSliceEnds(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	source := schedulerSource(`
	and.b32 %j, %t, 31;
	mul.lo.u32 %j, %j, 20;
	mad.lo.u32 %j, %w, 30, %j;
	add.u32 %j, %j, 300; // the iteration in which a lane leaves the loop
	mov.u32 %i, %ctaid.x;
	and.b32 %i, %i, 1;
	setp.eq.u32 %q, %i, 0;
	@%q shr.u32 %j, %j, 5; // few iterations in every second CTA
	mov.u32 %i, 0;
	mov.u32 %k, %t;
L:	and.b32 %l, %t, 1;
	setp.eq.u32 %q, %l, 0;
	@%q bra EVEN;
	mad.lo.u32 %k, %k, 3, 1;
	mad.lo.u32 %k, %k, 3, 2;
	mad.lo.u32 %k, %k, 3, 3;
	bra J;
EVEN:	mad.lo.u32 %k, %k, 5, 1;
	mad.lo.u32 %k, %k, 5, 2;
	mad.lo.u32 %k, %k, 5, 3;
J:	ld.global.u32 %l, [%o]; // makes the order of warps visible
	mad.lo.u32 %l, %l, 3, %k;
	st.global.u32 [%o], %l;
	add.u32 %i, %i, 1;
	setp.eq.u32 %q, %i, %j;
	@%q bra Z;
	bra L;
Z:`)
	for _, mode := range modes {
		launch := interp.Launch{Grid: ptx.Dim(6), Block: ptx.Dim(1024), Mode: mode, Engine: interp.Portable}
		want, sum := ran(t, source, launch, 1, 1, 1)
		grid.Counting.Entries, launch.Engine = 0, counting
		if text, out := ran(t, source, launch, 1, 1, 1); text != want || out[0] != sum[0] || grid.Counting.Entries == 0 {
			t.Errorf("%v mode: machine code\n%s%d\nGo\n%s%d", mode, text, out, want, sum)
		}
	}
}

// TestSchedulerOfClusters compares clusters in machine code with Go, for several numbers of workers.
func TestSchedulerOfClusters(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	source := schedulerSource(`
	mov.u32 %i, %cluster_ctarank;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mad.lo.u32 %t, %t, 5, %i;
	red.global.add.u32 [%o], %t;`)
	for _, mode := range modes {
		launch := interp.Launch{Grid: ptx.Dim(15), Cluster: ptx.Dim(3), Block: ptx.Dim(96), Mode: mode, Engine: interp.Portable}
		want, sum := ran(t, source, launch, 1, 1, 1)
		launch.Engine = interp.Native
		for workers := 1; workers <= 3; workers++ {
			if text, out := ran(t, source, launch, 1, 1, workers); text != want || out[0] != sum[0] {
				t.Errorf("%v mode, %d threads: machine code\n%s%d\nGo\n%s%d", mode, workers, text, out, want, sum)
			}
		}
	}
}

// pauser is a probe that pauses a launch once, in the second CTA. The first CTA has no sink.
type pauser struct{ numEvents int }

func (*pauser) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore, InOrder: true}
}

func (p *pauser) CTA(_ *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	if index == 0 {
		return nil
	}
	return p
}

func (p *pauser) OnEvent(e *probe.Event) {
	if p.numEvents++; p.numEvents == 4 {
		e.Pause()
	}
}

// TestRestoredCopies pauses and restores a launch with a pending cp.async of a CTA that runs in machine code: the restored copy
// has no source yet, so that machine code must leave the wait to Go.
func TestRestoredCopies(t *testing.T) {
	for _, engine := range []interp.Engine{interp.Portable, interp.Native} {
		if !engine.Available() {
			continue
		}
		for _, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
			dev := interp.NewDevice(interp.Config{Workers: 1})
			m, err := dev.Load("k.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .b32 %c, %x, %y, %s;
	.reg .pred %p;
	.reg .b64 %o, %f;
	.shared .align 16 .b8 room[1024];
	ld.param.u64 %o, [out];
	mov.u32 %c, %ctaid.x;
	setp.eq.u32 %p, %c, 0;
	@%p bra BEGIN;
	st.volatile.global.u32 [%o], 7;
	ret;
BEGIN:
	mov.u32 %y, %tid.x;
	mov.u32 %s, room;
	mad.lo.u32 %s, %y, 8, %s;
	mad.wide.u32 %f, %y, 4, %o;
	cp.async.ca.shared.global [%s], [%f+4], 4;
	cp.async.wait_all;
	cp.async.ca.shared.global [%s], [%f+4], 4;
	cp.async.commit_group;
WAIT:
	ld.volatile.global.u32 %x, [%o];
	setp.ne.u32 %p, %x, 7;
	@%p bra WAIT;
	cp.async.wait_group 0;
	ld.shared.u32 %x, [%s];
	add.u32 %x, %x, %y;
	st.global.u32 [%f+4], %x;
	ret;
}`))
			if err != nil {
				t.Fatal(err)
			}
			output, err := interp.NewBuffer(dev, make([]uint32, 33))
			if err != nil {
				t.Fatal(err)
			}
			e, err := m.Start(&interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(32), Args: []any{output}, Mode: mode, CompileEagerly: true, Engine: engine, Probes: []probe.Probe{new(pauser)}})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if ended, err := e.Continue(t.Context()); ended || err != nil {
				t.Fatalf("%v mode: ended %v, error %v", mode, ended, err)
			}
			state, err := e.Save()
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Restore(state); err != nil {
				t.Fatal(err)
			}
			if ended, err := e.Continue(t.Context()); !ended || err != nil {
				t.Fatalf("%v mode: ended %v, error %v", mode, ended, err)
			}
			for i, v := range interp.Slice[uint32](output) {
				if want := uint32(max(i-1, 0)); i > 0 && v != want || i == 0 && v != 7 {
					t.Errorf("%v mode: element %d is %d", mode, i, v)
				}
			}
		}
	}
}

// TestRestoredInMachineCode checks a launch that was saved while a warp was in machine code: after Restore the warp
// continues there.
func TestRestoredInMachineCode(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	for _, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
		dev := interp.NewDevice(interp.Config{Workers: 1})
		m, err := dev.Load("k.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .b32 %c, %x, %y;
	.reg .pred %p;
	.reg .b64 %o;
	ld.param.u64 %o, [out];
	mov.u32 %c, %ctaid.x;
	setp.eq.u32 %p, %c, 0;
	@%p bra WAIT;
	st.volatile.global.u32 [%o], 7;
	ret;
WAIT:
	ld.volatile.global.u32 %x, [%o];
	mov.u32 %y, %tid.x;
	setp.ne.u32 %p, %x, 7;
	@%p bra WAIT;
	mad.wide.u32 %o, %y, 4, %o;
	st.global.u32 [%o+4], %y;
	ret;
}`))
		if err != nil {
			t.Fatal(err)
		}
		output, err := interp.NewBuffer(dev, make([]uint32, 33))
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Start(&interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(32), Args: []any{output}, Mode: mode, CompileEagerly: true, Engine: interp.Native, Probes: []probe.Probe{new(pauser)}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if ended, err := e.Continue(t.Context()); ended || err != nil {
			t.Fatalf("%v mode: ended %v, error %v", mode, ended, err)
		}
		state, err := e.Save()
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Restore(state); err != nil {
			t.Fatal(err)
		}
		if ended, err := e.Continue(t.Context()); !ended || err != nil {
			t.Fatalf("%v mode: ended %v, error %v", mode, ended, err)
		}
		for i, v := range interp.Slice[uint32](output) {
			if want := uint32(max(i-1, 0)); i > 0 && v != want || i == 0 && v != 7 {
				t.Errorf("%v mode: element %d is %d", mode, i, v)
			}
		}
	}
}
