package debug

// This file is the session: how it runs, and where it stops.

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

// Options are those of a session. The zero value is ready to use.
type Options struct {
	// Budget bounds the bytes of the host's memory that checkpoints take beside that of the
	// launch's begin; 0 means DefaultBudget. Where they would take more, they get further apart, the
	// older the more.
	Budget uint64

	// Output, if set, is what the device prints to: see NewOutput.
	Output *Output

	// SourceDirs are directories where sources of the PTX are looked for, besides the directory of the PTX itself. A source
	// that lies elsewhere is not read.
	SourceDirs []string

	// NoCheckpoints, if it is not "", is why there is to be no going back: something else that watches the launch
	// cannot.
	NoCheckpoints string
}

// DefaultBudget is 256 MiB.
const DefaultBudget = 256 << 20

// Session is a launch that is debugged. It is not for use by several goroutines at a time, but for
// Interrupt.
type Session struct {
	options Options
	sources *input.Sources // nil until somebody asks
	exec    *interp.Execution
	info    *probe.LaunchInfo
	probe   *watcher

	breakpoints []*Breakpoint
	watches     []*Watch
	lastNumber  int // of a breakpoint or watch

	checkpoints          []checkpoint // by step
	first                uint64       // bytes that the first takes
	spans                []span       // the past, by step
	breakpointsUnchecked bool         // breakpoints at the moment where it stands were not looked for
	pace                 checkpointPace
	noCheckpoints        error // why there are no checkpoints; nil: there are

	ended    bool  // the launch has
	err      error // by which it has; nil: it came to its end
	lastStop *Stop // the last stop, if the launch had ended by it
	fault    error // by which it ended when it came to an end last
	focus    Focus

	interrupted atomic.Bool
}

// Focus is the thread that is looked at.
type Focus struct {
	CTA  int // index of the CTA; -1: there is none
	Warp int // within the CTA
	Lane int // within the warp
}

// Reason is why a session stops.
type Reason uint8

// The reasons.
const (
	AtStep       Reason = iota // it has done what it was told to
	AtBreakpoint               // Stop.Breakpoints
	AtWatch                    // Stop.Change
	AtTrap                     // before the instruction that traps, or where nothing gets on any more: Stop.Err
	AtEnd                      // the launch has ended: Stop.Err
	AtBegin                    // going back, it has come to the launch's begin
	AtExit                     // the thread in focus has ended
	AtInterrupt                // by Interrupt
)

// String is the reason as the Debug Adapter Protocol names it, where it does.
func (r Reason) String() string {
	return [...]string{"step", "breakpoint", "data breakpoint", "exception", "end", "entry", "exit", "pause"}[r]
}

// Stop is where a session has stopped, and why.
type Stop struct {
	Reason      Reason
	Breakpoints []*Breakpoint
	Change      *Change
	Note        string // what is wrong with a condition, which has stopped it
	Err         error  // of a launch that ends by it; a *probe.Trap where the guest is to blame
}

// Trap is the trap that the launch ends by; nil if there is none.
func (s *Stop) Trap() *probe.Trap {
	t, _ := errors.AsType[*probe.Trap](s.Err)
	return t
}

// ErrNoLaunch is the error of what needs lanes, where there are none: before the begin of a launch, and
// after its end.
var ErrNoLaunch = errors.New("no thread is there: the launch has not begun, or has ended")

// ErrEnded is the error of going on behind the end of a launch.
var ErrEnded = errors.New("the launch has ended: reverse commands go back, run begins it again")

// Start begins a launch and stops before its first instruction. The error is that of Module.Start.
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

// New makes a session for an execution that is begun elsewhere, of a launch that it has prepared.
func New(o Options) *Session {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	s := &Session{options: o}
	s.probe = &watcher{s: s}
	return s
}

// Sources are the files that the PTX was compiled from.
func (s *Session) Sources() *input.Sources {
	if s.sources == nil {
		s.sources = input.NewSources(s.info.Module.Name, s.options.SourceDirs...)
	}
	return s.sources
}

// Prepare has the session watch a launch that is to be started.
func (s *Session) Prepare(l *interp.Launch) { l.Probes = append(l.Probes, s.probe) }

