package observe

// This file is the run loop of observed launches: it executes PTX instruction by PTX instruction, each as the mode requires,
// and emits the events.

import (
	"slices"

	"gemu/interp/internal/check"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// ObservedRunner is the machine.Runner of observed launches.
type ObservedRunner struct{}

func (ObservedRunner) Run(w *machine.Warp, budget int) machine.Reason {
	return warp.RunBlocks(w, budget, blockObserved)
}

// blockObserved executes a block with events, with or without check mode.
func blockObserved(w *machine.Warp, _ []code.Instr) machine.Reason {
	if w.Check != nil {
		defer check.RecoverMismatch(w)
	}
	b, pc := w.CTA.Code.Block(w.PC), w.PC
	first, emitted := firstSource(w, b), false
	if w.PausedInBlock {
		first, emitted, w.PausedInBlock = b.Sources.End-w.Uncounted, w.PauseAnnounced, false
	}
	if w.CTA.Grid.Visited != nil {
		w.CTA.Grid.Visited[b.Index] = true
	}
	return ExecuteSources(w, b, &Position{Source: first, Counted: first, PC: pc}, emitted)
}

// Position is the progress of the running warp split in a block.
type Position struct {
	Source  int32 // the next PTX instruction
	Counted int32 // the next PTX instruction to count as begun (warp.NoteBegun)
	PC      int32 // the next lowered instruction

	MayLeave bool // input of ExecuteSources: machine code may execute instructions without events
	Left     bool // output of ExecuteSources: machine code must continue at PC
}

// ExecuteSources executes the block from at on, with events, and sets at to the place that it reached. emitted reports that
// the event OnBefore of the first instruction has been sent. With at.MayLeave it returns early, with at.Left and without a
// reason, before an instruction without events for which the warp's union has machine code.
func ExecuteSources(w *machine.Warp, b *code.Block, at *Position, emitted bool) machine.Reason {
	s, p := w.CTA.Stream, w.CTA.Code
	accesses := p.Accesses()
	var pairs []machine.InstrPair                                                      // from at.PC on; nil: not needed yet
	mayCount := w.Check == nil && !emitted && !w.CTA.IsSubscribed(probe.OnMaterialise) // instructions without a subscribed event may execute together
	g, union := w.CTA.Grid, event.UnionFor(s, w)
	// Instructions without events, or with an access event only, are not executed at once: they execute together before the
	// next event of another kind.
	for ; at.Source < b.Sources.End; at.Source++ {
		i := at.Source
		if g.InOrder && g.Steps+int64(i-at.Counted) >= g.PauseStep {
			g.PauseRequested = g.MayPause
		}
		if union.ReducedSinks != w.ReducedSinks {
			union = event.UnionFor(s, w)
		}
		if at.MayLeave && mayLeave(w, b, union, at) {
			at.Left = true
			return machine.NoReason
		}
		kinds := probe.Selectable
		if mayCount && union.Selected != nil && s.StopErr == nil && !g.PauseRequested {
			if kinds = union.Selected[i]; kinds == 0 {
				next := min(union.Next[i], b.Sources.End)
				if g.InOrder {
					next = i + int32(min(int64(next-i), max(1, g.PauseStep-g.Steps-int64(i-at.Counted))))
				}
				at.Source, s.ReducedSinks = next-1, w.ReducedSinks
				continue
			}
		}
		access := &accesses[i]
		if at.PC = countSources(w, at.PC, access.Start); w.Err != nil {
			warp.NoteBegun(w, countReached(w, at.Counted, i))
			return machine.NoReason
		}
		warp.NoteBegun(w, int64(i-at.Counted))
		at.Counted = i
		src := &p.Sources[i]
		event.BeginStep(s, w, src, w.GuardedLanes(src.Guard))
		if kinds == probe.OnAccess {
			for _, instr := range access.Folded {
				emitAccess(s, w, instr)
			}
			for _, pc := range access.Run {
				if at.PC = countSources(w, at.PC, pc); w.Err != nil {
					warp.NoteBegun(w, 1)
					return machine.NoReason
				}
				emitAccess(s, w, &p.Instrs[pc])
			}
			continue
		}
		if !emitted && !g.PauseRequested {
			event.Emit(s, &s.Step, probe.OnBefore)
			emitted = true
		}
		if s.StopErr != nil || g.PauseRequested {
			warp.HaltBefore(w, b, max(w.PC, access.Start), i)
			w.PausedInBlock, w.PauseAnnounced = s.StopErr == nil, emitted
			return machine.ProbeStop
		}
		emitted = false
		warp.NoteBegun(w, 1)
		at.Counted++
		for _, instr := range access.Folded {
			emitAccess(s, w, instr)
		}
		run := access.Run
		if w.Check != nil || g.Reference != nil && kinds&machine.OperationKinds != 0 {
			if pairs == nil {
				pairs = w.PairsFrom(b, at.PC)
			}
			for ; len(pairs) > 0 && pairs[0].Reference.Src <= i; pairs = pairs[1:] {
				if pairs[0].Reference.Src < i {
					continue // a folded instruction before an instruction that executes again after a wait
				}
				if instr := pairs[0].Instr; instr != nil && slices.Contains(run, pairs[0].From) {
					emitAccess(s, w, instr)
				}
				if executeOperation(w, pairs[:1]); w.Err != nil {
					return machine.NoReason
				}
				at.PC = pairs[0].To
			}
		} else {
			for ; len(run) > 0; run = run[1:] {
				if run[0] < at.PC {
					continue
				}
				if at.PC = countSources(w, at.PC, run[0]); w.Err != nil {
					return machine.NoReason
				}
				emitAccess(s, w, &p.Instrs[at.PC])
			}
			end := at.PC
			for end < b.Last && p.Instrs[end].Src == i {
				end++
			}
			if at.PC = countSources(w, at.PC, end); w.Err != nil {
				return machine.NoReason
			}
		}
		if kinds&probe.OnAfter != 0 {
			event.EmitAfter(s, w, src)
		}
	}
	if at.MayLeave && mayLeave(w, b, event.UnionFor(s, w), at) {
		at.Left = true
		return machine.NoReason
	}
	if countSources(w, at.PC, b.Last); w.Err != nil {
		warp.NoteBegun(w, countReached(w, at.Counted, b.Sources.End))
		return machine.NoReason
	}
	warp.NoteBegun(w, int64(b.Sources.End-at.Counted))
	if w.Check != nil {
		check.CheckEnd(w, b)
	}
	if mayCount && event.UnionFor(s, w).Selected != nil && !w.CTA.IsSubscribed(probe.OnBranch) {
		return machine.NoReason
	}
	w.PC, w.Uncounted = b.Last, 0
	return machine.OtherEnd
}

// mayLeave reports whether machine code may continue at a place: it has code for the warp's union, and no event comes before
// the next lowered instruction.
func mayLeave(w *machine.Warp, b *code.Block, u *machine.EventUnion, at *Position) bool {
	if u.Native == nil || w.CTA.Stream.StopErr != nil {
		return false
	}
	if at.Source >= b.Sources.End {
		return true
	}
	next := u.Next[at.Source]
	return next >= b.Sources.End || w.CTA.Code.Accesses()[next].Start > at.PC
}

// countSources executes the instructions of a block without events, from pc from up to pc to, and returns the new pc.
func countSources(w *machine.Warp, from, to int32) int32 {
	if from >= to || w.Check != nil { // check mode emits every event
		return from
	}
	warp.ExecuteSpan(w, from, to)
	return to
}

// Reached returns the PTX instruction of a block after the one that has set w.Err.
func Reached(w *machine.Warp, b *code.Block) int32 {
	return b.Sources.First + int32(countReached(w, b.Sources.First, b.Sources.End))
}

// countReached returns the number of PTX instructions that have begun, of the instructions from from up to to, which
// executed together and did not all complete.
func countReached(w *machine.Warp, from, to int32) int64 {
	last := to
	if t, ok := w.Err.(*probe.Trap); ok && t.Index >= 0 {
		last = int32(t.Index)
	} else if w.Err == machine.ErrAbsentLanes || w.Err == machine.ErrNoTensorMemory {
		last = w.BlockedInstr.Src
	}
	if last >= from && last < to {
		to = last + 1
	}
	return int64(to - from)
}

// executeOperation executes an instruction that is paired with an instruction of the reference.
func executeOperation(w *machine.Warp, single []machine.InstrPair) {
	s, p := w.CTA.Stream, &single[0]
	if s.Subscription.Events&machine.OperationKinds != 0 {
		s.StepPlace.Pair, s.Step.Operation = p, &w.CTA.Grid.Reference.Operations[p.Reference.Src].Operations[p.OperationIndex]
		if w.CTA.IsSubscribed(probe.OnOperation) {
			event.Emit(s, &s.Step, probe.OnOperation)
		}
	}
	switch {
	case w.Check != nil:
		check.CheckPair(w, p)
	case p.Instr != nil:
		warp.ExecuteSpan(w, p.From, p.To)
	}
	if w.Err == nil && w.CTA.IsSubscribed(probe.OnResult) {
		event.Emit(s, &s.Step, probe.OnResult)
	}
}

// firstSource returns the next PTX instruction of the running warp split in a block.
func firstSource(w *machine.Warp, b *code.Block) int32 {
	if w.Uncounted == 0 {
		return b.Sources.First
	}
	return w.CTA.Code.UncountedSource(b, w.PC, w.Uncounted)
}
