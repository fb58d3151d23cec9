package debug

// This file goes back: checkpoints, and what is looked for between them.

import (
	"context"
	"errors"
	"slices"
	"time"

	"gemu/interp"
	"gemu/ptx"
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
	s.ended, s.err, s.over, s.unseen = false, nil, nil, false
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

// pass runs from a checkpoint to the moment before begin, and from there to end with a hunt, which
// does not pause. The launch is elsewhere then.
func (s *Session) pass(ctx context.Context, i int, begin, end int64, h *hunt) error {
	if err := s.restore(i); err != nil {
		return err
	}
	for _, part := range []struct {
		h  *hunt
		to int64
	}{{nil, begin}, {h, end}} {
		if s.ended || s.Step() >= part.to {
			continue
		}
		switch what, err := s.run(ctx, part.h, part.to); {
		case err != nil:
			return err
		case what == wasCalled:
			return errInterrupted
		}
	}
	return nil
}

// lately is how many instructions before a moment are looked at first where much is told, which takes
// several times as long as running to them; then all since a checkpoint are.
const lately = 1 << 14

// errInterrupted is the error of looking for something in the past, interrupted.
var errInterrupted = errors.New("interrupted")

// retreat goes back to the moment that find gives; without one, -1, to the launch's begin.
func (s *Session) retreat(ctx context.Context, find func() (int64, error)) (*Stop, error) {
	if s.noReturn != nil {
		return nil, s.noReturn
	}
	defer s.interrupted.Store(false)
	now, was := s.Step(), s.focus
	step, err := find()
	stop := &Stop{Reason: AtStep}
	switch {
	case errors.Is(err, errInterrupted):
		err, s.focus = s.seek(ctx, now), was
		s.refocus()
		return &Stop{Reason: AtInterrupt}, err
	case err != nil:
		return nil, err
	case step < 0:
		step, stop.Reason = 0, AtBegin
	}
	if s.Step() != step || s.ended {
		if err := s.seek(ctx, step); err != nil {
			return nil, err
		}
	}
	s.refocus()
	return stop, nil
}

// BackInstr goes back to the instruction that the thread in focus has executed last; over has it go
// over calls. After the launch's end that is the last instruction of all.
func (s *Session) BackInstr(ctx context.Context, over bool) (*Stop, error) {
	return s.retreat(ctx, func() (int64, error) {
		f := s.focus
		if f.CTA < 0 {
			return s.Step() - 1, s.attend(ctx)
		}
		if !over {
			l, _ := s.latest(f)
			return l.Step, nil
		}
		at := int64(-1)
		err := s.trail(ctx, f, s.depthOrAny(), func(p *passage) bool {
			at = p.last.step
			return true
		}, nil)
		return at, err
	})
}

// latest is what a thread did last; of Step -1 if it has done nothing.
func (s *Session) latest(f Focus) (interp.Latest, bool) {
	l, ok := s.exec.Latest(f.CTA, f.Warp, f.Lane)
	if !ok {
		l.Step = -1
	}
	return l, ok
}

// attend goes to the last instruction of all that have begun, and looks at who executes it.
func (s *Session) attend(ctx context.Context) error {
	last := s.Step() - 1
	if last < 0 {
		return nil
	}
	err := s.pass(ctx, s.before(last), last, last+1, &hunt{tell: func(e *interp.Event) bool {
		if e.Kind == interp.OnBefore && e.Step == last {
			s.focus = Focus{e.CTA, e.Warp, lowest(e.Active)}
		}
		return false
	}})
	if err != nil {
		return err
	}
	return s.seek(ctx, last)
}

// depthOrAny is how many calls the thread in focus is in; more than any if there is none.
func (s *Session) depthOrAny() int {
	if d, err := s.depth(); err == nil {
		return d
	}
	return never
}

// BackLine goes back to the begin of the line that the thread in focus is in, or of the one before.
func (s *Session) BackLine(ctx context.Context, over bool) (*Stop, error) {
	return s.retreat(ctx, func() (int64, error) {
		var b lineBegin
		if s.focus.CTA < 0 {
			if err := s.attend(ctx); err != nil || s.ended {
				return -1, err
			}
			if c, err := s.Context(); err == nil && c.Instr != nil {
				b.next = &tread{s.Step(), lineOf(c.Func, c.Instr), len(c.Calls)}
			}
		}
		b.at = -1
		f, depth := s.focus, never
		if over {
			depth = s.depthOrAny()
		}
		if err := s.trail(ctx, f, depth, b.see, b.skip); err != nil {
			return -1, err
		}
		switch {
		case b.at >= 0:
			return b.at, nil
		case b.next == nil:
			return -1, nil
		case b.in == nil:
			return b.next.step, nil
		}
		p := passage{f: f, depth: depth}
		err := s.pass(ctx, s.before(b.in.from), b.in.from, b.in.to, p.hunt())
		return p.first.step, err
	})
}

// tread is an instruction that a thread has begun.
type tread struct {
	step  int64
	line  line
	depth int
}

// passage is what a thread has done in some part of the past.
type passage struct {
	f     Focus
	depth int // calls: what is in more is left out

	first, last tread
	any, whole  bool  // it has done anything; the part begins with a checkpoint
	begin       int64 // of the last line that was begun behind the first instruction; -1: none was
}

// hunt is told of all instructions of the thread, and of few others'.
func (p *passage) hunt() *hunt {
	p.any, p.begin = false, -1
	return &hunt{tell: func(e *interp.Event) bool {
		switch {
		case e.Kind != interp.OnBefore || e.Step < 0:
		case e.CTA != p.f.CTA || e.Warp != p.f.Warp:
			e.Ease(true)
		case e.Active>>p.f.Lane&1 != 0 && e.Depth <= p.depth:
			now := tread{e.Step, lineOf(e.Func, e.Instr), e.Depth}
			switch {
			case !p.any:
				p.first, p.any = now, true
			case now.line != p.last.line || now.depth != p.last.depth:
				p.begin = now.step
			}
			p.last = now
		}
		return false
	}}
}

// trail shows what a thread has done, from now on backwards, a part after the other, until see has seen
// enough. A part may be shown twice: its end, then, as a whole, all from the checkpoint before. Where the
// thread has done nothing nothing is executed, nor is it where skip, which may be nil, finds it enough to
// know which instructions somebody may have begun there.
func (s *Session) trail(ctx context.Context, f Focus, depth int, see func(p *passage) bool, skip func(s *Session, visited []bool, from, to int64) bool) error {
	for l, ok := s.latest(f); ok && l.Step >= 0; {
		i := s.before(l.Step)
		from, end := s.checkpoints[i].step, l.Step+1
		l, ok = s.checkpoints[i].state.Latest(f.CTA, f.Warp, f.Lane)
		visited := s.visited(from, end)
		if depth < len(l.Stack)-1 && !s.anyOf(visited, l.Stack[:depth+1]) || skip != nil && skip(s, visited, from, end) {
			continue
		}
		for _, begin := range []int64{max(from, end-lately), from} {
			p := passage{f: f, depth: depth, whole: begin == from}
			if err := s.pass(ctx, s.before(begin), begin, end, p.hunt()); err != nil {
				return err
			}
			if p.any && see(&p) {
				return nil
			}
			if p.whole {
				break
			}
		}
	}
	return nil
}

// anyOf reports whether some of the instructions are of some functions.
func (s *Session) anyOf(visited []bool, list []*ptx.Func) bool {
	for i, v := range visited {
		if v {
			if _, f := s.info.Program.At(i); slices.Contains(list, f) {
				return true
			}
		}
	}
	return false
}

// lineBegin looks for the begin of a line.
type lineBegin struct {
	at   int64  // it; -1: not found yet
	next *tread // of what was seen the first, which begins a line if what was before it is of another
	in   *span  // of next nothing but the line is known: it is the first of the thread in here
}

func (b *lineBegin) see(p *passage) bool {
	switch {
	case b.next != nil && (p.last.line != b.next.line || p.last.depth != b.next.depth):
		if b.in == nil {
			b.at = b.next.step
		}
		return true
	case p.begin >= 0:
		b.at = p.begin
		return true
	}
	if p.whole {
		first := p.first
		b.next, b.in = &first, nil
	}
	return false
}

// skip reports whether all that was executed is of the line that is looked for the begin of.
func (b *lineBegin) skip(s *Session, visited []bool, from, to int64) bool {
	if b.next == nil {
		return false
	}
	for i, v := range visited {
		if !v {
			continue
		}
		in, f := s.info.Program.At(i)
		if lineOf(f, in) != b.next.line || in.Form.Effects.Any(ptx.Calls|ptx.Returns) {
			return false
		}
	}
	b.in = &span{from: from, to: to}
	return true
}

// BackContinue goes back to where a breakpoint or watch was hit last: before the instruction that hits
// it.
func (s *Session) BackContinue(ctx context.Context) (*Stop, error) {
	hits := s.hits(-1)
	hits.past = true
	stop, err := s.retreat(ctx, func() (int64, error) {
		at := int64(-1)
		var err error
		if hits.hit, err = s.lastHit(ctx, s.Step()); hits.hit != nil {
			at = hits.hit.step
		}
		return at, err
	})
	if err != nil || stop.Reason != AtStep {
		return stop, err
	}
	stop = hits.stop()
	s.refocus()
	return stop, nil
}

// lastHit is the last hit of a breakpoint or watch before a moment; nil if there was none. The launch may be elsewhere then.
func (s *Session) lastHit(ctx context.Context, limit int64) (*hit, error) {
	window := int64(lately) // what was hit just now is found at once
	for end := s.quietSince(limit); end > 0; end = s.quietSince(end) {
		i := s.before(end - 1)
		from, chosen := s.checkpoints[i].step, s.chosen(func(may func(cta int) bool) bool { return s.mayBe(i, may) })
		if !s.mayHit(chosen, s.visited(from, end)) {
			s.quiet(from, end, 0, nil)
			continue
		}
		for _, begin := range []int64{max(from, end-window), from} {
			window = never
			hits := s.hits(-1)
			var last *hit
			err := s.pass(ctx, s.before(begin), begin, end, &hunt{chosen: chosen, tell: func(e *interp.Event) bool {
				if hits.hit = nil; e.Step >= 0 && e.Step < end && hits.tell(e) {
					last = hits.hit
				}
				return false
			}})
			switch {
			case err != nil:
				return nil, err
			case last != nil:
				s.quiet(last.step+1, end, 0, nil)
				return last, nil
			}
			s.quiet(begin, end, 0, nil)
			if begin == from {
				break
			}
			end = begin
		}
	}
	return nil, nil
}
