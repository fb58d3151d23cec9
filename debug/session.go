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
	// Budget limits the host memory of checkpoints, in bytes; 0 means DefaultBudget. The checkpoint before the first
	// instruction does not count. Beyond the limit, checkpoints are dropped, more of old than of recent checkpoints.
	Budget uint64

	// Output, if not nil, is the device's output: see NewOutput.
	Output *Output

	// SourceDirs are directories with sources of the PTX, in addition to the directory of the PTX itself.
	// Sources elsewhere are not read.
	SourceDirs []string

	// NoCheckpoints, if not empty, is the reason why the session cannot go back. The caller must set it if another probe
	// of the launch cannot go back.
	NoCheckpoints string

	// Strip, if not nil, writes the steps of a warp so far as a strip of lanes over time, in lines of at most width columns; 0 is
	// the width of the output. It reports whether the warp has a strip.
	Strip func(to io.Writer, cta, warp, width int) bool
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
	firstBytes           uint64       // size of the first checkpoint in bytes
	spans                []span       // the executed past, by step
	breakpointsUnchecked bool         // breakpoints at the current moment have not been checked
	pace                 checkpointPace
	noCheckpoints        error // reason for no checkpoints; nil: there are checkpoints

	ended    bool  // the launch has ended
	err      error // error of the ended launch; nil: success
	lastStop *Stop // the stop at the end of the launch; nil if the launch has not ended
	fault    error // error of the latest end of the launch; going back keeps it
	focus    Focus

	interrupted atomic.Bool
}

// Focus is the thread that the commands are about.
type Focus struct {
	CTA  int // index of the CTA; -1: none
	Warp int // index in the CTA
	Lane int // index in the warp
}

// Reason is the reason for a stop.
type Reason uint8

// The reasons for a stop.
const (
	AtStep       Reason = iota // the command is complete
	AtBreakpoint               // a breakpoint was hit: Stop.Breakpoints
	AtWatch                    // watched memory was accessed: Stop.WatchHit
	AtTrap                     // before the trapping instruction, or at a deadlock: Stop.Err
	AtEnd                      // the launch has ended: Stop.Err
	AtBegin                    // at the beginning of the launch, after going back
	AtExit                     // the thread in focus has ended
	AtInterrupt                // Session.Interrupt was called
)

// String returns the reason's name in the Debug Adapter Protocol, or a word of gemu's ("end", "exit") if it has none.
func (r Reason) String() string {
	return [...]string{"step", "breakpoint", "data breakpoint", "exception", "end", "entry", "exit", "pause"}[r]
}

// Stop is the result of a command that runs the launch.
type Stop struct {
	Reason      Reason        // decides which of the other fields are set
	Breakpoints []*Breakpoint // for AtBreakpoint: the breakpoints at the instruction, at least one
	WatchHit    *WatchHit     // for AtWatch: the access to watched memory
	Note        string        // for AtBreakpoint: message that a condition cannot be evaluated; empty: none
	Err         error         // error that ends the launch; a *probe.Trap for a fault of the guest

	focus Focus // for AtEnd: the thread in focus before the end
}

// Trap returns the trap that ends the launch, or nil.
func (s *Stop) Trap() *probe.Trap {
	t, _ := errors.AsType[*probe.Trap](s.Err)
	return t
}

// ErrNoLaunch is returned by operations that need threads before the beginning and after the end of a launch.
var ErrNoLaunch = errors.New("there is no thread: the launch has not begun, or has ended")

// ErrEnded is returned by commands that run forwards after the end of a launch.
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

// New returns a session for an execution that the caller starts. The caller must call Prepare before the start, and
// Begin after it.
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
		s.firstBytes = e.StateBytes()
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

// Ready discards an Interrupt that arrived after the end of the previous command. Front ends must call it before a command
// that can be interrupted.
func (s *Session) Ready() { s.interrupted.Store(false) }

// search is the event handler of a run. It receives the events of chosen instructions, reconvergences, asynchronous effects
// and exits of threads.
type search struct {
	chosen  []probe.Events            // events by index of the instruction; nil: all
	onEvent func(e *probe.Event) bool // reports whether to pause the launch
	paused  bool                      // the launch has paused
}

