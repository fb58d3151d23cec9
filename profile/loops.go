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
				for _, in := range b.Instrs {
					n.Add(&flow.at[in].Counts)
				}
			}
			if n.Execs == 0 {
				continue
			}
			for _, h := range l.Headers {
				lanes := flow.through(h)
				n.Iterations += lanes
				n.Entries += lanes
				for _, b := range h.Preds {
					if l.Has(b) { // they go round
						n.Entries -= flow.along(b, h)
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

func newFlow(f *Function) *flow {
	n := &flow{f, map[*ptx.Instr]*Instr{}, map[*ptx.Block]bool{}}
	for i := range f.Instrs {
		n.at[f.Instrs[i].Instr] = &f.Instrs[i]
	}
	return n
}

// through is how many lanes have come through a block.
func (f *flow) through(b *ptx.Block) (lanes int64) {
	if len(b.Instrs) > 0 {
		return f.at[b.Instrs[0]].Active
	}
	if f.seen[b] {
		return 0
	}
	f.seen[b] = true
	defer delete(f.seen, b)
	for _, p := range b.Preds {
		lanes += f.along(p, b)
	}
	return lanes
}

// along is how many lanes went from a block to one behind it.
func (f *flow) along(from, to *ptx.Block) (lanes int64) {
	last := from.Terminator()
	if last == nil { // it falls through
		if len(from.Instrs) > 0 {
			return f.at[from.Instrs[len(from.Instrs)-1]].Active
		}
		return f.through(from)
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
