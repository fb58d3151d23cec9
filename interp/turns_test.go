package interp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gemu/probe"
	"gemu/ptx"
)

// turnKernel has kernels that wait until a word is value. They read their other parameters after the wait. await stores value+1,
// workspace the low half of the address of its launch's workspace.
const turnKernel = `.version 7.8
.target sm_80
.address_size 64
.visible .entry await(.param .u64 flag, .param .u32 value, .param .u64 next)
{
	.reg .u32 %r<3>; .reg .u64 %rd<2>; .reg .pred %p;
	ld.param.u64 %rd0, [flag]; ld.param.u32 %r1, [value];
L:	ld.acquire.gpu.global.u32 %r0, [%rd0];
	setp.ne.u32 %p, %r0, %r1;
	@%p bra L;
	ld.param.u64 %rd1, [next];
	ld.param.u32 %r1, [value];
	add.u32 %r2, %r1, 1;
	st.release.gpu.global.u32 [%rd1], %r2;
	ret;
}
.visible .entry workspace(.param .u64 flag, .param .u32 value, .param .u64 out)
{
	.reg .u32 %r<3>; .reg .u64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd0, [flag]; ld.param.u32 %r2, [value];
L:	ld.acquire.gpu.global.u32 %r0, [%rd0];
	setp.ne.u32 %p, %r0, %r2;
	@%p bra L;
	mov.u32 %r1, %envreg2;
	ld.param.u64 %rd1, [out];
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// A launch lets other launches run on its device while it waits, even of the same kernel, and keeps its arguments, constants and
// workspace.
func TestLaunchesTakeTurns(t *testing.T) {
	for _, mode := range []Mode{Check, Affine, Vector} {
		for _, engine := range []Engine{Portable, DefaultEngine} {
			d := NewDevice(Config{Engine: engine})
			defer d.Close()
			m, err := d.Load("turns.ptx", []byte(turnKernel))
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewBuffer(d, make([]uint32, 8))
			if err != nil {
				t.Fatal(err)
			}
			words := Slice[uint32](b)
			at := func(i int) uint64 { return b.Addr() + 4*uint64(i) }
			// launch runs a kernel; the first time it yields, it calls inner.
			launch := func(kernel string, cooperative bool, inner func(), args ...any) {
				yields := 0
				_, err := m.Run(context.Background(), &Launch{Kernel: kernel, Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: args, Mode: mode, Cooperative: cooperative, Yield: func(*Turn) Resumption {
					if yields++; yields == 1 && inner != nil {
						inner()
					}
					return Resumption{Changed: yields == 1}
				}})
				if err != nil || (yields > 0) != (inner != nil) {
					t.Fatalf("%v, %v, %s: it yields %d times: %v", mode, engine, kernel, yields, err)
				}
			}
			launch("await", false, func() {
				launch("workspace", true, func() {
					launch("workspace", true, func() {
						if _, err := d.Alloc(64); err != nil {
							t.Error(err)
						}
						launch("await", false, nil, at(7), 0, at(0))
					}, at(0), 1, at(4))
					words[1] = 5
				}, at(1), 5, at(5))
				words[2] = 8
			}, at(2), 8, at(3))
			if words[0] != 1 || words[3] != 9 || words[4] == 0 || words[5] == 0 || words[4] == words[5] {
				t.Errorf("%v, %v: memory %v, want 1 in word 0, 9 in word 3, and different addresses in words 4 and 5", mode, engine, words)
			}
		}
	}
}

// The caller ends a launch that yields: with an error, or because it is in a deadlock. Memory of the host bounds the launches in flight.
func TestLaunchEndsBetweenTurns(t *testing.T) {
	d := NewDevice(Config{HostMemory: 1})
	defer d.Close()
	m, err := d.Load("turns.ptx", []byte(turnKernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuffer(d, make([]uint32, 4))
	if err != nil {
		t.Fatal(err)
	}
	run := func(yield func(*Turn) Resumption) error {
		_, err := m.Run(context.Background(), &Launch{Kernel: "await", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b.Addr(), 1, b.Addr() + 4}, Yield: yield})
		return err
	}
	reason := errors.New("a reason")
	if err := run(func(*Turn) Resumption { return Resumption{Err: reason} }); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	places := ""
	end := func(turn *Turn) Resumption {
		places = strings.Join(turn.Places(), "; ")
		return Resumption{Deadlock: true, Notes: []string{"a note"}}
	}
	var trap *probe.Trap
	err = run(func(turn *Turn) Resumption {
		if !turn.Stalled {
			return Resumption{}
		}
		var inner *probe.Trap
		if err := run(end); !errors.As(err, &inner) || inner.Kind != probe.ErrKeptOut || !strings.Contains(places, "do not fit in the host memory") {
			t.Errorf("the launch without memory: %v, at %q", err, places)
		}
		return end(turn)
	})
	if !errors.As(err, &trap) || trap.Kind != probe.ErrDeadlock || !strings.Contains(trap.Report(), "a note") || !strings.Contains(places, "cta (0,0,0) warp 0: lane 0 loops at turns.ptx:") {
		t.Errorf("the deadlock: %v, at %q", err, places)
	}
	// The device is usable afterwards.
	Slice[uint32](b)[0] = 1
	if err := run(nil); err != nil || Slice[uint32](b)[1] != 2 {
		t.Errorf("after it: %v, %v", err, Slice[uint32](b))
	}
}

// A launch that waits keeps its arguments while another kernel is lowered, and while another launch is refused.
func TestArgumentsBetweenTurns(t *testing.T) {
	const other = `.version 7.8
