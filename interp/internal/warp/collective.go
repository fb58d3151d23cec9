package warp

// This file executes collective instructions of diverged lanes. An instruction with .sync waits for the lanes of its
// membermask. When the last of them has arrived, all execute the instruction together. The lanes may be at different
// places, but their instructions must have the same modifiers and membermask.

import (
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/regfile"
)

// waitForLanes divides the running warp split, whose collective instruction needs absent lanes. Lanes with an absent lane
// in their membermask wait; the remaining lanes continue.
func waitForLanes(w *machine.Warp) {
	instr := w.BlockedInstr
	f := &w.Files[0]
	m := executingLanes(w, instr)
	member := f.Src32(membermaskRow(instr))
	for remaining := m; remaining != 0; {
		mask := member[bits.TrailingZeros32(remaining)&31]
		lanes := uint32(0)
		for n := remaining; n != 0; n &= n - 1 {
			if i := bits.TrailingZeros32(n) & 31; member[i] == mask {
				lanes |= 1 << i
			}
		}
		remaining &^= lanes
		if mask&uint32(w.Live)&^m != 0 {
			leaveWaitingSplit(w, uint64(lanes), w.PC, machine.SplitWait{Src: w.SourceOf(instr), Instr: instr, Membermask: mask})
		}
	}
	executeCollectives(w)
	scheduleSplit(w)
}

// returnToInstr moves the running warp split back before an instruction of block b, and undoes the counts of the attempt to
// execute it.
func returnToInstr(w *machine.Warp, b *code.Block, instr *code.Instr) {
	pc := b.First
	for &w.CTA.Code.Instrs[pc] != instr {
		pc++
	}
	HaltBefore(w, b, pc, instr.Src)
	if instr.CountsSkipped {
		w.Count.ThreadInstructions += int64(bits.OnesCount32(uint32(w.Mask) &^ executingLanes(w, instr)))
	}
	event.EmitLanes(w, probe.OnUndo, w.SourceOf(instr), w.Mask)
}

// executingLanes returns the lanes that execute an instruction, in a warp of at most 32 lanes.
func executingLanes(w *machine.Warp, instr *code.Instr) uint32 {
	if instr.Guard == 0 {
		return uint32(w.Mask)
	}
	return uint32(w.Mask) & machine.GuardMask(&w.Files[0], instr.Guard)
}

// membermaskRow returns the row of a collective instruction's membermask.
func membermaskRow(instr *code.Instr) int32 {
	return instr.Sources()[instr.Op.Signature().Member-1]
}

// waitingLanes returns the lanes whose wait is for the same collective instruction as wait b.
func waitingLanes(w *machine.Warp, b *machine.SplitWait) uint32 {
	m := uint32(0)
	for i := range w.WaitingSplits {
		if other := w.WaitingSplits[i].Wait; other != nil && b.SameInstr(other) {
			m |= uint32(w.WaitingSplits[i].Mask)
		}
	}
	return m
}

// executeCollectives executes each collective instruction whose lanes have all arrived.
func executeCollectives(w *machine.Warp) {
	for i := 0; i < len(w.WaitingSplits) && w.Err == nil; i++ {
		b := w.WaitingSplits[i].Wait
		if b == nil || !b.IsCollective() {
			continue
		}
		m := waitingLanes(w, b)
		if b.Membermask&uint32(w.Live)&^m != 0 {
			continue
		}
		if b.Op == nil {
			executeTogether(w, b, m)
		}
		request := *b
		for k := range w.WaitingSplits {
			if split := &w.WaitingSplits[k]; split.Wait != nil && request.SameInstr(split.Wait) {
				if request.Op == nil {
					split.PC++
				}
				wakeSplit(w, split)
			}
		}
	}
	mergeSplits(w)
	if w.Mask != 0 {
		w.ShowWindow(w.Frame)
	}
}

// withoutGuard returns instr without its guard, for the temporary register file of executeTogether: sources A, B, C and E
// are rows 0 to 3 of their slots, and results D and F are rows 4 and 5.
func withoutGuard(instr *code.Instr) code.Instr {
	return code.Instr{Op: instr.Op, Src: instr.Src, Imm: instr.Imm, A: 0, B: 1, C: 2, E: 3, D: 4, F: 5}
}

