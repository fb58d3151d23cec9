package interp_test

// This file tests the order in which CTAs begin (Launch.Dispatch).

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/machine/dispatch"
	"gemu/probe"
	"gemu/ptx"
	tracelog "gemu/trace"
)

// dispatchKernels: ticket stores the index of each CTA at the place of its turn at an atomic counter. own stores three times the index
// of each CTA at the place of the CTA. fails traps in CTAs with an index above 2.
const dispatchKernels = `.version 7.8
.target sm_90
.address_size 64
.visible .entry ticket(.param .u64 out)
{
	.reg .u64 %rd<4>; .reg .u32 %r<8>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	atom.global.add.u32 %r4, [%rd0], 1;
	mul.wide.u32 %rd1, %r4, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2+4], %r3;
	ret;
}
.visible .entry own(.param .u64 out)
{
	.reg .u64 %rd<4>; .reg .u32 %r<8>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	mul.wide.u32 %rd1, %r3, 4;
	add.u64 %rd2, %rd0, %rd1;
	mul.lo.u32 %r3, %r3, 3;
	st.global.u32 [%rd2], %r3;
	ret;
}
.visible .entry fails(.param .u64 out)
{
	.reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, 50000;
	setp.gt.u32 %p, %r0, 2;
	@%p mov.u64 %rd0, 0;
	@!%p bra store;
	// CTAs that begin later end before the trap
wait:
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p, %r1, 0;
	@%p bra wait;
store:
	st.global.u32 [%rd0], %r0;
	ret;
}
`

// words returns the first n words of a buffer.
func words(b *interp.Buffer, n int) (list []int) {
	for i := range n {
		list = append(list, int(binary.LittleEndian.Uint32(b.Bytes()[4*i:])))
	}
	return list
}

// TestDispatch: CTAs execute an atomic in the given order, on each engine, in each mode, with any number of workers, and in cooperative
// launches. In a launch with clusters, the clusters follow the order.
func TestDispatch(t *testing.T) {
	rows := []int{0, 40, 80, 120, 1, 41} // the first CTAs of groups of 1×4 in a grid of 40×4
	for _, c := range []struct {
		order    dispatch.Order
		cluster  ptx.Dim3
		wantHead []int
	}{
		{dispatch.Reverse, ptx.Dim3{}, []int{159, 158, 157}},
		{dispatch.Group(ptx.Dim(1, 4)), ptx.Dim3{}, rows},
		// Clusters of 2×1: the grid has 20×4 clusters, of which the last has the CTAs 158 and 159.
		{dispatch.Reverse, ptx.Dim(2), []int{158, 159, 156, 157}},
	} {
		for _, engine := range []interp.Engine{interp.Portable, interp.Auto} {
			for _, mode := range interp.Modes() {
				for _, workers := range []int{1, 3} {
					name := fmt.Sprintf("cluster %v, engine %v, mode %v, %d workers", c.cluster, engine, mode, workers)
					for _, cooperative := range []bool{false, true} {
						mod, b := linker(t, interp.Config{Workers: workers, Engine: engine}, dispatchKernels, 1024)
						l := &interp.Launch{Kernel: "ticket", Grid: ptx.Dim(40, 4), Block: ptx.Dim(1), Cluster: c.cluster, Args: []any{b}, Mode: mode, Dispatch: c.order, Cooperative: cooperative}
						if _, err := mod.Run(t.Context(), l); err != nil {
							t.Fatal(name, err)
						}
						if got := words(b, 161)[1:]; !slices.Equal(got[:len(c.wantHead)], c.wantHead) {
							t.Errorf("%s, cooperative %v: CTAs %v first, want %v", name, cooperative, got[:len(c.wantHead)], c.wantHead)
						} else if slices.Sort(got); !slices.Equal(got, dispatch.Linear(ptx.Dim(160))) {
							t.Errorf("%s: not all CTAs have a ticket", name)
						}
					}
					mod, b := linker(t, interp.Config{Workers: workers, Engine: engine}, dispatchKernels, 1024)
					l := &interp.Launch{Kernel: "own", Grid: ptx.Dim(40, 4), Block: ptx.Dim(1), Cluster: c.cluster, Args: []any{b}, Mode: mode, Dispatch: c.order}
					if _, err := mod.Run(t.Context(), l); err != nil {
						t.Fatal(name, err)
					}
					for i, v := range words(b, 160) {
						if v != 3*i {
							t.Fatalf("%s: CTA %d stores %d", name, i, v)
						}
					}
				}
			}
		}
	}
}

