package debug

// This file shows and steps the warp of the thread in focus: the states of its lanes, its reconvergence stack, its next
// instruction, and the last values of registers that are no longer live.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// LaneState is the state of a lane of a warp, as the letter by which it is shown.
type LaneState byte

// The states of a lane.
const (
	LaneRuns      LaneState = 'R' // in the warp split that executes next
	LaneRunsLater LaneState = 'P' // on another path: its warp split can run, but another one runs first
	LaneWaits     LaneState = 'W' // at a reconvergence point, a barrier or a collective instruction
	LaneExited    LaneState = 'X' // has ended
	LaneAbsent    LaneState = '-' // the block has no such thread
)

// Doc returns the meaning of the state, in a few words.
func (l LaneState) Doc() string {
	switch l {
	case LaneRuns:
		return "runs next"
	case LaneRunsLater:
		return "on another path, runs later"
	case LaneWaits:
		return "waits"
	case LaneExited:
		return "has exited"
	}
	return "no thread"
}

// State returns the state of the lanes of a context.
func (c *Context) State() LaneState {
	switch {
	case c.WaitingToReconverge || c.Wait != nil:
		return LaneWaits
	case c.Running:
		return LaneRuns
	}
	return LaneRunsLater
}

// LaneStates returns the state of each lane of a warp of a CTA in flight.
func (s *Session) LaneStates(cta, warp int) []LaneState {
	list := make([]LaneState, s.info.WarpSize)
	for lane := range list {
		list[lane] = LaneExited
		if warp*s.info.WarpSize+lane >= s.info.Block.Count() {
			list[lane] = LaneAbsent
		}
	}
	for _, c := range s.Contexts() {
		if c.CTA == cta && c.Warp == warp {
			for m := c.Lanes; m != 0; m &= m - 1 {
				list[lowestLane(m)] = c.State()
			}
		}
	}
	return list
}

// Stack returns the reconvergence stack of the warp of the thread in focus, as probe.Event.AppendStack does.
func (s *Session) Stack() ([]probe.StackEntry, error) {
	if _, err := s.Context(); err != nil {
		return nil, err
	}
	return s.exec.Stack(s.focus.CTA, s.focus.Warp)
}

// StepWarp runs to the next instruction of the warp of the thread in focus, whichever of its lanes execute it. If the thread in
// focus does not, the focus moves to a lane that does.
func (s *Session) StepWarp(ctx context.Context) (*Stop, error) {
	if _, err := s.Context(); err != nil {
		return nil, err
	}
	f, start, live := s.focus, s.Step(), uint64(0)
	for _, c := range s.Contexts() {
		if c.CTA == f.CTA && c.Warp == f.Warp {
			live |= c.Lanes
		}
	}
	hits := s.newHitFinder(start)
	h := &search{onEvent: func(e *probe.Event) bool {
		hit := hits.check(e)
		if e.CTA != f.CTA || e.Warp != f.Warp {
			return hit
		}
		switch {
		case e.Kind == probe.OnExit:
			live &^= e.Lanes
			return hit || live == 0
		case e.Kind == probe.OnBefore && e.Step > start:
			if e.Active>>f.Lane&1 == 0 {
				f.Lane = lowestLane(e.Active)
			}
			return true
		}
		return hit
	}}
	return s.forward(ctx, h, hits, func() *Stop {
		switch {
		case hits.hit != nil:
			return hits.stop()
		case live == 0:
			return &Stop{Reason: AtExit}
		}
		s.focus = f
		return &Stop{Reason: AtStep}
	})
}

// BackWarp goes back to the latest instruction of the warp of the thread in focus, and moves the focus to a lane that executed
// it. After the end of the launch it goes to the last instruction of the launch.
func (s *Session) BackWarp(ctx context.Context) (*Stop, error) {
	return s.goBack(ctx, func() (int64, error) {
		if s.focus.CTA < 0 {
			return s.Step() - 1, s.refocusOnLast(ctx)
		}
		l, _ := s.latest(s.focus)
		for lane := range s.info.WarpSize {
			f := Focus{s.focus.CTA, s.focus.Warp, lane}
			if other, ok := s.latest(f); ok && other.Step > l.Step {
				l, s.focus = other, f
			}
		}
		return l.Step, nil
	})
}

// Written is the latest write of a register by a warp split.
type Written struct {
	Register Register   // the register after the write; Live is set
	Instr    *ptx.Instr // the instruction
	Lanes    uint64     // the lanes that wrote
}

// LastWritten returns the latest write of a register of the current function by the thread in focus in its current call; nil if
// there is none. It searches the past backwards, from checkpoint to checkpoint, up to the call instruction that began the call, and
// returns to the present. The register need not be live.
func (s *Session) LastWritten(ctx context.Context, name string) (w *Written, err error) {
	c, err := s.Context()
	if err != nil {
		return nil, err
	}
	r, ok := c.scope(s).register(strings.TrimSpace(name))
	if !ok {
		return nil, fmt.Errorf("no register %s", name)
	}
	if s.noCheckpoints != nil {
		return nil, s.noCheckpoints
	}
	chosen, depth := make([]probe.Events, s.info.Program.Len()), len(c.Calls)
	for i := range chosen {
		instr, f := s.info.Program.At(i)
		if depth > 0 && instr.Form.Effects.Any(ptx.Calls) {
			chosen[i] = probe.OnAfter
		}
		if f == c.Func {
			for def := range instr.Defs() {
				if def == r {
					chosen[i] = probe.OnAfter
				}
			}
		}
	}
	now, focus, unchecked := s.Step(), s.focus, s.breakpointsUnchecked
	inEarlier := false // the search has reached instructions before the current call
	for end := now; end > 0 && w == nil && !inEarlier; {
		i := s.checkpointBefore(end - 1)
		begin := s.checkpoints[i].step
		if s.mayHit(chosen, s.visited(begin, end)) {
			err = s.searchSpan(ctx, i, begin, end, &search{chosen: chosen, onEvent: func(e *probe.Event) bool {
				if e.Kind != probe.OnAfter || e.CTA != focus.CTA || e.Warp != focus.Warp || e.Lanes>>focus.Lane&1 == 0 || e.Step >= end {
					return false
				}
				if e.Depth < depth {
					w, inEarlier = nil, true
				}
				if e.Func != c.Func || e.Depth != depth {
					return false
				}
				if v, ok := e.Read(r); ok {
					w = &Written{Instr: e.Instr, Lanes: e.Lanes, Register: registerOf(c.Func, r)}
					w.Register.set(v, e.Lanes)
				}
				return false
			}})
			if err != nil {
				break
			}
		}
		end = begin
	}
	if errSeek := s.seekStep(ctx, now); err == nil {
		err = errSeek
	}
	s.focus, s.breakpointsUnchecked = focus, unchecked
	return w, err
}

