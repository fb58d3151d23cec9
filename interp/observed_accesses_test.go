package interp_test

// This file compares the events of accesses on the native engine, which sends them at exits of machine code, with the events on
// the portable engine.

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gemu/interp"
	"gemu/interp/internal/exchange"
	"gemu/probe"
	"gemu/ptx"
)

// accessesKernel has accesses of all kinds between blocks without events: in diverged lanes, under guards that hold for all, some
// or no lanes, of vectors, and in every state space. It runs for several time slices, waits at barriers, prints, and ends in some
// lanes before others. With fault, a lane traps.
const accessesKernel = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 ret) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 format[4] = {37, 100, 10, 0};
.entry k(.param .u64 out, .param .u32 last, .param .u32 fault)
{
	.reg .u32 %t, %i, %x, %y, %s, %last, %fault;
	.reg .u64 %p, %d, %f, %a;
	.reg .pred %q, %r, %z;
	.shared .align 8 .b8 board[1024];
	.local .align 8 .b8 args[16];
	.param .b64 fp;
	.param .b64 ap;
	.param .b32 ret;
	ld.param.u64 %p, [out];
	ld.param.u32 %last, [last];
	ld.param.u32 %fault, [fault];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 8, %p;
	mov.u32 %s, board;
	mad.lo.u32 %s, %t, 8, %s;
	mov.u32 %i, 0;
	mov.u32 %x, %t;
	st.local.u32 [args], %t;
NEXT:
	and.b32 %y, %x, 1;
	setp.ne.u32 %q, %y, 0;
	setp.gt.u32 %z, %i, 5000;
	@%z st.global.u32 [%p], %x;
	@%q bra ODD;
	ld.shared.u32 %y, [%s];
	add.u32 %x, %x, %y;
	@%z bra NEXT;
	st.global.v2.u32 [%p], {%x, %y};
	bra MEET;
ODD:
	add.u32 %x, %x, 3;
	red.global.add.u32 [%p+4], 1;
	@!%q st.shared.u32 [%s], %x;
	@%q st.shared.u32 [%s], %i;
	and.b32 %y, %t, 2;
	setp.ne.u32 %r, %y, 0;
	@%r bra DEEP;
	st.global.u32 [%p], %x;
	add.u32 %x, %x, 2;
DEEP:
	add.u32 %x, %x, 4;
MEET:
	ld.param.u32 %last, [last];
	ld.local.u32 %y, [args];
	add.u32 %x, %x, %y;
	and.b32 %y, %i, 15;
	setp.ne.u32 %r, %y, 0;
	@%r bra SKIP;
	bar.sync 0;
	add.u32 %y, %y, %t;
	bra PRINT;
PRINT:
	setp.ne.u32 %r, %t, 33;
	@%r bra SKIP;
	mov.u64 %f, format;
	cvta.global.u64 %f, %f;
	mov.u64 %a, args;
	cvta.local.u64 %a, %a;
	st.param.b64 [fp], %f;
	st.param.b64 [ap], %a;
	call (ret), vprintf, (fp, ap);
SKIP:
	sub.u32 %y, %t, %i;
	setp.eq.u32 %r, %y, 40;
	setp.lt.and.u32 %r, %i, 8, %r;
	@%r bra DONE;
	ld.shared.u32 %y, [%s];
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, %last;
	@%q bra NEXT;
	setp.eq.u32 %q, %fault, %t;
	cvt.u64.u32 %d, %fault;
	mad.wide.u32 %d, %fault, 65536, %p;
	@!%q mov.u64 %d, %p;
	ld.global.u32 %x, [%d];
	st.global.u32 [%p], %x;
DONE:
	ret;
}
`

// accessReader records the events of accesses, with what the sink can read at them.
type accessReader struct {
	selects    func(index int) bool // selected instructions
	reduced    func(index int) bool // those of warps with a reduced event set
	reduceEach int                  // a sink switches the warp between the two at each event with this number; 0: never
	stopAt     int                  // number of the event at which the sink ends the launch; 0: never
	stack      bool                 // read the reconvergence stack

	texts []string
}

func (r *accessReader) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAccess | probe.OnPrint | probe.OnTrap, Addresses: true, InOrder: true}
}

func (r *accessReader) choose(l *probe.LaunchInfo, selects func(int) bool) []probe.Events {
	list := make([]probe.Events, l.Program.Len())
	for i := range list {
		if instr, _ := l.Program.At(i); selects(i) && instr.Form.Effects.Any(ptx.Reads|ptx.Writes|ptx.Atomic) {
			list[i] = probe.OnAccess
		}
	}
	return list
}

func (r *accessReader) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	return r.choose(l, r.selects)
}
func (r *accessReader) ReducedEvents(l *probe.LaunchInfo) []probe.Events {
	return r.choose(l, r.reduced)
}

func (r *accessReader) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *accessReader) OnEvent(e *probe.Event) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s step %d cta %d warp %d instruction %d active %#x lanes %#x meet %d depth %d local %d", e.Kind, e.Step, e.CTA, e.Warp, e.Index, e.Active, e.Lanes, e.Reconverge, e.Depth, e.Local)
	if e.Instr != nil {
		fmt.Fprintf(&b, " %s of %s", e.Instr.Text, e.Func.Name)
		for reg := range e.Instr.Uses() {
			if v, ok := e.Read(reg); ok {
				values(&b, []probe.Value{v}, e.Lanes)
			}
		}
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		fmt.Fprintf(&b, " [%s %d %#x", a.String(), a.Bytes, a.Lanes)
		for m := a.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			data, ok := a.Stored(nil, lane)
			_, _, offset, found := a.PlaceOf(lane)
			fmt.Fprintf(&b, " %x %x %v %x %v", a.Addr[lane], data, ok, offset, found)
		}
		fmt.Fprintf(&b, " %+v]", a.Runs(a.Lanes))
	}
	if e.Kind == probe.OnAccess {
		if r.stack {
			fmt.Fprintf(&b, " %+v", e.AppendStack(nil))
		}
		if n := len(r.texts); r.reduceEach > 0 {
			e.ReduceEvents(n/r.reduceEach%2 == 1)
		}
		if r.stopAt == len(r.texts)+1 {
			e.Stop(fmt.Errorf("stopped at event %d", r.stopAt))
		}
	}
	r.texts = append(r.texts, b.String())
}

// lateReader is an accessReader that does not need the event of every load before the load, and does not read its registers.
type lateReader struct {
	accessReader
	late       bool // it needs the events of all loads; otherwise of no load for which the condition holds
	begin, end uint64
	unless     atomic.Int64
	closeEach  int    // the condition ends, or holds again, at each event with this number; 0: never
	marks      []byte // by address from begin: the condition also holds for loads of bytes with mark 3
	quiet      atomic.Int64
	quietEach  int // loads become quiet, or need events again, at each event with this number that is no load; 0: never
	others     int // events that are no loads
}

func (r *lateReader) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *lateReader) FilterLoads(e *probe.Event, a *probe.Access) (probe.AccessCondition, bool) {
	c := probe.AccessCondition{Begin: r.begin, End: r.end, Late: r.late}
	if r.closeEach > 0 {
		c.Unless, c.Marks, c.Mark = &r.unless, r.marks, 3
	}
	if r.quietEach > 0 {
		c.Quiet = &r.quiet
	}
	return c, true
}

func (r *lateReader) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnAccess && e.Accesses[0].Kind == probe.AccessLoad {
		a := &e.Accesses[0]
		needed, closed := r.late && r.quiet.Load() == 0, r.unless.Load() != 0
		for m := a.Lanes; m != 0; m &= m - 1 {
			addr := a.Addr[bits.TrailingZeros64(m)]
			needed = needed || addr < r.begin || addr+uint64(a.Bytes) > r.end || closed && (r.marks == nil || slices.ContainsFunc(r.marks[addr-r.begin:][:a.Bytes], func(b byte) bool { return b != 3 }))
		}
		if !needed {
			return
		}
		late := *e
		late.Instr = nil // hides the registers
		e = &late
	} else if r.others++; r.quietEach > 0 && r.others%r.quietEach == 0 {
		r.quiet.Store(1 - r.quiet.Load())
	}
	r.accessReader.OnEvent(e)
	if n := len(r.texts); r.closeEach > 0 && n%r.closeEach == 0 {
		r.unless.Store(1 - r.unless.Load())
	}
}

// listReader is a lateReader that receives lists of loads. It compares them with the events of the loads.
type listReader struct {
	*lateReader
	t     *testing.T
	lists *int // number of lists received
}

func (r *listReader) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *listReader) OnAccesses(l *probe.AccessList) {
	*r.lists++
	for i, x := range l.List {
		e := l.Event(i)
		a := &e.Accesses[0]
		runs := slices.Clone(a.Runs(a.Lanes))
		if x.Index != e.Index || l.Warp != e.Warp || *x.Request != a.Request || x.Lanes != a.Lanes || !slices.Equal(x.Addr, a.Addr) {
			r.t.Fatalf("load %d of a list is %+v, its event %+v", i, x, e)
		}
		b := probe.Access{Addr: x.Addr}
		if x.Strided && (len(runs) != 1 || runs[0].Stride != x.Stride && x.Lanes&(x.Lanes-1) != 0) || !slices.Equal(b.Runs(x.Lanes), runs) {
			r.t.Fatalf("load %d of a list is %+v, the runs of its event are %+v", i, x, runs)
		}
		r.OnEvent(e)
	}
}

// TestLateEventsOfLoads: loads that machine code executes without an exit have the same events as on the portable engine, except
// for registers, in the same order among all events; or none, exactly where a sink needs none. Several sinks have conditions of
// their own, and some receive lists instead of events.
func TestLateEventsOfLoads(t *testing.T) {
	all, some := func(int) bool { return true }, func(n, of int) func(int) bool { return func(i int) bool { return i%of == n } }
	const board = 1024
	cases := map[string]func() []*lateReader{
		"late":    func() []*lateReader { return []*lateReader{{late: true, end: math.MaxUint64}} },
		"ignored": func() []*lateReader { return []*lateReader{{end: math.MaxUint64}} },
		"shared":  func() []*lateReader { return []*lateReader{{late: true, end: board / 2}} },
		"half":    func() []*lateReader { return []*lateReader{{begin: 64, end: 512}} },
		"closed":  func() []*lateReader { return []*lateReader{{end: math.MaxUint64, closeEach: 7}} },
		"marked": func() []*lateReader {
			marks := slices.Repeat([]byte{3}, 448)
			marks[504-64] = 4 // of the last lane of a warp
			return []*lateReader{{begin: 64, end: 512, closeEach: 7, marks: marks}, {late: true, begin: 80, end: math.MaxUint64}}
		},
		"reduced": func() []*lateReader {
			return []*lateReader{{accessReader: accessReader{reduceEach: 5, reduced: some(1, 3)}, late: true, end: math.MaxUint64, closeEach: 11}}
		},
		"two": func() []*lateReader {
			return []*lateReader{{late: true, end: math.MaxUint64}, {begin: 64, end: 512}}
		},
		"three": func() []*lateReader {
			return []*lateReader{{begin: 8, end: math.MaxUint64}, {late: true, end: math.MaxUint64}, {end: 520}}
		},
		"both": func() []*lateReader {
			return []*lateReader{{accessReader: accessReader{reduceEach: 7, reduced: some(1, 2)}, late: true, begin: 64, end: math.MaxUint64}, {late: true, end: 800}}
		},
		"quiet": func() []*lateReader { return []*lateReader{{late: true, end: math.MaxUint64, quietEach: 5}} },
		"first quiet": func() []*lateReader {
			return []*lateReader{{late: true, end: math.MaxUint64, quietEach: 5}, {late: true, end: math.MaxUint64}}
		},
		"second quiet": func() []*lateReader {
			return []*lateReader{{late: true, end: math.MaxUint64}, {late: true, end: math.MaxUint64, quietEach: 5}}
		},
		"stop": func() []*lateReader {
			return []*lateReader{{accessReader: accessReader{stopAt: 400}, end: 512}, {late: true, end: math.MaxUint64}}
		},
	}
	for n := 402; n < 410; n++ { // successive events, some of them late
		cases[fmt.Sprint("stop at ", n)] = func() []*lateReader {
			return []*lateReader{{accessReader: accessReader{stopAt: n}, late: true, end: math.MaxUint64}, {begin: 64, end: 512}}
		}
	}
	for name, make := range cases {
		for _, fault := range []uint32{1 << 20, 5, 70} {
			lists := 0 // received lists
			run := func(engine interp.Engine, receives func(k int) bool) ([][]string, string) {
				mod, b := linker(t, interp.Config{}, accessesKernel, 8*80)
				l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(80), Args: []any{b, uint32(60), fault}, Mode: interp.Vector, Engine: engine}
				list := make()
				for k, r := range list {
					if r.selects = all; r.reduced == nil {
						r.reduced = all
					}
					if receives(k) {
						l.Probes = append(l.Probes, &listReader{lateReader: r, t: t, lists: &lists})
						continue
					}
					l.Probes = append(l.Probes, r)
				}
				result, err := mod.Run(t.Context(), l)
				var texts [][]string
				for _, r := range list {
					texts = append(texts, r.texts)
				}
				if err != nil {
					return texts, err.Error()
				}
				return texts, fmt.Sprintf("%+v", result.Counts)
			}
			none := func(int) bool { return false }
			want, wantResult := run(interp.Portable, none)
			for way, receives := range []func(k int) bool{none, all, some(0, 2), some(1, 2)}[:2*min(2, len(want))] { // the sinks that receive lists
				got, gotResult := run(interp.Auto, receives)
				if gotResult != wantResult {
					t.Fatalf("%s, lists %d, fault %d: %s, want %s", name, way, fault, gotResult, wantResult)
				}
				for k := range want {
					if len(want[k]) < 100 {
						t.Fatalf("%s: sink %d has %d events", name, k, len(want[k]))
					}
					for i := range min(len(want[k]), len(got[k])) {
						if want[k][i] != got[k][i] {
							t.Fatalf("%s, lists %d, fault %d, sink %d, event %d:\n%s\nwant\n%s", name, way, fault, k, i, got[k][i], want[k][i])
						}
					}
					if len(want[k]) != len(got[k]) {
						t.Fatalf("%s, lists %d, fault %d, sink %d: %d events, want %d", name, way, fault, k, len(got[k]), len(want[k]))
					}
				}
			}
			if late := slices.ContainsFunc(make(), func(r *lateReader) bool { return r.late }); late != (lists > 10) && interp.NativeUnavailable() == nil && interp.Native.Available() {
				t.Fatalf("%s, fault %d: %d lists", name, fault, lists)
			}
		}
	}
}

// loadsKernel has several loads in sequence, of addresses in a row, of one address and of scattered addresses, in all or some lanes.
const loadsKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %i, %x, %s, %o;
	.reg .u64 %p;
	.reg .pred %q;
	.shared .align 8 .b8 board[1024];
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 8, %p;
	mov.u32 %s, board;
	mov.u32 %o, board;
	mad.lo.u32 %s, %t, 8, %s;
	setp.gt.u32 %q, %t, 20;
	mov.u32 %i, 0;
NEXT:
	ld.shared.u32 %x, [%s];
	ld.shared.u32 %x, [board+16];
	ld.global.u32 %x, [%p];
	mul.lo.u32 %x, %t, 52;
	and.b32 %x, %x, 1016;
	add.u32 %x, %x, %o;
	ld.shared.u64 %p, [%x];
	@%q bra SKIP;
	ld.shared.u32 %x, [%s+4];
	ld.shared.u32 %x, [%o+8];
SKIP:
	ld.param.u64 %p, [out];
	mad.wide.u32 %p, %t, 8, %p;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 12;
	@%q bra NEXT;
	st.global.u32 [%p], %x;
	ret;
}
`