// Begin takes an execution over that has just been started, and stops before its first instruction.
// The error is that of the context.
func (s *Session) Begin(ctx context.Context, e *interp.Execution) error {
	s.exec, s.info, s.focus, s.sources = e, e.Info(), Focus{CTA: -1}, nil
	s.checkpoints, s.spans, s.ended, s.err, s.lastStop, s.fault, s.noCheckpoints, s.breakpointsUnchecked = nil, nil, false, nil, nil, nil, nil, false
	if o := s.options.Output; o != nil {
		o.offset, o.shown = 0, 0
	}
	if reason := s.options.NoCheckpoints; reason != "" {
		s.noCheckpoints = errors.New("there is no going back: " + reason)
	}
	for _, b := range s.breakpoints { // they may be of another module
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

// Close gives the launch up, if it has not ended.
func (s *Session) Close() {
	if s.exec != nil {
		s.exec.Close()
	}
}

// Info describes the launch.
func (s *Session) Info() *probe.LaunchInfo { return s.info }

// Execution is the launch.
func (s *Session) Execution() *interp.Execution { return s.exec }

// Step is the moment at which the session is: how many instructions have begun.
func (s *Session) Step() int64 { return s.exec.Steps() }

// Failure is the error that the launch ended by when it came to an end last; nil if it did well, or
// never came to one.
func (s *Session) Failure() error { return s.fault }

// Ended reports whether the launch has ended, and by what error.
func (s *Session) Ended() (bool, error) { return s.ended, s.err }

// Interrupt stops a session that runs, or is about to, from any goroutine.
func (s *Session) Interrupt() { s.interrupted.Store(true) }

// Ready forgets an Interrupt that has come too late for what it was meant to stop: front ends call it before
// they have the session do something that may be interrupted.
func (s *Session) Ready() { s.interrupted.Store(false) }

// search is what a session looks for as it runs. It is told events of instructions that it has
// chosen, and of all that ends waits and threads.
type search struct {
	chosen  []probe.Events            // what it is told of instructions; nil: all
	onEvent func(e *probe.Event) bool // whether to pause
	paused  bool                      // it has paused
}

// watcher is how the session hears of what happens.
type watcher struct {
	s        *Session
	search   *search
	noEvents []probe.Events // of no instruction anything
}

// Subscription is what some command of a session wants to be told.
func (p *watcher) Subscription() probe.Subscription {
	return probe.Subscription{
		Events:    probe.OnBefore | probe.OnAccess | probe.OnAfter | probe.OnUndo | probe.OnReconverge | probe.OnExit | probe.OnEffect,
		Addresses: true, InOrder: true,
	}
}

// SelectEvents is the instructions that the session looks for just now.
func (p *watcher) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	if p.search != nil {
		return p.search.chosen
	}
	return p.ReducedEvents(l)
}

// ReducedEvents is none, of warps that a hunt has seen are not those that it is about.
func (p *watcher) ReducedEvents(l *probe.LaunchInfo) []probe.Events {
	if len(p.noEvents) != l.Program.Len() {
		p.noEvents = make([]probe.Events, l.Program.Len())
	}
	return p.noEvents
}

// CTA says that the session watches all of them.
func (p *watcher) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// OnEvent tells the hunt under way.
func (p *watcher) OnEvent(e *probe.Event) {
	if p.search != nil && e.CTA >= 0 && p.search.onEvent(e) {
		p.search.paused = true
		e.Pause()
	}
	if p.s.interrupted.Load() {
		e.Pause()
	}
}

// Save and Restore have what the launch has printed go back with it.
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

// Output is a device's output, in which nothing is repeated that is printed again when a session
// goes back and on.
type Output struct {
	w             io.Writer
	offset, shown int64 // bytes of the launch: where it is, and what was written
}

// NewOutput makes one that writes to w, for interp.Config.Stdout and Options.Output.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write writes what was not written before.
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

// neverStep is behind the last instruction of any launch.
const neverStep = math.MaxInt64

// outcome is how a run ended.
type outcome uint8

const (
	reachedStep outcome = iota // before the instruction that it was to come to, or the hunt has paused it
	launchEnded                // the launch has ended
	interrupted                // interrupted
)

// run goes forwards, and takes checkpoints, until the hunt pauses the launch, or so many
// instructions have begun. The error is that of the context: the launch has ended by it.
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
		case h != nil && h.paused: // whoever interrupts it at the same time sees that it has stopped
			return reachedStep, nil
		case s.interrupted.Swap(false):
			return interrupted, nil
		case s.Step() >= until:
			return reachedStep, nil
		}
		s.checkpoint()
	}
}

// forward goes on until the hunt finds something, which stop says, or the launch ends.
func (s *Session) forward(ctx context.Context, h *search, hits *hitFinder, found func() *Stop) (*Stop, error) {
	if s.ended {
		if s.lastStop != nil && s.lastStop.Reason == AtEnd {
			return nil, ErrEnded
		}
		return nil, errors.New("nothing gets on any more: reverse commands go back, run begins the launch again")
	}
	defer s.interrupted.Store(false) // not before: it may be meant for this
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
				stop.Note = fmt.Sprintf("The condition of breakpoint %d cannot be told: %s", b.Number, Explain(err))
			}
		}
	}
	return stop, nil
}

