package debug

// This file compares the destinations of going back with the complete record of a probe, and measures the time.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// TestHitsForwardAndBack goes forward and back between breakpoints and a watch, some of which are disabled at times,
// and by steps: each time to the next or previous hit in a probe's complete record.
func TestHitsForwardAndBack(t *testing.T) {
	random := rand.New(rand.NewPCG(part.Seed(t), 2))
	s, _, seen, _ := begin(t, interp.Vector, 2, Options{})
	s.pace.fixedSteps = 50
	var breaks []*Breakpoint
	for _, place := range []string{"opcode:mad", "twice", "opcode:mov"} {
		b, err := s.Break(place, "")
		if err != nil {
			t.Fatal(err)
		}
		breaks = append(breaks, b)
	}
	s.focus = Focus{} // there is one as it begins
	if _, err := s.Watch("total", WatchChanges); err != nil {
		t.Fatal(err)
	}
	end := int64(len(seen))
	stopsAt := func(stepAt int64) bool {
		return slices.ContainsFunc(breaks, func(b *Breakpoint) bool { return !b.Disabled && b.places[seen[stepAt].index] })
	}
	writes := func(stepAt int64) bool {
		instr, _ := s.info.Program.At(seen[stepAt].index)
		return instr.Text == "atom.global.add.u32"
	}
	unseen := false // breakpoints at the current place
	for range 300 {
		now := s.Step()
		if now == end {
			unseen = false
		}
		var got *Stop
		var err error
		what, want, reason := "", now, AtEnd
		switch random.IntN(5) {
		case 0, 1:
			if now == end {
				continue
			}
			what, got, err = func() (string, *Stop, error) { stop, err := s.Continue(t.Context()); return "continue", stop, err }()
			for ; want < end; want++ {
				if stopsAt(want) && (want > now || unseen) {
					reason = AtBreakpoint
					break
				}
				if writes(want) {
					want, reason = want+1, AtWatch
					break
				}
			}
			unseen = reason == AtWatch
		case 2, 3:
			what, got, err = func() (string, *Stop, error) {
				stop, err := s.BackContinue(t.Context())
				return "reverse-continue", stop, err
			}()
			for want--; want >= 0 && !stopsAt(want) && !writes(want); want-- {
			}
			switch {
			case want < 0:
				want, reason = 0, AtBegin
			case stopsAt(want):
				reason = AtBreakpoint
			default:
				reason = AtWatch
			}
			unseen = false
		case 4:
			b := breaks[random.IntN(len(breaks))]
			b.Disabled = !b.Disabled
			continue
		}
		if err != nil || got.Reason != reason || s.Step() != want {
			t.Fatalf("%s from %d: %v at %d, want %v at %d; %v", what, now, got.Reason, s.Step(), reason, want, err)
		}
	}
}