// TestListsOfLoads: a list has the loads of the instructions that its sink selects, with the events of the portable engine.
func TestListsOfLoads(t *testing.T) {
	run := func(engine interp.Engine, lists *int) (texts [][]string) {
		mod, b := linker(t, interp.Config{}, loadsKernel, 8*80)
		l := &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(80), Args: []any{b}, Mode: interp.Vector, Engine: engine}
		readers := []*lateReader{}
		for _, of := range []int{1, 2, 3} {
			r := &lateReader{late: true, end: math.MaxUint64}
			r.selects = func(i int) bool { return i%of == 0 }
			r.reduced = r.selects
			readers = append(readers, r)
			l.Probes = append(l.Probes, &listReader{lateReader: r, t: t, lists: lists})
		}
		if _, err := mod.Run(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		for _, r := range readers {
			texts = append(texts, r.texts)
		}
		return texts
	}
	lists := 0
	want := run(interp.Portable, &lists)
	if lists > 0 {
		t.Fatalf("the portable engine makes %d lists", lists)
	}
	got := run(interp.Auto, &lists)
	if interp.NativeUnavailable() == nil && interp.Native.Available() && lists < 10 {
		t.Fatalf("%d lists", lists)
	}
	for k := range want {
		if !slices.Equal(got[k], want[k]) {
			t.Errorf("sink %d: %d events\n%s\nwant %d\n%s", k, len(got[k]), strings.Join(got[k], "\n"), len(want[k]), strings.Join(want[k], "\n"))
		}
	}
}

