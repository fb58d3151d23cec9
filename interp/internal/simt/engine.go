package simt

// This file counts what compact execution does, in check mode: what it saves, and what
// that costs. A change that leaves results as they are, and these counts, has not made it
// worse.

import (
	"slices"

	"gemu/interp/internal/code"
)

// EngineCounts is how instructions have executed, counted for half warps of 32 lanes.
// Check mode counts; in other modes all are 0.
type EngineCounts struct {
	// What compact execution saves.
	Fixed       int64 // executed once for the launch
	Proved      int64 // on single values, without a look at tags
	Compact     int64 // on compact operands, or at a compact address
	FastForm    int64 // of those, without a rule of the table: on uniform operands, or by a fast form
	ShadowLanes int64 // lanes that a shadow or a constant speaks for, in results

	// What it costs, and what is left.
	VectorExecuted    int64 // over the lanes
	MaterialisedLanes int64 // lanes that have been written to rows from shadows
	FrameBytes        int64 // of the frames of all functions, in bytes of a lane

	// What the plan claims, which all this rests on.
	Claims int64 // instructions whose results are constants of the launch, or proved to be uniform, and accesses whose addresses are proved to lie in a pattern
}

func (c *EngineCounts) add(other *EngineCounts) {
	c.Fixed += other.Fixed
	c.Proved += other.Proved
	c.Compact += other.Compact
	c.FastForm += other.FastForm
	c.ShadowLanes += other.ShadowLanes
	c.VectorExecuted += other.VectorExecuted
	c.MaterialisedLanes += other.MaterialisedLanes
	c.FrameBytes += other.FrameBytes
	c.Claims += other.Claims
}

// runCounts is how many of a run's instructions execute in which way.
type runCounts struct{ fixed, onLanes, proved, compact uint8 }

// with adds an instruction to those behind it.
func (s runCounts) with(p *instrPair) runCounts {
	switch {
	case p.instr == nil:
		s.fixed++
	case p.onLanes:
		s.onLanes++
	case p.instr.Plan.Exec >= code.ProvedOne:
		s.proved++
	default:
		s.compact++
	}
	return s
}

// countEngine counts the instructions under way, which have executed.
func (w *warp) countEngine() {
	k, n, s := w.check, &w.count.Engine, &w.check.run.counts
	compact := int64(s.compact) - int64(k.fellBack)
	n.Fixed += int64(s.fixed)
	n.VectorExecuted += int64(s.onLanes) + int64(k.fellBack)
	n.Proved += int64(s.proved)
	n.Compact += compact
	n.FastForm += compact - (w.unit.Applied - k.rulesApplied)
	k.rulesApplied = w.unit.Applied
}

// frameBytes is the size of the frames of a program's functions, in bytes of a lane.
func frameBytes(p *code.Program) (n int64) {
	for _, f := range p.Funcs {
		n += 4*int64(f.Frame.R) + 8*int64(f.Frame.Q) + int64(f.Frame.P)
	}
	return n
}

// countClaims is how many results of a program the plan claims to know something of.
func countClaims(p *code.Program) int64 {
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
