package spill

// This file decides which variables are in registers at each operation, and reloads variables that are needed and are
// in memory.

import (
	"cmp"
	"slices"
)

// placement says where variables are, for a given number of registers.
type placement struct {
	*analysis
	regs   int
	memory []bool // by variable: it is in a register only during the operations that use it

	blocks []block
	entry  []set // by block: variables in registers at its start
	exit   []set // by block: variables in registers at its end
	filled []bool
}

// place returns the function's operations with the necessary reloads.
func (a *analysis) place(regs int, memory []bool) (*placement, error) {
	n := len(a.program.blocks)
	p := &placement{analysis: a, regs: regs, memory: memory, blocks: make([]block, n), entry: make([]set, n), exit: make([]set, n), filled: make([]bool, n)}
	for _, b := range a.order {
		p.entry[b] = p.enter(b)
		p.fill(b)
		p.filled[b] = true
		if err := a.ctx.Err(); err != nil {
			return nil, err
		}
	}
	for _, b := range a.order {
		p.reloadAtEnd(b)
	}
	return p, nil
}

// heldRegisters contains the variables in registers at an operation, with the position of their next use in the block.
type heldRegisters struct {
	p         *placement
	set       set
	remaining int // number of free registers
	next      map[int32]int
}

// newHeld returns the state for a set of variables and the distances to their next uses.
func (p *placement) newHeld(in set, next map[int32]int) *heldRegisters {
	return &heldRegisters{p, in, p.regs - p.program.size(in), next}
}

func (h *heldRegisters) add(v int32) {
	if !h.set.contains(v) {
		h.set.add(v)
		h.remaining -= h.p.program.units[v]
	}
}

func (h *heldRegisters) drop(v int32) {
	if h.set.contains(v) {
		h.set.remove(v)
		h.remaining += h.p.program.units[v]
	}
}

// makeRoom drops variables until units registers are free, except the variables in keep. It prefers variables without a
// next use, then variables that can be recomputed, then the variable with the farthest next use.
func (h *heldRegisters) makeRoom(units int, keep []int32) {
	for h.remaining < units {
		victim := int32(-1)
		var worst [2]int
		h.set.each(func(v int32) {
			if slices.Contains(keep, v) {
				return
			}
			rank := [2]int{0, h.nextUse(v)}
			switch {
			case rank[1] == noNextUse:
				rank[0] = 2
			case h.p.rematerialization[v] != nil:
				rank[0] = 1
			}
			if victim < 0 || cmp.Or(cmp.Compare(rank[0], worst[0]), cmp.Compare(rank[1], worst[1])) > 0 {
				victim, worst = v, rank
			}
		})
		if victim < 0 {
			panic("BUG: an operation that needs more registers than there are")
		}
		h.drop(victim)
	}
}

func (h *heldRegisters) nextUse(v int32) int {
	if d, ok := h.next[v]; ok {
		return d
	}
	return noNextUse
}

