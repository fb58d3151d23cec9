package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gemu/probe"
	"gemu/ptx"
)

// TestTimeLimit: an endless loop is stopped in every mode, in machine code and in Go, with probes and in a driven
// execution; the trap has the places of the warps of all CTAs in flight.
func TestTimeLimit(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .u64 %o, %a;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	mov.u64 %a, 0;
L:	add.u64 %a, %a, 1;
	setp.lt.u64 %p, %a, 0x7fffffffffffffff;
@%p	bra L;
	st.global.u64 [%o], %a;
	ret;
}`
	backends := []Engine{Portable}
	if Native.Available() {
		backends = append(backends, Native)
	}
	for _, b := range backends {
		for _, l := range []Launch{{Mode: Vector}, {Mode: Affine}, {Mode: Check}, {Mode: Vector, Structure: true}, {Mode: Affine, Cooperative: true},
			{Mode: Vector, Drive: func(ctx context.Context, e *Execution) error {
				for {
					if ended, err := e.Continue(ctx); ended || err != nil {
						return err
					}
				}
			}}} {
			var dev *Device
			var bad error
			for limit := 20 * time.Millisecond; limit < time.Minute; limit *= 2 { // a busy host needs longer to begin three CTAs, or to end one
				dev = NewDevice(Config{TimeLimit: limit, Engine: b})
				if bad = stoppedInTime(t, dev, src, l, limit); bad == nil {
					break
				}
			}
			if bad != nil {
				t.Errorf("%v, stats %t: %v", l.Mode, l.Structure, bad)
				continue
			}
			// A launch without a limit runs to its limit of steps, which takes longer than a nanosecond.
			dev = NewDevice(Config{TimeLimit: time.Nanosecond, Engine: b})
			l.TimeLimit, l.MaxSteps, l.Grid, l.Block = -1, 1<<16, ptx.Dim(1), ptx.Dim(1)
			if err := runTimed(t, dev, src, l); !errors.Is(err, probe.ErrStepLimit) {
				t.Errorf("%v, stats %t: without a limit of time: %v", l.Mode, l.Structure, err)
			}
		}
	}
}

// runTimed runs the kernel of TestTimeLimit.
func runTimed(t *testing.T, dev *Device, src string, l Launch) error {
	m, err := dev.Load("count.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	output, err := NewBuffer(dev, []uint64{0})
	if err != nil {
		t.Fatal(err)
	}
	l.Args = []any{output}
	_, err = m.Run(context.Background(), &l)
	return err
}

// stoppedInTime runs an endless kernel, and returns an error unless the limit stops it with a report of the warps of all
// three CTAs, and the next launch ends.
func stoppedInTime(t *testing.T, dev *Device, src string, l Launch, limit time.Duration) error {
	l.Grid, l.Block, l.MaxSteps = ptx.Dim(3), ptx.Dim(40), 1<<62
	err := runTimed(t, dev, src, l)
	var trap *probe.Trap
	if !errors.As(err, &trap) || !errors.Is(err, probe.ErrTimeLimit) {
		t.Fatalf("%v, stats %t: %v, want the time limit", l.Mode, l.Structure, err)
	}
	for _, want := range []string{fmt.Sprintf("trap: time limit reached: the launch has run for %v; 0 of 3 CTAs have ended", limit), "cta (0,0,0) warp 0: lanes 0-31 ", "cta (0,0,0) warp 1: lanes 0-7 ", "cta (2,0,0) warp 1: lanes 0-7 "} {
		if !strings.Contains(trap.Report(), want) {
			return fmt.Errorf("the report lacks %q:\n%s", want, trap.Report())
		}
	}
	// The device continues: the next launch has a limit of its own.
	m, err := dev.Load("ok.ptx", []byte(".version 8.0\n.target sm_80\n.visible .entry k() { ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1))
	return err
}