.target sm_80
.address_size 64
.visible .entry one(.param .u64 out) { ret; }
.visible .entry many(.param .align 8 .b8 all[4000]) { ret; }
`
	for name, disturb := range map[string]func(m, others *Module, b *Buffer) error{
		"a kernel with fewer parameters is lowered": func(_, others *Module, _ *Buffer) error { return others.Prepare("one") },
		"a kernel with more parameters is lowered":  func(_, others *Module, _ *Buffer) error { return others.Prepare("many") },
		"a launch is refused": func(m, _ *Module, b *Buffer) error {
			_, err := m.Run(context.Background(), &Launch{Kernel: "await", Grid: ptx.Dim(1), Block: ptx.Dim(32), Shared: -1, Args: []any{b.Addr() + 16, 1, b.Addr() + 20}})
			if err == nil {
				return errors.New("a launch with a negative size is not refused")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDevice(Config{})
			defer d.Close()
			m, err := d.Load("turns.ptx", []byte(turnKernel))
			if err != nil {
				t.Fatal(err)
			}
			others, err := d.Load("others.ptx", []byte(other))
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewBuffer(d, make([]uint32, 8))
			if err != nil {
				t.Fatal(err)
			}
			words, yields := Slice[uint32](b), 0
			_, err = m.Run(context.Background(), &Launch{Kernel: "await", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b.Addr(), 7, b.Addr() + 4}, Yield: func(*Turn) Resumption {
				if yields++; yields == 1 {
					if err := disturb(m, others, b); err != nil {
						t.Error(err)
					}
					words[0] = 7
				}
				return Resumption{Changed: yields == 1}
			}})
			if err != nil || yields == 0 || words[1] != 8 {
				t.Errorf("after %d yields: %v, memory %v, want 8 in word 1", yields, err, words)
			}
		})
	}
}

// A launch that ends before it begins has no result and no events.
func TestLaunchEndsBeforeItBegins(t *testing.T) {
	counter := &launchEvents{}
	d := NewDevice(Config{HostMemory: 1, Probes: []probe.Probe{counter}})
	defer d.Close()
	m, err := d.Load("turns.ptx", []byte(turnKernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuffer(d, make([]uint32, 4))
	if err != nil {
		t.Fatal(err)
	}
	run := func(yield func(*Turn) Resumption) (*Result, error) {
		return m.Run(context.Background(), &Launch{Kernel: "await", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b.Addr(), 1, b.Addr() + 4}, Yield: yield})
	}
	reason, yields := errors.New("a reason"), 0
	r, err := run(func(*Turn) Resumption {
		if yields++; yields > 1 {
			return Resumption{Err: reason}
		}
		if r, err := run(func(*Turn) Resumption { return Resumption{Err: reason} }); !errors.Is(err, reason) || r != nil {
			t.Errorf("the launch that has not begun: result %v, %v", r, err)
		}
		return Resumption{Changed: true}
	})
	if !errors.Is(err, reason) || r == nil {
		t.Errorf("the launch that has begun: result %v, %v", r, err)
	}
	if counter.begun != 1 || counter.ended != 1 {
		t.Errorf("%d launches begin and %d end, want 1", counter.begun, counter.ended)
	}
}

// launchEvents counts the events of whole launches.
type launchEvents struct{ begun, ended int }

func (l *launchEvents) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd}
}

func (l *launchEvents) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

func (l *launchEvents) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnLaunch:
		l.begun++
	case probe.OnLaunchEnd:
		l.ended++
	}
}

// The limit of time counts the time for which a stalled launch waits, except while others make progress.
func TestTimeLimitBetweenTurns(t *testing.T) {
	t.Parallel()
	for _, othersRan := range []bool{false, true} {
		d := NewDevice(Config{TimeLimit: 2 * time.Second})
		defer d.Close()
		m, err := d.Load("turns.ptx", []byte(turnKernel))
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewBuffer(d, make([]uint32, 2))
		if err != nil {
			t.Fatal(err)
		}
		stalls := 0
		_, err = m.Run(context.Background(), &Launch{Kernel: "await", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b.Addr(), 1, b.Addr() + 4}, Yield: func(turn *Turn) Resumption {
			if !turn.Stalled {
				return Resumption{}
			}
			switch stalls++; stalls {
			case 1:
				time.Sleep(2100 * time.Millisecond)
			case 50: // the launch has had turns after the wait, in which it can reach its limit
				Slice[uint32](b)[0] = 1
			default:
				time.Sleep(time.Millisecond)
			}
			return Resumption{OthersRan: othersRan}
		}})
		if wantErr := !othersRan; errors.Is(err, probe.ErrTimeLimit) != wantErr || !wantErr && err != nil {
			t.Errorf("others ran: %v: %v", othersRan, err)
		}
	}
}