// fill places the operations of a block, given the available registers.
func (p *placement) fill(b int) {
	src := &p.program.blocks[b]
	out := &p.blocks[b]
	out.succs, out.preds = src.succs, src.preds

	// The next uses of each operation's variables after the operation.
	next := p.atEnd(b)
	after := make([]map[int32]int, len(src.ops))
	for i := len(src.ops) - 1; i >= 0; i-- {
		o := &src.ops[i]
		after[i] = map[int32]int{}
		for _, list := range [][]int32{o.reads, o.defs} {
			for _, v := range list {
				if d, ok := next[v]; ok {
					after[i][v] = d
				}
			}
		}
		if o.unguarded {
			for _, v := range o.defs {
				delete(next, v)
			}
		}
		for _, v := range o.reads {
			next[v] = i
		}
	}
	h := p.newHeld(p.entry[b].clone(), next)
	for i := range src.ops {
		o := &src.ops[i]
		if o.instr.EndsBlock() && i == len(src.ops)-1 {
			p.loadForLoop(b, h)
		}
		var missing []int32
		for _, v := range o.reads {
			if !h.set.contains(v) {
				missing = append(missing, v)
			}
		}
		h.makeRoom(p.program.total(missing), o.reads)
		for _, v := range missing {
			h.add(v)
			out.addReload(v, i)
		}
		for _, v := range o.reads {
			h.setNextUse(after[i], v)
			if !slices.Contains(o.defs, v) && h.releases(v) {
				h.drop(v)
			}
		}
		if o.calls {
			h.set.clone().each(h.drop)
		}
		var written []int32
		for _, v := range o.defs {
			h.setNextUse(after[i], v)
			if !h.set.contains(v) {
				written = append(written, v)
			}
		}
		h.makeRoom(p.program.total(written), o.defs)
		for _, v := range written {
			h.add(v)
		}
		for _, v := range o.defs {
			if h.releases(v) {
				h.drop(v)
			}
		}
		out.ops = append(out.ops, o.copy())
	}
	if t := len(src.ops); t == 0 || !src.ops[t-1].instr.EndsBlock() {
		p.loadForLoop(b, h)
	}
	p.exit[b] = h.set
}

// releases reports whether a variable leaves its register after the operation that uses it.
func (h *heldRegisters) releases(v int32) bool { return h.p.memory[v] || h.nextUse(v) == noNextUse }

// setNextUse records the next use of a variable.
func (h *heldRegisters) setNextUse(after map[int32]int, v int32) {
	if d, ok := after[v]; ok {
		h.next[v] = d
	} else {
		delete(h.next, v)
	}
}

// addReload adds an operation that reloads a variable before operation index of the source.
func (b *block) addReload(v int32, index int) {
	b.ops = append(b.ops, op{index: index, reloads: v, defs: []int32{v}, unguarded: true})
}

// copy returns the operation with copies of its lists.
func (o *op) copy() op {
	c := *o
	c.refs, c.reads, c.defs = slices.Clone(o.refs), slices.Clone(o.reads), slices.Clone(o.defs)
	return c
}

// loadForLoop reloads, at the end of a block, the variables that the target of a back edge expects in registers.
func (p *placement) loadForLoop(b int, h *heldRegisters) {
	var want []int32
	for _, s := range p.program.blocks[b].succs {
		if p.filled[s] || s == b {
			p.entry[s].each(func(v int32) {
				if !slices.Contains(want, v) {
					want = append(want, v)
				}
			})
		}
	}
	var missing []int32
	for _, v := range want {
		if !h.set.contains(v) {
			missing = append(missing, v)
		}
	}
	h.makeRoom(p.program.total(missing), want)
	for _, v := range missing {
		h.add(v)
		p.blocks[b].addReload(v, len(p.program.blocks[b].ops)-1)
	}
}

// bound reports whether reloads at the end of a block are impossible: it has further successors, or its last operation
// uses registers.
func (p *placement) bound(b int) bool {
	src := &p.program.blocks[b]
	if len(src.succs) > 1 {
		return true
	}
	last := len(src.ops) - 1
	return last >= 0 && src.ops[last].instr.EndsBlock() && len(src.ops[last].refs) > 0
}

