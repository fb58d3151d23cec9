package driver

// This file implements graphs and their nodes.

import (
	"slices"
)

// Graph is a set of nodes with dependencies.
type Graph struct {
	handle           Handle
	nodes            []*Node // in the order in which they were added
	objectReferences objectReferences

	conditions []*condition
}

// Node is a unit of work of a graph.
type Node struct {
	handle       Handle
	graph        *Graph
	kind         NodeKind
	predecessors []*Node // they end before the node begins
	work         work    // nil for a ChildNode
	child        *Graph  // graph of a ChildNode; nil otherwise

	original *Node // the node of which this node is a clone; nil: none
}

// NodeKind is a kind of node; the numbers are the values of CUgraphNodeType.
type NodeKind int32

// The supported kinds of node.
const (
	KernelNode NodeKind = 0 // launches a kernel
	MemcpyNode NodeKind = 1 // copies memory
	MemsetNode NodeKind = 2 // fills memory
	HostNode   NodeKind = 3 // calls a function of the client
	ChildNode  NodeKind = 4 // runs another graph
	EmptyNode  NodeKind = 5 // does nothing: it only orders other nodes

	EventWaitNode   NodeKind = 6 // waits for an event
	EventRecordNode NodeKind = 7 // records an event

	MemAllocNode NodeKind = 10 // allocates memory
	MemFreeNode  NodeKind = 11 // frees memory

	ConditionalNode NodeKind = 13 // runs a graph depending on a value that kernels set
)

// GraphCreate is cuGraphCreate.
func (t *Thread) GraphCreate(flags uint32) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch {
	case !t.d.ready:
		return 0, fail(NotInitialized, "cuInit was not called")
	case flags != 0:
		return 0, fail(InvalidValue, "flags %d, want 0", flags)
	}
	return t.d.newGraph().handle, nil
}

// newGraph makes a graph. The caller must hold d.mu.
func (d *Driver) newGraph() *Graph {
	g := &Graph{}
	g.handle = d.add(g)
	return g
}

// GraphDestroy is cuGraphDestroy. Executable graphs that were made from the graph stay valid.
func (t *Thread) GraphDestroy(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := object[*Graph](t.d, h)
	if err != nil {
		return err
	}
	t.d.drop(g)
	return nil
}

// drop destroys a graph and its inner graphs. The caller must hold d.mu.
func (d *Driver) drop(g *Graph) {
	for _, n := range g.nodes {
		delete(d.objects, n.handle)
	}
	for _, inner := range g.innerGraphs() {
		d.drop(inner)
	}
	delete(d.objects, g.handle)
	g.objectReferences.release(d)
}

// addNode adds a node with the predecessors after to a graph.
func (t *Thread) addNode(graph Handle, after []Handle, kind NodeKind, w work) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, predecessors, err := t.d.graphAndPredecessors(graph, after)
	if err != nil {
		return 0, err
	}
	n := &Node{kind: kind, work: w, predecessors: predecessors}
	g.add(t.d, n)
	return n.handle, nil
}

// graphAndPredecessors returns a graph and the predecessors of a new node. The caller must hold d.mu.
func (d *Driver) graphAndPredecessors(graph Handle, after []Handle) (*Graph, []*Node, error) {
	g, err := object[*Graph](d, graph)
	if err != nil {
		return nil, nil, err
	}
	predecessors, err := g.nodesByHandle(d, after)
	return g, predecessors, err
}

// add adds a node to the graph. The caller must hold d.mu.
func (g *Graph) add(d *Driver, n *Node) {
	n.graph = g
	n.handle = d.add(n)
	g.nodes = append(g.nodes, n)
}

// node returns the node with a handle, which must belong to the graph. The caller must hold d.mu.
func (g *Graph) node(d *Driver, h Handle) (*Node, error) {
	n, err := object[*Node](d, h)
	if err == nil && n.graph != g {
		err = fail(InvalidValue, "node %#x belongs to another graph", uint64(h))
	}
	return n, err
}

// nodesByHandle returns the nodes with the given handles. They must be distinct and belong to the graph. The caller must
// hold d.mu.
func (g *Graph) nodesByHandle(d *Driver, handles []Handle) ([]*Node, error) {
	var list []*Node
	for _, h := range handles {
		n, err := g.node(d, h)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(list, n):
			return nil, fail(InvalidValue, "node %#x is listed twice", uint64(h))
		}
		list = append(list, n)
	}
	return list, nil
}

// nodeHandles returns the handles of nodes.
func nodeHandles(list []*Node) []Handle {
	var handles []Handle
	for _, n := range list {
		handles = append(handles, n.handle)
	}
	return handles
}

