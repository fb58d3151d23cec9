package profile

// This file is what has been counted, by calls and instructions, and what adds it up.

import (
	"cmp"
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// Profile is what launches have done.
type Profile struct {
	WarpSize int // of the last launch
	Launches []Launch
	Roots    []*Node // the kernels, in the order in which they were launched first
	Err      error   // how the first launch ended that did not run to its end; nil: all did
}

// Launch is launches of the same kernel, extents and shared memory.
type Launch struct {
	Kernel               *ptx.Func
	Grid, Block, Cluster ptx.Dim3
	WarpSize             int
	Shared               int // bytes of shared memory of a block, static and dynamic
	Count                int
}

// launched takes note of a launch.
func (p *Profile) launched(l *probe.LaunchInfo) {
	n := Launch{l.Kernel, l.Grid, l.Block, l.Cluster, l.WarpSize, 0, 1}
	for _, v := range l.Program.Shared() {
		n.Shared = max(n.Shared, v.Offset+v.Var.Size())
	}
	n.Shared += l.Shared
	for i := range p.Launches {
		o := p.Launches[i]
		if o.Count = 1; o == n {
			p.Launches[i].Count++
			return
		}
	}
	p.Launches = append(p.Launches, n)
}

// Node is a function where a sequence of calls leads to it. A call by which lanes have come there already
// leads to the node that it led to then: what recurs is one node.
type Node struct {
	Func     *ptx.Func
	Site     *ptx.Instr // the call, in the parent's function; nil of a kernel
	Parent   *Node      // the caller; nil of a kernel
	Calls    int64      // by warps; of a kernel, warps
	Counts   []Counts   // by instruction of the function, in the order of the source, without those of functions that it calls
	Children []*Node

	fn       *function
	branches map[branchEdge]int64 // lanes
}

// branchEdge is from a branch with a list of targets to an instruction of its function, by number.
type branchEdge struct{ branch, target int }

func newNode(f *function, parent *Node, site *ptx.Instr) *Node {
	return &Node{Func: f.fn, Site: site, Parent: parent, Counts: make([]Counts, len(f.instrs)), fn: f}
}

// call is where a call leads.
func (n *Node) call(f *function, site *ptx.Instr) *Node {
	for a := n; a != nil; a = a.Parent {
		if a.Site == site && a.fn == f {
			return a
		}
	}
	for _, c := range n.Children {
		if c.Site == site && c.fn == f {
			return c
		}
	}
	c := newNode(f, n, site)
	n.Children = append(n.Children, c)
	return c
}

// addBranch counts lanes that went from a branch with a list of targets to an instruction.
func (n *Node) addBranch(from, to int, lanes int64) {
	if n.branches == nil {
		n.branches = map[branchEdge]int64{}
	}
	n.branches[branchEdge{from, to}] += lanes
}

// add adds what another has counted of the same calls.
func (n *Node) add(o *Node) {
	n.Calls += o.Calls
	for i := range o.Counts {
		if o.Counts[i].Execs != 0 {
			n.Counts[i].Add(&o.Counts[i])
		}
	}
	for w, lanes := range o.branches {
		n.addBranch(w.branch, w.target, lanes)
	}
	for _, c := range o.Children {
		n.call(c.fn, c.Site).add(c)
	}
}

// clear forgets what was counted.
func (n *Node) clear() {
	n.Calls = 0
	clear(n.Counts)
	clear(n.branches)
	for _, c := range n.Children {
		c.clear()
	}
}

// order sorts what was called, by call and function in the order of the source: CTAs end in any order.
func (n *Node) order() {
	slices.SortFunc(n.Children, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(n.fn.number[a.Site], n.fn.number[b.Site]), cmp.Compare(a.Func.Pos.Line, b.Func.Pos.Line), cmp.Compare(a.Func.Pos.Col, b.Func.Pos.Col))
	})
	for _, c := range n.Children {
		c.order()
	}
}

// Each calls do with the node and all below it, callers first.
func (n *Node) Each(do func(n *Node)) {
	do(n)
	for _, c := range n.Children {
		c.Each(do)
	}
}

// Own is what the instructions of the function have done there, without those of functions that it
// calls.
func (n *Node) Own() (t Counts) {
	for i := range n.Counts {
		t.Add(&n.Counts[i])
	}
	return t
}

// Total is Own and that of all below it.
func (n *Node) Total() (t Counts) {
	n.Each(func(n *Node) {
		own := n.Own()
		t.Add(&own)
	})
	return t
}

// Total is what all instructions have done.
func (p *Profile) Total() (t Counts) {
	for _, r := range p.Roots {
		all := r.Total()
		t.Add(&all)
	}
	return t
}

// Function is what the instructions of a function have done, wherever it was called from.
type Function struct {
	*ptx.Func
	Instrs []Instr // in the order of the source
	Calls  int64   // by warps; of a kernel, warps

	branches map[branchEdge]int64
}

// Instr is an instruction and what it has done.
type Instr struct {
	*ptx.Instr
	Func *ptx.Func
	Counts
}

// Functions lists the functions that were reached, in the order in which they were.
func (p *Profile) Functions() (list []*Function) {
	functions := map[*ptx.Func]*Function{}
	for _, r := range p.Roots {
		r.Each(func(n *Node) {
			f := functions[n.Func]
			if f == nil {
				f = &Function{Func: n.Func, branches: map[branchEdge]int64{}}
				for _, instr := range n.fn.instrs {
					f.Instrs = append(f.Instrs, Instr{Instr: instr, Func: n.Func})
				}
				functions[n.Func] = f
				list = append(list, f)
			}
			f.Calls += n.Calls
			for i := range n.Counts {
				f.Instrs[i].Counts.Add(&n.Counts[i])
			}
			for w, lanes := range n.branches {
				f.branches[w] += lanes
			}
		})
	}
	return list
}