// TestBackToHitsOfOneCTA goes back from hit to hit of breakpoints that are set only at the end. Their conditions can be
// excluded by the CTA alone. The hits are the same as on the way forward. The same holds for a watch of shared memory.
func TestBackToHitsOfOneCTA(t *testing.T) {
	part.SkipShort(t)
	for _, cluster := range []ptx.Dim3{ptx.Dim(1), {X: 1, Y: 5, Z: 1}} {
		src := strings.NewReplacer("sm_80", "sm_90", "8.0", "8.6", "mov.u32 %t, %tid.x;", "mov.u32 %t, %tid.x;\nst.shared.u32 [box], %t;\nld.volatile.global.u32 %c, [%p];").Replace(longKernel)
		mod, err := interp.NewDevice(interp.Config{}).Load("long.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		b, err := mod.Device().Alloc(4)
		if err != nil {
			t.Fatal(err)
		}
		l := &interp.Launch{Grid: ptx.Dim3{X: 8, Y: 10, Z: 1}, Block: ptx.Dim(64), Cluster: cluster, Args: []any{b, 6}}
		for _, cond := range []string{
			"", "ctaid.x == 1 && ctaid.y == 4", "cta == 9 || cta == 79", "ctaid.x == 7 && i > 4", "i > 4 && ctaid.y == 1", "1 / (cta - 20) > 1 && i == 3", "cluster_ctarank == 1 && !(ctaid.x < 4)", "tid.x == 1 && cta == 3", "c == 99 && cta == 3",
		} {
			s, err := Start(t.Context(), mod, l, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.pace.fixedSteps = 300
			set := func() {
				if cond != "" {
					spec := "LOOP"
					if cond[0] == 'c' && cond[1] == ' ' { // a register of the kernel alone, which is dead there: it stops
						spec = "opcode:bar"
					}
					_, err = s.Break(spec, cond)
				} else {
					s.watches = append(s.watches, &Watch{Access: WatchChanges, location: Location{Space: ptx.Shared, CTA: 13, Type: ptx.U32}})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			set()
			var forward, back []int64
			for {
				stop, err := s.Continue(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if stop.Reason == AtEnd {
					break
				}
				forward = append(forward, s.Step())
			}
			s.breakpoints, s.watches = nil, nil
			set()
			for {
				stop, err := s.BackContinue(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if stop.Reason == AtBegin {
					break
				}
				stepAt := s.Step()
				if cond == "" {
					stepAt++ // after the instruction that changed it
				}
				back = append(back, stepAt)
			}
			none := cluster.Y == 1 && strings.HasPrefix(cond, "cluster")
			if slices.Reverse(back); (len(forward) == 0) != none || !slices.Equal(forward, back) {
				t.Errorf("clusters of %v, %q: forwards it stops at %d, backwards at %d", cluster, cond, forward, back)
			}
			if cond == "" {
				flights(t, s)
			}
			s.Close()
		}
	}
}

// flights checks that every CTA that executes an instruction between two checkpoints is reported as in flight there.
func flights(t *testing.T, s *Session) {
	t.Helper()
	var who []int // by step: the thread
	if err := s.searchSpan(t.Context(), 0, 0, neverStep, &search{onEvent: func(e *probe.Event) bool {
		if e.Kind == probe.OnBefore && e.Step == int64(len(who)) {
			who = append(who, e.CTA)
		}
		return false
	}}); err != nil {
		t.Fatal(err)
	}
	least := s.info.Grid.Count()
	for i := range s.checkpoints {
		in := map[int]bool{}
		s.mayInclude(i, func(cta int) bool {
			in[cta] = true
			return false
		})
		least = min(least, len(in))
		end := len(who)
		if i+1 < len(s.checkpoints) {
			end = int(s.checkpoints[i+1].step)
		}
		for step := s.checkpoints[i].step; step < int64(end); step++ {
			if !in[who[step]] {
				t.Fatalf("clusters of %v: CTA %d executes instruction %d, and is not in flight between checkpoints %d and %d", s.info.Cluster, who[step], step, i, i+1)
			}
		}
	}
	if least == s.info.Grid.Count() {
		t.Errorf("all %d CTAs are in flight all the time", least)
	}
}

// TestBackOverCalls goes back over calls, and compares with a probe's record of the thread.
func TestBackOverCalls(t *testing.T) {
	s, _, seen, _ := begin(t, interp.Vector, 1, Options{})
	s.pace.fixedSteps = 9
	f := Focus{CTA: 1, Warp: 1, Lane: 1}
	type tread struct {
		step  int64
		line  int32
		depth int
	}
	var trail []tread
	for stepAt := range int64(len(seen)) {
		if m := seen[stepAt]; m.cta == f.CTA && m.warp == f.Warp && m.active>>f.Lane&1 != 0 {
			instr, _ := s.info.Program.At(m.index)
			trail = append(trail, tread{stepAt, instr.Pos.Line, m.depth})
		}
	}
	if _, err := s.run(t.Context(), nil, neverStep); err != nil {
		t.Fatal(err)
	}
	for i := len(trail) - 1; i >= 0; i-- {
		now := trail[i]
		want, line := int64(0), int64(0)
		var before []tread
		for _, p := range trail[:i] {
			if p.depth > now.depth {
				continue
			}
			if want = p.step; len(before) == 0 || before[len(before)-1].line != p.line || before[len(before)-1].depth != p.depth {
				line = p.step
			}
			before = append(before, p)
		}
		for _, command := range []struct {
			do   func() (*Stop, error)
			want int64
		}{
			{func() (*Stop, error) { return s.BackInstr(t.Context(), true) }, want},
			{func() (*Stop, error) { return s.BackLine(t.Context(), true) }, line},
		} {
			if err := s.seekStep(t.Context(), now.step); err != nil {
				t.Fatal(err)
			}
			s.focus = f
			if _, err := command.do(); err != nil || s.Step() != command.want {
				t.Fatalf("back from %+v: %d, want %d; %v", now, s.Step(), command.want, err)
			}
		}
	}
}

// longKernel takes long to go back in: threads that wait while other threads loop, long calls, and loops on one source line.
const longKernel = `.version 8.0
.target sm_80
.address_size 64
.func work(.reg .u32 %n)
{
	.reg .u32 %i;
	.reg .pred %q;
	.loc 1 1 1
	mov.u32 %i, 0;
	.loc 1 2 1
LOOP:
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, %n;
	@%q bra LOOP;
	.loc 1 3 1
	ret;
}
.visible .entry k(.param .u64 out, .param .u32 rounds)
{
	.reg .u32 %t, %n, %i, %c;
	.reg .u64 %p;
	.reg .pred %q;
	.shared .u32 box[64];
	.loc 1 10 1
	ld.param.u64 %p, [out];
	.loc 1 11 1
	ld.param.u32 %n, [rounds];
	.loc 1 12 1
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	.loc 1 13 1
	setp.ge.u32 %q, %t, 32;
	@%q bra WAIT;
	.loc 1 14 1
	st.global.u32 [%p], %n;
	.loc 1 15 1
	mov.u32 %i, 0;
	.loc 1 16 1
LOOP:
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, %n;
	@%q bra LOOP;
	.loc 1 17 1
	call work, (%n);
	.loc 1 18 1
WAIT:
	bar.sync 0;
	.loc 1 19 1
	add.u32 %t, %t, 1;
	.loc 1 20 1
	ret;
}
.file 1 "long.cu"
`

// long starts a session on the kernel.
func long(tb testing.TB, ctas, rounds int) *Session {
	tb.Helper()
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("long.ptx", []byte(longKernel))
	if err != nil {
		tb.Fatal(err)
	}
	b, err := dev.Alloc(4)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := Start(tb.Context(), mod, &interp.Launch{Grid: ptx.Dim(ctas), Block: ptx.Dim(64), Args: []any{b, rounds}}, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// backCommands go back from the last line but one of the kernel, in the last CTA; each has the line of long.cu where it
// must end.
var backCommands = []struct {
	name   string
	thread int // of the CTA
	before []string
	do     string
	target int32
}{
	{"reverse-stepi of a thread that has waited", 40, nil, "reverse-stepi", 18},
	{"reverse-step of a thread that has waited", 40, []string{"reverse-stepi"}, "reverse-step", 13},
	{"reverse-next over a call", 3, []string{"reverse-stepi"}, "reverse-next", 17},
	{"reverse-step in a loop on a line", 3, []string{"reverse-stepi", "reverse-stepi"}, "reverse-step", 2},
	{"reverse-continue to a breakpoint at the begin", 3, nil, "reverse-continue", 12},
	{"reverse-continue to a change at the begin", 3, []string{"disable 2"}, "reverse-continue", 14},
	{"reverse-continue to the begin", 3, []string{"delete"}, "reverse-continue", 10},
	{"reverse-continue to a breakpoint that is set only now", 3, []string{"tbreak long.cu:12 if ctaid.x == 0"}, "reverse-continue", 12},
	{"reverse-continue to a breakpoint that is set only now, where all come by", 3, []string{"tbreak LOOP"}, "reverse-continue", 2},
	{"reverse-continue to a change that is looked for only now", 3, []string{"watch out[0].u32"}, "reverse-continue", 14},
}

// runBackCommands runs a launch forward, executes all backCommands from its end, and returns the time of the run and of each
// command, by name.
func runBackCommands(tb testing.TB, ctas, rounds int) (forward time.Duration, back map[string]time.Duration) {
	s := long(tb, ctas, rounds)
	var out strings.Builder
	c := NewConsole(s, &out)
	do := func(text string) {
		tb.Helper()
		out.Reset()
		if err := c.Do(tb.Context(), text); err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
	}
	do(fmt.Sprintf("tbreak long.cu:19 if ctaid.x == %d", ctas-1))
	do("break long.cu:12 if ctaid.x == 0")
	do("watch out[0].u32")
	begun := time.Now()
	for range 4 { // two warps pass the breakpoint, and one of them changes the watched memory
		do("continue")
	}
	forward, back = time.Since(begun), map[string]time.Duration{}
	currentLine := func() int32 {
		c, err := s.Context()
		if err != nil {
			tb.Fatal(err)
		}
		return lineOf(c.Func, c.Instr).line
	}
	if currentLine() != 19 {
		tb.Fatalf("the console is at\n%s", out.String())
	}
	here := s.Step()
	for _, w := range backCommands {
		if err := s.seekStep(tb.Context(), here); err != nil {
			tb.Fatal(err)
		}
		s.refocus()
		do(fmt.Sprintf("cuda block %d thread %d", ctas-1, w.thread))
		for _, text := range w.before {
			do(text)
		}
		begun := time.Now()
		do(w.do)
		back[w.name] = time.Since(begun)
		if currentLine() != w.target {
			tb.Errorf("%s: the console is at line %d\n%s, want %d", w.name, currentLine(), out.String(), w.target)
		}
	}
	return forward, back
}

// TestEveryCommandGoesBack: each command of going back ends at the right place, with as many checkpoints as a long
// launch has.
func TestEveryCommandGoesBack(t *testing.T) { runBackCommands(t, 3, 20_000) }

// BenchmarkBack measures going back in launches of at least ten seconds: with a single CTA, and with many.
func BenchmarkBack(b *testing.B) {
	for _, size := range []struct{ ctas, rounds int }{{1, 3_000_000}, {2000, 1_500}} {
		b.Run(fmt.Sprintf("%d CTAs", size.ctas), func(b *testing.B) {
			for b.Loop() {
				forward, back := runBackCommands(b, size.ctas, size.rounds)
				b.ReportMetric(forward.Seconds(), "s-forward")
				for _, w := range backCommands {
					b.Logf("%6.3f s of %.1f s: %s", back[w.name].Seconds(), forward.Seconds(), w.name)
					b.ReportMetric(max(back[w.name].Seconds(), 0), "s-"+strings.ReplaceAll(w.name, " ", "-"))
				}
			}
		})
	}
}

// BenchmarkCondition measures the time of a launch with a breakpoint on a line that is executed all the time and whose
// condition never holds, relative to the time without the breakpoint: s/base.
func BenchmarkCondition(b *testing.B) {
	timeOf := func(cond string) time.Duration {
		s := long(b, 1, 100_000)
		if cond != "" {
			if _, err := s.Break("LOOP", cond); err != nil {
				b.Fatal(err)
			}
		}
		begun := time.Now()
		if stop, err := s.Continue(b.Context()); err != nil || stop.Reason != AtEnd {
			b.Fatal(stop, err)
		}
		return time.Since(begun)
	}
	base := timeOf("")
	for _, cond := range []string{"i == 0xffffffff", "tid.x + 1 == 0 && i > 3", "any(i == 0xffffffff)", "out[0].u32 == 1"} {
		b.Run(cond, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(timeOf(cond).Seconds()/base.Seconds(), "s/base")
			}
		})
	}
}
