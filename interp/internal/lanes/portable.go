package lanes

// This file executes instructions of a block in Go, each as the plan says: on compact operands or on lanes.

import (
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// ExecuteBlock executes instructions of a block, up to a trap. The instruction at the block's end must not be among them.
func ExecuteBlock(w *machine.Warp, instrs []code.Instr) machine.Reason {
	if len(w.Files) > 1 {
		executeBlockWide(w, instrs)
		return machine.NoReason
	}
	f := &w.Files[0]
	mask := f.Active()
	for i := range instrs {
		instr := &instrs[i]
		m := mask
		if instr.Guard != 0 {
			if m = ExecutingLanes(w, 0, instr); m == 0 {
				continue
			}
		}
		if exec := instr.Plan.Exec; exec != code.OnLanes {
			execFuncs[exec](w, 0, f, instr, m)
		} else if k := alu.Vec[instr.Op]; k != nil {
			k(f, instr, m)
			continue
		} else {
			LaneFuncs[instr.Op](w, 0, f, instr, m)
		}
		if w.Err != nil {
			break
		}
	}
	return machine.NoReason
}

// executeBlockWide executes instructions for a warp of 64 lanes: each instruction for both halves.
func executeBlockWide(w *machine.Warp, instrs []code.Instr) {
	for i := range instrs {
		if executeBothHalves(w, &instrs[i]); w.Err != nil {
			return
		}
	}
}

// executeBothHalves executes an instruction for each half of the warp.
func executeBothHalves(w *machine.Warp, instr *code.Instr) {
	for h := range w.Files {
		m := ExecutingLanes(w, h, instr)
		if m == 0 {
			continue
		}
		if executeInstr(w, h, &w.Files[h], instr, m); w.Err != nil {
			return
		}
	}
}

// ExecutingLanes returns the lanes of half h for which the guard of an instruction holds. All active lanes were counted
// when the block began; ExecutingLanes subtracts the disabled lanes from the count of thread instructions.
func ExecutingLanes(w *machine.Warp, h int, instr *code.Instr) uint32 {
	mask := w.Files[h].Active()
	if instr.Guard == 0 {
		return mask
	}
	m := mask & machine.GuardMask(&w.Files[h], instr.Guard)
	if instr.CountsSkipped {
		w.Count.ThreadInstructions -= int64(bits.OnesCount32(mask &^ m))
	}
	return m
}
