package simt

// This file lets lanes of a warp that have diverged meet in an instruction. One with
// .sync waits for the lanes its membermask names: lanes that get there first wait,
// and with the last all execute it together, wherever each of them is. They must
// execute the same instruction, modifiers included, with the same membermask.

import (
	"errors"
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/probe"
	"gemu/regfile"
)

// errAbsentLanes is the answer of a collective instruction, w.away, when lanes are elsewhere
// that it waits for.
var errAbsentLanes = errors.New("lanes are elsewhere")

// waitForLanes divides the running warp split, whose present instruction waits for lanes that
// are elsewhere: those that wait for them do so, the others go on.
func (w *warp) waitForLanes() {
	instr := w.blockedInstr
	f := &w.files[0]
	m := w.executingLanes(instr)
	member := f.Src32(membermaskRow(instr))
	for rest := m; rest != 0; {
		mask := member[bits.TrailingZeros32(rest)&31]
		lanes := uint32(0)
		for n := rest; n != 0; n &= n - 1 {
			if i := bits.TrailingZeros32(n) & 31; member[i] == mask {
				lanes |= 1 << i
			}
		}
		rest &^= lanes
		if mask&uint32(w.live)&^m != 0 {
			w.leaveWaiting(uint64(lanes), w.pc, wait{src: w.sourceOf(instr), instr: instr, membermask: mask})
		}
	}
	w.executeCollectives()
	w.schedule()
}

// returnToInstr puts the running warp split before an instruction of its block, as if it had
// not tried to execute it.
func (w *warp) returnToInstr(b *code.Block, instr *code.Instr) {
	pc := b.First
	for &w.cta.code.Instrs[pc] != instr {
		pc++
	}
	w.halt(b, pc, instr.Src)
	if instr.CountsSkipped {
		w.count.ThreadInstructions += int64(bits.OnesCount32(uint32(w.mask) &^ w.executingLanes(instr)))
	}
	w.emitLanes(probe.OnUndo, w.sourceOf(instr), w.mask)
}

// executingLanes is the lanes of a warp of 32 that execute an instruction.
func (w *warp) executingLanes(instr *code.Instr) uint32 {
	if instr.Guard == 0 {
		return uint32(w.mask)
	}
	return uint32(w.mask) & guardMask(&w.files[0], instr.Guard)
}

// membermaskRow is the row of a collective instruction's membermask.
func membermaskRow(instr *code.Instr) int32 {
	return instr.Sources()[instr.Op.Signature().Member-1]
}

// sameInstr reports whether two waits are for the same lanes to execute the same.
func (b *wait) sameInstr(other *wait) bool {
	return b.membermask == other.membermask && b.isCollective() && other.isCollective() && b.src.Text == other.src.Text
}

// isCollective reports whether it is lanes of the warp that are waited for.
func (b *wait) isCollective() bool { return b.op == nil || b.op.Kind == code.BarWarp }

// waitingLanes is the lanes that wait as b does.
func (w *warp) waitingLanes(b *wait) uint32 {
	m := uint32(0)
	for i := range w.waitingSplits {
		if other := w.waitingSplits[i].wait; other != nil && b.sameInstr(other) {
			m |= uint32(w.waitingSplits[i].mask)
		}
	}
	return m
}

// executeCollectives lets the lanes execute what they wait for each other to execute, where all
// are there.
func (w *warp) executeCollectives() {
	for i := 0; i < len(w.waitingSplits) && w.err == nil; i++ {
		b := w.waitingSplits[i].wait
		if b == nil || !b.isCollective() {
			continue
		}
		m := w.waitingLanes(b)
		if b.membermask&uint32(w.live)&^m != 0 {
			continue
		}
		if b.op == nil {
			w.executeTogether(b, m)
		}
		request := *b
		for k := range w.waitingSplits {
			if split := &w.waitingSplits[k]; split.wait != nil && request.sameInstr(split.wait) {
				if request.op == nil {
					split.pc++
				}
				w.wake(split)
			}
		}
	}
	w.merge()
	if w.mask != 0 {
		w.show(w.frame)
	}
}

// withoutGuard is an instruction in a file of its own, where lanes that are at different
// places execute it together: operand i in row i of its slot.
func withoutGuard(instr *code.Instr) code.Instr {
	return code.Instr{Op: instr.Op, Src: instr.Src, Imm: instr.Imm, A: 0, B: 1, C: 2, E: 3, D: 4, F: 5}
}

// executeTogether executes an instruction for the lanes of m, which wait as b does, each with its
// own operands.
func (w *warp) executeTogether(b *wait, m uint32) {
	const operands = 6
	f := regfile.New(nil, false)
	f.Reset(regfile.Size{R: operands, Q: operands, P: operands})
	all := withoutGuard(b.instr)
	for i := range w.waitingSplits {
		split := &w.waitingSplits[i]
		if split.wait == nil || !b.sameInstr(split.wait) {
			continue
		}
		w.show(split.frame)
		instr, from, lanes := split.wait.instr, &w.files[0], uint32(split.mask)
		if from.Tracked() {
			if s := w.cta.stream; s != nil {
				s.stepPlace.source = split.wait.src
			}
			for _, row := range w.cta.code.Reads(nil, instr) {
				expand(from, row, lanes)
			}
		}
		if w.check != nil {
			w.selectHalf(0, lanes)
			if w.check.compareSources(w, w.beginInstr(split.pc, instr).uncheckedReads); w.err != nil {
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
	if w.onLanes(0, f, &all, m); w.err != nil {
		return
	}
	running := w.warpSplit
	for i := range w.waitingSplits {
		split := &w.waitingSplits[i]
		if split.wait == nil || !b.sameInstr(split.wait) {
			continue
		}
		w.warpSplit = *split
		w.show(split.frame)
		w.copyCollectiveResults(split.wait.instr, f)
	}
	w.warpSplit = running
}

// copyCollectiveResults gives the running warp split its results of an instruction that lanes have
// executed together in file f.
func (w *warp) copyCollectiveResults(instr *code.Instr, f *regfile.File) {
	m := uint32(w.mask)
	w.observe(w.sourceOf(instr), w.mask, func() {
		w.adopt(&w.files[0], instr, f, m)
		if w.check == nil {
			return
		}
		w.selectHalf(0, m)
		p := w.beginInstr(w.pc, instr)
		w.switchToReference()
		w.adopt(&w.files[0], p.ref, f, m)
		w.switchToReference()
		w.check.compareResults(w, p.writes)
	})
}

// adopt writes the results of an instruction that lanes have executed together in file
// from to those of its lanes that are in m.
func (w *warp) adopt(to *regfile.File, instr *code.Instr, from *regfile.File, m uint32) {
	all, s := withoutGuard(instr), instr.Op.Signature()
	if to.Tracked() {
		for _, row := range w.cta.code.Writes(nil, instr) {
			markGeneric(to, row, m)
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

func copyLanes[T any](to, from *[regfile.Lanes]T, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to[i] = from[i]
	}
}
