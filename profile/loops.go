package profile

// This file is the loops of what ran.

import (
	"slices"

	"gemu/ptx"
)

// Loop is a loop and what its instructions have done, those of loops within it too, without those of
// functions that it calls.
type Loop struct {
	*ptx.Loop
	Func *ptx.Func
	Counts

	Entries    int64 // lanes that came to it from outside
	Iterations int64 // lanes that executed a header, added up
	Warp       int64 // executions of headers by warps
}

// MeanIterations is how often a lane that enters goes round.
func (l *Loop) MeanIterations() float64 { return mean(l.Iterations, l.Entries) }

// Loops are the loops that were reached, by function, outer ones before those within them.
func (p *Profile) Loops() (list []*Loop) {
	for _, f := range p.Functions() {
		at := map[*ptx.Instr]*Instr{}
		for i := range f.Instrs {
			at[f.Instrs[i].Instr] = &f.Instrs[i]
		}
		flow := flow{f, at, map[*ptx.Block]bool{}}
		for _, l := range f.Loops() {
			n := &Loop{Loop: l, Func: f.Func}
			for _, b := range l.Blocks {
				for _, in := range b.Instrs {
					n.Add(&at[in].Counts)
				}
			}
			if n.Execs == 0 {
				continue
			}
			for _, h := range l.Headers {
				warps, lanes := flow.through(h)
				n.Warp += warps
				n.Iterations += lanes
				if h.Index == 0 {
					n.Entries += lanes // less those that came by edges, below
				}
				for _, b := range h.Preds {
					if h.Index == 0 {
						n.Entries -= flow.along(b, h)
					}
					if !l.Has(b) {
						n.Entries += flow.along(b, h)
					}
				}
			}
			list = append(list, n)
		}
	}
	return list
}

// flow is how lanes went through a function.
type flow struct {
	*Function
	at   map[*ptx.Instr]*Instr
	seen map[*ptx.Block]bool // blocks without instructions that are being looked at
}

// through is how often warps, and lanes, have come through a block.
func (f *flow) through(b *ptx.Block) (warps, lanes int64) {
	if len(b.Instrs) > 0 {
		in := f.at[b.Instrs[0]]
		return in.Execs, in.Active
	}
	if f.seen[b] {
		return 0, 0
	}
	f.seen[b] = true
	defer delete(f.seen, b)
	for _, p := range b.Preds {
		n := f.along(p, b)
		lanes += n
	}
	return lanes, lanes
}

// along is how many lanes went from a block to one behind it.
func (f *flow) along(from, to *ptx.Block) (lanes int64) {
	last := from.Terminator()
	if last == nil { // it falls through
		if len(from.Instrs) > 0 {
			return f.at[from.Instrs[len(from.Instrs)-1]].Active
		}
		_, lanes = f.through(from)
		return lanes
	}
	in := f.at[last]
	next := from.Index+1 == to.Index && last.Guard.Reg != ptx.NoReg
	switch targets := last.Targets(); {
	case len(targets) > 1:
		return f.ways[way{f.number(last), f.number(f.first(to))}]
	case len(targets) == 1 && targets[0] == to && next: // both lead there
		return in.Active
	case len(targets) == 1 && targets[0] == to:
		return in.Taken
	case next: // of a branch, or of a return or exit of some
		return in.Active - in.Taken
	}
	return 0
}

// first is the instruction that lanes come to at a block; nil if that is the function's end.
func (f *flow) first(b *ptx.Block) *ptx.Instr {
	for _, b := range f.Blocks[b.Index:] {
		if len(b.Instrs) > 0 {
			return b.Instrs[0]
		}
	}
	return nil
}

// number is that of an instruction in the function, -1 of none.
func (f *flow) number(in *ptx.Instr) int {
	return slices.IndexFunc(f.Instrs, func(o Instr) bool { return o.Instr == in })
}
