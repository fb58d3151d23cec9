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

func (*portable) run(w *warp, budget int) reason { return inBlocks(w, budget, (*warp).block) }

func (*portable) span(w *warp, from, to int32) int32 {
	w.block(w.cta.code.Instrs[from:to])
	return to
}

// block executes instructions of a block, up to its end or less.
func (w *warp) block(insts []code.Instr) reason {
	if len(w.files) > 1 {
		w.blockWide(insts)
		return goesOn
	}
	f := &w.files[0]
	mask := f.Active()
	for i := range insts {
		in := &insts[i]
		m := mask
		if in.Guard != 0 {
			if m = w.lanesOf(0, in); m == 0 {
				continue
			}
		}
		if exec := in.How.Exec; exec != code.OnLanes {
			ways[exec](w, 0, f, in, m)
		} else if k := alu.Vec[in.Op]; k != nil {
			k(f, in, m)
			continue
		} else {
			lanes[in.Op](w, 0, f, in, m)
		}
		if w.err != nil {
			break
		}
	}
	return goesOn
}

// blockWide executes instructions for a warp of 64 lanes: each instruction runs for both
// halves.
func (w *warp) blockWide(insts []code.Instr) {
	for i := range insts {
		if w.each(&insts[i]); w.err != nil {
			return
		}
	}
}

// each executes an instruction for each half of the warp.
func (w *warp) each(in *code.Instr) {
	for h := range w.files {
		m := w.lanesOf(h, in)
		if m == 0 {
			continue
		}
		if w.exec(h, &w.files[h], in, m); w.err != nil {
			return
		}
	}
}

// lanesOf is the lanes of half h that execute an instruction; those that its guard
// keeps back are not counted.
func (w *warp) lanesOf(h int, in *code.Instr) uint32 {
	mask := w.files[h].Active()
	if in.Guard == 0 {
		return mask
	}
	m := mask & guardMask(&w.files[h], in.Guard)
	if in.Skips {
		w.count.ThreadInstructions -= int64(bits.OnesCount32(mask &^ m))
	}
	return m
}