// stale describes that the value of a register is an earlier one.
func (w *Written) stale() string {
	return fmt.Sprintf("last written at line %d, no longer live", w.Instr.Pos.Line)
}

// LaneRows returns the lanes of the warp of the thread in focus as rows of letters (LaneState), perRow lanes in a row, each row
// after the numbers of its lanes; nil without a thread in focus.
func (s *Session) LaneRows(perRow int) (rows []string) {
	if _, err := s.Context(); err != nil {
		return nil
	}
	states := s.LaneStates(s.focus.CTA, s.focus.Warp)
	for first := 0; first < len(states); first += perRow {
		last := min(first+perRow, len(states)) - 1
		var letters strings.Builder
		for lane := first; lane <= last; lane++ {
			if lane > first && (lane-first)%8 == 0 {
				letters.WriteByte(' ')
			}
			letters.WriteByte(byte(states[lane]))
		}
		rows = append(rows, fmt.Sprintf("%-5s %s", fmt.Sprintf("%d-%d", first, last), letters.String()))
	}
	return rows
}

// WriteStrip writes the steps so far of the warp in focus as a strip of lanes over time (Options.Strip). After the end of the launch
// it is the warp that was in focus last.
func (s *Session) WriteStrip(to io.Writer, width int) error {
	if s.options.Strip == nil {
		return errors.New("the session records no strips of lanes")
	}
	f := s.focus
	if f.CTA < 0 && s.lastStop != nil {
		f = s.lastStop.focus
	}
	if f.CTA < 0 {
		return ErrNoLaunch
	}
	if !s.options.Strip(to, f.CTA, f.Warp, width) {
		return fmt.Errorf("warp %d of block %d has no strip: it has not begun, or is not among the warps that began first, which have strips", f.Warp, f.CTA)
	}
	return nil
}

// cudaStrip shows the strip of the warp in focus.
func (c *Console) cudaStrip() error {
	var b strings.Builder
	if err := c.WriteStrip(&b, 0); err != nil {
		return err
	}
	c.printf("%s", b.String())
	return nil
}

// cudaLanes shows the lanes of the warp in focus: a letter for each, and a line for each group of lanes.
func (c *Console) cudaLanes() error {
	if _, err := c.Context(); err != nil {
		return err
	}
	c.printf("warp %d, lanes %s\n", c.focus.Warp, strings.Join(c.LaneRows(c.info.WarpSize), ""))
	for _, split := range c.Contexts() {
		if split.CTA == c.focus.CTA && split.Warp == c.focus.Warp {
			place := c.describeContext(&split)
			if split.State() != LaneWaits {
				place = split.State().Doc() + ", " + place
			}
			c.printf("%s %c %s: %s\n", c.mark(c.focus.isIn(&split)), split.State(), probe.LaneText(split.Lanes), place)
		}
	}
	states := c.LaneStates(c.focus.CTA, c.focus.Warp)
	for _, state := range []LaneState{LaneExited, LaneAbsent} {
		lanes := uint64(0)
		for lane, l := range states {
			if l == state {
				lanes |= 1 << lane
			}
		}
		if lanes != 0 {
			c.printf("  %c %s: %s\n", state, probe.LaneText(lanes), state.Doc())
		}
	}
	return nil
}

// cudaStack shows the reconvergence stack of the warp in focus, or the warp splits of a policy without a stack.
func (c *Console) cudaStack() error {
	list, err := c.Stack()
	if err != nil {
		return err
	}
	c.printf("warp %d, policy %s\n", c.focus.Warp, c.info.Reconverge.Name)
	for _, e := range list {
		line := "the function's end"
		if e.Index >= 0 {
			instr, _ := c.info.Program.At(e.Index)
			line = fmt.Sprintf("line %d: %s", instr.Pos.Line, strings.TrimSpace(c.info.Module.Line(int(instr.Pos.Line))))
		}
		indent := strings.Repeat("  ", e.Depth)
		switch {
		case e.Kind != probe.ReconvergencePoint:
			c.printf("%s%s: %s before %s\n", indent, e.Kind, probe.LaneText(e.Lanes), line)
		case e.Arrived == 0:
			c.printf("%sreconvergence point: %s, none of them there yet, before %s\n", indent, probe.LaneText(e.Lanes), line)
		default:
			c.printf("%sreconvergence point: %s, of which %s wait%s there, before %s\n", indent, probe.LaneText(e.Lanes), probe.LaneText(e.Arrived), ending(bits.OnesCount64(e.Arrived) == 1), line)
		}
	}
	return nil
}

// ending returns the ending of a verb in the present: "s" after a single subject.
func ending(single bool) string {
	if single {
		return "s"
	}
	return ""
}
