package debug

// This file goes back: checkpoints, and what is looked for between them.

import (
	"context"
	"errors"
	"slices"
	"time"

	"gemu/interp"
)

// checkpoint is the launch at a moment.
type checkpoint struct {
	step  int64
	state *interp.State
}

// Checkpoints are so far apart that running from one to the next takes interval, or as much longer
// as it takes for saving to have a share of 1/saveShare of it all: but at most longest, for that is what
// going back takes, twice.
const (
	interval  = 100 * time.Millisecond
	longest   = 300 * time.Millisecond
	saveShare = 10
	leastPace = 1 << 12
)

// pace is how far apart checkpoints are.
type pace struct {
	rate   float64 // instructions a second, of the last runs
	saving time.Duration
	fixed  int64 // tests set it; 0: it is as all this says
}

// ran notes how long some instructions have taken.
func (p *pace) ran(steps int64, took time.Duration) {
	if steps < leastPace/4 || took <= 0 {
		return
	}
	rate := float64(steps) / took.Seconds()
	if p.rate == 0 {
		p.rate = rate
	}
	p.rate = (p.rate + rate) / 2
}

// steps is how many instructions to run to the next checkpoint.
func (p *pace) steps() int64 {
	if p.fixed > 0 {
		return p.fixed
	}
	return max(leastPace, int64(p.rate*min(max(interval, saveShare*p.saving), longest).Seconds()))
}

