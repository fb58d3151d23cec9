package traffic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

const kernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %x, %y;
	.reg .u64 %p, %o;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	mad.lo.u32 %x, %t, 3, 7;
	mul.lo.u32 %y, %t, %x;
	setp.lt.u32 %q, %t, 16;
	@%q add.u32 %y, %y, %y;
	ld.param.u64 %p, [out];
	mad.wide.u32 %o, %t, 4, %p;
	st.global.u32 [%o], %y;
	ret;
}
`

// launch is a launch of the kernel with two warps, on a device of its own.
func launch(t *testing.T, grid int, mode interp.Mode, probes ...probe.Probe) (*interp.Module, *interp.Launch) {
	t.Helper()
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	return mod, &interp.Launch{Grid: ptx.Dim(grid), Block: ptx.Dim(64), Args: []any{b}, Mode: mode, CompileEagerly: mode != interp.Vector, Probes: probes}
}

// count runs the kernel and counts.
func count(t *testing.T, mode interp.Mode) Counts {
	t.Helper()
	c := &Counter{}
	mod, l := launch(t, 1, mode, c)
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return c.Counts()
}

// TestRegisterAccesses compares the counts of vector mode with counts derived by hand. A warp reads 1 register by mad,
// 2 by mul, 1 by setp, 2 each by mad.wide and st, and writes one by each of five instructions; the add, which only the
// first warp executes, reads 2 and writes 1.
func TestRegisterAccesses(t *testing.T) {
	got := count(t, interp.Vector)
	reads, writes := int64(0), int64(0)
	for _, b := range got.Banks {
		reads, writes = reads+b.Reads, writes+b.Writes
	}
	// A register of 64 bits counts in two banks: mad.wide reads and writes one, ld.param writes one, st reads one.
	if reads != 18+2*2 || writes != 11+2*2 {
		t.Errorf("%d reads and %d writes of banks", reads, writes)
	}
	got.Banks = [Banks]Bank{}
	// Both warps read the guard, and setp writes it.
	want := Counts{Reads: affinetrack.ClassCounts{Generic: 2*8 + 2}, Writes: affinetrack.ClassCounts{Generic: 2*5 + 1}, PredicateReads: 2, PredicateWrites: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAccessesDoNotDependOnMode: the form of a register changes the class of an access, not the number of accesses.
func TestAccessesDoNotDependOnMode(t *testing.T) {
	total := map[interp.Mode]int64{}
	for _, mode := range interp.Modes() {
		n := count(t, mode)
		total[mode] = n.Reads.Total() + n.Constants
		if compact := n.Reads.Compact(); (compact > 0) != (mode != interp.Vector) {
			t.Errorf("%s: %d reads are compact", mode, compact)
		}
	}
	if total[interp.Affine] != total[interp.Vector] || total[interp.Check] != total[interp.Vector] {
		t.Errorf("registers read: %v", total)
	}
}

// pauser pauses before every store.
type pauser struct{}

func (pauser) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore, InOrder: true}
}

func (p pauser) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (pauser) OnEvent(e *probe.Event) {
	if e.Instr.Op.Name == "st" {
		e.Pause()
	}
}

// TestAccessesOfRestoredLaunch: a launch that is saved at any point and continues from there counts the same.
func TestAccessesOfRestoredLaunch(t *testing.T) {
	for _, mode := range interp.Modes() {
		c := &Counter{}
		mod, l := launch(t, 3, mode, c, pauser{})
		e, err := mod.Start(l)
		if err != nil {
			t.Fatal(err)
		}
		finish := func() Counts {
			for {
				if ended, err := e.Continue(t.Context()); err != nil {
					t.Fatal(err)
				} else if ended {
					return c.Counts()
				}
			}
		}
		var states []*interp.State
		for {
			s, err := e.Save()
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, s)
			if ended, err := e.Continue(t.Context()); err != nil {
				t.Fatal(err)
			} else if ended {
				break
			}
		}
		if want := c.Counts(); len(states) != 7 {
			t.Errorf("%s: %d pauses", mode, len(states)-1)
		} else {
			for i, s := range states {
				for range 2 {
					if err := e.Restore(s); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, finish()); diff != "" {
						t.Errorf("%s, from state %d (-want +got):\n%s", mode, i, diff)
					}
				}
			}
		}
	}
}