// executeTogether executes a collective instruction for the lanes of m, whose waits are for the same instruction as b. It
// copies the operands of all lanes to a temporary register file, executes the instruction there, and copies the results.
func executeTogether(w *machine.Warp, b *machine.SplitWait, m uint32) {
	const operands = 6
	f := regfile.New(nil, false)
	f.Reset(regfile.Size{R: operands, Q: operands, P: operands})
	all := withoutGuard(b.Instr)
	for i := range w.WaitingSplits {
		split := &w.WaitingSplits[i]
		if split.Wait == nil || !b.SameInstr(split.Wait) {
			continue
		}
		w.ShowWindow(split.Frame)
		instr, from, lanes := split.Wait.Instr, &w.Files[0], uint32(split.Mask)
		if from.Tracked() {
			if s := w.CTA.Stream; s != nil {
				s.StepPlace.SourceInstr = split.Wait.Src
			}
			for _, row := range w.CTA.Code.Reads(nil, instr) {
				machine.MaterialiseRow(from, row, lanes)
			}
		}
		if w.Check != nil {
			w.SelectHalf(0, lanes)
			if w.Check.CompareSources(w, w.BeginInstr(split.PC, instr).UncheckedReads); w.Err != nil {
				return
			}
		}
		rows := instr.Sources()
		for i, s := range instr.Op.Signature().Src {
			switch row := rows[i]; s {
			case code.R:
				copyLanes(f.Row32(int32(i)), from.Src32(row), lanes)
			case code.Q:
				copyLanes(f.Row64(int32(i)), from.Src64(row), lanes)
			case code.P:
				f.SetP(int32(i), lanes, from.SrcP(row))
			}
		}
	}
	if lanes.ExecuteOnLanes(w, 0, f, &all, m); w.Err != nil {
		return
	}
	running := w.WarpSplit
	for i := range w.WaitingSplits {
		split := &w.WaitingSplits[i]
		if split.Wait == nil || !b.SameInstr(split.Wait) {
			continue
		}
		w.WarpSplit = *split
		w.ShowWindow(split.Frame)
		copyCollectiveResults(w, split.Wait.Instr, f)
	}
	w.WarpSplit = running
}

// copyCollectiveResults copies the results of executeTogether from file f to the registers of the running warp split.
func copyCollectiveResults(w *machine.Warp, instr *code.Instr, f *regfile.File) {
	m := uint32(w.Mask)
	event.ObserveInstr(w, w.SourceOf(instr), w.Mask, func() {
		adoptResults(w, &w.Files[0], instr, f, m)
		if w.Check == nil {
			return
		}
		w.SelectHalf(0, m)
		p := w.BeginInstr(w.PC, instr)
		w.SwitchToReference()
		adoptResults(w, &w.Files[0], p.Reference, f, m)
		w.SwitchToReference()
		w.Check.CompareResults(w, p.Writes)
	})
}

// adoptResults copies the results of instr for the lanes of m from the temporary file from to file to.
func adoptResults(w *machine.Warp, to *regfile.File, instr *code.Instr, from *regfile.File, m uint32) {
	all, s := withoutGuard(instr), instr.Op.Signature()
	if to.Tracked() {
		for _, row := range w.CTA.Code.Writes(nil, instr) {
			machine.MarkGeneric(to, row, m)
		}
	}
	switch {
	case instr.D == code.NoRow:
	case s.Dst == code.R:
		copyLanes(to.Row32(instr.D), from.Row32(all.D), m)
	default:
		to.SetP(instr.D, m, from.Pred(all.D))
	}
	if s.Dst2 != code.NoSlot && instr.F != code.NoRow {
		to.SetP(instr.F, m, from.Pred(all.F))
	}
}

// copyLanes copies the lanes of m from one row to another.
func copyLanes[T any](to, from *[regfile.Lanes]T, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to[i] = from[i]
	}
}
