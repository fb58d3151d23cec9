package debug

// This file implements the session: its runs and stops.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"gemu/internal/input"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// Options configure a session. The zero value is ready to use.
type Options struct {
	// Budget limits the host memory of checkpoints in bytes, without the checkpoint of the launch's begin; 0
	// means DefaultBudget. Beyond the limit, checkpoints are thinned out, old checkpoints more than recent
	// checkpoints.
	Budget uint64

	// Output, if set, is the device's output: see NewOutput.
	Output *Output

	// SourceDirs are directories with sources of the PTX, in addition to the directory of the PTX itself.
	// Sources elsewhere are not read.
	SourceDirs []string

	// NoCheckpoints, if not empty, is the reason why the session cannot go back: another probe cannot.
	NoCheckpoints string
}

// DefaultBudget is 256 MiB.
const DefaultBudget = 256 << 20

// Session is a launch under the debugger. Only Interrupt is safe for concurrent use; a session's other methods
// must not be called concurrently with each other.
type Session struct {
	options Options
	sources *input.Sources // nil until first use
	exec    *interp.Execution
	info    *probe.LaunchInfo
	probe   *watcher

	breakpoints []*Breakpoint
	watches     []*Watch
	lastNumber  int // last number of a breakpoint or watch

	checkpoints          []checkpoint // by step
	first                uint64       // size of the first checkpoint in bytes
	spans                []span       // the executed past, by step
	breakpointsUnchecked bool         // breakpoints at the current moment have not been checked
	pace                 checkpointPace
	noCheckpoints        error // reason for no checkpoints; nil: there are checkpoints

	ended    bool  // the launch has ended
	err      error // error of the ended launch; nil: success
	lastStop *Stop // the last stop, if the launch ended by it
	fault    error // error of the latest end of the launch
	focus    Focus

	interrupted atomic.Bool
}

// Focus is the thread on display.
type Focus struct {
	CTA  int // index of the CTA; -1: none
	Warp int // index in the CTA
	Lane int // index in the warp
}

// Reason is the reason of a stop.
type Reason uint8

// The reasons.
const (
	AtStep       Reason = iota // the command is complete
	AtBreakpoint               // Stop.Breakpoints
	AtWatch                    // Stop.WatchHit
	AtTrap                     // before the trapping instruction, or at a deadlock: Stop.Err
	AtEnd                      // the launch has ended: Stop.Err
	AtBegin                    // at the beginning of the launch, after going back
	AtExit                     // the thread in focus has ended
	AtInterrupt                // by Interrupt
)

// String returns the reason's name in the Debug Adapter Protocol, if any.
func (r Reason) String() string {
	return [...]string{"step", "breakpoint", "data breakpoint", "exception", "end", "entry", "exit", "pause"}[r]
}

// Stop is the result of a command that runs the launch.
type Stop struct {
	Reason      Reason        // decides which of the other fields are set
	Breakpoints []*Breakpoint // for AtBreakpoint: the breakpoints at the instruction, at least one
	WatchHit    *WatchHit     // for AtWatch: the access to watched memory
	Note        string        // error of a condition that caused the stop
	Err         error         // error that ends the launch; a *probe.Trap for a fault of the guest
}

// Trap returns the trap that ends the launch, or nil.
func (s *Stop) Trap() *probe.Trap {
	t, _ := errors.AsType[*probe.Trap](s.Err)
	return t
}

// ErrNoLaunch is returned by operations that need threads before the beginning and after the end of a launch.
var ErrNoLaunch = errors.New("there is no thread: the launch has not begun, or has ended")

// ErrEnded is returned by attempts to go on after the end of a launch.
var ErrEnded = errors.New("the launch has ended: reverse commands go back, run starts it again")

// Start starts a launch and stops before its first instruction. The errors are the same as Module.Start's.
func Start(ctx context.Context, m *interp.Module, l *interp.Launch, o Options) (*Session, error) {
	s := New(o)
	s.Prepare(l)
	e, err := m.Start(l)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx, e); err != nil {
		e.Close()
		return nil, err
	}
	return s, nil
}

// New returns a session for an execution that starts elsewhere. The launch must be prepared with Prepare.
func New(o Options) *Session {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	s := &Session{options: o}
	s.probe = &watcher{s: s}
	return s
}