// GraphAddKernelNode is cuGraphAddKernelNode. The arguments are copied.
func (t *Thread) GraphAddKernelNode(graph Handle, after []Handle, p *LaunchParams) (Handle, error) {
	l, err := t.prepare(p)
	if err != nil {
		return 0, t.reportRefused(p.Func, err)
	}
	return t.addNode(graph, after, KernelNode, l)
}

// GraphAddMemcpyNode is cuGraphAddMemcpyNode.
func (t *Thread) GraphAddMemcpyNode(graph Handle, after []Handle, c *Copy3D) (Handle, error) {
	w := &copyWork{*c}
	if err := t.checkNodeWork(w); err != nil {
		return 0, err
	}
	return t.addNode(graph, after, MemcpyNode, w)
}

// GraphAddMemsetNode is cuGraphAddMemsetNode.
func (t *Thread) GraphAddMemsetNode(graph Handle, after []Handle, f *Fill2D) (Handle, error) {
	w := &fillWork{*f}
	if err := t.checkNodeWork(w); err != nil {
		return 0, err
	}
	return t.addNode(graph, after, MemsetNode, w)
}

// GraphAddHostNode is cuGraphAddHostNode: f runs on a thread of the driver.
func (t *Thread) GraphAddHostNode(graph Handle, after []Handle, f HostFunc) (Handle, error) {
	return t.addNode(graph, after, HostNode, hostWork{f})
}

// GraphAddEmptyNode is cuGraphAddEmptyNode.
func (t *Thread) GraphAddEmptyNode(graph Handle, after []Handle) (Handle, error) {
	return t.addNode(graph, after, EmptyNode, noWork{})
}

// GraphAddDependencies is cuGraphAddDependencies: from[i] must run before to[i].
func (t *Thread) GraphAddDependencies(graph Handle, from, to []Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := object[*Graph](t.d, graph)
	if err != nil {
		return err
	}
	if len(from) != len(to) {
		return fail(InvalidValue, "the list of sources has %d nodes, the list of targets %d", len(from), len(to))
	}
	for i := range from {
		predecessor, err := g.node(t.d, from[i])
		if err != nil {
			return err
		}
		n, err := g.node(t.d, to[i])
		switch {
		case err != nil:
			return err
		case slices.Contains(n.predecessors, predecessor):
			return fail(InvalidValue, "the dependency exists already")
		}
		n.predecessors = append(n.predecessors, predecessor)
		if _, err := g.order(); err != nil {
			n.predecessors = n.predecessors[:len(n.predecessors)-1]
			return err
		}
	}
	return nil
}

// GraphGetNodes is cuGraphGetNodes.
func (t *Thread) GraphGetNodes(graph Handle) ([]Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := object[*Graph](t.d, graph)
	if err != nil {
		return nil, err
	}
	return nodeHandles(g.nodes), nil
}

// GraphNodeGetType is cuGraphNodeGetType.
func (t *Thread) GraphNodeGetType(h Handle) (NodeKind, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := object[*Node](t.d, h)
	if err != nil {
		return 0, err
	}
	return n.kind, nil
}

// id returns the number of a handle. It fits 32 bits while a program makes fewer than four billion objects.
func (h Handle) id() uint32 { return uint32(h / handleStep) }

// GraphGetID is cuGraphGetId and cuGraphExecGetId: a number unique among graphs.
func (t *Thread) GraphGetID(h Handle) (uint32, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if _, ok := t.d.objects[h].(*GraphExec); ok {
		return h.id(), nil
	}
	_, err := object[*Graph](t.d, h)
	return h.id(), err
}

// GraphNodeGetGraph is cuGraphNodeGetContainingGraph.
func (t *Thread) GraphNodeGetGraph(h Handle) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := object[*Node](t.d, h)
	if err != nil {
		return 0, err
	}
	return n.graph.handle, nil
}

// GraphNodeGetID is cuGraphNodeGetLocalId: a number unique among the nodes of all graphs.
func (t *Thread) GraphNodeGetID(h Handle) (uint32, error) {
	_, err := t.GraphNodeGetType(h)
	return h.id(), err
}

// order returns the nodes in an order compatible with the dependencies. The caller must hold d.mu.
func (g *Graph) order() ([]*Node, error) {
	listed := map[*Node]bool{}
	var list []*Node
	for len(list) < len(g.nodes) {
		previousLength := len(list)
		for _, n := range g.nodes {
			if !listed[n] && !slices.ContainsFunc(n.predecessors, func(o *Node) bool { return !listed[o] }) {
				listed[n] = true
				list = append(list, n)
			}
		}
		if len(list) == previousLength {
			return nil, fail(InvalidValue, "the graph's dependencies form a cycle")
		}
	}
	return list, nil
}
