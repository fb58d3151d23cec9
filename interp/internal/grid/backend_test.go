package grid_test

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/interp/internal/backends"
	"gemu/interp/internal/code"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
)

// programs returns the programs of testdata/control, and a sample of the remaining programs.
func programs(t *testing.T) []*corpus.Program {
	t.Helper()
	all, err := corpus.Programs("../../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	var list []*corpus.Program
	isTried := part.Share(t, 1000, 12, 1)
	for i, p := range all {
		if strings.HasPrefix(p.File, "control/") || isTried(i) {
			list = append(list, p)
		}
	}
	return list
}

// hashed is a probe that hashes the events of executed instructions, with their results.
type hashed struct{ maphash.Hash }

func (*hashed) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Values: true, InOrder: true}
}

func (p *hashed) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *hashed) OnEvent(e *probe.Event) {
	maphash.WriteComparable(&p.Hash, [3]uint64{uint64(e.Index), e.Active, e.Lanes})
	for _, v := range e.Writes {
		for lanes := e.Lanes; lanes != 0; lanes &= lanes - 1 {
			maphash.WriteComparable(&p.Hash, v.Low[bits.TrailingZeros64(lanes)])
		}
	}
}

// engineOf returns the engine of a backend.
func engineOf(b machine.Backend) interp.Engine { return interp.Engine(backends.Add(b)) }

// counting is the engine of grid.Counting.
var counting = engineOf(grid.Counting)

// TestBackendsAgree compares machine code, and a backend with few instructions that returns all other instructions to Go,
// with the portable backend: results, counts and texts of traps must be equal. It tries a part of the programs (with
// GEMU_TEST=all all), in all modes, with and without a probe.
func TestBackendsAgree(t *testing.T) {
	t.Parallel()
	n, seed, first, share := 0, maphash.MakeSeed(), part.Seed(t), uint64(part.Count(5, 2, 1))
	if part.Short() {
		share = 8
	}
	checks := []interp.Launch{{Mode: interp.Check}, {Mode: interp.Check, CompileEagerly: true}, {Mode: interp.Affine, Structure: true}, {Mode: interp.Affine, CompileEagerly: true}}
	engines := map[string]interp.Engine{"with few instructions": engineOf(grid.Few)}
	if interp.Native.Available() {
		engines["machine code"] = interp.Native
	}
	for i, p := range programs(t) {
		if (uint64(i)+first)%share > 0 {
			continue
		}
		for _, launch := range []interp.Launch{{Mode: interp.Vector}, {Mode: interp.Affine}, checks[i%len(checks)]} {
			outcome := func(b interp.Engine) string {
				hash := hashed{maphash.Hash{}}
				hash.SetSeed(seed)
				o := p.Run(func(l *interp.Launch) {
					if l.Mode, l.CompileEagerly, l.Engine = launch.Mode, launch.CompileEagerly, b; launch.Structure {
						l.Structure, l.Probes = true, []probe.Probe{&hash}
					}
				})
				s := fmt.Sprintf("memory %#x, error %v, events %#x", o.Memory, o.Err, hash.Sum64())
				if trap := new(probe.Trap); errors.As(o.Err, &trap) {
					s += "\n" + trap.Report() + "\n"
				}
				for _, r := range o.Results {
					s += fmt.Sprintf(", %+v", r.Counts)
				}
				return s
			}
			want := outcome(interp.Portable)
			for name, b := range engines {
				if got := outcome(b); got != want {
					t.Errorf("%v, %v mode, eager %v: %s\n%s, portable\n%s", p, launch.Mode, launch.CompileEagerly, name, got, want)
				}
			}
			n++
		}
	}
	if !part.Short() && (n < 300 || grid.FewExecuted < 5e4) {
		t.Errorf("only %d programs, in which the backend with few instructions has executed %d", n, grid.FewExecuted)
	}
}

// TestReturnedWarpSplit checks the warp split that a backend returns: its executed instructions are counted, and its pc is
// the next instruction, also at a collective instruction with missing lanes.
func TestReturnedWarpSplit(t *testing.T) {
	part.SkipShort(t)
	t.Parallel()
	audit := new(grid.Audit)
	engine := engineOf(audit)
	for _, p := range programs(t) {
		p.Run(func(l *interp.Launch) { l.Mode, l.Engine = interp.Vector, engine })
	}
	if audit.Runs < 1000 || audit.MissingLanes < 10 || audit.Wrong > 0 {
		t.Errorf("returned %d times, %d times for missing lanes: %d wrong", audit.Runs, audit.MissingLanes, audit.Wrong)
	}
}

// TestWrongBackendsAreFound: check mode finds the faults of a backend.
func TestWrongBackendsAreFound(t *testing.T) {
	part.SkipShort(t)
	t.Parallel()
	for name, b := range grid.Wrong {
		found, engine := 0, engineOf(b)
		for i, p := range programs(t) {
			if i%part.Count(20, 5, 5) > 0 {
				continue
			}
			if o := p.Run(func(l *interp.Launch) { l.Mode, l.Engine = interp.Check, engine }); errors.Is(o.Err, probe.ErrMismatch) {
				found++
			} else if want := p.Run(func(l *interp.Launch) { l.Mode = interp.Check }); fmt.Sprint(o.Memory, o.Err) != fmt.Sprint(want.Memory, want.Err) {
				t.Errorf("%v: %s, and check mode does not report it: memory %#x, error %v, should be memory %#x, error %v", p, name, o.Memory, o.Err, want.Memory, want.Err)
			}
		}
		if found == 0 {
			t.Errorf("%s, and check mode reports it in no program", name)
		}
		t.Logf("%s: found in %d programs", name, found)
	}
}