// enter selects the variables in registers at the start of a block.
func (p *placement) enter(b int) set {
	preds := p.program.blocks[b].preds
	var wanted []int32
	p.live.in[b].each(func(v int32) {
		if !p.memory[v] {
			wanted = append(wanted, v)
		}
	})
	loops := false
	limits := []set{}             // variables in registers at the end of each bound predecessor: entry must be a subset
	offers := make(map[int32]int) // number of predecessors that have a variable in a register at their end
	ready := 0
	for _, q := range preds {
		if !p.filled[q] {
			loops = true
			if p.cannotReturn(q, b) {
				return nil
			}
			continue
		}
		ready++
		if p.bound(q) {
			limits = append(limits, p.exit[q])
		}
		p.exit[q].each(func(v int32) { offers[v]++ })
	}
	if b == 0 {
		// Nothing has a value yet, so nothing is loaded.
		limits, ready = nil, 0
	} else if ready == 0 {
		return nil // unreachable
	}
	wanted = slices.DeleteFunc(wanted, func(v int32) bool {
		if b == 0 && !loops {
			return false
		}
		if b != 0 && !loops && offers[v] == 0 {
			return true
		}
		return slices.ContainsFunc(limits, func(s set) bool { return !s.contains(v) })
	})
	// In a loop, variables used in it come first; elsewhere, variables that need no load. Variables that can be
	// recomputed come last.
	rank := func(v int32) [3]int {
		r := [3]int{0, 0, p.nextUse[b][v]}
		if p.rematerialization[v] != nil {
			r[0] = 1
		}
		if !loops && offers[v] < ready {
			r[1] = 1
		}
		return r
	}
	slices.SortStableFunc(wanted, func(x, y int32) int {
		rx, ry := rank(x), rank(y)
		return slices.Compare(rx[:], ry[:])
	})
	room := p.regs
	unitsLeft := 0 // registers for variables live only through the loop
	if loops {
		unitsLeft = p.unitsLeft(b)
	}
	var in set
	for _, v := range wanted {
		u := p.program.units[v]
		if u > room {
			continue
		}
		if loops && p.nextUse[b][v] >= exitDistance {
			if u > unitsLeft {
				continue
			}
			unitsLeft -= u
		}
		in.add(v)
		room -= u
	}
	return in
}

// cannotReturn reports whether a block with a back edge cannot have the registers that the target's entry requires.
func (p *placement) cannotReturn(from, to int) bool {
	src := &p.program.blocks[from]
	last := len(src.ops) - 1
	if last >= 0 && src.ops[last].instr.EndsBlock() && len(src.ops[last].refs) > 0 {
		return true
	}
	return slices.ContainsFunc(src.succs, func(s int) bool { return s != to && p.rank[s] <= p.rank[from] })
}

// unitsLeft returns the number of registers that the variables used in the block's loop leave free.
func (p *placement) unitsLeft(b int) int {
	l := p.inner[b]
	if l == nil {
		return p.regs
	}
	maximum := 0
	for _, x := range l.Blocks {
		live := p.live.out[x.Index].clone()
		ops := p.program.blocks[x.Index].ops
		for i := len(ops) - 1; i >= 0; i-- {
			for _, v := range ops[i].defs {
				live.add(v)
			}
			maximum = max(maximum, p.unitsUsed(live, b))
			live.before(&ops[i])
		}
		maximum = max(maximum, p.unitsUsed(live, b))
	}
	return p.regs - maximum
}

// unitsUsed returns the number of registers of a set, without variables live only through the block's loop.
func (p *placement) unitsUsed(s set, b int) (units int) {
	s.each(func(v int32) {
		if d, ok := p.nextUse[b][v]; !ok || d < exitDistance {
			units += p.program.units[v]
		}
	})
	return units
}

// reloadAtEnd reloads, at the end of a block with a single successor, the variables in the successor's entry.
func (p *placement) reloadAtEnd(b int) {
	src := &p.program.blocks[b]
	if p.bound(b) || len(src.succs) != 1 {
		return
	}
	s := src.succs[0]
	var add []op
	p.entry[s].each(func(v int32) {
		if !p.exit[b].contains(v) {
			add = append(add, op{index: max(len(src.ops)-1, 0), reloads: v, defs: []int32{v}, unguarded: true})
		}
	})
	out := &p.blocks[b]
	at := len(out.ops)
	if at > 0 && out.ops[at-1].instr != nil && out.ops[at-1].instr.EndsBlock() {
		at--
	}
	out.ops = slices.Insert(out.ops, at, add...)
}