// Sources returns the source files of the PTX.
func (s *Session) Sources() *input.Sources {
	if s.sources == nil {
		s.sources = input.NewSources(s.info.Module.Name, s.options.SourceDirs...)
	}
	return s.sources
}

// Prepare adds the session's probe to a launch before its start.
func (s *Session) Prepare(l *interp.Launch) { l.Probes = append(l.Probes, s.probe) }

// Begin takes over a newly started execution and stops before its first instruction. The error is the
// context's.
func (s *Session) Begin(ctx context.Context, e *interp.Execution) error {
	s.exec, s.info, s.focus, s.sources = e, e.Info(), Focus{CTA: -1}, nil
	s.checkpoints, s.spans, s.ended, s.err, s.lastStop, s.fault, s.noCheckpoints, s.breakpointsUnchecked = nil, nil, false, nil, nil, nil, nil, false
	if o := s.options.Output; o != nil {
		o.offset, o.shown = 0, 0
	}
	if reason := s.options.NoCheckpoints; reason != "" {
		s.noCheckpoints = errors.New("cannot go back: " + reason)
	}
	for _, b := range s.breakpoints { // they may come from another module
		b.bind(s)
		b.notHit = nil
	}
	for _, w := range s.watches {
		w.notHit = nil
	}
	if s.checkpoint(); s.noCheckpoints == nil {
		s.first = e.StateBytes()
	}
	if _, err := s.run(ctx, nil, 0); err != nil {
		return err
	}
	s.refocus()
	return nil
}

// Close abandons the launch, if it has not ended.
func (s *Session) Close() {
	if s.exec != nil {
		s.exec.Close()
	}
}

// Info describes the launch.
func (s *Session) Info() *probe.LaunchInfo { return s.info }

// Execution returns the launch's execution.
func (s *Session) Execution() *interp.Execution { return s.exec }

// Step returns the current moment: the number of instructions that have begun.
func (s *Session) Step() int64 { return s.exec.Steps() }

// Failure returns the error of the latest end of the launch; nil if it succeeded or has not ended.
func (s *Session) Failure() error { return s.fault }

// Ended reports whether the launch has ended, and its error.
func (s *Session) Ended() (bool, error) { return s.ended, s.err }

// Interrupt stops the current or next run. It is safe for concurrent use.
func (s *Session) Interrupt() { s.interrupted.Store(true) }

// Ready discards an Interrupt that came too late. Front ends must call it before a command that can be
// interrupted.
func (s *Session) Ready() { s.interrupted.Store(false) }

// search is the event handler of a run. It receives the events of chosen instructions, and of ends of waits and
// threads.
type search struct {
	chosen  []probe.Events            // events by instruction; nil: all
	onEvent func(e *probe.Event) bool // reports whether to pause
	paused  bool                      // the launch has paused
}

// watcher is the session's probe.
type watcher struct {
	s        *Session
	search   *search
	noEvents []probe.Events // empty event sets, by instruction
}

// Subscription asks for all events that any command needs.
func (p *watcher) Subscription() probe.Subscription {
	return probe.Subscription{
		Events:    probe.OnBefore | probe.OnAccess | probe.OnAfter | probe.OnUndo | probe.OnReconverge | probe.OnExit | probe.OnEffect,
		Addresses: true, InOrder: true,
	}
}

// SelectEvents selects the events of the current search.
func (p *watcher) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	if p.search != nil {
		return p.search.chosen
	}
	return p.ReducedEvents(l)
}

// ReducedEvents selects no events: the search is not about the warps that are reduced.
func (p *watcher) ReducedEvents(l *probe.LaunchInfo) []probe.Events {
	if len(p.noEvents) != l.Program.Len() {
		p.noEvents = make([]probe.Events, l.Program.Len())
	}
	return p.noEvents
}

// CTA returns the watcher itself for every CTA.
func (p *watcher) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// OnEvent passes events to the current search.
func (p *watcher) OnEvent(e *probe.Event) {
	if p.search != nil && e.CTA >= 0 && p.search.onEvent(e) {
		p.search.paused = true
		e.Pause()
	}
	if p.s.interrupted.Load() {
		e.Pause()
	}
}