// windowKernel loads the second word of a buffer in each round of a loop: eight times, and until the first word is not 0. It
// changes memory in each round, so it is not stalled.
const windowKernel = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .u32 %x, %i; .reg .u64 %p; .reg .pred %q;
	ld.param.u64 %p, [p];
	mov.u32 %i, 0;
NEXT:
	ld.global.u32 %x, [%p+4];
	ld.acquire.gpu.global.u32 %x, [%p];
	st.global.u32 [%p+8], %i;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 8;
	@%q bra NEXT;
	setp.eq.u32 %q, %x, 0;
	@%q bra NEXT;
	ret;
}
`

// loadCounter counts the events of the first load from global memory in each CTA. It needs no events of the first CTA until refuses
// is true, and all events of the second CTA, unless the condition lasts.
type loadCounter struct {
	selected []probe.Events
	events   [2]int
	refuses  bool
	lasting  bool
}

func (r *loadCounter) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAccess, Addresses: true, InOrder: true}
}

func (r *loadCounter) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	if r.selected != nil {
		return r.selected // the machine compares lists by their address
	}
	r.selected = make([]probe.Events, l.Program.Len())
	for i := range r.selected {
		if instr, _ := l.Program.At(i); instr.Has("global") {
			r.selected[i] = probe.OnAccess
			break
		}
	}
	return r.selected
}

func (r *loadCounter) OnEvent(*probe.Event) {}

func (r *loadCounter) CTA(_ *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	return &loadCounterCTA{r, index}
}

type loadCounterCTA struct {
	*loadCounter
	index int
}

func (c *loadCounterCTA) OnEvent(e *probe.Event) { c.events[c.index]++ }

func (c *loadCounterCTA) FilterLoads(*probe.Event, *probe.Access) (probe.AccessCondition, bool) {
	return probe.AccessCondition{End: math.MaxUint64, Lasting: c.lasting}, c.index == 0 && !c.refuses
}

// TestConditionsOfLoadsEnd: the condition of a sink holds for its CTA only, unless it lasts, and until the launch's turn ends.
func TestConditionsOfLoadsEnd(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host has no native engine")
	}
	for k := range 4 {
		yields, lasting := k&1 != 0, k&2 != 0
		mod, b := linker(t, interp.Config{HostMemory: 1}, windowKernel, 12) // one CTA at a time, which have the same context
		words := interp.Slice[uint32](b)
		r := &loadCounter{lasting: lasting}
		before, turns := 0, 0
		l := &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(32), Args: []any{b}, Mode: interp.Vector, Engine: interp.Native, Probes: []probe.Probe{r}}
		if words[0] = 1; yields {
			words[0] = 0
			l.Yield = func(*interp.Turn) interp.Resumption {
				if turns++; turns == 1 {
					r.refuses, before = true, r.events[0]
				}
				if turns == 2 {
					words[0] = 1
				}
				return interp.Resumption{}
			}
		}
		if _, err := mod.Run(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if !yields && lasting {
			first := r.events
			if _, err := mod.Run(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if r.events != [2]int{2, 0} {
				t.Errorf("%v events after another launch, want 2 in the first CTA, and none after it", r.events)
			}
			r.events = first
		}
		switch {
		case !yields && !lasting && r.events != [2]int{1, 8}:
			t.Errorf("%v events, want 1 in the first CTA, whose later loads need none, and 8 in the second", r.events)
		case !yields && lasting && r.events != [2]int{1, 0}:
			t.Errorf("%v events, want 1 in the first CTA, and none after it", r.events)
		case yields && r.events[1] != 8:
			t.Errorf("%d events in the second CTA, which begins in another turn, want 8", r.events[1])
		case yields && (before != 1 || r.events[0] < 3):
			t.Errorf("%d events in %d turns, %d of them in the first; want 1 in the first, and further ones in the other turns", r.events[0], turns, before)
		}
	}
}

// TestEventsOfAccesses: machine code sends the same events of accesses, in the same order and with the same steps, registers and
// memory, as the portable engine: up to a trap, in each time slice, around barriers, and where a sink ends the launch or
// switches its event set at an event.
func TestEventsOfAccesses(t *testing.T) {
	all := func(int) bool { return true }
	some := func(n, of int) func(int) bool { return func(i int) bool { return i%of == n } }
	cases := map[string]accessReader{
		"all":     {selects: all, reduced: all},
		"stack":   {selects: all, reduced: all, stack: true},
		"both":    {selects: all, reduced: some(1, 2), stack: true, reduceEach: 3},
		"half":    {selects: some(1, 2), reduced: all},
		"third":   {selects: some(0, 3), reduced: some(1, 3), reduceEach: 5},
		"reduce":  {selects: all, reduced: some(1, 2), reduceEach: 1},
		"nothing": {selects: func(int) bool { return false }, reduced: all},
	}
	for n := 1; n < 4000; n = 3*n + 1 {
		cases[fmt.Sprint("stop at ", n)] = accessReader{selects: all, reduced: all, stopAt: n, stack: n%2 == 0}
	}
	for name, c := range cases {
		for _, mode := range []interp.Mode{interp.Vector, interp.Affine} {
			for _, last := range []uint32{3, 200} { // 200 iterations take several time slices
				for _, fault := range []uint32{1 << 20, 5, 70} {
					if last > 3 && (fault != 70 || c.stack) {
						continue // takes long
					}
					run := func(engine interp.Engine) ([]string, string) {
						mod, b := linker(t, interp.Config{}, accessesKernel, 8*80)
						r := c
						l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(80), Args: []any{b, last, fault}, Mode: mode, Engine: engine, Probes: []probe.Probe{&r}}
						result, err := mod.Run(t.Context(), l)
						if err != nil {
							return r.texts, err.Error()
						}
						return r.texts, fmt.Sprintf("%+v", result.Counts)
					}
					want, wantResult := run(interp.Portable)
					entered := exchange.Entered.Load()
					got, gotResult := run(interp.Auto)
					if interp.NativeUnavailable() == nil && interp.Native.Available() && exchange.Entered.Load() == entered && len(got) > 100 {
						t.Fatalf("%s, %s: machine code has not run", name, mode)
					}
					if n := len(want); n < 10 && name != "nothing" && n != c.stopAt {
						t.Fatalf("%s: %d events", name, n)
					}
					for i := range min(len(want), len(got)) {
						if want[i] != got[i] {
							t.Fatalf("%s, %s, last %d, fault %d, event %d:\n%s\nwant\n%s", name, mode, last, fault, i, got[i], want[i])
						}
					}
					if !slices.Equal(want, got) || gotResult != wantResult {
						t.Fatalf("%s, %s, last %d, fault %d: %d events and %s, want %d and %s", name, mode, last, fault, len(got), gotResult, len(want), wantResult)
					}
				}
			}
		}
	}
}

// storesKernel has stores of all sizes, in sequence and with loads between them: of addresses in a row, of one address, of scattered
// and of equal addresses, of registers, vectors and constants, in all or some lanes.
const storesKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %i, %x, %y, %s, %o, %b;
	.reg .u64 %p, %d;
	.reg .pred %q, %c;
	.shared .align 16 .b8 board[2048];
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 16, %p;
	mov.u32 %b, board;
	mad.lo.u32 %s, %t, 8, %b;
	setp.gt.u32 %q, %t, 20;
	mov.u32 %i, 0;
	mul.wide.u32 %d, %t, 12345;
NEXT:
	mad.lo.u32 %x, %t, %i, 77;
	st.shared.u32 [%s], %x;
	st.shared.u32 [board+16], %x;
	ld.shared.u32 %y, [board+16];
	st.global.v2.u32 [%p], {%x, %y};
	st.global.u64 [%p+8], %d;
	st.global.u32 [%p+8], 7;
	ld.global.u32 %y, [%p+8];
	mul.lo.u32 %o, %t, 52;
	and.b32 %o, %o, 1016;
	add.u32 %o, %o, %b;
	st.shared.u8 [%o+1], %i;
	st.shared.u16 [%o+2], %x;
	@%q bra SKIP;
	st.shared.v4.u32 [%b+1024], {%x, %t, 5, %y};
	st.shared.u64 [%o], %d;
	ld.shared.u32 %y, [%b+1028];
SKIP:
	add.u32 %i, %i, 1;
	setp.lt.u32 %c, %i, 12;
	@%c bra NEXT;
	bar.sync 0;
	st.global.u32 [%p], %y;
	ret;
}
`