// TestCheckModeStoresOnce checks check mode with CTAs in parallel: a store of another CTA is not reported as a mismatch, no
// store is repeated in memory, and a wrong store of the engine is still reported.
func TestCheckModeStoresOnce(t *testing.T) {
	run := func(store func(stores int, memory []byte)) ([]uint32, error) {
		dev, stores := interp.NewDevice(interp.Config{Workers: 2}), 0
		m, err := dev.Load("k.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .b64 %p, %o;
	.reg .b32 %t, %v;
	.reg .pred %q, %more;
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %v, %ctaid.x;
	mad.lo.u32 %v, %v, 16, %t;
	mul.wide.u32 %o, %v, 4;
	add.u64 %p, %p, %o;
	setp.lt.u32 %q, %t, 12;
	mov.u32 %v, 2;
AGAIN: // in the first iteration the addresses are resolved
	@%q st.global.u32 [%p], 7;
	sub.u32 %v, %v, 1;
	setp.ne.u32 %more, %v, 0;
	@%more bra AGAIN;
	ret;
}`))
		if err != nil {
			t.Fatal(err)
		}
		output, err := interp.NewBuffer(dev, make([]uint32, 32))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(t.Context(), &interp.Launch{
			Grid: ptx.Dim(2), Block: ptx.Dim(16), Args: []any{output}, Mode: interp.Check, CompileEagerly: true,
			Engine: engineOf(&grid.Meddler{After: code.Store, Store: func(memory []byte) { stores++; store(stores, memory) }}),
		})
		return interp.Slice[uint32](output), err
	}
	for _, lane := range []int{3, 14} { // lane 3 stores, lane 14 does not
		got, err := run(func(stores int, memory []byte) {
			if stores == 2 {
				memory[4*lane] = 9
			}
		})
		if got[lane] != 9 || err != nil {
			t.Errorf("element %d, to which 9 was stored in between, is %d, error %v", lane, got[lane], err)
		}
		if _, err := run(func(_ int, memory []byte) { memory[4*lane]++ }); !errors.Is(err, probe.ErrMismatch) {
			t.Errorf("a store that always changes element %d: error %v, want a mismatch", lane, err)
		}
	}
}

// TestRacingLoadIsRepeated checks that check mode repeats a load while another CTA changes its memory between the loads of
// the engine and the reference, and reports a load that differs every time. The address is affine; or planned as compact,
// but executed on the lanes; or loaded.
func TestRacingLoadIsRepeated(t *testing.T) {
	for name, index := range map[string]string{
		"affine":    "mov.u32 %i, %t;",
		"fell back": "xor.b32 %i, %t, %k;", // not affine for k = 5
		"generic":   "ld.global.u32 %i, [%p+64]; mad.lo.u32 %i, %i, 0, %t; xor.b32 %i, %i, 5;",
	} {
		run := func(change func(loads int, memory []byte)) ([]uint32, error) {
			dev, loads := interp.NewDevice(interp.Config{Workers: 2}), 0
			m, err := dev.Load("k.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 data, .param .u64 out, .param .u32 five)
{
	.reg .b64 %p, %o, %d;
	.reg .b32 %t, %i, %v, %n, %k;
	.reg .pred %more;
	ld.param.u64 %p, [data];
	ld.param.u64 %d, [out];
	ld.param.u32 %k, [five];
	mov.u32 %t, %tid.x;
	`+index+`
	mul.wide.u32 %o, %i, 4;
	add.u64 %p, %p, %o;
	mov.u32 %v, %ctaid.x;
	mad.lo.u32 %v, %v, 16, %i;
	mul.wide.u32 %o, %v, 4;
	add.u64 %d, %d, %o;
	mov.u32 %n, 2;
AGAIN: // in the first iteration the addresses are resolved
	ld.global.u32 %v, [%p];
	st.global.u32 [%d], %v;
	sub.u32 %n, %n, 1;
	setp.ne.u32 %more, %n, 0;
	@%more bra AGAIN;
	ret;
}`))
			if err != nil {
				t.Fatal(err)
			}
			data, err := interp.NewBuffer(dev, make([]uint32, 32))
			if err != nil {
				t.Fatal(err)
			}
			output, err := interp.NewBuffer(dev, make([]uint32, 32))
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Run(t.Context(), &interp.Launch{
				Grid: ptx.Dim(2), Block: ptx.Dim(16), Args: []any{data, output, 5}, Mode: interp.Check, CompileEagerly: true,
				Engine: engineOf(&grid.Meddler{After: code.Load, Store: func(memory []byte) { loads++; change(loads, memory) }}),
			})
			return interp.Slice[uint32](output), err
		}
		// The last load of CTA 0 and its first two repetitions race.
		total := 0
		if _, err := run(func(loads int, _ []byte) { total = loads }); err != nil {
			t.Fatalf("%s, without a race: %v", name, err)
		}
		calls := 0
		got, err := run(func(loads int, memory []byte) {
			if calls = loads; loads >= total && loads < total+3 {
				memory[4*3]++
			}
		})
		if got[3] != 3 || err != nil || calls != total+3 {
			t.Errorf("%s: the element is %d after 3 foreign stores and %d loads, want 3 after %d, error %v", name, got[3], calls, total+3, err)
		}
		if _, err := run(func(_ int, memory []byte) { memory[4*3]++ }); !errors.Is(err, probe.ErrMismatch) {
			t.Errorf("%s, which races every time: error %v, want a mismatch", name, err)
		}
	}
}
