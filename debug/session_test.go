package debug

// This file checks that moments are exact: a session that goes to a moment, from anywhere, finds the state that a probe with all
// events recorded.

import (
	"bytes"
	"context"
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

// mixedKernel diverges in loops, calls, reconverges at barriers, votes with lanes at other places, and prints.
const mixedKernel = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.global .u32 total;
.func (.reg .u32 %r) twice(.reg .u32 %a)
{
	add.u32 %r, %a, %a;
	ret;
}
.visible .entry k(.param .u64 out, .param .u32 loops)
{
	.reg .u32 %t, %i, %n, %x, %rounds, %old;
	.reg .u64 %p, %f;
	.reg .pred %q;
	.shared .u32 box[64];
	mov.u32 %t, %tid.x;
	mov.u32 %x, 0;
	ld.param.u32 %rounds, [loops];
	and.b32 %n, %t, 3;
	mad.lo.u32 %n, %n, %rounds, 1;
	mov.u32 %i, 0;
LOOP:
	setp.ge.u32 %q, %i, %n;
	@%q bra DONE;
	mad.lo.u32 %x, %x, 3, %i;
	add.u32 %i, %i, 1;
	bra LOOP;
DONE:
	call (%x), twice, (%x);
	mov.u32 %i, box;
	mad.lo.u32 %i, %t, 4, %i;
	st.shared.u32 [%i], %x;
	bar.sync 0;
	xor.b32 %i, %i, 4;
	ld.shared.u32 %n, [%i];
	add.u32 %x, %x, %n;
	and.b32 %n, %t, 5;
	setp.eq.u32 %q, %n, 4;
	@%q bra OTHER;
	add.u32 %n, %n, 1;
	vote.sync.ballot.b32 %n, %q, 0xffffffff;
	add.u32 %x, %x, %n;
	bra TOGETHER;
OTHER:
	vote.sync.ballot.b32 %n, %q, 0xffffffff;
	sub.u32 %x, %x, %n;
TOGETHER:
	setp.ne.u32 %q, %t, 33;
	@%q bra QUIET;
	cvta.global.u64 %f, text;
	{
		.param .b64 f;
		.param .b64 a;
		.param .b32 r;
		st.param.b64 [f], %f;
		st.param.b64 [a], %f;
		call (r), vprintf, (f, a);
	}
QUIET:
	atom.global.add.u32 %old, [total], 1;
	mov.u32 %n, %ctaid.x;
	mad.lo.u32 %n, %n, 64, %t;
	ld.param.u64 %p, [out];
	mad.wide.u32 %p, %n, 4, %p;
	st.global.u32 [%p], %x;
	ret;
}
`

// moment is the record of a probe at a step.
type moment struct {
	cta, warp, index, depth int
	active                  uint64
}

// recorder records all moments.
type recorder struct{ list map[int64]moment }

func (r *recorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore, InOrder: true}
}

func (r *recorder) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *recorder) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnBefore && e.Step >= 0 { // an event repeated after a restore counts again
		r.list[e.Step] = moment{e.CTA, e.Warp, e.Index, e.Depth, e.Active}
	}
}

// begin starts a session on the kernel, and returns its output, the recorded moments and its buffer. The launch has run to its
// end before, under a recorder.
func begin(t *testing.T, mode interp.Mode, rounds int, o Options) (*Session, *bytes.Buffer, map[int64]moment, *interp.Buffer) {
	t.Helper()
	var out bytes.Buffer
	o.Output = NewOutput(&out)
	dev := interp.NewDevice(interp.Config{Stdout: o.Output})
	mod, err := dev.Load("mixed.ptx", []byte(mixedKernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(4 * 4 * 64)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{map[int64]moment{}}
	l := interp.Launch{Grid: ptx.Dim(4), Block: ptx.Dim(64), Args: []any{b, rounds}, Mode: mode}
	seen := l
	seen.Probes = []probe.Probe{r}
	if _, err := mod.Run(t.Context(), &seen); err != nil {
		t.Fatal(err)
	}
	mod.Reset()
	clear(b.Bytes())
	out.Reset()
	o.Output.offset, o.Output.shown = 0, 0
	s, err := Start(t.Context(), mod, &l, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, &out, r.list, b
}

// TestStopsMatchTheLaunch: wherever a session goes, forward or back, it stops before the next instruction at that
// moment, and continues as the launch does.
func TestStopsMatchTheLaunch(t *testing.T) {
	random := rand.New(rand.NewPCG(part.Seed(t), 1))
	for _, mode := range interp.Modes() {
		name := mode.String()
		s, out, seen, b := begin(t, mode, 3, Options{})
		s.pace.fixedSteps = 20
		stop, err := s.Continue(t.Context())
		if err != nil || stop.Reason != AtEnd || stop.Err != nil {
			t.Fatalf("%s: %+v, %v", name, stop, err)
		}
		if got, want := s.Step(), int64(len(seen)); got != want {
			t.Fatalf("%s: %d instructions have begun, a probe has seen %d", name, got, want)
		}
		end := bytes.Clone(b.Bytes())
		for range 40 {
			stepAt := random.Int64N(int64(len(seen)))
			if err := s.seekStep(t.Context(), stepAt); err != nil {
				t.Fatal(err)
			}
			if s.Step() != stepAt {
				t.Fatalf("%s: at %d, want %d", name, s.Step(), stepAt)
			}
			want := seen[stepAt]
			if !slices.ContainsFunc(s.Contexts(), func(c Context) bool {
				return c.Running && moment{c.CTA, c.Warp, c.Index, len(c.Calls), c.Lanes} == want
			}) {
				t.Fatalf("%s: at %d nobody stands where %+v does", name, stepAt, want)
			}
		}
		if stop, err := s.Continue(t.Context()); err != nil || stop.Reason != AtEnd || !bytes.Equal(end, b.Bytes()) {
			t.Errorf("%s: it ends otherwise: %+v, %v", name, stop, err)
		}
		if got := out.String(); got != strings.Repeat("hi\n", 4) {
			t.Errorf("%s: it has printed %q", name, got)
		}
	}
}

// TestFollowOneThread follows a thread forward to its end and back to its beginning: both ways it passes the
// instructions that a probe has recorded.
func TestFollowOneThread(t *testing.T) {
	s, _, seen, _ := begin(t, interp.Vector, 1, Options{})
	s.pace.fixedSteps = 7
	f := Focus{CTA: 0, Warp: 1, Lane: 3}
	var want, begins []int64 // of lines
	last := -1
	for stepAt := range int64(len(seen)) {
		if m := seen[stepAt]; m.cta == f.CTA && m.warp == f.Warp && m.active>>f.Lane&1 != 0 {
			want = append(want, stepAt)
			instr, _ := s.info.Program.At(m.index)
			if line := int(instr.Pos.Line); line != last {
				begins = append(begins, stepAt)
				last = line
			}
		}
	}
	if err := s.SetFocus(f); err != nil {
		t.Fatal(err)
	}
	var forth []int64
	for {
		stop, err := s.StepInstr(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason != AtStep {
			if stop.Reason != AtExit {
				t.Errorf("it stops by %v", stop.Reason)
			}
			break
		}
		forth = append(forth, s.Step())
	}
	if !slices.Equal(forth, want) {
		t.Errorf("forwards it comes by %v, want %v", forth, want)
	}
	backwards := func(what string, back func(ctx context.Context, over bool) (*Stop, error), want []int64) {
		t.Helper()
		if err := s.seekStep(t.Context(), want[len(want)-1]); err != nil {
			t.Fatal(err)
		}
		s.focus = f
		var got []int64
		for {
			stop, err := back(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			if stop.Reason == AtBegin {
				break
			}
			got = append(got, s.Step())
		}
		slices.Reverse(got)
		if want = want[:len(want)-1]; !slices.Equal(got, want) {
			t.Errorf("backwards it comes by the %s of %v, want %v", what, got, want)
		}
	}
	backwards("instructions", s.BackInstr, want)
	backwards("lines", s.BackLine, begins)
}

// TestCheckpointsWithinBudget: within a small budget, checkpoints get further apart with their age, and still lead to
// the recorded states.
func TestCheckpointsWithinBudget(t *testing.T) {
	s, _, seen, _ := begin(t, interp.Vector, 2_000, Options{Budget: 1 << 17})
	s.pace.fixedSteps = minPace
	for {
		outcome, err := s.run(t.Context(), nil, s.Step()+minPace)
		if err != nil {
			t.Fatal(err)
		}
		if outcome == launchEnded {
			break
		}
		s.checkpoint()
		if kept := s.exec.StateBytes() - s.firstBytes; kept > 1<<17 && len(s.checkpoints) > 2 {
			t.Fatalf("%d checkpoints take %d bytes", len(s.checkpoints), kept)
		}
	}
	if n := int64(len(seen)) / minPace; int64(len(s.checkpoints)) >= n || len(s.checkpoints) < 4 {
		t.Fatalf("%d checkpoints, %d were made", len(s.checkpoints), n)
	}
	if s.checkpoints[0].step != 0 {
		t.Error("the begin is gone")
	}
	last := s.checkpoints[len(s.checkpoints)-1].step
	early, late := s.checkpoints[1].step, last-s.checkpoints[len(s.checkpoints)-2].step
	if early < late {
		t.Errorf("the gap at the begin is %d, that at the end %d", early, late)
	}
	for _, stepAt := range []int64{last - 3, last / 2, 7} {
		if err := s.seekStep(t.Context(), stepAt); err != nil {
			t.Fatal(err)
		}
		want := seen[stepAt]
		if !slices.ContainsFunc(s.Contexts(), func(c Context) bool {
			return c.Running && moment{c.CTA, c.Warp, c.Index, len(c.Calls), c.Lanes} == want
		}) {
			t.Errorf("at step %d no running context is at %+v", stepAt, want)
		}
	}
}

// TestBackRepeatsFewInstructions: going back by an instruction from the end of a launch repeats the instructions of at most two
// distances of checkpoints, and going back to its beginning repeats none, however long the launch was.
func TestBackRepeatsFewInstructions(t *testing.T) {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("mixed.ptx", []byte(mixedKernel))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(4 * 4 * 64)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), mod, &interp.Launch{Grid: ptx.Dim(4), Block: ptx.Dim(64), Args: []any{b, 2_000}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.pace.fixedSteps = minPace
	if _, err := s.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps, before := s.Step(), s.pace.executed
	if steps < 20*minPace || before != steps {
		t.Fatalf("the launch has %d instructions, and %d were executed", steps, before)
	}
	if _, err := s.BackInstr(t.Context(), false); err != nil || s.Step() != steps-1 {
		t.Fatalf("one instruction back from %d is %d: %v", steps, s.Step(), err)
	}
	if repeated := s.pace.executed - before; repeated > 2*minPace {
		t.Errorf("going back by an instruction repeats %d instructions; checkpoints have a distance of %d", repeated, minPace)
	}
	before = s.pace.executed
	if err := s.Restart(t.Context()); err != nil || s.Step() != 0 {
		t.Fatalf("Restart goes to step %d: %v", s.Step(), err)
	}
	if repeated := s.pace.executed - before; repeated != 0 {
		t.Errorf("going back to the beginning repeats %d instructions", repeated)
	}
}

// TestStopBeforeTrap: a launch that traps stops before the trapping instruction, with the registers unchanged, and can
// go back.
func TestStopBeforeTrap(t *testing.T) {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("trap.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %t;
	.reg .u64 %p;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [out];
	mad.wide.u32 %p, %t, 4, %p;
	st.global.u32 [%p], %t;
	ret;
}
`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(4 * 20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), mod, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 { // a trap again if it goes on
		stop, err := s.Continue(t.Context())
		if err != nil || stop.Reason != AtTrap || !errors.Is(stop.Err, probe.ErrOutOfBounds) {
			t.Fatalf("%+v, %v", stop, err)
		}
		c, err := s.Context()
		if err != nil {
			t.Fatal(err)
		}
		if c.Instr.Pos.Line != 11 || s.Focus() != (Focus{0, 0, 20}) {
			t.Errorf("it stands at line %d, thread %+v", c.Instr.Pos.Line, s.Focus())
		}
		if got, err := s.Evaluate("t"); err != nil || got != "20" {
			t.Errorf("the thread has %q, %v", got, err)
		}
		if v := interp.Slice[uint32](b)[3]; v != 0 {
			t.Errorf("lane 3 has stored %d", v)
		}
	}
	if stop, err := s.BackInstr(t.Context(), false); err != nil || stop.Reason != AtStep || s.Step() != 2 {
		t.Errorf("back: %+v, %v", stop, err)
	}
}

