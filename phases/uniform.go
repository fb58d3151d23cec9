package phases

import (
	"slices"

	"gemu/ptx"
)

// divergentBlocks reports for each block whether lanes of a warp may have taken another path, which joins later. A branch diverges if its
// predicate can differ between the lanes of a warp. Its paths join at its immediate post-dominator; the blocks between are divergent. A path on
// which the lanes only end is no path: all other lanes go on together.
//
// A register can differ between lanes if an instruction that writes it reads such a register, a special register of a lane, local memory, or
// the result of an atomic or of an exchange between lanes; if its guard differs; or if it is in a divergent block. A load from the same address
// in all lanes is the same in all lanes.
func divergentBlocks(f *ptx.Func) []bool {
	varies := make([]bool, len(f.Regs))
	divergent := make([]bool, len(f.Blocks))
	joins := f.ImmediatePostDominators()
	for changed := true; changed; {
		changed = false
		for b, block := range f.Blocks {
			for _, instr := range block.Instrs {
				if !divergent[b] && !instrVaries(instr, varies) {
					continue
				}
				for r := range instr.Defs() {
					changed = changed || !varies[r]
					varies[r] = true
				}
			}
			term := block.Terminator()
			if term == nil || len(block.Succs) < 2 || !instrVaries(term, varies) {
				continue
			}
			var paths []*ptx.Block
			for _, s := range block.Succs {
				if !onlyEnds(s) {
					paths = append(paths, s)
				}
			}
			if len(paths) < 2 {
				continue
			}
			for len(paths) > 0 {
				p := paths[len(paths)-1]
				paths = paths[:len(paths)-1]
				if p.Index == joins[b] || divergent[p.Index] {
					continue
				}
				divergent[p.Index] = true
				changed = true
				paths = append(paths, p.Succs...)
			}
		}
	}
	return divergent
}

// onlyEnds reports whether a block does nothing but end its threads.
func onlyEnds(b *ptx.Block) bool {
	for _, instr := range b.Instrs {
		if !instr.Form.Effects.Any(ptx.Returns | ptx.Exits) {
			return false
		}
	}
	return len(b.Succs) == 0
}

// instrVaries reports whether the results of an instruction, or its branch, can differ between lanes.
func instrVaries(instr *ptx.Instr, varies []bool) bool {
	for r := range instr.Uses() {
		if varies[r] {
			return true
		}
	}
	effects := instr.Form.Effects
	if effects.Any(ptx.Atomic | ptx.Collective) {
		return true
	}
	if space, _ := instr.Space(); space == ptx.Local {
		return true
	}
	var differs func(list []ptx.Operand) bool
	differs = func(list []ptx.Operand) bool {
		return slices.ContainsFunc(list, func(o ptx.Operand) bool {
			return o.Kind == ptx.SRegOperand && (o.SReg.PerLane() || o.SReg.Measures()) || differs(o.Elems())
		})
	}
	return differs(instr.Ops)
}
