package ptx

// This file derives facts from the control-flow graph of a function: edges, immediate post-dominators, endless loops.

import (
	"iter"
	"slices"
)

// connect sets the edges of the blocks (Succs and Preds). A block falls through to the next block unless its last
// instruction is an unguarded terminator. The last block of a function falls through to the function's end, which is a
// return.
func (f *Func) connect() {
	link := func(from, to *Block) {
		for _, s := range from.Succs {
			if s == to {
				return
			}
		}
		from.Succs = append(from.Succs, to)
		to.Preds = append(to.Preds, from)
	}
	for i, b := range f.Blocks {
		term := b.Terminator()
		if (term == nil || term.Guard.Reg != NoReg) && i+1 < len(f.Blocks) {
			link(b, f.Blocks[i+1])
		}
		if term == nil {
			continue
		}
		for _, t := range term.Targets() {
			link(b, t)
		}
	}
}

// Terminator returns the branch, return or exit at the end of the block, nil if control only falls through.
func (b *Block) Terminator() *Instr {
	if n := len(b.Instrs); n > 0 && b.Instrs[n-1].EndsBlock() {
		return b.Instrs[n-1]
	}
	return nil
}

// Targets returns the blocks to which the instruction may jump; nil if it is no jump.
func (instr *Instr) Targets() []*Block {
	for i := range instr.Ops {
		switch o := &instr.Ops[i]; {
		case o.Kind != LabelOperand:
		case o.Table() != nil:
			return o.Table().Blocks
		default:
			return []*Block{o.Block()}
		}
	}
	return nil
}

// MayLeave reports whether control may leave the function at the end of b, by a return, an exit or the function's end.
func (f *Func) MayLeave(b *Block) bool {
	term := b.Terminator()
	if term != nil && term.Form.Effects.Any(Returns|Exits) {
		return true
	}
	return b.Index == len(f.Blocks)-1 && (term == nil || term.Guard.Reg != NoReg)
}

// ImmediatePostDominators returns for each block the index of its immediate post-dominator, or -1 if the only
// post-dominator is the function's exit. It is the block where the paths from the block to the exit reconverge.
//
// An infinite loop has no path to the exit. So an artificial edge leads to the exit from the last block (in reverse
// postorder) of each region without a path to the exit. With these edges the result is defined for every block, and the
// paths of a branch within the loop reconverge before the next iteration. Execution never takes such an edge.
//
// The algorithm is Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed graph.
func (f *Func) ImmediatePostDominators() []int {
	n := len(f.Blocks)
	exit := n
	succs := make([][]int, n+1)
	preds := make([][]int, n+1) // predecessors in the original graph: successors in the walk of the reversed graph
	edge := func(a, b int) {
		succs[a] = append(succs[a], b)
		preds[b] = append(preds[b], a)
	}
	for i, b := range f.Blocks {
		for _, s := range b.Succs {
			edge(i, s.Index)
		}
		if f.MayLeave(b) {
			edge(i, exit)
		}
	}
	// Find the blocks from which the exit cannot be reached.
	reach := make([]bool, n+1)
	mark := func(list []int) {
		for len(list) > 0 {
			b := list[len(list)-1]
			list = list[:len(list)-1]
			if reach[b] {
				continue
			}
			reach[b] = true
			list = append(list, preds[b]...)
		}
	}
	mark([]int{exit})
	for _, b := range slices.Backward(f.reversePostorder()) {
		if !reach[b] {
			edge(b, exit)
			mark([]int{b})
		}
	}
	for b := range n { // unreachable code with a loop
		if !reach[b] {
			edge(b, exit)
			mark([]int{b})
		}
	}
	// Postorder of the reversed graph, from the exit.
	order := make([]int, 0, n+1)
	number := make([]int, n+1)
	type frame struct{ node, next int }
	seen := make([]bool, n+1)
	stack := []frame{{exit, 0}}
	seen[exit] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(preds[top.node]) {
			p := preds[top.node][top.next]
			top.next++
			if !seen[p] {
				seen[p] = true
				stack = append(stack, frame{p, 0})
			}
			continue
		}
		number[top.node] = len(order)
		order = append(order, top.node)
		stack = stack[:len(stack)-1]
	}
	ipdom := make([]int, n+1)
	for i := range ipdom {
		ipdom[i] = -1
	}
	ipdom[exit] = exit
	intersect := func(a, b int) int {
		for a != b {
			for number[a] < number[b] {
				a = ipdom[a]
			}
			for number[b] < number[a] {
				b = ipdom[b]
			}
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for i := len(order) - 2; i >= 0; i-- {
			b := order[i]
			d := -1
			for _, s := range succs[b] {
				if ipdom[s] < 0 {
					continue
				}
				if d < 0 {
					d = s
				} else {
					d = intersect(d, s)
				}
			}
			if d != ipdom[b] {
				ipdom[b] = d
				changed = true
			}
		}
	}
	for i := range n {
		if ipdom[i] == exit {
			ipdom[i] = -1
		}
	}
	return ipdom[:n]
}

