package warp

// This file is what executes the code of a warp, and what that leaves to the machine.

import (
	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// ExecuteSpan has the backend execute instructions of a block, from one pc up to another. It stops
// where w.err is set.
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

// blockRunner executes instructions of a block, those from w.pc on up to its end. It stops at
// once if w.err is set; before an instruction it stops by warp.halt.
type blockRunner func(w *machine.Warp, instrs []code.Instr) machine.Reason

// RunBlocks is the run of what executes one block after the other. It goes on behind the end
// of a block where that is a matter of w.pc alone. Otherwise the warp split stands at the end,
// which the machine has to execute.
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

// Activate tells the files which lanes execute.
func Activate(w *machine.Warp) {
	mask := w.Mask
	for h := range w.Files {
		w.Files[h].SetActive(uint32(mask))
		mask >>= 32
	}
}

// StopReason reports what is in the way of executing a block.
func StopReason(w *machine.Warp, b *code.Block) machine.Reason {
	switch {
	case b.Caution&code.GloballyOrdered != 0 && !w.CTA.Ordered && !w.PausedInBlock:
		return machine.BeforeOrdered
	case b.Caution&code.GroupWait != 0 && !async.IsGrouped(w, b):
		return machine.BeforeGroupWait
	case b.Caution&code.SeparateCalls != 0 && len(callGroups(w, b)) > 0:
		return machine.DifferentCalls
	case b.Caution&code.EndlessLoop != 0:
		w.Fail(w.CTA.Code.FirstSource(b), w.Mask, probe.ErrEndlessLoop, "%v: no way leads out of this loop, and it does nothing", probe.ErrEndlessLoop)
		return machine.Trapped
	}
	return machine.NoReason
}

// chargeBlock counts the PTX instructions of a block that the running warp split has yet to execute, and
// gives those of the machine up to the end. It counts before they are executed: the clock
// takes that into account.
func chargeBlock(w *machine.Warp, b *code.Block) []code.Instr {
	n, instrs := int32(b.Sources.Len()), b.Body
	if w.Uncounted != 0 { // it goes on in the middle
		n, instrs = w.Uncounted, instrs[w.PC-b.First:]
	}
	w.Count.WarpInstructions += int64(n)
	return instrs
}

// HaltBefore puts the running warp split before an instruction of its block: of what it has paid for,
// PTX instruction src, which this one is part of, and those behind are yet to
// count.
func HaltBefore(w *machine.Warp, b *code.Block, pc, src int32) {
	w.PC, w.Uncounted = pc, b.Sources.End-src
	w.Count.WarpInstructions -= int64(w.Uncounted)
}

// FailureReason is why a warp split cannot go on for which w.err is set.
func FailureReason(w *machine.Warp, b *code.Block) machine.Reason {
	if w.Err != machine.ErrAbsentLanes && w.Err != machine.ErrNoTensorMemory {
		return machine.Trapped
	}
	why := machine.LanesAbsent
	if w.Err == machine.ErrNoTensorMemory {
		why = machine.BeforeGroupWait
	}
	w.Err = nil
	returnToInstr(w, b, w.BlockedInstr)
	return why
}
