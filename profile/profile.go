package profile

// This file adds up the counts by calls, functions and instructions.

import (
	"cmp"
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// Profile holds the counts of launches. It is plain data; a Profile from Probe.Profile no longer changes.
type Profile struct {
	WarpSize int      // warp size of the last launch
	Launches []Launch // in the order of their first launches
	Roots    []*Node  // the kernels, in the order of their first launches
	Err      error    // error of the first failed launch; nil: none failed
}

// Launch stands for all launches with the same kernel, sizes and shared memory.
type Launch struct {
	Kernel               *ptx.Func // launched kernel
	Grid, Block, Cluster ptx.Dim3  // CTAs of the grid, threads of a CTA, CTAs of a cluster (1 without clusters)
	WarpSize             int       // lanes of a warp
	Shared               int       // static and dynamic shared memory of a CTA, in bytes
	Count                int       // number of such launches, at least 1
}

// launched adds a launch.
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

// Node is a function at a place of the call tree. A recursive call by the same instruction counts for the node of the
// earlier call, so recursion needs only one node for each call instruction.
type Node struct {
	Func     *ptx.Func  // kernel or device function
	Site     *ptx.Instr // the call in the parent's function; nil for a kernel
	Parent   *Node      // the caller; nil for a kernel
	Calls    int64      // calls by warps; for a kernel, warps
	Counts   []Counts   // by instruction of the function in source order, without called functions
	Children []*Node    // called functions, in the source order of the calls

	fn       *function
	branches map[branchEdge]int64 // lanes by branch edge
}

// branchEdge is an edge from a branch with a list of targets to an instruction, by their numbers in the
// function.
type branchEdge struct{ branch, target int }

func newNode(f *function, parent *Node, site *ptx.Instr) *Node {
	return &Node{Func: f.fn, Site: site, Parent: parent, Counts: make([]Counts, len(f.instrs)), fn: f}
}

// call returns the node of a called function, and creates it if necessary.
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

// addBranch adds lanes that took a branch edge.
func (n *Node) addBranch(from, to int, lanes int64) {
	if n.branches == nil {
		n.branches = map[branchEdge]int64{}
	}
	n.branches[branchEdge{from, to}] += lanes
}

// add adds the counts of another tree with the same root.
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

// clear sets all counts of the tree to 0.
func (n *Node) clear() {
	n.Calls = 0
	clear(n.Counts)
	clear(n.branches)
	for _, c := range n.Children {
		c.clear()
	}
}

// order sorts the children by call and function in source order, because CTAs end in any order.
func (n *Node) order() {
	slices.SortFunc(n.Children, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(n.fn.number[a.Site], n.fn.number[b.Site]), cmp.Compare(a.Func.Pos.Line, b.Func.Pos.Line), cmp.Compare(a.Func.Pos.Col, b.Func.Pos.Col))
	})
	for _, c := range n.Children {
		c.order()
	}
}

// Each calls do for the node and all nodes below it, callers first.
func (n *Node) Each(do func(n *Node)) {
	do(n)
	for _, c := range n.Children {
		c.Each(do)
	}
}

// Own returns the counts of the function's own instructions, without called functions.
func (n *Node) Own() (t Counts) {
	for i := range n.Counts {
		t.Add(&n.Counts[i])
	}
	return t
}

// Total returns the counts of the node and all nodes below it.
func (n *Node) Total() (t Counts) {
	n.Each(func(n *Node) {
		own := n.Own()
		t.Add(&own)
	})
	return t
}

// Total returns the counts of all instructions.
func (p *Profile) Total() (t Counts) {
	for _, r := range p.Roots {
		all := r.Total()
		t.Add(&all)
	}
	return t
}

// Function holds the counts of a function over all its callers.
type Function struct {
	*ptx.Func
	Instrs []Instr // in source order
	Calls  int64   // calls by warps; for a kernel, warps

	branches map[branchEdge]int64
}

// Instr is an instruction with its counts.
type Instr struct {
	*ptx.Instr
	Func *ptx.Func // function of the instruction
	Counts
}

// Functions returns the executed functions: kernels in the order of Roots, each followed by its callees in source order.
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