// Endless reports for each block whether it is part of an endless loop that only computes: from its blocks neither the
// function's exit nor a memory access, call, barrier or trap can be reached.
func (f *Func) Endless() []bool {
	n := len(f.Blocks)
	// Search backwards from the blocks with an effect or an exit of the function.
	leaves := make([]bool, n)
	var work []*Block
	for _, b := range f.Blocks {
		hasEffect := f.MayLeave(b)
		for _, instr := range b.Instrs {
			hasEffect = hasEffect || !instr.Form.Effects.Any(Pure|endsBlock)
		}
		if hasEffect {
			leaves[b.Index] = true
			work = append(work, b)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range b.Preds {
			if !leaves[p.Index] {
				leaves[p.Index] = true
				work = append(work, p)
			}
		}
	}
	endless := make([]bool, n)
	for _, loop := range f.loops(func(b *Block) bool { return !leaves[b.Index] }) {
		for _, b := range loop {
			endless[b.Index] = true
		}
	}
	return endless
}

// MayWait reports for each block whether it is part of a possible spin-wait for another thread. Such a loop has an
// instruction that reads memory and is atomic, strong or waiting; or it has an instruction that reads memory, and a
// fence, a barrier, a waiting instruction or nanosleep. calls must be true if a called function may contain such an
// instruction: a loop with a call may then wait, too.
func (f *Func) MayWait(calls bool) []bool {
	waits := make([]bool, len(f.Blocks))
	for _, loop := range f.loops(func(*Block) bool { return true }) {
		all := Effects(0) // the effects of all instructions of the loop
		mayWait := false
		for _, b := range loop {
			for _, instr := range b.Instrs {
				e := instr.Form.Effects
				all |= e
				mayWait = mayWait || e.HasAll(Reads) && e.Any(Atomic|Strong|Waits) || e.HasAll(Calls) && calls
			}
		}
		if mayWait || all.HasAll(Reads) && all.Any(Fences|Barrier|Waits|Yields) {
			for _, b := range loop {
				waits[b.Index] = true
			}
		}
	}
	return waits
}

// ReversePostorder returns the number of each block in reverse postorder: every block comes before its successors,
// except along the back edges of loops. All unreachable blocks get len(f.Blocks).
func (f *Func) ReversePostorder() []int {
	order := make([]int, len(f.Blocks))
	for i := range order {
		order[i] = len(f.Blocks)
	}
	for i, b := range f.reversePostorder() {
		order[b] = i
	}
	return order
}

// loops returns the cycles in the graph of the blocks for which included returns true. Cycles with common blocks are merged:
// the result is the strongly connected components with a cycle, by Tarjan's algorithm ("Depth-first search and linear
// graph algorithms", 1972).
func (f *Func) loops(included func(b *Block) bool) [][]*Block {
	n := len(f.Blocks)
	var list [][]*Block
	cyclic := make([]bool, n) // blocks that are their own successor
	number := make([]int, n)  // order of the visit, from 1
	low := make([]int, n)     // the lowest number reachable from the block
	onStack := make([]bool, n)
	var stack []*Block
	type frame struct {
		b    *Block
		next int
	}
	visits := 0
	for _, root := range f.Blocks {
		if number[root.Index] > 0 || !included(root) {
			continue
		}
		work := []frame{{b: root}}
		for len(work) > 0 {
			top := &work[len(work)-1]
			b := top.b
			if top.next == 0 {
				visits++
				number[b.Index], low[b.Index] = visits, visits
				stack = append(stack, b)
				onStack[b.Index] = true
			}
			if top.next < len(b.Succs) {
				s := b.Succs[top.next]
				top.next++
				switch {
				case !included(s):
				case number[s.Index] == 0:
					work = append(work, frame{b: s})
				case onStack[s.Index]:
					low[b.Index] = min(low[b.Index], number[s.Index])
					cyclic[b.Index] = cyclic[b.Index] || s == b
				}
				continue
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				up := work[len(work)-1].b.Index
				low[up] = min(low[up], low[b.Index])
			}
			if low[b.Index] < number[b.Index] {
				continue
			}
			start := slices.Index(stack, b)
			for _, c := range stack[start:] {
				onStack[c.Index] = false
			}
			if cyclic[b.Index] || len(stack)-start > 1 {
				list = append(list, slices.Clone(stack[start:]))
			}
			stack = stack[:start]
		}
	}
	return list
}

// reversePostorder returns the indices of the blocks reachable from the entry, in reverse postorder.
func (f *Func) reversePostorder() []int {
	n := len(f.Blocks)
	post := make([]int, 0, n)
	seen := make([]bool, n)
	type frame struct {
		b    *Block
		next int
	}
	stack := []frame{{f.Blocks[0], 0}}
	seen[0] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(top.b.Succs) {
			s := top.b.Succs[top.next]
			top.next++
			if !seen[s.Index] {
				seen[s.Index] = true
				stack = append(stack, frame{s, 0})
			}
			continue
		}
		post = append(post, top.b.Index)
		stack = stack[:len(stack)-1]
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// Uses iterates over the registers read by the instruction: first its guard, then its operands, and last the registers
// read by the asynchronous operations that it may complete.
func (instr *Instr) Uses() iter.Seq[RegID] {
	return func(yield func(RegID) bool) {
		if instr.Guard.Reg == NoReg || yield(instr.Guard.Reg) {
			if instr.eachRegister(Read, yield) && instr.Pending != nil {
				each(instr.Pending.Reads, yield)
			}
		}
	}
}

// Defs iterates over the registers written by the instruction: first its operands, then the registers written by the
// asynchronous operations that it may complete.
func (instr *Instr) Defs() iter.Seq[RegID] {
	return func(yield func(RegID) bool) {
		if instr.eachRegister(Write, yield) && instr.Pending != nil {
			each(instr.Pending.Writes, yield)
		}
	}
}

// each calls yield with the registers of the list, until it returns false.
func each(list []RegID, yield func(RegID) bool) {
	for _, r := range list {
		if !yield(r) {
			return
		}
	}
}

// eachRegister iterates over the registers in the instruction's operands with access wanted, which is Read or Write. It
// returns false if yield did.
func (instr *Instr) eachRegister(wanted Access, yield func(RegID) bool) bool {
	for i := range instr.Ops {
		if o := &instr.Ops[i]; !o.eachRegister(instr.Form.Operands[i].Access, wanted, yield) {
			return false
		}
	}
	c := instr.Call
	if c == nil {
		return true
	}
	each := func(list []Operand, access Access) bool {
		for i := range list {
			if !list[i].eachRegister(access, wanted, yield) {
				return false
			}
		}
		return true
	}
	return c.Target.eachRegister(Read, wanted, yield) && each(c.Args, Read) && each(c.Rets, Write)
}

// eachRegister iterates over the registers of an operand if its access includes wanted, which is Read or Write. The
// registers of an address are read, whether memory is read or written. It returns false if yield did.
func (o *Operand) eachRegister(access, wanted Access, yield func(RegID) bool) bool {
	switch o.Kind {
	case RegOperand:
		return access&wanted == 0 || yield(o.Reg)
	case AddrOperand:
		if wanted == Read && o.Reg != NoReg && !yield(o.Reg) {
			return false
		}
		access = Read
	}
	elems := o.Elems()
	for i := range elems {
		if !elems[i].eachRegister(access, wanted, yield) {
			return false
		}
	}
	return true
}
