package interp_test

// This file pauses launches at any instruction, saves them, and compares how they continue.

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// Save and Restore restore the script's list of CTAs with its launch; scenes of running CTAs have a Save and Restore of
// their own.
func (s *script) Save() any { return maps.Clone(s.ctas) }

func (s *script) Restore(state any) { s.ctas = maps.Clone(state.(map[int]*scene)) }

func (c *scene) Save() any { return c.clone() }

func (c *scene) Restore(state any) { *c = *state.(*scene).clone() }

func (c *scene) clone() *scene {
	d := *c
	d.sums, d.texts, d.kinds, d.open = slices.Clone(c.sums), slices.Clone(c.texts), maps.Clone(c.kinds), maps.Clone(c.open)
	return &d
}

func (s *script) clone() *script {
	n := newScript(s.wants)
	n.seed = s.seed
	for i, c := range s.ctas {
		n.ctas[i] = c.clone()
	}
	return n
}

// total returns the number of events.
func (s *script) total() (n int) {
	for _, c := range s.ctas {
		n += len(c.sums)
	}
	return n
}

// pauser is a script that pauses the launch at some of its events.
type pauser struct {
	*script
	at []int // numbers of events; ascending
	n  int
}

func (p *pauser) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	return pausing{p.script.CTA(l, index, id).(*scene), p}
}

// pausing is a scene in which a launch pauses.
type pausing struct {
	*scene
	p *pauser
}

func (c pausing) OnEvent(e *probe.Event) {
	c.scene.OnEvent(e)
	if p := c.p; len(p.at) > 0 {
		if p.n++; p.n >= p.at[0] {
			p.at = p.at[1:]
			e.Pause()
		}
	}
}

type sink func(e *probe.Event)

func (s sink) OnEvent(e *probe.Event) { s(e) }

// linker returns a module on a device of its own, and a buffer there.
func linker(t *testing.T, cfg interp.Config, src string, size int) (*interp.Module, *interp.Buffer) {
	t.Helper()
	mod, err := interp.NewDevice(cfg).Load("test.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	b, err := mod.Device().Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return mod, b
}

// memoryOf returns the memory of a launch.
func memoryOf(m *interp.Module, l *interp.Launch) []byte {
	var all []byte
	for _, a := range l.Args {
		if b, ok := a.(*interp.Buffer); ok {
			all = append(all, b.Bytes()...)
		}
	}
	for _, d := range m.Decls {
		if v, ok := d.(*ptx.Var); ok {
			if b := m.Var(v.Name); b != nil {
				all = append(all, b.Bytes()...)
			}
		}
	}
	return all
}

// finish runs an execution to its end, through all pauses.
func finish(t *testing.T, e *interp.Execution) error {
	for {
		if ended, err := e.Continue(t.Context()); ended {
			return err
		}
	}
}

// again runs a launch three times: without pauses; with pauses, in one of which it is saved; and from the saved state. It
// restores the initial memory.
func again(t *testing.T, m *interp.Module, l interp.Launch, seed uint64, hash maphash.Seed) error {
	r := rand.New(rand.NewPCG(seed, 0))
	sub := probe.Subscription{Events: probe.AllEvents, Values: true, Addresses: true, InOrder: true}
	first := &pauser{script: newScript(sub)}
	first.seed = hash
	l.Probes, l.MaxSteps = []probe.Probe{first}, 1<<11
	e, err := m.Start(&l)
	if err != nil {
		return nil // not tested here
	}
	defer e.Close()
	begin, err := e.Save()
	if err != nil {
		return nil // host memory
	}
	trap := finish(t, e)
	memory, counts := memoryOf(m, &l), e.Result().Counts
	want := first.clone()
	same := func(what string, err error) error {
		switch {
		case fmt.Sprint(err) != fmt.Sprint(trap):
			return fmt.Errorf("%s: %v, want %v", what, err, trap)
		case !bytes.Equal(memory, memoryOf(m, &l)):
			return fmt.Errorf("%s: other memory", what)
		case counts != e.Result().Counts:
			return fmt.Errorf("%s: counts are %+v, want %+v", what, e.Result().Counts, counts)
		}
		if err := want.same(first.script); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	if err := e.Restore(begin); err != nil {
		return err
	}
	for range 3 {
		first.at = append(first.at, 1+r.IntN(max(want.total(), 1)))
	}
	slices.Sort(first.at)
	saveAt := r.IntN(3)
	var state *interp.State
	for i := 0; ; i++ {
		ended, err := e.Continue(t.Context())
		if ended {
			if err := same("with pauses", err); err != nil {
				return err
			}
			break
		}
		if i == saveAt {
			if state, err = e.Save(); err != nil {
				return err
			}
		}
	}
	if state != nil {
		for range 2 {
			if err := e.Restore(state); err != nil {
				return err
			}
			if err := same("from the saved state", finish(t, e)); err != nil {
				return err
			}
		}
	}
	return e.Restore(begin)
}

// TestSavedAtAnyInstruction: each program, paused and saved at any instruction, continues as without the pause.
func TestSavedAtAnyInstruction(t *testing.T) {
	part.SkipShort(t)
	share, seed, hash := uint64(part.Count(320, 150, 1)), part.Seed(t), maphash.MakeSeed()
	for i, p := range programs(t, 4, 32, 64) {
		if (uint64(i)+seed)%share > 0 && !(part.TrySample() && observesOrder(p)) || strings.HasPrefix(p.File, "@") && uint64(i)%4 > 0 {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			o := p.RunModule(func(m *interp.Module, l *interp.Launch) {
				c := *l
				c.Mode = interp.Mode(seed / 3 % 3)
				c.Structure = seed%2 == 0
				c.Reconverge = interp.Policies()[seed/9%uint64(len(interp.Policies()))]
				if err := again(t, m, c, seed+uint64(i), hash); err != nil {
					t.Errorf("seed %#x: %v", seed, err)
				}
			})
			if o.WrongResult != nil && o.WrongResult.Error() != "no trap" { // expected under this policy
				t.Error(o.WrongResult)
			}
		})
	}
}

// at is a probe that pauses once before a line, for the lanes that reach it.
type at struct {
	line  int
	event func(e *probe.Event)
}

func (p *at) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore, InOrder: true}
}