// storeReader is a lateReader that does not need the event of every store before the store either. It also reads the memory before
// each access.
type storeReader struct{ *lateReader }

func (r *storeReader) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *storeReader) FilterStores(*probe.Event, *probe.Access) (probe.AccessCondition, bool) {
	return probe.AccessCondition{End: math.MaxUint64, Late: true}, true
}

func (r *storeReader) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnAccess {
		late := *e
		late.Instr = nil // hides the registers
		e = &late
	}
	r.accessReader.OnEvent(e)
	for i := range e.Accesses {
		a, b := &e.Accesses[i], strings.Builder{}
		for m := a.Lanes; m != 0; m &= m - 1 {
			if _, alloc, offset, ok := a.PlaceOf(bits.TrailingZeros64(m)); ok && alloc != nil {
				fmt.Fprintf(&b, " %x", a.MemoryBefore(alloc, offset, a.Bytes))
			}
		}
		r.texts[len(r.texts)-1] += " before" + b.String()
	}
}

// storeListReader is a storeReader that receives lists.
type storeListReader struct {
	*storeReader
	stores *int // number of stores received in lists
}

func (r *storeListReader) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *storeListReader) OnAccesses(l *probe.AccessList) {
	for i, x := range l.List {
		if x.Request.Kind == probe.AccessStore {
			*r.stores++
		}
		r.OnEvent(l.Event(i))
	}
}

