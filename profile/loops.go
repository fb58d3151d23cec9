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
}

// MeanIterations is how often a lane that enters goes round.
func (l *Loop) MeanIterations() float64 { return mean(l.Iterations, l.Entries) }

// Loops are the loops that were reached, by function, outer ones before those within them.
func (p *Profile) Loops() (list []*Loop) {
	for _, f := range p.Functions() {
		flow := newFlow(f)
		for _, l := range f.Loops() {
			n := &Loop{Loop: l, Func: f.Func}
			for _, b := range l.Blocks {
				for _, instr := range b.Instrs {
					n.Add(&flow.instrs[instr].Counts)
				}
			}
			if n.Execs == 0 {
				continue
			}
			for _, h := range l.Headers {
				lanes := flow.lanesThrough(h)
				n.Iterations += lanes
				n.Entries += lanes
				for _, b := range h.Preds {
					if l.Has(b) { // they go round
						n.Entries -= flow.lanesAlong(b, h)
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
	instrs map[*ptx.Instr]*Instr
	seen   map[*ptx.Block]bool // blocks without instructions that are being looked at
}

func newFlow(f *Function) *flow {
	n := &flow{f, map[*ptx.Instr]*Instr{}, map[*ptx.Block]bool{}}
	for i := range f.Instrs {
		n.instrs[f.Instrs[i].Instr] = &f.Instrs[i]
	}
	return n
}

// lanesThrough is how many lanes have come through a block.
func (f *flow) lanesThrough(b *ptx.Block) (lanes int64) {
	if len(b.Instrs) > 0 {
		return f.instrs[b.Instrs[0]].Active
	}
	if f.seen[b] {
		return 0
	}
	f.seen[b] = true
	defer delete(f.seen, b)
	for _, p := range b.Preds {
		lanes += f.lanesAlong(p, b)
	}
	return lanes
}

// lanesAlong is how many lanes went from a block to one behind it.
func (f *flow) lanesAlong(from, to *ptx.Block) (lanes int64) {
	last := from.Terminator()
	if last == nil { // it falls through
		if len(from.Instrs) > 0 {
			return f.instrs[from.Instrs[len(from.Instrs)-1]].Active
		}
		return f.lanesThrough(from)
	}
	in := f.instrs[last]
	next := from.Index+1 == to.Index && last.Guard.Reg != ptx.NoReg
	switch targets := last.Targets(); {
	case len(targets) > 1:
		return f.branches[branchEdge{f.number(last), f.number(f.first(to))}]
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
func (f *flow) number(instr *ptx.Instr) int {
	return slices.IndexFunc(f.Instrs, func(o Instr) bool { return o.Instr == instr })
}