// Save and Restore keep the position in the output, for launches that step back.
func (p *watcher) Save() any {
	if o := p.s.options.Output; o != nil {
		return o.offset
	}
	return nil
}

func (p *watcher) Restore(state any) {
	if o := p.s.options.Output; o != nil {
		o.offset = state.(int64)
	}
}

// Output is a device's output. When the session goes back and on, it does not repeat text.
type Output struct {
	w             io.Writer
	offset, shown int64 // bytes of the launch's output: the current position, and the part already written
}

// NewOutput returns an Output that writes to w, for interp.Config.Stdout and Options.Output.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write writes the part of p that was not written before.
func (o *Output) Write(p []byte) (int, error) {
	n := len(p)
	again := min(max(o.shown-o.offset, 0), int64(n))
	o.offset += int64(n)
	if o.shown = max(o.shown, o.offset); int(again) == n {
		return n, nil
	}
	_, err := o.w.Write(p[again:])
	return n, err
}

// neverStep is a step after the end of any launch.
const neverStep = math.MaxInt64

// outcome is the end of a run.
type outcome uint8

const (
	reachedStep outcome = iota // before the target step, or paused by the search
	launchEnded                // the launch has ended
	interrupted                // interrupted
)

// run executes forwards, with checkpoints, until the search pauses the launch or until instructions have begun.
// The error is the context's; the launch has ended by it.
func (s *Session) run(ctx context.Context, h *search, until int64) (outcome, error) {
	s.probe.search = h
	defer func() { s.probe.search = nil }()
	for {
		from, begin := s.Step(), time.Now()
		to := until
		if from+s.pace.nextInterval() < until {
			to = from + s.pace.nextInterval()
		}
		ended, err := s.exec.ContinueTo(ctx, to)
		s.addCheckpoint()
		s.pace.noteRun(s.Step()-from, time.Since(begin))
		switch {
		case ctx.Err() != nil:
			s.ended, s.err = ended, err
			return launchEnded, err
		case ended:
			s.ended, s.err = true, err
			return launchEnded, nil
		case h != nil && h.paused: // an interrupt at the same time still finds the launch stopped
			return reachedStep, nil
		case s.interrupted.Swap(false):
			return interrupted, nil
		case s.Step() >= until:
			return reachedStep, nil
		}
		s.checkpoint()
	}
}

// forward executes until the search finds its target, for which found returns the stop, or the launch ends.
func (s *Session) forward(ctx context.Context, h *search, hits *hitFinder, found func() *Stop) (*Stop, error) {
	if s.ended {
		if s.lastStop != nil && s.lastStop.Reason == AtEnd {
			return nil, ErrEnded
		}
		return nil, errors.New("the launch cannot continue: reverse commands go back, run starts it again")
	}
	defer s.interrupted.Store(false) // not before the run: the interrupt may be meant for it
	s.lastStop = nil
	from, skip := s.Step(), int64(0)
	if hits.start == from {
		skip = 1
	}
	outcome, err := s.run(ctx, h, neverStep)
	if err != nil {
		return nil, err
	}
	to := s.Step()
	if hits.hit != nil {
		to = hits.hit.step + 1
	}
	s.noteNotHit(from, to, skip, hits.hit)
	s.breakpointsUnchecked = hits.checkedStep != s.Step()
	switch outcome {
	case interrupted:
		s.refocus()
		return &Stop{Reason: AtInterrupt}, nil
	case launchEnded:
		return s.end(ctx)
	}
	stop := found()
	s.refocus()
	for _, b := range stop.Breakpoints {
		if b.Condition != nil {
			if _, err := s.Evaluate(b.Condition.Text); err != nil {
				stop.Note = fmt.Sprintf("The condition of breakpoint %d cannot be evaluated: %s", b.Number, Explain(err))
			}
		}
	}
	return stop, nil
}

