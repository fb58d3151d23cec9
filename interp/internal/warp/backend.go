package warp

// This file executes the blocks of the running warp split up to a place where the run loop must act.

import (
	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// ExecuteSpan executes the instructions of a block from pc from up to, but not including, pc to. The portable backend
// executes the instructions that the backend of the launch does not support. ExecuteSpan stops when w.Err is set.
func ExecuteSpan(w *machine.Warp, from, to int32) {
	for {
		if from = w.CTA.Grid.Backend.Span(w, from, to); from >= to || w.Err != nil {
			return
		}
		if from = Portable.Span(w, from, from+1); from >= to || w.Err != nil {
			return
		}
	}
}

// blockRunner executes the instructions of a block from w.PC up to the block's end. It must stop at once when w.Err is set. To
// stop before an instruction it calls HaltBefore.
type blockRunner func(w *machine.Warp, instrs []code.Instr) machine.Reason

// RunBlocks executes blocks until the budget, in PTX instructions, is used. It follows a jump or branch if all active lanes
// continue at the same block. Otherwise it returns with the warp split at the block's end, which the caller must execute.
func RunBlocks(w *machine.Warp, budget int, block blockRunner) machine.Reason {
	Activate(w)
	p, enough := w.CTA.Code.Program, w.Count.WarpInstructions+int64(budget)
	for {
		b := p.Block(w.PC)
		if b.Caution != 0 {
			if reason := StopReason(w, b); reason != machine.NoReason {
				return reason
			}
		}
		reason := block(w, chargeBlock(w, b))
		if w.Err != nil {
			return FailureReason(w, b)
		}
		if reason != machine.NoReason {
			return reason
		}
		w.PC, w.Uncounted = b.Last, 0
		end, to := p.End(b), b.Next
		if end.Op != code.Jump {
			if end.Op != code.Branch && end.Op != code.Return {
				return machine.OtherEnd
			}
			switch takenLanes := w.GuardedLanes(end.Guard); {
			case takenLanes == w.Mask:
				to = b.Target
			case takenLanes != 0 && b.Target != to:
				return machine.LanesDiverge
			}
		}
		if to == w.ReconvergeAt || w.NotifyEveryBlock && len(w.WaitingSplits) > 0 {
			return machine.ReachesReconvergence
		}
		if end.Op != code.Jump {
			w.Count.Branches++
		}
		w.PC = to
		if w.Count.WarpInstructions >= enough || w.Yields {
			return machine.BudgetUsed
		}
	}
}

// Activate sets the active lanes of the warp's register files.
func Activate(w *machine.Warp) {
	mask := w.Mask
	for h := range w.Files {
		w.Files[h].SetActive(uint32(mask))
		mask >>= 32
	}
}

// StopReason returns the reason why a block cannot execute now, or NoReason.
func StopReason(w *machine.Warp, b *code.Block) machine.Reason {
	switch {
	case b.Caution&code.GloballyOrdered != 0 && !w.CTA.Ordered && !w.PausedInBlock:
		return machine.BeforeOrdered
	case b.Caution&code.GroupWait != 0 && !async.IsGrouped(w, b):
		return machine.BeforeGroupWait
	case b.Caution&code.SeparateCalls != 0 && len(callGroups(w, b)) > 0:
		return machine.DifferentCalls
	case b.Caution&code.EndlessLoop != 0:
		w.Fail(w.CTA.Code.FirstSource(b), w.Mask, probe.ErrEndlessLoop, "%v: this loop has no exit and no effect", probe.ErrEndlessLoop)
		return machine.Trapped
	}
	return machine.NoReason
}

// chargeBlock counts the PTX instructions still to execute by the running warp split in a block, and returns their lowered
// instructions without the block's end. It counts before they execute: the clock includes them.
func chargeBlock(w *machine.Warp, b *code.Block) []code.Instr {
	n, instrs := int32(b.Sources.Len()), b.Body
	if w.Uncounted != 0 { // the warp split is inside the block
		n, instrs = w.Uncounted, instrs[w.PC-b.First:]
	}
	w.Count.WarpInstructions += int64(n)
	return instrs
}

// HaltBefore stops the running warp split before the lowered instruction at pc, which belongs to the PTX instruction with
// index src. It subtracts this PTX instruction and the following PTX instructions of the block from the count.
func HaltBefore(w *machine.Warp, b *code.Block, pc, src int32) {
	w.PC, w.Uncounted = pc, b.Sources.End-src
	w.Count.WarpInstructions -= int64(w.Uncounted)
}

// FailureReason returns the reason why a warp split with an error in w.Err cannot continue.
func FailureReason(w *machine.Warp, b *code.Block) machine.Reason {
	if w.Err != machine.ErrAbsentLanes && w.Err != machine.ErrNoTensorMemory {
		return machine.Trapped
	}
	reason := machine.LanesAbsent
	if w.Err == machine.ErrNoTensorMemory {
		reason = machine.BeforeGroupWait
	}
	w.Err = nil
	returnToInstr(w, b, w.BlockedInstr)
	return reason
}
