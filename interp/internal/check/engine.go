package check

// This file counts what compact execution does, in check mode: what it saves, and what
// that costs. A change that leaves results as they are, and these counts, has not made it
// worse.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// addToCounts adds an instruction to those behind it.
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

// countEngine counts the instructions under way, which have executed.
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

// FrameBytes is the size of the frames of a program's functions, in bytes of a lane.
func FrameBytes(p *code.Program) (n int64) {
	for _, f := range p.Funcs {
		n += 4*int64(f.Frame.R) + 8*int64(f.Frame.Q) + int64(f.Frame.P)
	}
	return n
}

// CountClaims is how many results of a program the plan claims to know something of.
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
