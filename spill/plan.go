package spill

// This file combines the steps: it places and colours until every variable has a register, and allocates local memory.

import (
	"cmp"
	"fmt"
	"slices"

	"gemu/ptx"
)

// plan is the allocation of a function.
type plan struct {
	*analysis
	webs       *program // the placement, on webs of its variables
	variableOf []int32  // by web: its variable
	units      [][]int  // by web: its registers

	slots []int // by variable: its offset in local memory, or -1
	bytes int   // total size of the slots in bytes
	used  int   // number of used registers
	moves int   // number of moves that rewrite has removed
}

// allocate allocates the registers of a function.
func (a *analysis) allocate(regs int) (*plan, error) {
	for b := range a.program.blocks {
		for i := range a.program.blocks[b].ops {
			if o := &a.program.blocks[b].ops[i]; o.registersNeeded(a.program) > regs {
				return nil, newError(a.f, o.instr.Pos, "this instruction needs %d registers of 32 bits, but only %d are available", o.registersNeeded(a.program), regs)
			}
		}
	}
	memory := make([]bool, a.program.n)
	for {
		p, err := a.place(regs, memory)
		if err != nil {
			return nil, err
		}
		webs := &program{p.blocks, a.program.n, a.program.units}
		variableOf := webs.webs()
		c := newColoring(webs, a.depth)
		failed := c.color(regs)
		if len(failed) == 0 {
			return a.plan(webs, variableOf, c), nil
		}
		if !a.evict(memory, variableOf, failed, c) {
			panic(fmt.Sprintf("BUG: %s: registers cannot be allocated to %d", a.f.Name, regs))
		}
	}
}

// evict moves variables to memory that found no register, or else the cheapest neighbour of such a variable.
func (a *analysis) evict(memory []bool, variableOf, failed []int32, c *coloring) bool {
	any := false
	for _, w := range failed {
		if v := variableOf[w]; !memory[v] {
			memory[v] = true
			any = true
		}
	}
	if any {
		return true
	}
	var neighbours []int32
	for _, w := range failed {
		neighbours = append(neighbours, c.neighbours[w]...)
	}
	neighbours = slices.DeleteFunc(neighbours, func(w int32) bool { return memory[variableOf[w]] })
	if len(neighbours) == 0 {
		return false
	}
	memory[variableOf[slices.MinFunc(neighbours, func(x, y int32) int { return cmp.Or(cmp.Compare(c.cost[x], c.cost[y]), cmp.Compare(x, y)) })]] = true
	return true
}

// plan finishes an allocation: reloaded variables get slots.
func (a *analysis) plan(webs *program, variableOf []int32, c *coloring) *plan {
	p := &plan{analysis: a, webs: webs, variableOf: variableOf, units: c.units, slots: make([]int, a.program.n)}
	for _, u := range c.units {
		for _, i := range u {
			p.used = max(p.used, i+1)
		}
	}
	p.prune()
	p.giveSlots()
	return p
}

// prune removes instructions whose values are no longer used, because they are recomputed at their uses.
func (p *plan) prune() {
	wanted := make([]int, len(p.variableOf))
	p.each(func(o *op) {
		for _, w := range o.reads {
			wanted[w]++
		}
	})
	for again := true; again; {
		again = false
		p.each(func(o *op) {
			if o.removed || len(o.defs) != 1 || wanted[o.defs[0]] > 0 || p.rematerialization[p.variableOf[o.defs[0]]] == nil {
				return
			}
			o.removed, again = true, true
			for _, w := range o.reads {
				wanted[w]--
			}
		})
	}
}

// each calls do for every operation.
func (p *plan) each(do func(o *op)) {
	for b := range p.webs.blocks {
		for i := range p.webs.blocks[b].ops {
			do(&p.webs.blocks[b].ops[i])
		}
	}
}

// giveSlots marks the operations that store their results: results that may be reloaded before the next store. A stored
// variable gets the lowest free slot in local memory; variables not needed at the same time share slots.
func (p *plan) giveSlots() {
	// Memory as a program: its stores and loads.
	memory := &program{n: p.program.n, units: p.program.units, blocks: make([]block, len(p.webs.blocks))}
	for b := range p.webs.blocks {
		out := &memory.blocks[b]
		out.succs, out.preds = p.webs.blocks[b].succs, p.webs.blocks[b].preds
		for i := range p.webs.blocks[b].ops {
			o := &p.webs.blocks[b].ops[i]
			m := op{unguarded: o.unguarded}
			for _, w := range o.defs {
				switch v := p.variableOf[w]; {
				case o.instr != nil:
					m.defs = append(m.defs, v)
				case p.rematerialization[v] == nil:
					m.reads = append(m.reads, v)
				}
			}
			out.ops = append(out.ops, m)
		}
	}
	l := memory.liveness()
	neighbours := make([]set, p.program.n)
	var list []int32
	noted := make([]bool, p.program.n)
	note := func(v int32) {
		if !noted[v] {
			noted[v] = true
			list = append(list, v)
		}
	}
	for b := range memory.blocks {
		live := l.out[b].clone()
		live.each(note)
		ops := memory.blocks[b].ops
		for i := len(ops) - 1; i >= 0; i-- {
			for k, v := range ops[i].defs {
				if !live.contains(v) {
					continue
				}
				o := &p.webs.blocks[b].ops[i]
				o.stores = append(o.stores, o.defs[k])
				live.each(func(w int32) {
					if w != v {
						neighbours[v].add(w)
						neighbours[w].add(v)
					}
				})
			}
			for _, v := range ops[i].reads {
				note(v)
			}
			live.before(&ops[i])
		}
	}
	for v := range p.slots {
		p.slots[v] = -1
	}
	slices.SortStableFunc(list, func(v, w int32) int {
		return cmp.Or(cmp.Compare(p.program.units[w], p.program.units[v]), cmp.Compare(v, w))
	})
	for _, v := range list {
		size := 4 * p.program.units[v]
		at := 0
		for again := true; again; {
			again = false
			neighbours[v].each(func(w int32) {
				if s := p.slots[w]; s >= 0 && s < at+size && at < s+4*p.program.units[w] {
					at = (s + 4*p.program.units[w] + size - 1) / size * size
					again = true
				}
			})
		}
		p.slots[v] = at
		p.bytes = max(p.bytes, at+size)
	}
}

// loads returns the number of instructions that load from slots.
func (p *plan) loads() (n int) {
	p.each(func(o *op) {
		if o.instr == nil && p.rematerialization[p.variableOf[o.reloads]] == nil {
			n++
		}
	})
	return n
}

// isMove reports whether an instruction copies one register to another.
func isMove(instr *ptx.Instr) bool {
	return instr.Form.Family == ptx.FamilyMove && len(instr.Ops) == 2 && instr.Ops[0].Kind == ptx.RegOperand && instr.Ops[1].Kind == ptx.RegOperand && !instr.Ops[1].Neg
}

// report summarises the allocation of the function.
func (p *plan) report() Func {
	f := Func{Name: p.f.Name, Line: int(p.f.Pos.Line), Pressure: p.pressure, Min: p.minRegs, Used: p.used, Bytes: p.bytes, Removed: p.moves}
	for _, s := range p.slots {
		if s >= 0 {
			f.Spilled++
		}
	}
	p.each(func(o *op) {
		if o.instr != nil {
			if o.removed {
				f.Removed++
			}
			f.Stores += len(o.stores)
			return
		}
		if p.rematerialization[p.variableOf[o.reloads]] != nil {
			if !o.removed {
				f.Rematerialized++
			}
		} else {
			f.Loads++
		}
	})
	return f
}