// end returns the stop of an ended launch. After a trap of an instruction it goes back to before that
// instruction.
func (s *Session) end(ctx context.Context) (*Stop, error) {
	stop := &Stop{Reason: AtEnd, Err: s.err}
	s.fault = s.err
	t := stop.Trap()
	if t == nil {
		s.lastStop = stop
		s.refocus()
		return stop, nil
	}
	stop.Reason = AtTrap
	if stepAt := s.faultOf(ctx, t); stepAt >= 0 {
		if err := s.seekStep(ctx, stepAt); err != nil {
			return nil, err
		}
		s.focus = Focus{s.indexOf(t.CTA), t.Warp, lowestLane(t.Lanes)}
	} else {
		for !s.ended { // the search was interrupted before the end
			if _, err := s.run(ctx, nil, neverStep); err != nil {
				return nil, err
			}
		}
		s.lastStop = stop
	}
	s.refocus()
	return stop, nil
}

// faultOf returns the step of the trapped instruction, the last of its warp; -1 if there is none or it cannot
// be found.
func (s *Session) faultOf(ctx context.Context, t *probe.Trap) int64 {
	if t.Warp < 0 || t.Lanes == 0 || errors.Is(t, probe.ErrDeadlock) || errors.Is(t, probe.ErrStepLimit) || errors.Is(t, probe.ErrEndlessLoop) || errors.Is(t, probe.ErrKeptOut) || s.noCheckpoints != nil {
		return -1
	}
	// Lanes that executed together at several places have begun each instruction once in the count, but not in
	// the events.
	f := Focus{s.indexOf(t.CTA), t.Warp, lowestLane(t.Lanes)}
	l, _ := s.latest(f)
	if l.Step < 0 {
		return -1
	}
	now, stepAt := s.Step(), int64(-1)
	for _, begin := range []int64{max(0, l.Step-recentSteps), s.checkpoints[s.before(l.Step)].step} {
		err := s.searchSpan(ctx, s.before(begin), begin, now, &search{onEvent: func(e *probe.Event) bool {
			if e.Kind == probe.OnBefore && e.CTA == f.CTA && e.Warp == f.Warp && e.Step >= 0 && e.Instr.Pos == t.Pos {
				stepAt = e.Step
			}
			return false
		}})
		if err != nil || stepAt >= 0 {
			break
		}
	}
	return stepAt
}

// indexOf returns the linear index of a CTA.
func (s *Session) indexOf(id ptx.Dim3) int { return linear(id, s.info.Grid) }

// anyCTA is for searches without knowledge of the CTAs in flight.
func anyCTA(func(cta int) bool) bool { return true }

func linear(index, extent ptx.Dim3) int { return (index.Z*extent.Y+index.Y)*extent.X + index.X }

// indexAt is the inverse of linear.
func indexAt(i int, extent ptx.Dim3) ptx.Dim3 {
	return ptx.Dim3{X: i % extent.X, Y: i / extent.X % extent.Y, Z: i / extent.X / extent.Y}
}

// Continue runs until a breakpoint or watch is hit, or the launch ends.
func (s *Session) Continue(ctx context.Context) (*Stop, error) {
	after := s.Step()
	if s.breakpointsUnchecked {
		after = -1
	}
	return s.resume(ctx, after)
}

// Run is Continue, but also stops at breakpoints before the next instruction. Use it for a launch that has not
// begun.
func (s *Session) Run(ctx context.Context) (*Stop, error) {
	return s.resume(ctx, -1)
}

func (s *Session) resume(ctx context.Context, after int64) (*Stop, error) {
	hits := s.newHitFinder(after)
	return s.forward(ctx, &search{chosen: s.neededEvents(anyCTA), onEvent: hits.check}, hits, hits.stop)
}

// Restart goes back to before the first instruction.
func (s *Session) Restart(ctx context.Context) error {
	if s.noCheckpoints != nil {
		return s.noCheckpoints
	}
	s.focus = Focus{CTA: -1}
	if err := s.seekStep(ctx, 0); err != nil {
		return err
	}
	s.refocus()
	return nil
}

