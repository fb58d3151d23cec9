package interp_test

// This file saves launches whose CTAs wait for each other: between time slices, without progress, and while more CTAs are
// admitted, under every policy.

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// turnsKernels use words of a buffer. Each thread of wait_last waits for the last CTA. The threads of count draw numbers in a
// loop, with some work in between. meet is a barrier of the grid. The lanes of within wait for each other at a lock; the lanes
// of apart wait for a lane that counts first.
const turnsKernels = `.version 8.0
.target sm_80
.address_size 64
.entry wait_last(.param .u64 out)
{
	.reg .u32 %x, %c, %n;
	.reg .u64 %p;
	.reg .pred %q;
	ld.param.u64 %p, [out];
	mov.u32 %c, %ctaid.x;
	mov.u32 %n, %nctaid.x;
	add.u32 %c, %c, 1;
	setp.eq.u32 %q, %c, %n;
	@%q st.volatile.global.u32 [%p], 7;
LOOP:
	ld.volatile.global.u32 %x, [%p];
	setp.ne.u32 %q, %x, 7;
	@%q bra LOOP;
	mad.wide.u32 %p, %c, 4, %p;
	st.global.u32 [%p], %c;
	ret;
}
.entry count(.param .u64 out)
{
	.reg .u32 %t, %x, %i, %k;
	.reg .u64 %p, %o;
	.reg .pred %q;
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %i, 0;
LOOP:
	atom.global.add.u32 %x, [%p], 1;
	and.b32 %k, %x, 7;
WORK:
	sub.u32 %k, %k, 1;
	setp.gt.s32 %q, %k, 0;
	@%q bra WORK;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 200;
	@%q bra LOOP;
	bar.sync 0;
	mov.u32 %i, %ctaid.x;
	mad.lo.u32 %t, %i, 40, %t;
	mad.wide.u32 %o, %t, 4, %p;
	st.global.u32 [%o+4], %x;
	ret;
}
.entry meet(.param .u64 out)
{
	.reg .u32 %x, %n, %i, %want;
	.reg .u64 %p;
	.reg .pred %q;
	ld.param.u64 %p, [out];
	mov.u32 %n, %nctaid.x;
	mov.u32 %want, 0;
	mov.u32 %i, 0;
AGAIN:
	add.u32 %want, %want, %n;
	atom.global.add.u32 %x, [%p], 1;
LOOP:
	ld.volatile.global.u32 %x, [%p];
	setp.lt.u32 %q, %x, %want;
	@%q bra LOOP;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 6;
	@%q bra AGAIN;
	mov.u32 %n, %ctaid.x;
	mad.wide.u32 %p, %n, 4, %p;
	st.global.u32 [%p+4], %x;
	ret;
}
.entry within(.param .u64 out)
{
	.reg .u32 %x, %n;
	.reg .u64 %p;
	.reg .pred %q;
	ld.param.u64 %p, [out];
LOOP:
	atom.global.cas.b32 %x, [%p], 0, 1;
	setp.ne.u32 %q, %x, 0;
	@%q bra LOOP;
	ld.volatile.global.u32 %n, [%p+4];
	add.u32 %n, %n, 1;
	st.volatile.global.u32 [%p+4], %n;
	atom.global.exch.b32 %x, [%p], 0;
	ret;
}
.entry apart(.param .u64 out)
{
	.reg .u32 %t, %x, %i;
	.reg .u64 %p;
	.reg .pred %q;
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	setp.ne.u32 %q, %t, 0;
	@%q bra ELSE;
	add.u32 %x, %t, 1;
	add.u32 %x, %x, %x;
	add.u32 %x, %x, %x;
	add.u32 %x, %x, %x;
	add.u32 %x, %x, %x;
	st.global.u32 [%p+4], %x;
	bra MEET;
ELSE:
	mov.u32 %i, 0;
	setp.eq.u32 %q, %t, 1;
	@%q bra COUNT;
SPIN:
	ld.volatile.global.u32 %x, [%p];
	setp.ne.u32 %q, %x, 7;
	@%q bra SPIN;
	bra MEET;
COUNT:
	ld.volatile.global.u32 %x, [%p];
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 300;
	@%q bra COUNT;
	st.volatile.global.u32 [%p], 7;
MEET:
	ret;
}
.entry other(.param .u64 out, .param .u32 n)
{
	.reg .u32 %n;
	.reg .u64 %p;
	ld.param.u64 %p, [out];
	ld.param.u32 %n, [n];
	st.global.u32 [%p], %n;
	ret;
}
`

// trail is a probe that computes a digest of the events, in their order, and pauses the launch at some of them.
type trail struct {
	at []int // numbers of events to pause at, ascending
	trailed
}