// TestLateEventsOfStores: stores that machine code executes without an exit have the same events as on the portable engine, with the
// stored bytes and the memory before them, in the same order among loads and other events.
func TestLateEventsOfStores(t *testing.T) {
	run := func(engine interp.Engine, mode interp.Mode, inLists func(k int) bool, stores *int) (texts [][]string) {
		mod, b := linker(t, interp.Config{}, storesKernel, 16*80)
		l := &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(80), Args: []any{b}, Mode: mode, Engine: engine}
		readers := []*storeReader{}
		for k, of := range []int{1, 2, 3} {
			r := &storeReader{&lateReader{late: true, end: math.MaxUint64}}
			r.selects = func(i int) bool { return i%of == 0 }
			r.reduced = r.selects
			readers = append(readers, r)
			if inLists(k) {
				l.Probes = append(l.Probes, &storeListReader{r, stores})
			} else {
				l.Probes = append(l.Probes, r)
			}
		}
		if _, err := mod.Run(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		for _, r := range readers {
			texts = append(texts, r.texts)
		}
		return texts
	}
	for _, mode := range []interp.Mode{interp.Vector, interp.Affine} {
		none := func(int) bool { return false }
		want := run(interp.Portable, mode, none, nil)
		for way, inLists := range []func(int) bool{none, func(int) bool { return true }, func(k int) bool { return k == 1 }} {
			stores := 0
			got := run(interp.Auto, mode, inLists, &stores)
			for k := range want {
				for i := range min(len(want[k]), len(got[k])) {
					if want[k][i] != got[k][i] {
						t.Fatalf("%v, lists %d, sink %d, event %d:\n%s\nwant\n%s", mode, way, k, i, got[k][i], want[k][i])
					}
				}
				if len(want[k]) != len(got[k]) || len(want[k]) < 200 {
					t.Fatalf("%v, lists %d, sink %d: %d events, want %d", mode, way, k, len(got[k]), len(want[k]))
				}
			}
			if mode == interp.Vector && way == 1 && stores < 500 && interp.NativeUnavailable() == nil && interp.Native.Available() {
				t.Errorf("only %d stores came in lists", stores)
			}
		}
	}
}
