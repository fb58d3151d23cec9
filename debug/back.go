package debug

// This file implements going back in time: checkpoints, and searches of the past between checkpoints.

import (
	"context"
	"errors"
	"slices"
	"time"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// checkpoint is the state of the launch at a moment.
type checkpoint struct {
	step  int64 // the moment, as Session.Step
	state *interp.State
}

// Running from a checkpoint to the next takes interval, or longer if saving would otherwise exceed a share of
// 1/saveShare of the whole time. It takes at most maxReplay, because going back may run for this time twice.
const (
	interval  = 100 * time.Millisecond
	maxReplay = 300 * time.Millisecond
	saveShare = 10
	minPace   = 1 << 12 // the least number of instructions from a checkpoint to the next
)

// checkpointPace determines the distance of checkpoints.
type checkpointPace struct {
	rate       float64       // instructions per second in recent runs
	saving     time.Duration // duration of the latest save
	fixedSteps int64         // fixed distance in instructions, for tests; 0: the distance is computed
	executed   int64         // instructions of all runs, repeated instructions included
}

// noteRun updates the rate after a run of some instructions.
func (p *checkpointPace) noteRun(steps int64, elapsed time.Duration) {
	p.executed += steps
	if steps < minPace/4 || elapsed <= 0 {
		return
	}
	rate := float64(steps) / elapsed.Seconds()
	if p.rate == 0 {
		p.rate = rate
	}
	p.rate = (p.rate + rate) / 2
}

// nextInterval returns the number of instructions to the next checkpoint.
func (p *checkpointPace) nextInterval() int64 {
	if p.fixedSteps > 0 {
		return p.fixedSteps
	}
	return max(minPace, int64(p.rate*min(max(interval, saveShare*p.saving), maxReplay).Seconds()))
}

// checkpoint saves the launch at the current moment, unless there is a checkpoint less than half an interval away.
func (s *Session) checkpoint() {
	if s.noCheckpoints != nil {
		return
	}
	now := s.Step()
	i, _ := slices.BinarySearchFunc(s.checkpoints, now, func(c checkpoint, step int64) int { return compare(c.step, step) })
	interval := s.pace.nextInterval() / 2
	if i > 0 && now-s.checkpoints[i-1].step < interval || i < len(s.checkpoints) && s.checkpoints[i].step-now < interval {
		return
	}
	begin := time.Now()
	state, err := s.exec.Save()
	if err != nil {
		s.noCheckpoints = errors.New("cannot go back: " + err.Error())
		return
	}
	s.pace.saving = time.Since(begin)
	s.checkpoints = slices.Insert(s.checkpoints, i, checkpoint{now, state})
	s.thinCheckpoints()
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// thinCheckpoints drops checkpoints until the remaining checkpoints fit into the budget. It drops the checkpoint whose
// neighbours are closest to each other relative to its age. The first and the last checkpoint stay.
func (s *Session) thinCheckpoints() {
	for len(s.checkpoints) > 2 && s.exec.StateBytes() > s.firstBytes+s.options.Budget {
		last := s.checkpoints[len(s.checkpoints)-1].step
		worst, least := 0, 0.0
		for i := 1; i < len(s.checkpoints)-1; i++ {
			gap := float64(s.checkpoints[i+1].step-s.checkpoints[i-1].step) / float64(last-s.checkpoints[i].step+1)
			if worst == 0 || gap < least {
				worst, least = i, gap
			}
		}
		s.exec.Release(s.checkpoints[worst].state)
		s.checkpoints = slices.Delete(s.checkpoints, worst, worst+1)
	}
}

// checkpointBefore returns the index of the last checkpoint at or before a moment.
func (s *Session) checkpointBefore(step int64) int {
	i, found := slices.BinarySearchFunc(s.checkpoints, step, func(c checkpoint, step int64) int { return compare(c.step, step) })
	if found {
		return i
	}
	return i - 1
}

// restore sets the launch to the state of checkpoint i.
func (s *Session) restore(i int) error {
	if err := s.exec.Restore(s.checkpoints[i].state); err != nil {
		return err
	}
	s.ended, s.err, s.lastStop, s.breakpointsUnchecked = false, nil, nil, false
	return nil
}

// seekStep goes to a past moment.
func (s *Session) seekStep(ctx context.Context, step int64) error {
	if err := s.restore(s.checkpointBefore(step)); err != nil {
		return err
	}
	for {
		if outcome, err := s.run(ctx, nil, step); outcome != interrupted || err != nil {
			return err
		}
	}
}

// searchSpan runs from checkpoint i to moment begin without events, and from there to moment end with search h, which
// must not pause. It leaves the launch at end.
func (s *Session) searchSpan(ctx context.Context, i int, begin, end int64, h *search) error {
	if err := s.restore(i); err != nil {
		return err
	}
	for _, section := range []struct {
		h  *search
		to int64
	}{{nil, begin}, {h, end}} {
		if s.ended || s.Step() >= section.to {
			continue
		}
		switch outcome, err := s.run(ctx, section.h, section.to); {
		case err != nil:
			return err
		case outcome == interrupted:
			return errInterrupted
		}
	}
	return nil
}

// recentSteps is the number of instructions, just before a moment, that a backward search with many events covers first,
// because events make a run several times slower. The earlier instructions are searched from checkpoint to checkpoint.
const recentSteps = 1 << 14

// errInterrupted is returned by an interrupted search of the past.
var errInterrupted = errors.New("interrupted")

// goBack goes back to the moment that find returns, or to the beginning of the launch if that is -1.
func (s *Session) goBack(ctx context.Context, find func() (int64, error)) (*Stop, error) {
	if s.noCheckpoints != nil {
		return nil, s.noCheckpoints
	}
	defer s.interrupted.Store(false)
	now, previous := s.Step(), s.focus
	step, err := find()
	stop := &Stop{Reason: AtStep}
	switch {
	case errors.Is(err, errInterrupted):
		err, s.focus = s.seekStep(ctx, now), previous
		s.refocus()
		return &Stop{Reason: AtInterrupt}, err
	case err != nil:
		return nil, err
	case step < 0:
		step, stop.Reason = 0, AtBegin
	}
	if s.Step() != step || s.ended {
		if err := s.seekStep(ctx, step); err != nil {
			return nil, err
		}
	}
	s.refocus()
	return stop, nil
}

// BackInstr goes back to the latest instruction of the thread in focus. If over is set, it skips instructions of called
// functions. After the end of the launch it goes to the last instruction of the launch.
func (s *Session) BackInstr(ctx context.Context, over bool) (*Stop, error) {
	return s.goBack(ctx, func() (int64, error) {
		f := s.focus
		if f.CTA < 0 {
			return s.Step() - 1, s.refocusOnLast(ctx)
		}
		if !over {
			l, _ := s.latest(f)
			return l.Step, nil
		}
		stepAt := int64(-1)
		err := s.searchPast(ctx, f, s.depthOrAny(), func(p *threadHistory) bool {
			stepAt = p.last.step
			return true
		}, nil)
		return stepAt, err
	})
}

// latest returns the latest instruction of a thread; its Step is -1 if there is none.
func (s *Session) latest(f Focus) (probe.Latest, bool) {
	l, ok := s.exec.Latest(f.CTA, f.Warp, f.Lane)
	if !ok {
		l.Step = -1
	}
	return l, ok
}

// refocusOnLast goes to the last instruction of the launch and moves the focus to a thread that executed it.
func (s *Session) refocusOnLast(ctx context.Context) error {
	last := s.Step() - 1
	if last < 0 {
		return nil
	}
	err := s.searchSpan(ctx, s.checkpointBefore(last), last, last+1, &search{onEvent: func(e *probe.Event) bool {
		if e.Kind == probe.OnBefore && e.Step == last {
			s.focus = Focus{e.CTA, e.Warp, lowestLane(e.Active)}
		}
		return false
	}})
	if err != nil {
		return err
	}
	return s.seekStep(ctx, last)
}

// depthOrAny returns the call depth of the thread in focus; without a thread in focus, a number above any depth.
func (s *Session) depthOrAny() int {
	if d, err := s.depth(); err == nil {
		return d
	}
	return neverStep
}

// BackLine goes back to the beginning of the current line of the thread in focus. If the thread is at that beginning, it
// goes back to the beginning of the line executed before. If over is set, it skips instructions of called functions.
func (s *Session) BackLine(ctx context.Context, over bool) (*Stop, error) {
	return s.goBack(ctx, func() (int64, error) {
		var b lineBegin
		if s.focus.CTA < 0 {
			if err := s.refocusOnLast(ctx); err != nil || s.ended {
				return -1, err
			}
			if c, err := s.Context(); err == nil && c.Instr != nil {
				b.next = &beganInstr{s.Step(), lineOf(c.Func, c.Instr), len(c.Calls)}
			}
		}
		b.step = -1
		f, depth := s.focus, neverStep
		if over {
			depth = s.depthOrAny()
		}
		if err := s.searchPast(ctx, f, depth, b.visit, b.skip); err != nil {
			return -1, err
		}
		switch {
		case b.step >= 0:
			return b.step, nil
		case b.next == nil:
			return -1, nil
		case b.skipped == nil:
			return b.next.step, nil
		}
		p := threadHistory{f: f, depth: depth}
		err := s.searchSpan(ctx, s.checkpointBefore(b.skipped.from), b.skipped.from, b.skipped.to, p.search())
		return p.first.step, err
	})
}

// beganInstr is an instruction that a thread has begun.
type beganInstr struct {
	step  int64
	line  line
	depth int
}

// threadHistory describes the instructions of a thread in a range of the past.
type threadHistory struct {
	f     Focus
	depth int // ignore instructions at a larger call depth

	first, last           beganInstr
	began, fromCheckpoint bool  // began: the thread began an instruction; fromCheckpoint: the range begins at a checkpoint
	begin                 int64 // moment at which the line of last begins; -1: all instructions are of one line
}

// search returns a search that sets the history of the thread. It receives few events of other warps.
func (p *threadHistory) search() *search {
	p.began, p.begin = false, -1
	return &search{onEvent: func(e *probe.Event) bool {
		switch {
		case e.Kind != probe.OnBefore || e.Step < 0:
		case e.CTA != p.f.CTA || e.Warp != p.f.Warp:
			e.ReduceEvents(true)
		case e.Active>>p.f.Lane&1 != 0 && e.Depth <= p.depth:
			now := beganInstr{e.Step, lineOf(e.Func, e.Instr), e.Depth}
			switch {
			case !p.began:
				p.first, p.began = now, true
			case now.line != p.last.line || now.depth != p.last.depth:
				p.begin = now.step
			}
			p.last = now
		}
		return false
	}}
}

// searchPast passes the history of a thread to visit, range by range backwards from now, until visit returns true. A
// range begins at a checkpoint. It may be passed twice: first its last recentSteps instructions, then the whole range. A
// range is not executed if the thread has begun no instruction in it, or if skip returns true. skip receives the
// instructions that may have begun in the range, by index; nil skips no range.
func (s *Session) searchPast(ctx context.Context, f Focus, depth int, visit func(p *threadHistory) bool, skip func(s *Session, visited []bool, from, to int64) bool) error {
	for l, ok := s.latest(f); ok && l.Step >= 0; {
		i := s.checkpointBefore(l.Step)
		from, end := s.checkpoints[i].step, l.Step+1
		l, ok = s.checkpoints[i].state.Latest(f.CTA, f.Warp, f.Lane)
		visited := s.visited(from, end)
		if depth < len(l.Stack)-1 && !s.anyInstrOf(visited, l.Stack[:depth+1]) || skip != nil && skip(s, visited, from, end) {
			continue
		}
		for _, begin := range []int64{max(from, end-recentSteps), from} {
			p := threadHistory{f: f, depth: depth, fromCheckpoint: begin == from}
			if err := s.searchSpan(ctx, s.checkpointBefore(begin), begin, end, p.search()); err != nil {
				return err
			}
			if p.began && visit(&p) {
				return nil
			}
			if p.fromCheckpoint {
				break
			}
		}
	}
	return nil
}

// anyInstrOf reports whether any visited instruction belongs to a function of the list.
func (s *Session) anyInstrOf(visited []bool, list []*ptx.Func) bool {
	for i, v := range visited {
		if v {
			if _, f := s.info.Program.At(i); slices.Contains(list, f) {
				return true
			}
		}
	}
	return false
}

// lineBegin is a search of the past for the beginning of a line. Its methods are arguments of searchPast.
type lineBegin struct {
	step    int64       // the moment at which the line begins; -1: not found yet
	next    *beganInstr // the earliest instruction seen; it begins a line if the instruction before it is of a different line
	skipped *span       // the earliest range that skip left out: all its instructions are of the line of next; nil: none
}

func (b *lineBegin) visit(p *threadHistory) bool {
	switch {
	case b.next != nil && (p.last.line != b.next.line || p.last.depth != b.next.depth):
		if b.skipped == nil {
			b.step = b.next.step
		}
		return true
	case p.begin >= 0:
		b.step = p.begin
		return true
	}
	if p.fromCheckpoint {
		first := p.first
		b.next, b.skipped = &first, nil
	}
	return false
}

// skip reports whether all visited instructions belong to the line whose beginning is searched for.
func (b *lineBegin) skip(s *Session, visited []bool, from, to int64) bool {
	if b.next == nil {
		return false
	}
	for i, v := range visited {
		if !v {
			continue
		}
		instr, f := s.info.Program.At(i)
		if lineOf(f, instr) != b.next.line || instr.Form.Effects.Any(ptx.Calls|ptx.Returns) {
			return false
		}
	}
	b.skipped = &span{from: from, to: to}
	return true
}

// BackContinue goes back to the moment before the latest instruction that hit a breakpoint or watch.
func (s *Session) BackContinue(ctx context.Context) (*Stop, error) {
	hits := s.newHitFinder(-1)
	hits.backwards = true
	stop, err := s.goBack(ctx, func() (int64, error) {
		stepAt := int64(-1)
		var err error
		if hits.hit, err = s.lastHit(ctx, s.Step()); hits.hit != nil {
			stepAt = hits.hit.step
		}
		return stepAt, err
	})
	if err != nil || stop.Reason != AtStep {
		return stop, err
	}
	stop = hits.stop()
	s.refocus()
	return stop, nil
}

// lastHit returns the last hit of a breakpoint or watch before moment limit, or nil. It may leave the launch at another
// moment than before the call.
func (s *Session) lastHit(ctx context.Context, limit int64) (*hit, error) {
	window := int64(recentSteps) // finds recent hits fast
	for end := s.notHitSince(limit); end > 0; end = s.notHitSince(end) {
		i := s.checkpointBefore(end - 1)
		from, chosen := s.checkpoints[i].step, s.neededEvents(func(candidate func(cta int) bool) bool { return s.mayInclude(i, candidate) })
		if !s.mayHit(chosen, s.visited(from, end)) {
			s.noteNotHit(from, end, 0, nil)
			continue
		}
		for _, begin := range []int64{max(from, end-window), from} {
			window = neverStep
			hits := s.newHitFinder(-1)
			var last *hit
			err := s.searchSpan(ctx, s.checkpointBefore(begin), begin, end, &search{chosen: chosen, onEvent: func(e *probe.Event) bool {
				if hits.hit = nil; e.Step >= 0 && e.Step < end && hits.check(e) {
					last = hits.hit
				}
				return false
			}})
			switch {
			case err != nil:
				return nil, err
			case last != nil:
				s.noteNotHit(last.step+1, end, 0, nil)
				return last, nil
			}
			s.noteNotHit(begin, end, 0, nil)
			if begin == from {
				break
			}
			end = begin
		}
	}
	return nil, nil
}
