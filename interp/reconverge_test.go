package interp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/probe"
	"gemu/ptx"
)

// Policies returns all reconvergence policies and its:3, which ends time slices within blocks. With GEMU_TEST=all it also
// returns its:1 and its:8.
func Policies() []*Reconverger {
	list := append(Reconvergers(), ReconvergerNamed("its:3"))
	if part.TryAll() {
		list = append(list, ReconvergerNamed("its:1"), ReconvergerNamed("its:8"))
	}
	return list
}

// launchUnder runs the only kernel of a source in a CTA of 32 threads.
func launchUnder(t *testing.T, src string, r *Reconverger, args ...int) (*Result, []uint32, error) {
	t.Helper()
	dev := NewDevice(Config{})
	mod, err := dev.Load("t.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	l := &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: Vector, Reconverge: r, MaxSteps: 1 << 22}
	var output *Buffer
	for _, n := range args {
		if output, err = NewBuffer(dev, make([]uint32, n)); err != nil {
			t.Fatal(err)
		}
		l.Args = append(l.Args, output)
	}
	result, err := mod.Run(context.Background(), l)
	if output == nil {
		return result, nil, err
	}
	return result, Slice[uint32](output), err
}

func source(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// TestDeadlockUnderPolicies: a deadlock under every order of lanes is found under every policy, before the step limit.
// If lanes are absent, a policy under which lanes cannot wait for them names the policies under which they can.
func TestDeadlockUnderPolicies(t *testing.T) {
	src := source(t, "../docs/deadlock.ptx")
	for _, r := range Policies() {
		_, _, err := launchUnder(t, src, r)
		var trap *probe.Trap
		if !errors.As(err, &trap) || !errors.Is(err, probe.ErrDeadlock) {
			t.Errorf("%s: %v, want a deadlock", r.Name(), err)
			continue
		}
		named := strings.Contains(trap.Report(), "auto and its")
		if allows := r.Properties().LanesMayWait; named == allows {
			t.Errorf("%s: it names policies for lanes that wait for each other: %v\n%s", r.Name(), named, trap.Report())
		}
	}
}

// TestLockWithinWarp: a lock within a warp is a deadlock under the stack, and runs under the policies named in its
// report.
func TestLockWithinWarp(t *testing.T) {
	src := source(t, "../docs/lock.ptx")
	for _, r := range Policies() {
		_, out, err := launchUnder(t, src, r, 1)
		switch {
		case r.Properties().LanesMayWait:
			if err != nil || out[0] != 32 {
				t.Errorf("%s: %v, %d threads were counted, want 32", r.Name(), err, out[0])
			}
		case r.Name() == "stack":
			var trap *probe.Trap
			if !errors.Is(err, probe.ErrDeadlock) || !errors.As(err, &trap) || !strings.Contains(trap.Report(), "auto and its") {
				t.Errorf("stack: %v", err)
			}
		}
	}
}

// TestCountsOfBranch: the counts of a branch whose paths have 2 and 3 instructions; 31 of 32 lanes take the first
// path.
func TestCountsOfBranch(t *testing.T) {
	const src = `.version 7.0
.target sm_80
.address_size 64
.entry k()
{
	.reg .pred %p;
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	setp.eq.u32 %p, %t, 31;
	@%p bra last;
	add.u32 %t, %t, 1;
	bra meet;
last:
	add.u32 %t, %t, 2;
	add.u32 %t, %t, 2;
	add.u32 %t, %t, 2;
meet:
	add.u32 %t, %t, 3;
	ret;
}`
	for _, r := range Policies() {
		res, _, err := launchUnder(t, src, r)
		if err != nil {
			t.Fatal(err)
		}
		got := [...]int64{res.WarpInstructions, res.LaneSlots, res.DivergentBranches, res.Splits, res.Reconvergences}
		if want := [...]int64{3 + 2 + 3 + 2, 3*32 + 2*31 + 3 + 2*32, 1, 1, 1}; got != want {
			t.Errorf("%s: got %v, want %v", r.Name(), got, want)
		}
		if res.Reconverge != r {
			t.Errorf("%s: the result says %v", r.Name(), res.Reconverge)
		}
	}
}

// interleaved is if (%p) {A; B;} else {X; Y;} Z. A, B, X and Y take numbers from a counter, and Z stores them.
const interleaved = `.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .pred %p;
	.reg .u32 %t, %first, %second;
	.reg .u64 %o, %at;
	.shared .u32 n;
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 4;
	@!%p bra else;
	atom.shared.add.u32 %first, [n], 1;  // A: no label, because a label begins a basic block
	atom.shared.add.u32 %second, [n], 1; // B
	bra Z;
else:
	atom.shared.add.u32 %first, [n], 1;  // X
	atom.shared.add.u32 %second, [n], 1; // Y
Z:	mad.wide.u32 %at, %t, 8, %o;
	st.global.v2.u32 [%at], {%first, %second};
	ret;
}`

// TestOrderUnderTimeSlices: the sides of a branch alternate after exactly as many instructions as the time slice has, on
// every engine. With one instruction the order is A, X, B, Y, Z, as in the section "Independent Thread Scheduling" of NVIDIA's
// white paper on Volta (WP-08608-001_v1.1, 2017). The four lanes of A and B take 4 numbers at a time, the others 28.
func TestOrderUnderTimeSlices(t *testing.T) {
	numbers := func(a, b, x, y uint32) (list []uint32) {
		for i := range uint32(32) {
			if i < 4 {
				list = append(list, a+i, b+i)
			} else {
				list = append(list, x+i-4, y+i-4)
			}
		}
		return list
	}
	alternating, oneAfterTheOther := numbers(0, 32, 4, 36), numbers(0, 4, 8, 36)
	for name, want := range map[string][]uint32{
		"its:1": alternating, "its:2": oneAfterTheOther, "its:3": oneAfterTheOther, "its:8": oneAfterTheOther, "its": oneAfterTheOther, "stack": oneAfterTheOther,
	} {
		for _, launch := range []Launch{
			{Mode: Vector, Engine: Portable}, {Mode: Affine, Engine: Portable}, {Mode: Check, Engine: Portable},
			{Mode: Vector, Engine: Auto}, {Mode: Affine, CompileEagerly: true, Engine: Auto}, {Mode: Check, Engine: Auto},
			{Mode: Vector, Engine: Auto, Structure: true},
		} {
			dev := NewDevice(Config{})
			mod, err := dev.Load("t.ptx", []byte(interleaved))
			if err != nil {
				t.Fatal(err)
			}
			output, err := NewBuffer(dev, make([]uint32, 64))
			if err != nil {
				t.Fatal(err)
			}
			launch.Grid, launch.Block, launch.Reconverge, launch.Args = ptx.Dim(1), ptx.Dim(32), ReconvergerNamed(name), []any{output}
			res, err := mod.Run(t.Context(), &launch)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, %v mode, %v", name, launch.Mode, launch.Engine)
			if got := Slice[uint32](output); !slices.Equal(got, want) {
				t.Errorf("%s: numbers %v, want %v", what, got, want)
			}
			if want := int64(4 + 3 + 2 + 3); res.WarpInstructions != want || res.Reconvergences != 1 {
				t.Errorf("%s: %d instructions and %d reconvergences, want %d and 1", what, res.WarpInstructions, res.Reconvergences, want)
			}
		}
	}
}

// TestParseReconverger: names of policies, and the messages for others.
func TestParseReconverger(t *testing.T) {
	added := NewReconverger("widest", "test", func(a, b SplitPlace) bool { return a.Lanes > b.Lanes })
	for _, name := range []string{"auto", "its", "its:1", "its:256", "its:1048576", "widest"} {
		if r, err := ParseReconverger(name, added); err != nil || r.Name() != name {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	for name, want := range map[string]string{
		"its:0": "a time slice of 0 instructions: want 1 to 1048576", "its:-1": "a time slice of -1 instructions: want 1 to 1048576",
		"its:1048577": "want 1 to 1048576", "its:99999999999999999999": "is no number of instructions: want 1 to 1048576, as in its:8", "its:x": `the time slice "x" is no number`, "its:": `the time slice "" is no number`,
		"its:8:8": `the time slice "8:8" is no number`, "stack:8": "stack has no time slice to choose", "auto:8": "auto has no time slice to choose", "widest:8": "widest has no time slice to choose",
		"volta": "did you mean its?", "Volta:8": "did you mean its?", "stak": "did you mean stack?", "": "The policies are auto, stack",
	} {
		if r, err := ParseReconverger(name, added); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v, want %s", name, r, err, want)
		}
	}
	if r, err := ReconvergerNamed("its:8").WithTimeSlice(4); err == nil {
		t.Errorf("its:8 has another time slice: %v", r.Name())
	}
}

// TestLivelockEndsAtLimit: warps that wait for each other and keep changing memory end at the step limit, and the
// report names their places.
func TestLivelockEndsAtLimit(t *testing.T) {
	const src = `.version 7.0
.target sm_80
.address_size 64
.global .u32 flags[2];
.global .u32 tries;
.entry k()
{
	.reg .u32 %t, %f;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 32;
	@%p bra second;
first:
	red.global.add.u32 [tries], 1;
	ld.volatile.global.u32 %f, [flags];
	setp.eq.u32 %p, %f, 0;
	@%p bra first;
	st.volatile.global.u32 [flags+4], 1;
	ret;
second:
	red.global.add.u32 [tries], 1;
	ld.volatile.global.u32 %f, [flags+4];
	setp.eq.u32 %p, %f, 0;
	@%p bra second;
	st.volatile.global.u32 [flags], 1;
	ret;
}`
	mod, err := NewDevice(Config{}).Load("t.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Policies() {
		_, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(64), Reconverge: r, MaxSteps: 1 << 14})
		var trap *probe.Trap
		if !errors.Is(err, probe.ErrStepLimit) || !errors.As(err, &trap) {
			t.Fatalf("%s: error %v, want the step limit", r.Name(), err)
		}
		for _, want := range []string{"t.ptx:2", "the loop may be a spin-wait", "warp 1: lanes 0-31 loop at t.ptx:1"} {
			if report := trap.Report(); !strings.Contains(report, want) {
				t.Errorf("%s: want %q in the report:\n%s", r.Name(), want, report)
			}
		}
	}
}

// TestCallOfTwoFunctions: a call with two target functions is executed twice, once for each group of lanes, under each
// policy. It is no branch.
func TestCallOfTwoFunctions(t *testing.T) {
	const src = `.version 7.0
.target sm_80
.address_size 64
.func one() { ret; }
.func two() { ret; }
.entry k()
{
	.reg .pred %p;
	.reg .u32 %t;
	.reg .u64 %f;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 8;
	mov.u64 %f, one;
	@%p mov.u64 %f, two;
to: .callprototype _ ();
	call %f, to;
	ret;
}`
	for _, r := range Policies() {
		res, _, err := launchUnder(t, src, r)
		if err != nil {
			t.Fatal(err)
		}
		got := [...]int64{res.WarpInstructions, res.LaneSlots, res.ThreadInstructions, res.DivergentBranches, res.Splits, res.Reconvergences}
		// four instructions (24 lanes skip one of them), two calls and returns, the end
		if want := [...]int64{4 + 2 + 2 + 1, 7 * 32, 7*32 - 24, 0, 1, 1}; got != want {
			t.Errorf("%s: got %v, want %v", r.Name(), got, want)
		}
	}
}

// TestSpinsForOtherWarps: if a lane spins for another warp while its own warp waits after the loop, the order of the
// stack is kept: the counts are the same.
func TestSpinsForOtherWarps(t *testing.T) {
	const src = `.version 7.0
.target sm_80
.address_size 64
.global .u32 flag;
.entry k(.param .u64 out)
{
	.reg .pred %p, %q;
	.reg .u32 %t, %v, %i;
	mov.u32 %t, %tid.x;
	setp.ne.u32 %p, %t, 0;
	@%p bra meet;
wait:
	ld.volatile.global.u32 %v, [flag];
	setp.eq.u32 %q, %v, 0;
	@%q bra wait;
meet:
	setp.ne.u32 %p, %t, 32;
	@%p bra over;
	mov.u32 %i, 0;
look:
	ld.volatile.global.u32 %v, [flag];
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 20000;
	@%q bra look;
	st.volatile.global.u32 [flag], 1;
over:
	bar.sync 0;
	ret;
}`
	var counts [2]probe.Counts
	for i, name := range []string{"stack", "auto"} {
		dev := NewDevice(Config{})
		mod, err := dev.Load("t.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		output, err := NewBuffer(dev, make([]uint32, 1))
		if err != nil {
			t.Fatal(err)
		}
		res, err := mod.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(128), Mode: Vector, Reconverge: ReconvergerNamed(name), Args: []any{output}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		counts[i] = res.Counts
	}
	if counts[0] != counts[1] {
		t.Errorf("under stack %+v, under auto %+v", counts[0], counts[1])
	}
}

// TestLanesWaitAtKernelEnd: lanes that branch to the kernel's end leave the warp at once, or wait there for the
// remaining lanes and end with them. Neither barriers nor collective instructions wait for them, before they arrive
// there or after.
func TestLanesWaitAtKernelEnd(t *testing.T) {
	const head = `.version 7.0
.target sm_80
.address_size 64
.func leave() { exit; }
.entry k(.param .u64 out)
{
	.reg .pred %p, %q;
	.reg .u32 %t, %v;
	.reg .u64 %out;
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	setp.ge.u32 %p, %t, 24;
	@%p bra end;
`
	type counts struct {
		Warp, Lanes, Branches, Splits, Joins int64 // in the order of Counts
		Diverged                             int64
	}
	for _, c := range []struct {
		what, body string
		want       map[string]counts // by policy
	}{
		{"waits for what rests", `
	setp.ge.u32 %q, %t, 16;
	@%q bra end;
	vote.sync.ballot.b32 %v, %p, 0xffffffff;
	bar.sync 0;
	bar.warp.sync 0xffffffff;
	setp.lt.u32 %q, %t, 8;
	@%q bra late;
	bar.warp.sync 0xffffffff;
	st.global.u32 [%out], 1;
	bra end;
late:
	add.u32 %t, %t, 1;
end:
	ret;
}`, map[string]counts{
			// 4 instructions of 32 lanes, 2 of 24, 5 of 16, 3 and 1 of 8, and the ends: of 8 lanes four times, or of
			// all. Under the stack, the end of the last lanes releases the lanes waiting for them, which are then
			// alone. Under pc2-wait, which has no reconvergence points, lanes wait until the remaining lanes are at a
			// barrier.
			"stack":      {15 + 4, 4*32 + 2*24 + 5*16 + 4*8 + 32, 3, 2, 0, 1 + 1 + 1 + 2},
			"stack-wait": {15 + 1, 4*32 + 2*24 + 5*16 + 4*8 + 32, 3, 3, 1, 11},
			"pc2-wait":   {15 + 2, 4*32 + 2*24 + 5*16 + 4*8 + 32, 3, 3, 2, 11 + 2},
		}},
		{"the others wait at two places", `
	setp.lt.u32 %q, %t, 8;
	@%q bra late;
	barrier.sync 0;
	st.global.u32 [%out], 1;
	bra end;
late:
	barrier.sync 0;
end:
	ret;
}`, map[string]counts{
			"stack-wait": {4 + 2 + 3 + 1 + 1, 4*32 + 2*24 + 3*16 + 8 + 32, 2, 2, 1, 6},
			"pc2-wait":   {4 + 2 + 3 + 1 + 2, 4*32 + 2*24 + 3*16 + 8 + 32, 2, 2, 1, 6 + 2},
		}},
		{"the others end elsewhere", `
	st.global.u32 [%out], 1;
	exit;
end:
	ret;
}`, map[string]counts{
			"stack":      {4 + 2 + 1, 4*32 + 2*24 + 8, 1, 0, 0, 1},
			"stack-wait": {4 + 2 + 1, 4*32 + 2*24 + 8, 1, 0, 0, 3}, // without a reconvergence point
			"pc2":        {4 + 2 + 1, 4*32 + 2*24 + 8, 1, 0, 0, 1},
			"pc2-wait":   {4 + 2 + 1, 4*32 + 2*24 + 8, 1, 1, 0, 3},
		}},
		{"the others end in a call", `
	st.global.u32 [%out], 1;
	call leave;
end:
	ret;
}`, map[string]counts{
			"stack":      {4 + 3 + 1, 4*32 + 3*24 + 8, 1, 0, 0, 1},
			"stack-wait": {4 + 3 + 1, 4*32 + 3*24 + 8, 1, 1, 0, 4},
			"pc2":        {4 + 3 + 1, 4*32 + 3*24 + 8, 1, 0, 0, 1},
			"pc2-wait":   {4 + 3 + 1, 4*32 + 3*24 + 8, 1, 1, 0, 4},
		}},
	} {
		dev := NewDevice(Config{})
		mod, err := dev.Load("t.ptx", []byte(head+c.body))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Policies() {
			for _, mode := range []Mode{Vector, Affine, Check} {
				output, err := NewBuffer(dev, make([]uint32, 1))
				if err != nil {
					t.Fatal(err)
				}
				res, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: mode, CompileEagerly: true, Reconverge: r, Structure: true, Args: []any{output}})
				if err != nil {
					t.Errorf("%s, %s, %s mode: %v", c.what, r.Name(), mode, err)
					continue
				}
				if got := Slice[uint32](output)[0]; got != 1 {
					t.Errorf("%s, %s, %s mode: %d is stored, want 1", c.what, r.Name(), mode, got)
				}
				got := counts{res.WarpInstructions, res.LaneSlots, res.DivergentBranches, res.Splits, res.Reconvergences, res.Structure.Total().Diverged}
				if want, ok := c.want[r.Name()]; ok && got != want {
					t.Errorf("%s, %s, %s mode: got %+v, want %+v", c.what, r.Name(), mode, got, want)
				}
			}
		}
	}
}