func (p *at) OnEvent(*probe.Event) {}

func (p *at) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink {
	return sink(func(e *probe.Event) {
		if int(e.Instr.Pos.Line) == p.line {
			p.event(e)
		}
	})
}

// In reusedKernel %a is live from line 10 to 11, and in each iteration from line 15 to 16. Elsewhere %b may have its row.
const reusedKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %n, %a, %b;
	.reg .u64 %p;
	.reg .pred %q;
	ld.param.u64 %p, [out];
	mov.u32 %a, %tid.x;
	st.global.u32 [%p], %a;
	mov.u32 %n, 2;
LOOP:
	add.u32 %n, %n, -1;
	add.u32 %a, %n, 40;
	st.global.u32 [%p+4], %a;
	add.u32 %b, %n, 1000;
	st.global.u32 [%p+8], %b;
	setp.ne.u32 %q, %n, 0;
	@%q bra LOOP;
	ret;
}
`

// deadGuardedKernel writes %a, which nothing reads, under a guard that is false; it can have the row of %b.
const deadGuardedKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %a, %b;
	.reg .u64 %p;
	.reg .pred %q;
	ld.param.u64 %p, [out];
	mov.u32 %b, 1000;
	st.global.u32 [%p], %b;
	setp.eq.u64 %q, %p, 0;
	@%q mov.u32 %a, 5;
	st.global.u64 [%p], %p;
	@%q mov.u32 %a, 7;
	ret;
}
`

// TestReadDeadRegister reads a register at places where it is dead: the value is its own, or there is none.
func TestReadDeadRegister(t *testing.T) {
	for _, mode := range interp.Modes() {
		testReadA(t, mode, reusedKernel, []int{12, 14, 16}, "line 12: 0", "line 14: none", "line 16: 41", "line 14: none", "line 16: 40")
		testReadA(t, mode, deadGuardedKernel, []int{14}, "line 14: none")
	}
}

// testReadA runs a kernel, and compares the value of %a in lane 0 before the instructions of lines.
func testReadA(t *testing.T, mode interp.Mode, source string, lines []int, want ...string) {
	t.Helper()
	mod, b := linker(t, interp.Config{}, source, 128)
	var probes []probe.Probe
	for _, line := range lines {
		probes = append(probes, &at{line: line, event: func(e *probe.Event) { e.Pause() }})
	}
	e, err := mod.Start(&interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b}, Mode: mode, Probes: probes})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got []string
	for {
		ended, err := e.Continue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			break
		}
		splits, err := e.WarpSplits()
		if err != nil {
			t.Fatal(err)
		}
		s := &splits[0]
		v, ok := s.Read(ptx.RegID(slices.IndexFunc(s.Func.Regs, func(r ptx.Reg) bool { return r.Name == "%a" })))
		value := "none"
		if ok {
			value = fmt.Sprint(v.Low[0])
		}
		got = append(got, fmt.Sprintf("line %d: %s", s.Instr.Pos.Line, value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", mode, got, want)
	}
}