// end is the stop of a launch that has ended. One that ended by a trap of an instruction goes back
// to before that, where all is what it was.
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
		for !s.ended { // it was looked for where it is, and somebody has interrupted that
			if _, err := s.run(ctx, nil, neverStep); err != nil {
				return nil, err
			}
		}
		s.lastStop = stop
	}
	s.refocus()
	return stop, nil
}

// faultOf is the step of the instruction that trapped, which was the last of its warp; -1 if it was none, or cannot be found.
func (s *Session) faultOf(ctx context.Context, t *probe.Trap) int64 {
	if t.Warp < 0 || t.Lanes == 0 || errors.Is(t, probe.ErrDeadlock) || errors.Is(t, probe.ErrStepLimit) || errors.Is(t, probe.ErrEndlessLoop) || errors.Is(t, probe.ErrKeptOut) || s.noCheckpoints != nil {
		return -1
	}
	// Instructions that were executed together have all begun, as it is counted; told one by one they have not.
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

// indexOf is the linear index of a CTA.
func (s *Session) indexOf(id ptx.Dim3) int { return linear(id, s.info.Grid) }

// anyCTA is for where any CTA may be in flight.
func anyCTA(func(cta int) bool) bool { return true }

func linear(index, extent ptx.Dim3) int { return (index.Z*extent.Y+index.Y)*extent.X + index.X }

// indexAt is the place in an extent with a linear index.
func indexAt(i int, extent ptx.Dim3) ptx.Dim3 {
	return ptx.Dim3{X: i % extent.X, Y: i / extent.X % extent.Y, Z: i / extent.X / extent.Y}
}

// Continue goes on until a breakpoint or watch is hit, or the launch ends.
func (s *Session) Continue(ctx context.Context) (*Stop, error) {
	after := s.Step()
	if s.breakpointsUnchecked {
		after = -1
	}
	return s.resume(ctx, after)
}

// Run is Continue that stops at breakpoints before the next instruction, too: of a launch that has not
// begun nobody has seen it.
func (s *Session) Run(ctx context.Context) (*Stop, error) {
	return s.resume(ctx, -1)
}

func (s *Session) resume(ctx context.Context, after int64) (*Stop, error) {
	hits := s.newHits(after)
	return s.forward(ctx, &search{chosen: s.chosenInstrs(anyCTA), onEvent: hits.check}, hits, hits.stop)
}

// Restart goes back to before the first instruction, whatever the launch has done.
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

// walk is a step of the thread in focus: it goes on until that is before an instruction which done
// accepts. It stops at breakpoints, too.
func (s *Session) walk(ctx context.Context, done func(e *probe.Event) bool) (*Stop, error) {
	f := s.focus
	if _, err := s.Context(); err != nil {
		return nil, err
	}
	start := s.Step()
	hits := s.newHits(start)
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

// StepInstr goes to the next instruction of the thread in focus; over has it go over calls.
func (s *Session) StepInstr(ctx context.Context, over bool) (*Stop, error) {
	depth, err := s.depth()
	if err != nil {
		return nil, err
	}
	return s.walk(ctx, func(e *probe.Event) bool {
		return e.Kind == probe.OnBefore && (!over || e.Depth <= depth)
	})
}

// StepLine goes to the next line of the thread in focus: of the source that the PTX was made of if
// that is known, else of the PTX.
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

// Finish goes on until the thread in focus is back from the function that it is in.
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

// UntilReconverge goes on until the lanes that the thread in focus runs with meet others.
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

// Until goes on to a place of the function, in the thread in focus.
func (s *Session) Until(ctx context.Context, places map[int]bool) (*Stop, error) {
	if _, err := s.depth(); err != nil {
		return nil, err
	}
	return s.walk(ctx, func(e *probe.Event) bool { return e.Kind == probe.OnBefore && places[e.Index] })
}

// depth is how many calls the thread in focus is in.
func (s *Session) depth() (int, error) {
	c, err := s.Context()
	if err != nil {
		return 0, err
	}
	return len(c.Calls), nil
}

// line is a line of a source: of the PTX if file is 0.
type line struct{ file, line int32 }

var noLine = line{-1, -1}

// lineOf is the line of an instruction of a function.
func lineOf(f *ptx.Func, instr *ptx.Instr) line {
	if instr.Loc >= 0 {
		l := &f.Locs[instr.Loc]
		return line{l.File + 1, l.Line}
	}
	return line{0, instr.Pos.Line}
}

// moment says in words where the session is in the launch.
func (s *Session) moment() string {
	if s.ended {
		return fmt.Sprintf("after all %d instructions", s.Step())
	}
	return fmt.Sprintf("after %d instructions", s.Step())
}