// TestInspectDeadlock: in a deadlock, the waiting lanes can be inspected.
func TestInspectDeadlock(t *testing.T) {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("dead.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .u32 %t;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %q, %t, 32;
	@%q bra HERE;
	bar.sync 1;
	ret;
HERE:
	bar.sync 0;
	ret;
}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), mod, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(64)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stop, err := s.Continue(t.Context())
	if err != nil || stop.Reason != AtTrap || !errors.Is(stop.Err, probe.ErrDeadlock) {
		t.Fatalf("%+v, %v", stop, err)
	}
	got, err := s.BlockedReason()
	want := "lane 0 of warp 0 of CTA (0,0,0) waits at line 14 at barrier 0 of its CTA; not yet there:\n   warp 1 lanes 0-31: wait at line 11 at barrier 1"
	if err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if stop, err := s.BackInstr(t.Context(), false); err != nil || stop.Reason != AtStep {
		t.Errorf("back: %+v, %v", stop, err)
	}
}

// TestConditionExpressions evaluates expressions in a thread of the kernel, whose registers are known.
func TestConditionExpressions(t *testing.T) {
	s, _, _, b := begin(t, interp.Vector, 2, Options{})
	if _, err := s.Break("DONE", "%t == 5 && cta == 1"); err != nil {
		t.Fatal(err)
	}
	if stop, err := s.Continue(t.Context()); err != nil || stop.Reason != AtBreakpoint {
		t.Fatal(stop, err)
	}
	if f := s.Focus(); f != (Focus{1, 0, 5}) {
		t.Fatalf("the focus is on %+v", f)
	}
	for text, want := range map[string]string{
		// Lane 5 makes 1 + 2·1 iterations: x is ((0·3 + 0)·3 + 1)·3 + 2.
		"x": "5", "x[lane]": "5", "%x + 1 == 6": "1", "x[0]": "0", "x-6": "-1", "-x": "-5", "~x & 0xf": "10",
		"%tid.x": "5", "tid.x": "5", "%ctaid.x": "1", "ctaid.y": "0", "laneid": "5", "warpid": "0", "%ntid.x": "64", "nctaid.x": "4", "nwarpid": "2",
		"any(t == 9)": "1", "any(t == 40)": "0", "all(t < 32)": "1", "all(t == 5)": "0", "!(t == 5) || 1 > 2": "0",
		"2 + 3 * 4": "14", "2 * 3 + 4": "10", "(2 + 3) * 4": "20", "20 - 8 - 2": "10", "1 << 2 + 1": "8", "7 & 3 == 3": "1", "17 % 5": "2", "7 / 2": "3",
		"1.5 * 2": "3", "x < 5.5": "1", "-1 < x": "1", "0xffffffffffffffff > -1": "1", "x.f32 == 0": "0", "loops": "2",
		// All threads of CTA 0 have ended: thread 0 has added to twice 0 thread 1's value, twice ((0·3 + 0)·3 + 1)·3 + 2,
		// and the vote of the lanes 4, 6, 12, 14 ….
		"total": "64", "out[0].u32 - 0x50505050": "10", "box[3]": "0",
	} {
		if got, err := s.Evaluate(text); err != nil || got != want {
			t.Errorf("%s is %s, want %s; %v", text, got, want, err)
		}
	}
	// The values of all lanes at once equal the values lane by lane.
	for _, text := range []string{"x == 5", "t < 9", "lane < 3 || tid.x == 7", "any(t == 9) && t > 4", "x[3] == x", "t[lane] == 6", "1", "any(any(t == 40))", "cta == 1", "out[lane].u32 > 20", "[out + 4*t].u32 == 1 / (t - 5)", "box[t] == 0"} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		sc := s.focusScope()
		p, err := c.programFor(sc)
		if err != nil {
			t.Fatal(err)
		}
		want := uint64(0)
		for lane := range 32 {
			sc.prepare(p)
			if v, err := p.eval(sc, lane); sc.mask>>lane&1 != 0 && (err != nil || v.isTrue()) {
				want |= 1 << lane
			}
		}
		if got := c.lanes(sc); got != want {
			t.Errorf("%s holds in lanes %#x, want %#x", text, got, want)
		}
	}
	if got, err := s.Evaluate("out"); err != nil || got != fmt.Sprint(b.Addr()) {
		t.Errorf("out is %s, %v", got, err)
	}
	for text, want := range map[string]string{
		"x[32]": "1: 32: want a lane from 0 to 31", "x[1.5]": "1: 1.5: want a lane from 0 to 31", "nothing": "1: function k has no register nothing, and there is no parameter or variable of that name",
		"1 / 0": "3: division by zero", "1.5 % 2": "5: % is for integers", "x +": "4: a term is missing", "(x": "3: a term is missing", "x y": `3: unexpected "y"`,
		"[x]": "1: the type of the memory is missing, as in [%rd1].u32", "[16].u32": "1: there is no memory at address 0x10", "text": "1: text has 4 bytes: choose an element, as in text[0]",
		"box[64]": "1: box has 64 elements", "out[3]": "1: the element type of parameter out is missing, as in out[0].f32", "some(x)": "1: unknown function some(…): want any(…) or all(…)",
		strings.Repeat("(", 1<<22): "1: the condition has 4194304 bytes; at most 4096 are allowed",
		"99999999999999999999":     "1: 99999999999999999999 does not fit in 64 bits", "": "1: a term is missing", "x $": `3: unexpected "$"`, "old": "1: register %old is not live here",
	} {
		_, err := s.Evaluate(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestInterruptedCommand: an interrupt stops the command in progress or the next one; an interrupt that comes too late
// has no effect.
func TestInterruptedCommand(t *testing.T) {
	s, _, _, _ := begin(t, interp.Vector, 1, Options{})
	for _, late := range []bool{false, true} {
		want := AtInterrupt
		if s.Interrupt(); late {
			s.Ready()
			want = AtEnd
		}
		if stop, err := s.Continue(t.Context()); err != nil || stop.Reason != want {
			t.Errorf("it stops by %+v, want %v; %v", stop, want, err)
		}
	}
}

// TestBreakpointPlaces: specifications of breakpoints and their places.
func TestBreakpointPlaces(t *testing.T) {
	s, _, _, _ := begin(t, interp.Vector, 1, Options{})
	for place, want := range map[string]string{
		"27": "[27]", "mixed.ptx:27": "[27]", "24": "[25]", "LOOP": "[25]", "k": "[18]", "twice": "[9]", "opcode:call": "[31 59]", "opcode:st.shared": "[34]", "*0": "[18]",
		"nowhere": `there is no function or label "nowhere" in kernel k or the functions that it calls`, "999": "kernel k has no instruction at or after line 999 of mixed.ptx",
		"other.cu:3": "kernel k has no instruction from file other.cu", "opcode:sin": "kernel k has no instruction sin", "*999": "*999: want the number of an instruction, below 43",
	} {
		b, err := s.Break(place, "")
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(b.Lines(s))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
}