// pausedKernel prints and diverges.
const pausedKernel = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[3] = {104, 105, 0};
.entry k(.param .u64 out)
{
	.reg .u32 %t, %x, %dead;
	.reg .u64 %p;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	mul.lo.u32 %x, %t, 5;
	setp.lt.u32 %q, %t, 8;
	@%q bra LOW;
	add.u32 %x, %x, 100;
	bra MEET;
LOW:
	mad.lo.u32 %x, %t, %t, %x;
MEET:
	cvta.global.u64 %p, text;
	{
		.param .b64 f;
		.param .b64 a;
		.param .b32 r;
		st.param.b64 [f], %p;
		st.param.b64 [a], %p;
		call (r), vprintf, (f, a);
	}
	ld.param.u64 %p, [out];
	mad.wide.u32 %p, %t, 4, %p;
	st.global.u32 [%p], %x;
	mov.u32 %dead, 1;
	ret;
}
`

// TestPausedInDivergentBranch inspects a launch that pauses in a divergent branch: the places of its warp splits and
// their registers. Then it saves the launch and lets it print twice.
func TestPausedInDivergentBranch(t *testing.T) {
	for _, mode := range interp.Modes() {
		var out bytes.Buffer
		mod, b := linker(t, interp.Config{Stdout: &out}, pausedKernel, 128)
		p := &at{line: 18, event: func(e *probe.Event) { e.Pause() }}
		l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: mode, Probes: []probe.Probe{p}}
		e, err := mod.Start(l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mod.Run(t.Context(), l); err == nil || !strings.Contains(err.Error(), "is paused on this device") {
			t.Errorf("another launch beside it: %v", err)
		}
		if ended, err := e.Continue(t.Context()); ended || err != nil {
			t.Fatalf("%s: it does not pause: %v", mode, err)
		}
		splits, err := e.WarpSplits()
		if len(splits) != 1 {
			t.Fatalf("%s: %d warp splits without a reconvergence point: %+v, %v", mode, len(splits), splits, err)
		}
		s := &splits[0]
		reg := func(name string) ptx.RegID {
			return ptx.RegID(slices.IndexFunc(s.Func.Regs, func(r ptx.Reg) bool { return r.Name == name }))
		}
		if s.Lanes != 0xff || !s.Running || s.Instr.Pos.Line != 18 || s.Wait != nil || len(s.Calls) != 0 {
			t.Errorf("%s: %+v", mode, s)
		}
		x, ok := s.Read(reg("%x"))
		for lane := range 8 {
			if !ok || x.Low[lane] != uint64(5*lane) {
				t.Fatalf("%s: lane %d has %v", mode, lane, x.Low)
			}
		}
		if _, ok := s.Read(reg("%dead")); ok || e.Program().LocationOf(s.Index, reg("%dead")).Kind != probe.NoLocation {
			t.Errorf("%s: a register that is not written yet is not dead", mode)
		}
		state, err := e.Save()
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i <= 2; i++ {
			if ended, err := e.Continue(t.Context()); !ended || err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			if want := strings.Repeat("hi", 32*i); out.String() != want {
				t.Errorf("%s: it has printed %q", mode, out.String())
			}
			for lane, v := range interp.Slice[uint32](b) {
				want := uint32(5*lane + 100)
				if lane < 8 {
					want = uint32(5*lane + lane*lane)
				}
				if v != want {
					t.Errorf("%s: thread %d stores %d, want %d", mode, lane, v, want)
				}
			}
			if _, err := e.Continue(t.Context()); err != interp.ErrEnded {
				t.Errorf("%s: continued after its end: %v", mode, err)
			}
			if i == 1 {
				if err := e.Restore(state); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := mod.Run(t.Context(), l); err != nil {
			t.Errorf("%s: a launch after it: %v", mode, err)
		}
	}
}

// nobody is a probe with a single order of events that subscribes to no instruction.
type nobody struct{}

func (p *nobody) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore | probe.OnAfter, InOrder: true}
}

func (p *nobody) OnEvent(*probe.Event) {}

func (p *nobody) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *nobody) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	return make([]probe.Events, l.Program.Len())
}

// TestStatesShareMemory: states share their common pages and CTAs, also after a restore, and releasing a state frees
// only the parts without another user. A launch pauses at a step even if no probe receives its event.
func TestStatesShareMemory(t *testing.T) {
	const size = 1 << 20
	mod, b := linker(t, interp.Config{}, pausedKernel, size)
	for words := interp.Slice[uint32](b); len(words) > 0; words = words[1:] {
		words[0] = 7 // all pages of zeros are shared, so the pages must differ from zero
	}
	for _, p := range []probe.Probe{&nobody{}, &at{event: func(*probe.Event) {}}} {
		l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: interp.Vector, Probes: []probe.Probe{p}}
		e, err := mod.Start(l)
		if err != nil {
			t.Fatal(err)
		}
		to := func(step int64) *interp.State {
			t.Helper()
			if ended, err := e.ContinueTo(t.Context(), step); ended || err != nil || e.Steps() != step {
				t.Fatalf("it is at %d, want %d: %v, %v", e.Steps(), step, ended, err)
			}
			s, err := e.Save()
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		begin, err := e.Save()
		if err != nil {
			t.Fatal(err)
		}
		all := e.StateBytes()
		if all < size || all > size+1<<15 {
			t.Errorf("the first state takes %d bytes of %d", all, size)
		}
		first := to(2)
		one := e.StateBytes() - all // size of the CTA, without pages
		if one == 0 || one > 1<<17 {
			t.Errorf("the second state takes %d bytes more", one)
		}
		again, err := e.Save()
		if err != nil || e.StateBytes() != all+one {
			t.Errorf("the same again takes %d bytes: %v", e.StateBytes()-all-one, err)
		}
		second := to(4)
		if err := e.Restore(first); err != nil {
			t.Fatal(err)
		}
		b.Bytes()[size/2] = 1
		kept := e.StateBytes()
		third, err := e.Save() // the CTA is shared with the first state, a page has changed
		if n := e.StateBytes() - kept; err != nil || n == 0 || n > 1<<12 {
			t.Errorf("a page that has changed takes %d bytes: %v", n, err)
		}
		if err := e.Restore(second); err != nil || b.Bytes()[size/2] != 7 {
			t.Errorf("the page has %d: %v", b.Bytes()[size/2], err)
		}
		for _, s := range []*interp.State{again, first, second, third, begin, begin} {
			e.Release(s)
		}
		if e.StateBytes() != 0 {
			t.Errorf("%d bytes are left of no state", e.StateBytes())
		}
		e.Close()
	}
}

// TestProbeEndsLaunch: a probe ends a launch with an error of its own; a closed launch leaves its device free.
func TestProbeEndsLaunch(t *testing.T) {
	mod, b := linker(t, interp.Config{}, pausedKernel, 128)
	errEnough := errors.New("enough")
	p := &at{line: 31, event: func(e *probe.Event) {
		v, ok := e.Read(e.Instr.Ops[1].Reg)
		if !ok || v.Low[31] != 5*31+100 {
			t.Errorf("the register to be stored has %v", v.Low)
		}
		e.Stop(errEnough)
	}}
	l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Probes: []probe.Probe{p}}
	if _, err := mod.Run(t.Context(), l); !errors.Is(err, errEnough) {
		t.Errorf("the error is %v", err)
	}
	if n := interp.Slice[uint32](b)[31]; n != 0 {
		t.Errorf("the store has happened: %d", n)
	}
	p.event = func(e *probe.Event) { e.Pause() }
	end := &ends{counts: map[probe.Events]int{}}
	l.Probes = append(l.Probes, end)
	e, err := mod.Start(l)
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := e.Continue(t.Context()); ended || err != nil {
		t.Fatal(ended, err)
	}
	e.Close()
	if e.Close(); end.err != interp.ErrClosed || end.counts[probe.OnLaunchEnd] != 1 {
		t.Errorf("closed, it ends %d times by %v", end.counts[probe.OnLaunchEnd], end.err)
	}
	l.Probes = nil
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Error(err)
	}
}

// ends is a probe that counts beginnings and ends, and records the outcome of the launch.
type ends struct {
	counts  map[probe.Events]int
	err     error
	trap    *probe.Trap
	at      probe.Events // where to stop
	stop    error
	address uint64 // address of the trapping instruction in lane 5
}

func (p *ends) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTA | probe.OnCTAEnd | probe.OnWarp | probe.OnWarpEnd | probe.OnTrap, InOrder: true}
}

func (p *ends) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *ends) OnEvent(e *probe.Event) {
	p.counts[e.Kind]++
	switch e.Kind {
	case probe.OnLaunchEnd:
		p.err, p.trap = e.Err, e.Trap
	case probe.OnTrap:
		if v, ok := e.Read(e.Instr.Ops[0].Reg); ok {
			p.address = v.Low[5]
		}
	}
	if e.Kind == p.at {
		e.Stop(p.stop)
	}
}

// TestEverythingEndsOnce: everything that begins ends once. The end of a launch reports its outcome: normal, by a trap,
// by a probe at the very last event. A refused launch does not begin.
func TestEverythingEndsOnce(t *testing.T) {
	errEnough := errors.New("enough")
	for _, mode := range interp.Modes() {
		run := func(src string, grid int, at probe.Events) (*ends, *interp.Buffer, error) {
			mod, b := linker(t, interp.Config{}, src, 128)
			p := &ends{counts: map[probe.Events]int{}, at: at, stop: errEnough}
			_, err := mod.Run(t.Context(), &interp.Launch{
				Grid: ptx.Dim(grid), Block: ptx.Dim(64), Args: []any{b}, Mode: mode, Probes: []probe.Probe{p},
				Cooperative: grid > 1000,
			})
			if p.counts[probe.OnLaunch] == 0 {
				return p, b, err
			}
			if !errors.Is(p.err, err) {
				t.Errorf("%s: the launch ended by %v, the probe heard %v", mode, err, p.err)
			}
			if p.counts[probe.OnLaunch] != 1 || p.counts[probe.OnLaunchEnd] != 1 {
				t.Errorf("%s: %d begin, %d end", mode, p.counts[probe.OnLaunch], p.counts[probe.OnLaunchEnd])
			}
			return p, b, err
		}
		const narrow = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b32 %x; .reg .b64 %a, %b;\n" +
			"ld.param.u64 %a, [p]; mov.u32 %x, %tid.x; mul.wide.u32 %b, %x, 4096; add.u64 %a, %a, %b;\n"

		p, _, err := run(narrow+"ret; }", 3, 0)
		if err != nil || p.counts[probe.OnCTA] != 3 || p.counts[probe.OnCTAEnd] != 3 || p.counts[probe.OnWarp] != 6 || p.counts[probe.OnWarpEnd] != 6 {
			t.Errorf("%s: %v, %v", mode, err, p.counts)
		}

		p, b, err := run(narrow+"st.global.u32 [%a], %x; ret; }", 1, 0)
		trap, ok := errors.AsType[*probe.Trap](err)
		if !ok || p.trap != trap || p.counts[probe.OnTrap] != 1 {
			t.Errorf("%s: %v, told of %v", mode, err, p.trap)
		}
		if want := b.Addr() + 5*4096; p.address != want {
			t.Errorf("%s: the probe reads address %#x at the trap, want %#x", mode, p.address, want)
		}

		for _, at := range []probe.Events{probe.OnCTA, probe.OnWarp, probe.OnWarpEnd, probe.OnCTAEnd} {
			if _, _, err := run(narrow+"ret; }", 1, at); !errors.Is(err, errEnough) {
				t.Errorf("%s: stopped %s, the error is %v", mode, at, err)
			}
		}

		if p, _, err := run(narrow+"ret; }", 1<<22, 0); err == nil || len(p.counts) != 0 {
			t.Errorf("%s: a launch that is refused, by %v, tells %v", mode, err, p.counts)
		}
	}
}

// memories is a probe of a device that records the host's operations on memory.
type memories []string

func (m *memories) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAlloc | probe.OnFree | probe.OnHostRead | probe.OnHostWrite}
}

func (m *memories) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

func (m *memories) OnEvent(e *probe.Event) {
	*m = append(*m, fmt.Sprintf("%s %d %d", e.Kind, e.Offset, e.Bytes))
}

// TestHostMemoryEvents shows that a probe of the device receives the host's allocations, writes, reads and frees.
func TestHostMemoryEvents(t *testing.T) {
	var m memories
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{&m}})
	b, err := interp.NewBuffer(dev, []uint32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	b.Write(8, []byte{5, 6})
	b.Read(12, make([]byte, 100))
	dev.HostRead(b.Addr()+4, 4, nil)
	b.Free()
	want := memories{"alloc 0 16", "host write 0 16", "host write 8 2", "host read 12 4", "host read 4 4", "free 0 16"}
	if !slices.Equal(m, want) {
		t.Errorf("got %q, want %q", m, want)
	}
}