type trailed struct {
	n             int // events
	sum           uint64
	inFlight      int
	most          int // maximum at the same time
	instrs        map[[2]int]int
	longest, ends int
}

func (p *trail) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunchEnd | probe.OnCTA | probe.OnCTAEnd | probe.OnBefore | probe.OnSplit | probe.OnReconverge | probe.OnWait | probe.OnWake | probe.OnTrap, InOrder: true}
}

func (p *trail) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *trail) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnLaunchEnd:
		p.ends++
		return
	case probe.OnCTA:
		p.inFlight++
		p.most = max(p.most, p.inFlight)
	case probe.OnCTAEnd:
		p.inFlight--
	case probe.OnBefore:
		key := [2]int{e.CTA, e.Warp}
		p.instrs[key]++
		p.longest = max(p.longest, p.instrs[key])
	}
	for _, v := range []uint64{uint64(e.Kind), uint64(e.CTA), uint64(e.Warp), uint64(e.Index), e.Lanes, e.Active} {
		p.sum = (p.sum ^ v) * 0x100000001b3
	}
	if p.n++; len(p.at) > 0 && p.n >= p.at[0] {
		p.at = p.at[1:]
		e.Pause()
	}
}

func (p *trail) Save() any {
	s := p.trailed
	s.instrs = map[[2]int]int{}
	for k, n := range p.instrs {
		s.instrs[k] = n
	}
	return s
}

func (p *trail) Restore(state any) {
	p.trailed = state.(trailed)
	p.trailed = p.Save().(trailed)
}

// TestSavedWhileCTAsWait: a launch whose CTAs wait for each other continues identically from every saved state, even if
// another launch has run in between.
func TestSavedWhileCTAsWait(t *testing.T) {
	part.SkipShort(t)
	seed := part.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []struct {
		kernel      string
		grid, block int
		together    bool
		inFlight    int // minimum
		long        int // minimum number of instructions that a warp executes
	}{
		{"wait_last", 40, 1, false, 33, 2 * 2048},
		{"count", 3, 40, false, 3, 2 * 2048},
		{"meet", 5, 1, true, 5, 1024},
		{"within", 1, 8, false, 1, 16},
	} {
		for _, policy := range interp.Policies() {
			if c.kernel == "wait_last" && strings.HasPrefix(policy.Name(), "its") {
				continue // the remaining time slices make states recur late: same result, after millions of events
			}
			for _, mode := range interp.Modes() {
				name := mode.String()
				if r.IntN(part.Count(4, 2, 1)) > 0 {
					continue
				}
				what := fmt.Sprintf("%s under %s, %s", c.kernel, policy.Name(), name)
				mod, b := linker(t, interp.Config{}, turnsKernels, 512)
				p := &trail{trailed: trailed{instrs: map[[2]int]int{}}}
				l := &interp.Launch{
					Kernel: c.kernel, Grid: ptx.Dim(c.grid), Block: ptx.Dim(c.block), Cooperative: c.together,
					Args: []any{b}, Mode: mode, Reconverge: policy, Probes: []probe.Probe{p}, MaxSteps: 1 << 18,
				}
				e, err := mod.Start(l)
				if err != nil {
					t.Fatal(err)
				}
				begin, err := e.Save()
				if err != nil {
					t.Fatal(err)
				}
				trap := finish(t, e)
				// Under a policy that does not promise that lanes of a warp can wait for each other, both outcomes are valid.
				if trap != nil && (c.kernel != "within" || policy.Properties().LanesMayWait || !errors.Is(trap, probe.ErrDeadlock)) {
					t.Errorf("%s: %v", what, trap)
				}
				memory, want := slices.Clone(b.Bytes()), p.Save().(trailed)
				if want.most < c.inFlight || want.longest < c.long {
					t.Errorf("%s: %d CTAs in flight, a warp executes %d instructions at most: %+v", what, want.most, want.longest, c)
				}
				same := func(from string, ends int, err error) {
					t.Helper()
					if fmt.Sprint(err) != fmt.Sprint(trap) || !bytes.Equal(memory, b.Bytes()) || p.sum != want.sum || p.n != want.n {
						t.Errorf("%s, %s: %v after %d events, want %v after %d; the memory is the same: %v", what, from, err, p.n, trap, want.n, bytes.Equal(memory, b.Bytes()))
					}
					if p.ends != ends {
						t.Errorf("%s, %s: the end is told %d times, want %d", what, from, p.ends, ends)
					}
				}
				if err := e.Restore(begin); err != nil {
					t.Fatal(err)
				}
				for range 4 {
					p.at = append(p.at, 1+r.IntN(want.n))
				}
				slices.Sort(p.at)
				var states []*interp.State
				for ended := false; !ended; {
					if ended, err = e.Continue(t.Context()); ended {
						break
					}
					s, err := e.Save()
					if err != nil {
						t.Fatal(err)
					}
					states = append(states, s)
				}
				same("with pauses", 1, err)
				for i, s := range states {
					if i == 1 {
						if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "other", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b, i}}); err != nil {
							t.Fatal(err)
						}
					}
					if i == 2 {
						between, err := mod.Start(&interp.Launch{Kernel: "other", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b, i}})
						if err != nil {
							t.Fatal(err)
						}
						if _, refused := errors.AsType[*interp.LaunchError](e.Restore(s)); !refused {
							t.Errorf("%s: it is restored while another launch is under way", what)
						}
						between.Close()
					}
					if err := e.Restore(s); err != nil {
						t.Fatal(err)
					}
					same(fmt.Sprintf("from state %d", i), 1, finish(t, e))
				}
			}
		}
	}
}

