package warp

// This file is the run loop of a warp. A backend executes code for the active lanes, and the loop acts on the reason of
// its return, until the warp ends, waits, or has used its budget.

import (
	"math/bits"

	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// Run executes a warp until it is no longer ready, traps, pauses, or has used about its budget of instructions. It returns
// the warp that executed last, because a backend may have switched to another warp of the CTA.
func Run(w *machine.Warp) *machine.Warp {
	if w.PausedInBlock {
		w.Budget = max(w.Budget, 1) // the warp must finish its block
	} else if w.Yields = false; w.TimeSliced {
		w.CTA.NoteChange()
	}
	w = executeWarp(w)
	if w.TimeSliced {
		w.Changed = w.Changed || w.CTA.Changed
	}
	return w
}

// executeWarp is Run without the notes about changed memory: it runs the backend and acts on the reason of its return.
func executeWarp(w *machine.Warp) *machine.Warp {
	c := w.CTA.Code
	for w.Budget > 0 && w.State == machine.ReadyToRun && w.Err == nil && (!w.Yields || w.PausedInBlock) {
		instrs := w.Budget
		if w.TimeSliced {
			instrs = min(instrs, w.SliceLeft)
		}
		before := w.Count.WarpInstructions
		w.CountedUpTo, w.UnchargedExits = before, 0
		reason := w.CTA.Runner.Run(w, instrs)
		if other := w.CTA.Native.Resumed; other != nil { // machine code has switched to this warp
			w, before, w.CTA.Native.Resumed = other, w.CTA.SliceStart, nil
		}
		if reason == machine.Unsupported { // the portable backend executes the block to its end, so that warps switch at the same places with every backend
			reason = Portable.Run(w, 1)
		}
		chargeInstrs(w, int(w.Count.WarpInstructions-before-w.UnchargedExits))
		switch reason {
		case machine.BeforeOrdered:
			w.State = machine.AtOrdered
		case machine.BeforeGroupWait:
			w.State = machine.AtGroup
		case machine.DifferentCalls:
			callSeparately(w, c.Block(w.PC))
		case machine.LanesAbsent:
			waitForLanes(w)
			continue
		case machine.ProbeStop:
			if w.Err = w.CTA.Stream.StopErr; w.Err == nil { // the launch pauses
				return w
			}
		case machine.LanesDiverge, machine.ReachesReconvergence, machine.OtherEnd:
			executeEnd(w, c.Block(w.PC))
		case machine.NoSplit:
			scheduleSplit(w)
		}
		if w.TimeSliced && w.State == machine.ReadyToRun && w.Err == nil && (w.SliceLeft <= 0 || w.Yields) {
			w.Changed = w.Changed || w.CTA.Changed
			w.CTA.NoteChange()
			w.Reconverger.Expire(w)
			beginTimeSlice(w)
		}
	}
	if w.Budget <= 0 && w.Count.WarpInstructions > w.CTA.Grid.MaxSteps && w.State == machine.ReadyToRun && w.Err == nil {
		trapStepLimit(w)
	}
	return w
}

// chargeInstrs charges n executed PTX instructions to the budget, and counts the lanes of the instructions not counted
// yet.
func chargeInstrs(w *machine.Warp, n int) {
	w.Budget -= n
	if w.TimeSliced {
		w.SliceLeft -= n
	}
	lanes := (w.Count.WarpInstructions - w.CountedUpTo) * int64(bits.OnesCount64(w.Mask))
	w.Count.LaneSlots += lanes
	w.Count.ThreadInstructions += lanes
}

// trapStepLimit stops a warp that has reached the step limit. Threads that wait for each other and store while they wait
// end here, so the trap names the places of all threads of the CTA.
func trapStepLimit(w *machine.Warp) {
	c := w.CTA
	c.ImportAll()
	t := w.Fail(c.Code.FirstSource(c.Code.Block(w.PC)), w.Mask, probe.ErrStepLimit, "%v: warp %d has executed %d instructions without ending", probe.ErrStepLimit, w.ID, w.Count.WarpInstructions)
	if MayWaitAt(w, &w.WarpSplit) {
		t.Notes = append(t.Notes, "the loop may be a spin-wait; a deadlock is detected only in a round without stores, and other threads keep storing")
	}
	if text := async.AwaitedMbarrierText(w); text != "" {
		t.Notes = append(t.Notes, text)
	}
	if otherLanes := w.Live &^ w.Mask; otherLanes != 0 {
		t.Notes = append(t.Notes, w.Whereabouts(otherLanes)...)
	}
	var stuck StuckWarps
	for i := range c.Warps {
		if other := &c.Warps[i]; other != w && other.State != machine.HasEnded {
			stuck.Add(other)
		}
	}
	stuck.AddTo(t)
	if w.Diverged() && !w.TimeSliced {
		t.Notes = append(t.Notes, c.Grid.Reconverge.Advice())
	}
}

// executeEnd executes the last instruction of a block.
func executeEnd(w *machine.Warp, b *code.Block) {
	end := w.CTA.Code.End(b)
	if end.CountsSkipped {
		w.Count.ThreadInstructions -= int64(bits.OnesCount64(w.Mask &^ w.GuardedLanes(end.Guard)))
	}
	switch end.Op {
	case code.Jump:
		jumpTo(w, b.Next)
	case code.Branch:
		executeBranch(w, w.GuardedLanes(end.Guard), b.Target, b)
	case code.Return:
		executeBranch(w, w.GuardedLanes(end.Guard), b.Target, b)
	case code.BranchIndex:
		executeIndexed(w, b)
	case code.Exit:
		m := w.GuardedLanes(end.Guard)
		staying := w.Mask &^ m
		if m != 0 {
			endLanes(w, w.CTA.Code.Source(end.Src), m)
		}
		if staying != 0 {
			jumpTo(w, b.Next)
		} else {
			scheduleSplit(w)
		}
	case code.Pop:
		leaveFrame(w)
	case code.Call, code.CallR, code.CallQ:
		executeCall(w, b)
	case code.BarrierWarp:
		warpBarrier(w, b)
	default:
		ExecuteBarrier(w, b)
	}
}

// executeBranch continues the lanes of takenLanes at target, and the remaining lanes at the next block. If a block does
// nothing but end lanes, its lanes end at once, so that barriers no longer wait for them.
func executeBranch(w *machine.Warp, takenLanes uint64, target int32, b *code.Block) {
	w.Count.Branches++
	c := w.CTA.Code
	if w.CTA.IsSubscribed(probe.OnBranch) {
		if event.EmitGroups(w, probe.OnBranch, w.SourceOf(c.End(b)), takenLanes, machine.BranchGroup{PC: target, Mask: takenLanes}, machine.BranchGroup{PC: b.Next, Mask: w.Mask &^ takenLanes}); w.Err != nil {
			return
		}
	}
	switch {
	case takenLanes == w.Mask || target == b.Next:
		jumpTo(w, target)
	case takenLanes == 0:
		jumpTo(w, b.Next)
	case c.Block(target).EndsLanes && !waitsForLanesAt(w, target, b):
		w.Count.DivergentBranches++
		exitLanes(w, takenLanes, c.Block(target))
		jumpTo(w, b.Next)
	case c.Block(b.Next).EndsLanes && !waitsForLanesAt(w, b.Next, b):
		w.Count.DivergentBranches++
		exitLanes(w, w.Mask&^takenLanes, c.Block(b.Next))
		jumpTo(w, target)
	default:
		w.BranchGroups = [2]machine.BranchGroup{{PC: b.Next, Mask: w.Mask &^ takenLanes}, {PC: target, Mask: takenLanes}}
		divergeLanes(w, w.BranchGroups[:], b.Reconverge)
	}
}

// waitsForLanesAt reports whether the policy lets lanes wait at block pc, which does nothing but end lanes, for the
// remaining lanes of a branch. With reconvergence points, lanes wait only at the branch's reconvergence point; without
// them, at any such block.
func waitsForLanesAt(w *machine.Warp, pc int32, branch *code.Block) bool {
	return w.WaitAtExit && (pc == branch.Reconverge || w.CTA.Grid.Reconverge.Reconvergence == lower.Never)
}

// markAtExit moves lanes that wait at block pc from Live to AtExit, if the block does nothing but end lanes. Barriers then
// no longer wait for them (manual 9.7.13.1), and their registers are dead.
func markAtExit(w *machine.Warp, pc int32, lanes uint64) {
	if !w.WaitAtExit || !w.CTA.Code.Block(pc).EndsLanes {
		return
	}
	w.Live &^= lanes
	w.AtExit |= lanes
	if w.NumWaiting > 0 {
		executeCollectives(w) // lanes may have waited for these lanes
	}
}

// divergeLanes lets groups of the active lanes continue at different blocks; they reconverge at block reconvergeAt.
func divergeLanes(w *machine.Warp, groups []machine.BranchGroup, reconvergeAt int32) {
	w.Count.DivergentBranches++
	countSplits(w, w.Mask, groups...)
	w.Reconverger.Split(w, groups, reconvergeAt)
}

// countSplits counts the division of lanes into groups, and emits its event.
func countSplits(w *machine.Warp, lanes uint64, groups ...machine.BranchGroup) {
	w.Count.Splits += int64(len(groups) - 1)
	if w.CTA.IsSubscribed(probe.OnSplit) {
		event.EmitGroups(w, probe.OnSplit, endSource(w), lanes, groups...)
	}
}

// countReconvergence counts the reconvergence of a warp split and emits its event.
func countReconvergence(w *machine.Warp, c *machine.WarpSplit) {
	w.Count.Reconvergences++
	if w.CTA.IsSubscribed(probe.OnReconverge) {
		event.EmitSplit(w, probe.OnReconverge, c, w.CTA.Code.Source(w.CTA.Code.NextSource(c.PC, c.Uncounted)), nil)
	}
}

// endSource returns the PTX instruction at the end of the current block; nil if there is none.
func endSource(w *machine.Warp) *code.Source {
	c := w.CTA.Code
	return c.Source(c.End(c.Block(w.PC)).Src)
}

// exitLanes executes the exit in block b, which contains nothing else, for some of the active lanes.
func exitLanes(w *machine.Warp, lanes uint64, b *code.Block) {
	src := w.CTA.Code.Source(w.CTA.Code.End(b).Src)
	event.ObserveExit(w, src, lanes)
	n := int64(bits.OnesCount64(lanes))
	w.Count.WarpInstructions++
	w.Count.ThreadInstructions += n
	w.Count.LaneSlots += n
	endLanes(w, src, lanes)
}

// endLanes removes lanes, which instruction src has ended, from the warp.
func endLanes(w *machine.Warp, src *code.Source, lanes uint64) {
	event.EmitLanes(w, probe.OnExit, src, lanes)
	w.Live &^= lanes
	w.AtExit &^= lanes
	w.Mask &^= lanes
	w.Reconverger.End(w, lanes)
	if w.NumWaiting > 0 {
		executeCollectives(w) // lanes may have waited for these lanes
	}
}

// executeIndexed executes brx.idx: lanes with the same target stay together.
func executeIndexed(w *machine.Warp, b *code.Block) {
	w.Count.Branches++
	end := w.CTA.Code.End(b)
	targets := w.CTA.Code.Targets[end.Side]
	m := w.GuardedLanes(end.Guard)
	var groups []machine.BranchGroup
	for remaining := m; remaining != 0; remaining &= remaining - 1 {
		lane := bits.TrailingZeros64(remaining)
		index := w.ControlValue(code.Row{Slot: code.R, Row: end.A}, lane)
		if index >= uint64(len(targets)) {
			w.Fail(w.SourceOf(end), 1<<lane, probe.ErrBadTarget, "%v: index %d in a list of %d labels", probe.ErrBadTarget, index, len(targets))
			return
		}
		groups = addToGroup(groups, targets[index], 1<<lane)
	}
	if guardedOff := w.Mask &^ m; guardedOff != 0 {
		groups = addToGroup(groups, b.Next, guardedOff)
	}
	event.EmitGroups(w, probe.OnBranch, w.SourceOf(end), m, groups...)
	if len(groups) == 1 {
		jumpTo(w, groups[0].PC)
		return
	}
	divergeLanes(w, groups, b.Reconverge)
}