// watcher is the session's probe.
type watcher struct {
	s        *Session
	search   *search        // of the current run; nil: none
	noEvents []probe.Events // empty event sets, by index of the instruction
}

// Subscription returns all events that any command needs.
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

// ReducedEvents selects no events: a search reduces warps in which it finds nothing.
func (p *watcher) ReducedEvents(l *probe.LaunchInfo) []probe.Events {
	if len(p.noEvents) != l.Program.Len() {
		p.noEvents = make([]probe.Events, l.Program.Len())
	}
	return p.noEvents
}

// CTA returns the watcher itself for every CTA.
func (p *watcher) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// OnEvent passes an event to the current search, and pauses the launch if the search or an interrupt requires it.
func (p *watcher) OnEvent(e *probe.Event) {
	if p.search != nil && e.CTA >= 0 && p.search.onEvent(e) {
		p.search.paused = true
		e.Pause()
	}
	if p.s.interrupted.Load() {
		e.Pause()
	}
}

// Save returns the position in the output; nil without an Output.
func (p *watcher) Save() any {
	if o := p.s.options.Output; o != nil {
		return o.offset
	}
	return nil
}

// Restore sets the position in the output that Save returned.
func (p *watcher) Restore(state any) {
	if o := p.s.options.Output; o != nil {
		o.offset = state.(int64)
	}
}

// Output is a device's output. Text that a launch writes again, after the session has gone back, is not repeated.
type Output struct {
	w             io.Writer
	offset, shown int64 // bytes of the launch's output: up to the current moment, and already written to w
}

// NewOutput returns an Output that writes to w, for interp.Config.Stdout and Options.Output.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write writes the part of p that has not been written yet.
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

// neverStep is a moment (Session.Step) after the end of any launch.
const neverStep = math.MaxInt64

// outcome is the end of a run.
type outcome uint8

const (
	reachedStep outcome = iota // at the target moment, or paused by the search
	launchEnded                // the launch has ended
	interrupted                // stopped by Session.Interrupt
)

// run executes forwards and saves checkpoints, until the search pauses the launch or moment until is reached. An error
// is the context's, which has ended the launch.
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
		s.addSpan()
		s.pace.noteRun(s.Step()-from, time.Since(begin))
		switch {
		case ctx.Err() != nil:
			s.ended, s.err = ended, err
			return launchEnded, err
		case ended:
			s.ended, s.err = true, err
			return launchEnded, nil
		case h != nil && h.paused: // also if an interrupt came at the same time: the launch has stopped anyway
			return reachedStep, nil
		case s.interrupted.Swap(false):
			return interrupted, nil
		case s.Step() >= until:
			return reachedStep, nil
		}
		s.checkpoint()
	}
}

