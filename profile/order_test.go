package profile

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
)

// late is a probe that is told of the ends of CTAs so many at a time, in some order.
type late struct {
	*Probe
	t     *testing.T
	many  int
	order func(ends []func())
	ends  []func()
}

func (l *late) CTA(info *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	return &lateSink{l.Probe.CTA(info, index, id), l}
}

func (l *late) Tell(e *interp.Event) {
	if e.Kind == interp.OnLaunchEnd && len(l.ends) > 0 {
		l.flush()
	}
	l.Probe.Tell(e)
}

func (l *late) flush() {
	l.order(l.ends)
	for _, end := range l.ends {
		end()
		for _, r := range l.runs {
			for i := 1; i < len(r.open); i++ {
				if r.open[i-1].over && r.open[i].over {
					l.t.Error("two CTAs that have ended, one behind the other, are still two")
				}
			}
		}
	}
	l.ends = nil
}

type lateSink struct {
	interp.Sink
	of *late
}

func (s *lateSink) Tell(e *interp.Event) {
	if e.Kind == interp.OnCTAEnd {
		end := *e
		s.of.ends = append(s.of.ends, func() { s.Sink.Tell(&end) })
		if len(s.of.ends) == s.of.many {
			s.of.flush()
		}
		return
	}
	s.Sink.Tell(e)
}

// TestOrderOfEnds: a profile does not depend on the order in which CTAs end, and those that have are few in memory.
func TestOrderOfEnds(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 buf)
{
	.reg .u32 %c;
	mov.u32 %c, %ctaid.x;
LOOP:
	sub.u32 %c, %c, 1;
	.reg .pred %q;
	setp.gt.s32 %q, %c, 0;
	@%q bra LOOP;
	ret;
}
`
	var want string
	for i, order := range []func(ends []func()){
		func([]func()) {},
		func(ends []func()) { slices.Reverse(ends) },
		func(ends []func()) { slices.Reverse(ends); slices.Reverse(ends[:len(ends)-1]) }, // the first one last
		func(ends []func()) { // odd ones first
			old := slices.Clone(ends)
			for i := range old {
				ends[(i/2+(1-i%2)*(len(old)/2))%len(old)] = old[i]
			}
		},
	} {
		for _, many := range []int{12, 4} {
			p := &late{Probe: New(), t: t, many: many, order: order}
			dev := interp.NewDevice(interp.Config{Workers: 1})
			mod, err := dev.Load("k.ptx", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := mod.Run(t.Context(), &interp.Launch{Grid: interp.Dim(12), Block: interp.Dim(32), Args: []any{uint64(0)}, Mode: interp.Vector, Probes: []interp.Probe{p}}); err != nil {
				t.Fatal(err)
			}
			got := p.Profile()
			// CTA 0 goes once through the loop, and n as often as it says.
			if n := got.Total().Execs; n != 12*2+3*(1+11*12/2) {
				t.Errorf("order %d, %d at a time: %d instructions, want %d", i, many, n, 12*2+3*(1+11*12/2))
			}
			if text := tree(got); want == "" {
				want = text
			} else if diff := cmp.Diff(want, text); diff != "" {
				t.Errorf("order %d, %d at a time (-in turn +so):\n%s", i, many, diff)
			}
		}
	}
}

// TestBehindTrap: of a launch that traps the CTAs behind the one that does have run, and are not counted.
func TestBehindTrap(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 buf)
{
	.reg .u32 %c, %n;
	.reg .pred %q;
	mov.u32 %c, %ctaid.x;
	setp.ne.u32 %q, %c, 2;
	@%q bra END;
	mov.u32 %n, 20000;
LOOP:
	sub.u32 %n, %n, 1;
	setp.gt.s32 %q, %n, 0;
	@%q bra LOOP;
	trap;
END:
	ret;
}
`
	p := New()
	dev := interp.NewDevice(interp.Config{Workers: 3})
	mod, err := dev.Load("k.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.Run(t.Context(), &interp.Launch{Grid: interp.Dim(100), Block: interp.Dim(32), Args: []any{uint64(0)}, Mode: interp.Vector, Probes: []interp.Probe{p}})
	if trap := (*interp.Trap)(nil); !errors.As(err, &trap) {
		t.Fatalf("%v, want a trap", err)
	}
	if n := p.Profile().Total().Execs; n != 2*4+4+3*20000 {
		t.Errorf("%d instructions, want those of CTAs 0 and 1 and what CTA 2 has executed, %d", n, 2*4+4+3*20000)
	}
}
