package profile

// This file derives the counts of loops.

import (
	"slices"

	"gemu/ptx"
)

// Loop is an executed loop with the counts of its instructions, including inner loops but not called functions.
type Loop struct {
	*ptx.Loop
	Func *ptx.Func // function of the loop
	Counts

	Entries    int64 // lanes that entered from outside
	Iterations int64 // lanes that executed a header, summed
}

// MeanIterations returns the mean number of iterations of an entering lane.
func (l *Loop) MeanIterations() float64 { return mean(l.Iterations, l.Entries) }

// Loops returns the executed loops by function, outer loops before inner loops.
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
					if l.Has(b) { // back edge
						n.Entries -= flow.lanesAlong(b, h)
					}
				}
			}
			list = append(list, n)
		}
	}
	return list
}

// flow is the flow of lanes through a function.
type flow struct {
	*Function
	instrs map[*ptx.Instr]*Instr
	seen   map[*ptx.Block]bool // empty blocks under evaluation, to stop cycles
}

func newFlow(f *Function) *flow {
	n := &flow{f, map[*ptx.Instr]*Instr{}, map[*ptx.Block]bool{}}
	for i := range f.Instrs {
		n.instrs[f.Instrs[i].Instr] = &f.Instrs[i]
	}
	return n
}

// lanesThrough returns the number of lanes that passed a block, summed.
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

// lanesAlong returns the number of lanes that took an edge, summed.
func (f *flow) lanesAlong(from, to *ptx.Block) (lanes int64) {
	last := from.Terminator()
	if last == nil { // falls through
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
	case len(targets) == 1 && targets[0] == to && next: // both outcomes lead to the same block
		return in.Active
	case len(targets) == 1 && targets[0] == to:
		return in.Taken
	case next: // the lanes that did not branch, return or exit
		return in.Active - in.Taken
	}
	return 0
}

// first returns the first instruction at or after a block, or nil.
func (f *flow) first(b *ptx.Block) *ptx.Instr {
	for _, b := range f.Blocks[b.Index:] {
		if len(b.Instrs) > 0 {
			return b.Instrs[0]
		}
	}
	return nil
}

// number returns the number of an instruction in the function, or -1.
func (f *flow) number(instr *ptx.Instr) int {
	return slices.IndexFunc(f.Instrs, func(o Instr) bool { return o.Instr == instr })
}