// TestDispatchAndTrap: among the CTAs that trap, the first in the order of the launch ends it, and a log has the CTAs up to it, for any
// number of workers.
func TestDispatchAndTrap(t *testing.T) {
	var first []byte
	for _, workers := range []int{1, 3} {
		mod, b := linker(t, interp.Config{Workers: workers}, dispatchKernels, 64)
		var log bytes.Buffer
		w, err := tracelog.NewWriter(&log, tracelog.Text, &tracelog.Header{Version: tracelog.Version})
		if err != nil {
			t.Fatal(err)
		}
		r := tracelog.NewRecorder(w, tracelog.Filter{})
		order := func(ptx.Dim3) []int { return []int{1, 0, 4, 2, 5, 3} }
		_, err = mod.Run(t.Context(), &interp.Launch{Kernel: "fails", Grid: ptx.Dim(6), Block: ptx.Dim(1), Args: []any{b}, Mode: interp.Vector, Dispatch: order, Probes: []probe.Probe{r}})
		var trap *probe.Trap
		if !errors.As(err, &trap) || trap.CTA.X != 4 {
			t.Fatalf("%d workers: %v, want a trap of CTA 4", workers, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = log.Bytes()
			if got := ctasOf(t, first); !slices.Equal(got, []uint64{0, 1, 4}) {
				t.Errorf("the log has CTAs %v", got)
			}
		} else if !bytes.Equal(first, log.Bytes()) {
			t.Errorf("%d workers: another log", workers)
		}
	}
}

// ctasOf returns the numbers of the CTAs of a log.
func ctasOf(t *testing.T, log []byte) (list []uint64) {
	r, err := tracelog.NewReader("log", bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := r.Next()
		if err != nil {
			return list
		}
		if c, ok := e.(*tracelog.CTA); ok {
			list = append(list, c.Number)
		}
	}
}

// TestDispatchErrors: an order must be a permutation.
func TestDispatchErrors(t *testing.T) {
	mod, b := linker(t, interp.Config{}, dispatchKernels, 64)
	for _, c := range []struct {
		list []int
		want string
	}{
		{[]int{0, 1}, "the order has 2 CTAs or clusters, the grid has 3"},
		{[]int{0, 1, 3}, "place 2 of the order has index 3; want indices from 0 to 2"},
		{[]int{0, -1, 2}, "place 1 of the order has index -1"},
		{[]int{2, 1, 2}, "index 2 occurs twice in the order, the second time at place 2"},
	} {
		_, err := mod.Run(t.Context(), &interp.Launch{Kernel: "own", Grid: ptx.Dim(3), Block: ptx.Dim(1), Args: []any{b}, Dispatch: func(ptx.Dim3) []int { return c.list }})
		var refused *interp.LaunchError
		if !errors.As(err, &refused) || refused.Field != "Dispatch" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.list, err, c.want)
		}
	}
}

// inOrder is a probe that makes CTAs run in sequence.
type inOrder struct{}

func (inOrder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore, InOrder: true}
}
func (inOrder) OnEvent(*probe.Event)                            {}
func (inOrder) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return inOrder{} }

// TestDispatchSaved: a launch with an order that is restored to each of its states continues in the order.
func TestDispatchSaved(t *testing.T) {
	want := []int{0, 3, 1, 4, 2, 5} // columns of a grid of 3×2
	mod, b := linker(t, interp.Config{}, dispatchKernels, 64)
	l := &interp.Launch{Kernel: "ticket", Grid: ptx.Dim(3, 2), Block: ptx.Dim(1), Args: []any{b}, Dispatch: dispatch.Group(ptx.Dim(1, 2)), Probes: []probe.Probe{inOrder{}}}
	e, err := mod.Start(l)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var states []*interp.State
	for step := int64(0); ; step += 7 {
		s, err := e.Save()
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s)
		if ended, err := e.ContinueTo(t.Context(), step); err != nil {
			t.Fatal(err)
		} else if ended {
			break
		}
	}
	for i, s := range states {
		if err := e.Restore(s); err != nil {
			t.Fatal(err)
		}
		var flights []int
		if err := e.InFlight(s, nil, func(cta int) bool { flights = append(flights, cta); return true }); err != nil {
			t.Fatal(err)
		}
		if n := len(flights); !slices.Equal(flights, want[6-n:]) {
			t.Errorf("state %d: CTAs %v remain, want %v", i, flights, want[6-n:])
		}
		if ended, err := e.Continue(t.Context()); err != nil || !ended {
			t.Fatal(ended, err)
		}
		if got := words(b, 7)[1:]; !slices.Equal(got, want) {
			t.Errorf("state %d: %v, want %v", i, got, want)
		}
	}
	if len(states) < 5 {
		t.Errorf("%d states", len(states))
	}
}
