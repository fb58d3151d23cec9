package check

// This file counts how check mode has executed instructions: compactly, by the plan, on the lanes. Tests pin these counts.
// A change that keeps the counts has not made compact execution rarer.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// addToCounts adds an instruction to the counts of its run.
func addToCounts(s machine.RunCounts, p *machine.InstrPair) machine.RunCounts {
	switch {
	case p.Instr == nil:
		s.Fixed++
	case p.OnLanes:
		s.OnLanes++
	case p.Instr.Plan.Exec >= code.ProvedOne:
		s.Proved++
	default:
		s.Compact++
	}
	return s
}

// countEngine adds the instructions of the executed step to the counts of the warp.
func countEngine(w *machine.Warp) {
	k, n, s := w.Check, &w.Count.Engine, &w.Check.Run.Counts
	compact := int64(s.Compact) - int64(k.FellBack)
	n.Fixed += int64(s.Fixed)
	n.VectorExecuted += int64(s.OnLanes) + int64(k.FellBack)
	n.Proved += int64(s.Proved)
	n.Compact += compact
	n.FastForm += compact - (w.Unit.Applied - k.RulesApplied)
	k.RulesApplied = w.Unit.Applied
}

// FrameBytes returns the sum of the frame sizes of all functions of a program, in bytes per lane. A predicate counts as one
// byte.
func FrameBytes(p *code.Program) (n int64) {
	for _, f := range p.Funcs {
		n += 4*int64(f.Frame.R) + 8*int64(f.Frame.Q) + int64(f.Frame.P)
	}
	return n
}

// CountClaims returns the number of claims of a program's plan: instructions folded into constants, accesses with a known
// pattern, and instructions with a result that the plan expects to be uniform.
func CountClaims(p *code.Program) int64 {
	n := len(p.Fixed)
	for i := range p.Access {
		if p.Access[i].Pattern != code.AnyPattern {
			n++
		}
	}
	var list []code.Row
	for i := range p.Blocks {
		fn := p.Funcs[p.Blocks[i].Func]
		for pc := p.Blocks[i].First; pc <= p.Blocks[i].Last; pc++ {
			list = p.Writes(list[:0], &p.Instrs[pc])
			if slices.ContainsFunc(list, func(r code.Row) bool { return fn.KeepingOf(r)&code.StorageProved != 0 }) {
				n++
			}
		}
	}
	return int64(n)
}
