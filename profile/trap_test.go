package profile

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// TestProfileOfTrappedLaunch: the profile of a trapped launch has the counts of the CTAs up to the trapped CTA, for
// any number of workers, and reports the trap.
func TestProfileOfTrappedLaunch(t *testing.T) {
	const src = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 buf)
{
	.reg .u32 %c, %x;
	.reg .u64 %p;
	.reg .pred %q;
	mov.u32 %c, %ctaid.x;
	ld.param.u64 %p, [buf];
	setp.eq.u32 %q, %c, 5;
	@%q trap;	// trap
	ld.global.u32 %x, [%p];	// load
	ret;
}
`
	var want string
	for workers := 1; workers <= 3; workers++ {
		p := New()
		dev := interp.NewDevice(interp.Config{Workers: workers})
		mod, err := dev.Load("k.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		buf, err := dev.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(64), Block: ptx.Dim(32), Args: []any{buf}, Mode: interp.Vector, Probes: []probe.Probe{p}})
		trap := (*probe.Trap)(nil)
		if !errors.As(err, &trap) {
			t.Fatalf("%v, want a trap", err)
		}
		got := p.Profile()
		if !errors.As(got.Err, &trap) {
			t.Errorf("the profile's error is %v, want the trap", got.Err)
		}
		// CTAs 0 to 4 execute six instructions each, CTA 5 the three before its trap.
		if n, m := got.Total().Execs, marked(got)["load"].Execs; n != 5*6+3 || m != 5 {
			t.Errorf("%d workers: %d instructions, %d loads, want %d, 5", workers, n, m, 5*6+3)
		}
		if len(got.Pprof(false).Comments) != 1 {
			t.Errorf("%d workers: pprof has no comment about the trap", workers)
		}
		if text := tree(got); want == "" {
			want = text
		} else if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("%d workers (-1 worker +%d):\n%s", workers, workers, diff)
		}
	}
}

// TestLaunchesOfDifferentShapes: launches of a kernel with different blocks or dynamic shared memory are separate.
func TestLaunchesOfDifferentShapes(t *testing.T) {
	p := New()
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{p}})
	mod, err := dev.Load("k.ptx", []byte(kernel("")))
	if err != nil {
		t.Fatal(err)
	}
	buf, err := dev.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct{ block, shared int }{{32, 0}, {32, 1000}, {64, 1000}, {32, 1000}} {
		if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(l.block), Shared: l.shared, Args: []any{buf}}); err != nil {
			t.Fatal(err)
		}
	}
	type shape struct{ block, shared, count int }
	var got []shape
	for _, l := range p.Profile().Launches {
		got = append(got, shape{l.Block.X, l.Shared, l.Count})
	}
	want := []shape{{32, 32768, 1}, {32, 33768, 2}, {64, 33768, 1}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(shape{})); diff != "" {
		t.Errorf("launches (-want +got):\n%s", diff)
	}
}
