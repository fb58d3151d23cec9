package spill

// This file assigns registers to variables by colouring the graph of variables live at the same time.

import (
	"cmp"
	"container/heap"
	"slices"
)

// coloring is the assignment of registers to the variables of a program.
type coloring struct {
	*program
	neighbours [][]int32 // by variable: variables live at the same time
	width      []int     // by variable: number of registers of its neighbours
	copies     [][]int32 // by variable: variables to or from which moves copy it
	cost       []float64 // by variable: cost of keeping it in memory
	births     []int32   // variables in the order of their first occurrence in the program
	units      [][]int   // by variable: its registers, in order; nil if none were free
}

// newColoring builds the interference graph. The cost of a use is 10 to the power of the number of enclosing loops.
func newColoring(p *program, depth []int) *coloring {
	c := &coloring{program: p, neighbours: make([][]int32, p.n), width: make([]int, p.n), copies: make([][]int32, p.n), cost: make([]float64, p.n)}
	known := map[[2]int32]bool{}
	addEdge := func(a, b int32) {
		key := [2]int32{min(a, b), max(a, b)}
		if a == b || known[key] {
			return
		}
		known[key] = true
		c.neighbours[a], c.neighbours[b] = append(c.neighbours[a], b), append(c.neighbours[b], a)
		c.width[a] += p.units[b]
		c.width[b] += p.units[a]
	}
	born := make([]bool, p.n)
	birth := func(v int32) {
		if !born[v] {
			born[v] = true
			c.births = append(c.births, v)
		}
	}
	l := p.liveness()
	for b := range p.blocks {
		l.in[b].each(birth)
		weight := 1.0
		for range min(depth[b], 8) {
			weight *= 10
		}
		live := l.out[b].clone()
		ops := p.blocks[b].ops
		for i := range ops {
			for _, v := range ops[i].reads {
				birth(v)
				c.cost[v] += weight
			}
			for _, v := range ops[i].defs {
				birth(v)
				c.cost[v] += weight
			}
		}
		for i := len(ops) - 1; i >= 0; i-- {
			o := &ops[i]
			to, from, moves := o.move(p)
			if moves {
				c.copies[to] = append(c.copies[to], from)
				c.copies[from] = append(c.copies[from], to)
			}
			for k, v := range o.defs {
				for _, w := range o.defs[:k] {
					addEdge(v, w)
				}
				live.each(func(w int32) {
					// A copy may share the register of its source, unless that would be in part only.
					if !moves || w != from || p.units[v] > 1 {
						addEdge(v, w)
					}
				})
			}
			live.before(o)
		}
	}
	return c
}

// move reports whether an operation only copies a variable to another of the same width, and returns both.
func (o *op) move(p *program) (to, from int32, ok bool) {
	if o.instr == nil || !o.unguarded || !isMove(o.instr) || len(o.refs) != 2 || len(o.reads) != 1 || len(o.defs) != 1 {
		return 0, 0, false
	}
	to, from = o.defs[0], o.reads[0]
	return to, from, to != from && p.units[to] == p.units[from]
}

// color assigns registers, first in the order in which Briggs removes variables from the graph and, if that fails, in
// program order. It returns the variables without registers.
func (c *coloring) color(regs int) (failed []int32) {
	if failed = c.give(c.stack(regs), regs); len(failed) == 0 {
		return nil
	}
	units := c.units
	if len(c.give(c.births, regs)) == 0 {
		return nil
	}
	c.units = units
	return failed
}

// stack orders variables: variables with few neighbours come last; among the remaining variables, variables with a
// higher cost relative to their use of registers come last.
func (c *coloring) stack(regs int) []int32 {
	width := slices.Clone(c.width)
	removed, waits := make([]bool, c.n), make([]bool, c.n)
	var out, ready []int32
	fits := func(v int32) bool { return c.program.units[v]+width[v] <= regs }
	push := func(v int32) {
		removed[v] = true
		out = append(out, v)
		for _, w := range c.neighbours[v] {
			width[w] -= c.program.units[v]
			if !removed[w] && !waits[w] && fits(w) {
				waits[w] = true
				ready = append(ready, w)
			}
		}
	}
	cost := func(v int32) float64 { return c.cost[v] / float64(max(width[v], 1)*c.program.units[v]) }
	var hard costHeap
	for v := range int32(c.n) {
		if fits(v) {
			waits[v] = true
			ready = append(ready, v)
		} else {
			hard = append(hard, variableCost{v, cost(v)})
		}
	}
	heap.Init(&hard)
	for {
		for len(ready) > 0 {
			v := ready[len(ready)-1]
			ready = ready[:len(ready)-1]
			push(v)
		}
		// The worth of a variable only grows when neighbours are removed, so the heap never overestimates it.
		for len(hard) > 0 {
			first := &hard[0]
			if now := cost(first.v); !removed[first.v] && now != first.worth {
				first.worth = now
				heap.Fix(&hard, 0)
				continue
			}
			v := heap.Pop(&hard).(variableCost).v
			if !removed[v] {
				push(v)
				break
			}
		}
		if len(ready) == 0 && len(hard) == 0 {
			slices.Reverse(out)
			return out
		}
	}
}

// variableCost is a variable and its cost relative to its use of registers, when last computed.
type variableCost struct {
	v     int32
	worth float64
}

// costHeap is a heap of variables with the least worth first.
type costHeap []variableCost

func (h costHeap) Len() int { return len(h) }
func (h costHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].worth, h[j].worth), cmp.Compare(h[i].v, h[j].v)) < 0
}
func (h costHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *costHeap) Push(w any)   { *h = append(*h, w.(variableCost)) }
func (h *costHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	*h = (*h)[:last]
	return w
}

// give assigns to each variable, in order, the registers of any of its copies, or the lowest free registers.
func (c *coloring) give(order []int32, regs int) (failed []int32) {
	c.units = make([][]int, c.n)
	taken := make([]bool, regs)
	for _, v := range order {
		clear(taken)
		for _, w := range c.neighbours[v] {
			for _, u := range c.units[w] {
				taken[u] = true
			}
		}
		if c.units[v] = c.copyRegisters(v, taken); c.units[v] != nil {
			continue
		}
		var free []int
		for u := 0; u < regs && len(free) < c.program.units[v]; u++ {
			if !taken[u] {
				free = append(free, u)
			}
		}
		if len(free) < c.program.units[v] {
			failed = append(failed, v)
			continue
		}
		c.units[v] = free
	}
	return failed
}

// copyRegisters returns the registers of a variable to or from which v is copied, if they are free.
func (c *coloring) copyRegisters(v int32, taken []bool) []int {
	for _, w := range c.copies[v] {
		if u := c.units[w]; u != nil && !slices.ContainsFunc(u, func(i int) bool { return taken[i] }) {
			return u
		}
	}
	return nil
}