// stealKernel lets CTAs take over the work of CTAs that have not begun. The request is the last instruction of a time slice,
// in the middle of a block.
const stealKernel = `.version 8.6
.target sm_100
.address_size 64
.entry steal(.param .u64 out)
{
	.shared .align 16 .b8 answer[16];
	.shared .align 8 .u64 bar;
	.reg .u32 %x, %y, %z, %phase;
	.reg .u64 %o, %p;
	.reg .b128 %h;
	.reg .pred %done, %more;
	ld.param.u64 %o, [out];
	mov.u32 %x, %ctaid.x;
	mbarrier.init.shared::cta.b64 [bar], 1;
	mov.u32 %phase, 0;
WORK:
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
	clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];
	mad.wide.u32 %p, %x, 4, %o;
	add.u32 %y, %x, 100;
	red.global.add.u32 [%p], %y;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], %phase;
	@!%done bra WAIT;
	xor.b32 %phase, %phase, 1;
	ld.shared.b128 %h, [answer];
	fence.proxy.async.shared::cta;
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %more, %h;
	@%more clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, _}, %h;
	@%more bra WORK;
	ret;
}
`

// TestPausesKeepTimeSlices: a pause before any instruction of warp splits or CTAs that take turns does not change their
// time slices.
func TestPausesKeepTimeSlices(t *testing.T) {
	part.SkipShort(t)
	for _, c := range []struct {
		src, kernel string
		grid, block int
	}{{turnsKernels, "apart", 1, 16}, {stealKernel, "steal", 140, 1}} {
		for _, policy := range interp.Policies() {
			mod, b := linker(t, interp.Config{}, c.src, 1024)
			run := func(at ...int) trailed {
				clear(b.Bytes())
				p := &trail{at: at, trailed: trailed{instrs: map[[2]int]int{}}}
				e, err := mod.Start(&interp.Launch{
					Kernel: c.kernel, Grid: ptx.Dim(c.grid), Block: ptx.Dim(c.block), Args: []any{b}, Mode: interp.Vector,
					Reconverge: policy, Probes: []probe.Probe{p}, MaxSteps: 1 << 11,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				pauses := 0
				for ended := false; !ended; pauses++ {
					if ended, _ = e.Continue(t.Context()); pauses > len(at) {
						t.Fatalf("%s: paused at event %v, it pauses again and again", policy.Name(), at)
					}
				}
				return p.trailed
			}
			want := run()
			for at := 1; at <= want.n; at += 1 + want.n/400 {
				if got := run(at); got.sum != want.sum || got.n != want.n {
					t.Fatalf("%s: paused at event %d of %d it goes on otherwise", policy.Name(), at, want.n)
				}
			}
		}
	}
}

// TestScheduleSeed: a seed chooses a schedule of a launch's warps, the same with any number of workers
// and in every mode, and schedules differ.
func TestScheduleSeed(t *testing.T) {
	memories := map[string]bool{}
	for seed := range uint64(6) {
		var first []byte
		for workers := 1; workers <= 3; workers += 2 {
			for _, mode := range interp.Modes() {
				name := mode.String()
				mod, b := linker(t, interp.Config{Workers: workers}, turnsKernels, 2048)
				if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "count", Grid: ptx.Dim(3), Block: ptx.Dim(100), Args: []any{b}, Mode: mode, Seed: seed}); err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = slices.Clone(b.Bytes())
				} else if !bytes.Equal(first, b.Bytes()) {
					t.Errorf("seed %d, %s, %d workers: another memory than at first", seed, name, workers)
				}
			}
		}
		memories[string(first)] = true
	}
	if len(memories) < 3 {
		t.Errorf("six seeds give %d schedules", len(memories))
	}
}
