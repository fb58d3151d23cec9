package simt

// This file is the backend in Go: it executes each instruction as the plan says, on compact
// operands or on lanes.

import (
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
)

// Portable is the backend that has all instructions, on every host.
var Portable Backend = new(portable)

type portable struct{}

func (*portable) run(w *warp, budget int) reason { return runBlocks(w, budget, (*warp).block) }

func (*portable) span(w *warp, from, to int32) int32 {
	w.block(w.cta.code.Instrs[from:to])
	return to
}

func (*portable) importAll(*cta) {}

// block executes instructions of a block, up to its end or less.
func (w *warp) block(instrs []code.Instr) reason {
	if len(w.files) > 1 {
		w.blockWide(instrs)
		return noReason
	}
	f := &w.files[0]
	mask := f.Active()
	for i := range instrs {
		instr := &instrs[i]
		m := mask
		if instr.Guard != 0 {
			if m = w.lanesOf(0, instr); m == 0 {
				continue
			}
		}
		if exec := instr.Plan.Exec; exec != code.OnLanes {
			execFuncs[exec](w, 0, f, instr, m)
		} else if k := alu.Vec[instr.Op]; k != nil {
			k(f, instr, m)
			continue
		} else {
			laneFuncs[instr.Op](w, 0, f, instr, m)
		}
		if w.err != nil {
			break
		}
	}
	return noReason
}

// blockWide executes instructions for a warp of 64 lanes: each instruction runs for both
// halves.
func (w *warp) blockWide(instrs []code.Instr) {
	for i := range instrs {
		if w.each(&instrs[i]); w.err != nil {
			return
		}
	}
}

// each executes an instruction for each half of the warp.
func (w *warp) each(instr *code.Instr) {
	for h := range w.files {
		m := w.lanesOf(h, instr)
		if m == 0 {
			continue
		}
		if w.exec(h, &w.files[h], instr, m); w.err != nil {
			return
		}
	}
}

// lanesOf is the lanes of half h that execute an instruction; those that its guard
// keeps back are not counted.
func (w *warp) lanesOf(h int, instr *code.Instr) uint32 {
	mask := w.files[h].Active()
	if instr.Guard == 0 {
		return mask
	}
	m := mask & guardMask(&w.files[h], instr.Guard)
	if instr.CountsSkipped {
		w.count.ThreadInstructions -= int64(bits.OnesCount32(mask &^ m))
	}
	return m
}