// checkpoint saves the launch as it is, unless there is a checkpoint close by.
func (s *Session) checkpoint() {
	if s.noReturn != nil {
		return
	}
	now := s.Step()
	i, _ := slices.BinarySearchFunc(s.checkpoints, now, func(c checkpoint, step int64) int { return compare(c.step, step) })
	near := s.pace.steps() / 2
	if i > 0 && now-s.checkpoints[i-1].step < near || i < len(s.checkpoints) && s.checkpoints[i].step-now < near {
		return
	}
	begin := time.Now()
	state, err := s.exec.Save()
	if err != nil {
		s.noReturn = errors.New("there is no going back: " + err.Error())
		return
	}
	s.pace.saving = time.Since(begin)
	s.checkpoints = slices.Insert(s.checkpoints, i, checkpoint{now, state})
	s.thin()
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

// thin gives checkpoints up until the others are within the budget: each time the one whose
// neighbours are closest to each other, for how far back it is. The first and the last stay.
func (s *Session) thin() {
	for len(s.checkpoints) > 2 && s.exec.Kept() > s.first+s.options.Budget {
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

// before is the last checkpoint at or before a moment.
func (s *Session) before(step int64) int {
	i, found := slices.BinarySearchFunc(s.checkpoints, step, func(c checkpoint, step int64) int { return compare(c.step, step) })
	if found {
		return i
	}
	return i - 1
}

// restore goes back to a checkpoint.
func (s *Session) restore(i int) error {
	if err := s.exec.Restore(s.checkpoints[i].state); err != nil {
		return err
	}
	s.ended, s.err, s.over = false, nil, nil
	return nil
}

// seek goes to the moment when so many instructions have begun, which has been.
func (s *Session) seek(ctx context.Context, step int64) error {
	if err := s.restore(s.before(step)); err != nil {
		return err
	}
	for {
		if what, err := s.run(ctx, nil, step); what != wasCalled || err != nil {
			return err
		}
	}
}

// backward is the last moment before a given one with an event that match accepts, -1 if there was
// none. The launch is elsewhere then.
func (s *Session) backward(ctx context.Context, limit int64, match func(e *interp.Event) bool) (int64, error) {
	return s.backwardIn(ctx, limit, past{match: match})
}

// past is what is looked for backwards.
type past struct {
	chosen []interp.Events // among what is told of instructions; nil: all
	match  func(e *interp.Event) bool
	whole  bool // match compares an event with the one before, and so has to see both
}

// firstWindow is how many instructions before a moment are looked at first where all are told, which
// takes several times as long as running to them; then windowGrowth times as many.
const (
	firstWindow  = 1 << 10
	windowGrowth = 16
)

// backwardIn is backward for what is told of some instructions only.
func (s *Session) backwardIn(ctx context.Context, limit int64, p past) (int64, error) {
	for from, end := limit, limit; ; {
		i := s.before(from - 1)
		if i < 0 {
			return -1, nil
		}
		from = s.checkpoints[i].step
		for n := int64(firstWindow); ; n *= windowGrowth {
			begin := max(from, limit-n)
			if p.chosen != nil || begin >= end {
				begin = from
			}
			last, err := s.search(ctx, i, begin, end, limit, p)
			if err != nil || last >= 0 {
				return last, err
			}
			if !p.whole {
				end = begin
			}
			if begin == from {
				break
			}
		}
	}
}

// search is the last moment from begin to end, behind a checkpoint, with an event before limit that is
// looked for; -1 if there is none.
func (s *Session) search(ctx context.Context, i int, begin, end, limit int64, p past) (int64, error) {
	if err := s.restore(i); err != nil {
		return 0, err
	}
	s.origin = begin
	last := int64(-1)
	for _, part := range []struct {
		h  *hunt
		to int64
	}{
		{nil, begin},
		{&hunt{chosen: p.chosen, tell: func(e *interp.Event) bool {
			if e.Step >= 0 && e.Step < limit && p.match(e) {
				last = e.Step
			}
			return false
		}}, end},
	} {
		if s.ended || s.Step() >= part.to {
			continue
		}
		switch what, err := s.run(ctx, part.h, part.to); {
		case err != nil:
			return 0, err
		case what == wasCalled:
			return 0, errInterrupted
		}
	}
	return last, nil
}

// errInterrupted is the error of looking for something in the past, interrupted.
var errInterrupted = errors.New("interrupted")

// retreat goes back to the last moment with an event that match accepts, or to the launch's begin.
func (s *Session) retreat(ctx context.Context, p past) (stop *Stop, err error) {
	if s.noReturn != nil {
		return nil, s.noReturn
	}
	defer s.interrupted.Store(false)
	now := s.Step()
	step, err := s.backwardIn(ctx, now, p)
	if errors.Is(err, errInterrupted) {
		return &Stop{Reason: AtInterrupt}, s.seek(ctx, now)
	}
	if err != nil {
		return nil, err
	}
	if step < 0 {
		if err := s.seek(ctx, 0); err != nil {
			return nil, err
		}
		s.refocus()
		return &Stop{Reason: AtBegin}, nil
	}
	if err := s.seek(ctx, step); err != nil {
		return nil, err
	}
	s.refocus()
	return &Stop{Reason: AtStep}, nil
}

// BackInstr goes back to the instruction that the thread in focus has executed last; over has it go
// over calls. After the launch's end that is the last instruction of all.
func (s *Session) BackInstr(ctx context.Context, over bool) (*Stop, error) {
	f, depth := s.focus, s.depthOrAny()
	return s.retreat(ctx, past{match: func(e *interp.Event) bool {
		return e.Kind == interp.OnBefore && f.in(e) && (!over || e.Depth <= depth)
	}})
}

// depthOrAny is how many calls the thread in focus is in; more than any if there is none.
func (s *Session) depthOrAny() int {
	if d, err := s.depth(); err == nil {
		return d
	}
	return never
}

// in reports whether the thread executes what an event is about; any does if there is none in focus.
func (f Focus) in(e *interp.Event) bool {
	return f.CTA < 0 || e.CTA == f.CTA && e.Warp == f.Warp && e.Active>>f.Lane&1 != 0
}

// BackLine goes back to the begin of the line that the thread in focus is in, or of the one before.
func (s *Session) BackLine(ctx context.Context, over bool) (*Stop, error) {
	f, depth := s.focus, s.depthOrAny()
	last, lastDepth, known := noLine, 0, int64(-1)
	return s.retreat(ctx, past{whole: true, match: func(e *interp.Event) bool {
		if e.Kind != interp.OnBefore || !f.in(e) || over && e.Depth > depth {
			return false
		}
		// Events are told from a checkpoint on, and again from one before that: what was before the
		// first of them is not known, unless the launch begins there.
		now := lineOf(e.Func, e.Instr)
		if e.Step <= known {
			known = -1
		}
		begins := known < 0 && s.origin == 0 || known >= 0 && (now != last || e.Depth != lastDepth)
		last, lastDepth, known = now, e.Depth, e.Step
		return begins
	}})
}

// BackContinue goes back to where a breakpoint or watch was hit last: before the instruction that hits
// it.
func (s *Session) BackContinue(ctx context.Context) (*Stop, error) {
	hits := s.hits(-1)
	hits.past = true
	var last *hit
	stop, err := s.retreat(ctx, past{chosen: s.chosen(), match: func(e *interp.Event) bool {
		hits.hit = nil
		if !hits.tell(e) {
			return false
		}
		last = hits.hit
		return true
	}})
	if err != nil || stop.Reason != AtStep {
		return stop, err
	}
	hits.hit = last
	stop = hits.stop()
	s.refocus()
	return stop, nil
}