// forward executes until the search pauses the launch, or until the launch ends. found returns the stop of a paused
// launch. hits is the hitFinder of the search.
func (s *Session) forward(ctx context.Context, h *search, hits *hitFinder, found func() *Stop) (*Stop, error) {
	if s.ended {
		if s.lastStop != nil && s.lastStop.Reason == AtEnd {
			return nil, ErrEnded
		}
		return nil, errors.New("the launch cannot continue: reverse commands go back, run starts it again")
	}
	defer s.interrupted.Store(false) // not before the run: an earlier interrupt may be for this run
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

// end returns the stop of an ended launch. If an instruction has trapped, end goes back to the moment before that
// instruction.
func (s *Session) end(ctx context.Context) (*Stop, error) {
	stop := &Stop{Reason: AtEnd, Err: s.err, focus: s.focus}
	s.fault = s.err
	t := stop.Trap()
	if t == nil {
		s.lastStop = stop
		s.refocus()
		return stop, nil
	}
	stop.Reason = AtTrap
	if stepAt := s.trapStep(ctx, t); stepAt >= 0 {
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

// trapStep returns the moment before the trapped instruction, the last instruction of its warp; -1 if there is none or
// it cannot be found.
func (s *Session) trapStep(ctx context.Context, t *probe.Trap) int64 {
	if t.Warp < 0 || t.Lanes == 0 || errors.Is(t, probe.ErrDeadlock) || errors.Is(t, probe.ErrStepLimit) || errors.Is(t, probe.ErrEndlessLoop) || errors.Is(t, probe.ErrKeptOut) || s.noCheckpoints != nil {
		return -1
	}
	// Session.Step counts an instruction once if lanes execute it together at several places; the events do not.
	f := Focus{s.indexOf(t.CTA), t.Warp, lowestLane(t.Lanes)}
	l, _ := s.latest(f)
	if l.Step < 0 {
		return -1
	}
	now, stepAt := s.Step(), int64(-1)
	for _, begin := range []int64{max(0, l.Step-recentSteps), s.checkpoints[s.checkpointBefore(l.Step)].step} {
		err := s.searchSpan(ctx, s.checkpointBefore(begin), begin, now, &search{onEvent: func(e *probe.Event) bool {
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

// anyCTA is the argument of neededEvents for searches in which any CTA may run.
func anyCTA(func(cta int) bool) bool { return true }

// linear returns the linear index of a CTA in a grid of an extent: x varies fastest.
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
	return s.runToHit(ctx, after)
}

// Run is Continue, but also stops at a breakpoint at the current moment. Use it for a launch that has not begun.
func (s *Session) Run(ctx context.Context) (*Stop, error) {
	return s.runToHit(ctx, -1)
}

func (s *Session) runToHit(ctx context.Context, after int64) (*Stop, error) {
	hits := s.newHitFinder(after)
	return s.forward(ctx, &search{chosen: s.neededEvents(anyCTA), onEvent: hits.check}, hits, hits.stop)
}

// Restart goes back to the moment before the first instruction.
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

// walk runs until done holds for an event of the thread in focus, a breakpoint or watch is hit, or the thread exits.
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

// StepInstr runs to the next instruction of the thread in focus. If over is set, called functions run without a stop.
func (s *Session) StepInstr(ctx context.Context, over bool) (*Stop, error) {
	depth, err := s.depth()
	if err != nil {
		return nil, err
	}
	return s.walk(ctx, func(e *probe.Event) bool {
		return e.Kind == probe.OnBefore && (!over || e.Depth <= depth)
	})
}

// StepLine runs to the next line of the thread in focus: of the source if it is known, else of the PTX. If over is set,
// called functions run without a stop.
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

// ErrNotDiverged is the error of UntilReconverge in a warp whose lanes are together.
var ErrNotDiverged = errors.New("the warp has not diverged")

// UntilReconverge runs until the warp split of the thread in focus reconverges. It returns ErrNotDiverged if the lanes of the
// warp are together.
func (s *Session) UntilReconverge(ctx context.Context) (*Stop, error) {
	c, err := s.Context()
	if err != nil {
		return nil, err
	}
	together := true
	for _, other := range s.Contexts() {
		together = together && (other.CTA != c.CTA || other.Warp != c.Warp || other.Lanes == c.Lanes)
	}
	if together {
		return nil, ErrNotDiverged
	}
	depth := len(c.Calls)
	lane := s.focus.Lane
	return s.walk(ctx, func(e *probe.Event) bool {
		return e.Kind == probe.OnReconverge && e.Lanes>>lane&1 != 0 && e.Depth <= depth
	})
}

// Until runs until the thread in focus is before any instruction in places, a set of indices of instructions.
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

// line is a line of a file: file 0 is the PTX, file i+1 is the source file with number i (ptx.Module.FileName).
type line struct{ file, line int32 }

var noLine = line{-1, -1}

// lineOf returns the source line of an instruction, or its line of the PTX if the source is unknown.
func lineOf(f *ptx.Func, instr *ptx.Instr) line {
	if instr.Loc >= 0 {
		l := &f.Locs[instr.Loc]
		return line{l.File + 1, l.Line}
	}
	return line{0, instr.Pos.Line}
}

// moment describes the current moment in words.
func (s *Session) moment() string {
	if s.ended {
		return fmt.Sprintf("after all %d instructions", s.Step())
	}
	return fmt.Sprintf("after %d instructions", s.Step())
}