// walk runs until the thread in focus is before an instruction accepted by done, or a breakpoint is hit.
func (s *Session) walk(ctx context.Context, done func(e *probe.Event) bool) (*Stop, error) {
	f := s.focus
	if _, err := s.Context(); err != nil {
		return nil, err
	}
	start := s.Step()
	hits := s.newHitFinder(start)
	exits, arrived := false, false
	h := &search{onEvent: func(e *probe.Event) bool {
		hit := hits.check(e)
		if e.CTA != f.CTA || e.Warp != f.Warp {
			return hit
		}
		switch {
		case e.Kind == probe.OnExit && e.Lanes>>f.Lane&1 != 0:
			exits = true
			return true
		case e.Active>>f.Lane&1 != 0 && (e.Kind != probe.OnBefore || e.Step > start) && !arrived && done(e):
			arrived = true
			return true
		}
		return hit
	}}
	return s.forward(ctx, h, hits, func() *Stop {
		switch {
		case hits.hit != nil:
			return hits.stop()
		case exits:
			s.focus.Lane = f.Lane
			return &Stop{Reason: AtExit}
		}
		return &Stop{Reason: AtStep}
	})
}

// StepInstr runs to the next instruction of the thread in focus. With over it skips calls.
func (s *Session) StepInstr(ctx context.Context, over bool) (*Stop, error) {
	depth, err := s.depth()
	if err != nil {
		return nil, err
	}
	return s.walk(ctx, func(e *probe.Event) bool {
		return e.Kind == probe.OnBefore && (!over || e.Depth <= depth)
	})
}

// StepLine runs to the next line of the thread in focus: of the source, if it is known, else of the PTX.
func (s *Session) StepLine(ctx context.Context, over bool) (*Stop, error) {
	c, err := s.Context()
	if err != nil {
		return nil, err
	}
	depth, from := len(c.Calls), noLine
	if c.Instr != nil {
		from = lineOf(c.Func, c.Instr)
	}
	return s.walk(ctx, func(e *probe.Event) bool {
		return e.Kind == probe.OnBefore && (!over || e.Depth <= depth) && (e.Depth < depth || lineOf(e.Func, e.Instr) != from)
	})
}

// Finish runs until the thread in focus returns from its function.
func (s *Session) Finish(ctx context.Context) (*Stop, error) {
	depth, err := s.depth()
	if err != nil {
		return nil, err
	}
	if depth == 0 {
		return nil, errors.New("finish: the thread is in the kernel, which has no caller")
	}
	return s.walk(ctx, func(e *probe.Event) bool { return e.Kind == probe.OnBefore && e.Depth < depth })
}

// UntilReconverge runs until the warp split of the thread in focus reconverges.
func (s *Session) UntilReconverge(ctx context.Context) (*Stop, error) {
	c, err := s.Context()
	if err != nil {
		return nil, err
	}
	together := true
	for _, o := range s.Contexts() {
		together = together && (o.CTA != c.CTA || o.Warp != c.Warp || o.Lanes == c.Lanes)
	}
	if together {
		return nil, errors.New("until reconverge: the warp has not diverged")
	}
	depth := len(c.Calls)
	lane := s.focus.Lane
	return s.walk(ctx, func(e *probe.Event) bool {
		return e.Kind == probe.OnReconverge && e.Lanes>>lane&1 != 0 && e.Depth <= depth
	})
}

// Until runs until the thread in focus reaches any of the places in its function.
func (s *Session) Until(ctx context.Context, places map[int]bool) (*Stop, error) {
	if _, err := s.depth(); err != nil {
		return nil, err
	}
	return s.walk(ctx, func(e *probe.Event) bool { return e.Kind == probe.OnBefore && places[e.Index] })
}

// depth returns the call depth of the thread in focus.
func (s *Session) depth() (int, error) {
	c, err := s.Context()
	if err != nil {
		return 0, err
	}
	return len(c.Calls), nil
}

// line is a line of a source file; file 0 is the PTX.
type line struct{ file, line int32 }

var noLine = line{-1, -1}

// lineOf returns the line of an instruction.
func lineOf(f *ptx.Func, instr *ptx.Instr) line {
	if instr.Loc >= 0 {
		l := &f.Locs[instr.Loc]
		return line{l.File + 1, l.Line}
	}
	return line{0, instr.Pos.Line}
}

// moment describes the current moment.
func (s *Session) moment() string {
	if s.ended {
		return fmt.Sprintf("after all %d instructions", s.Step())
	}
	return fmt.Sprintf("after %d instructions", s.Step())
}
