package driver

// This file implements queries and changes of graphs and of executable graphs.

import (
	"slices"
)

// Edge is a dependency: From runs before To.
type Edge struct{ From, To Handle }

// graphValue returns a value computed from a graph.
func graphValue[T any](t *Thread, h Handle, get func(*Graph) (T, error)) (v T, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := object[*Graph](t.d, h)
	if err != nil {
		return v, err
	}
	return get(g)
}

// nodeValue returns a value computed from a node; get may change the node.
func nodeValue[T any](t *Thread, h Handle, get func(*Node) (T, error)) (v T, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := object[*Node](t.d, h)
	if err != nil {
		return v, err
	}
	return get(n)
}

// GraphGetRootNodes is cuGraphGetRootNodes: the nodes without predecessors.
func (t *Thread) GraphGetRootNodes(graph Handle) ([]Handle, error) {
	return graphValue(t, graph, func(g *Graph) (list []Handle, _ error) {
		for _, n := range g.nodes {
			if len(n.after) == 0 {
				list = append(list, n.handle)
			}
		}
		return list, nil
	})
}

// GraphGetEdges is cuGraphGetEdges.
func (t *Thread) GraphGetEdges(graph Handle) ([]Edge, error) {
	return graphValue(t, graph, func(g *Graph) (list []Edge, _ error) {
		for _, n := range g.nodes {
			for _, b := range n.after {
				list = append(list, Edge{b.handle, n.handle})
			}
		}
		return list, nil
	})
}

// GraphNodeGetDependencies is cuGraphNodeGetDependencies.
func (t *Thread) GraphNodeGetDependencies(node Handle) ([]Handle, error) {
	return nodeValue(t, node, func(n *Node) ([]Handle, error) { return nodeHandles(n.after), nil })
}

// GraphNodeGetDependentNodes is cuGraphNodeGetDependentNodes.
func (t *Thread) GraphNodeGetDependentNodes(node Handle) ([]Handle, error) {
	return nodeValue(t, node, func(n *Node) (list []Handle, _ error) {
		for _, o := range n.graph.nodes {
			if slices.Contains(o.after, n) {
				list = append(list, o.handle)
			}
		}
		return list, nil
	})
}

// GraphRemoveDependencies is cuGraphRemoveDependencies. If a dependency does not exist, none is removed.
func (t *Thread) GraphRemoveDependencies(graph Handle, from, to []Handle) error {
	_, err := graphValue(t, graph, func(g *Graph) (_ struct{}, err error) {
		if len(from) != len(to) {
			return struct{}{}, fail(InvalidValue, "%d nodes before %d nodes", len(from), len(to))
		}
		before := map[*Node][]*Node{} // predecessors before the call, of each changed node
		defer func() {
			if err != nil {
				for n, after := range before {
					n.after = after
				}
			}
		}()
		for i := range from {
			b, err := g.node(t.d, from[i])
			if err != nil {
				return struct{}{}, err
			}
			n, err := g.node(t.d, to[i])
			if err != nil {
				return struct{}{}, err
			}
			at := slices.Index(n.after, b)
			if at < 0 {
				return struct{}{}, fail(InvalidValue, "node %#x does not depend on %#x", uint64(to[i]), uint64(from[i]))
			}
			if _, known := before[n]; !known {
				before[n] = n.after
			}
			n.after = slices.Delete(slices.Clone(n.after), at, at+1)
		}
		return struct{}{}, nil
	})
	return err
}

// GraphDestroyNode is cuGraphDestroyNode: it removes the node and its dependencies.
func (t *Thread) GraphDestroyNode(node Handle) error {
	_, err := nodeValue(t, node, func(n *Node) (struct{}, error) {
		g := n.graph
		if slices.ContainsFunc(g.nodes, func(o *Node) bool { return o.kind.ofMemory() }) {
			return struct{}{}, fail(NotSupported, "nodes of a graph that allocates or frees memory stay")
		}
		g.nodes = slices.DeleteFunc(g.nodes, func(o *Node) bool { return o == n })
		for _, o := range g.nodes {
			o.after = slices.DeleteFunc(slices.Clone(o.after), func(b *Node) bool { return b == n })
		}
		for _, c := range t.d.capturing(g) {
			if slices.ContainsFunc(c.streams, func(s *Stream) bool { return slices.Contains(s.captureTips, n) }) {
				c.invalid = true // the next captured node would have lost its predecessors
			}
		}
		delete(t.d.objects, n.handle)
		for _, inner := range (&Graph{nodes: []*Node{n}}).inner() {
			t.d.drop(inner)
		}
		return struct{}{}, nil
	})
	return err
}

// ofMemory reports whether nodes of the kind allocate or free memory.
func (k NodeKind) ofMemory() bool { return k == MemAllocNode || k == MemFreeNode }

// single returns an error if nodes of the kind cannot be copied.
func (k NodeKind) single() error {
	switch {
	case k.ofMemory():
		return fail(NotSupported, "a graph that allocates or frees memory has no copies")
	case k == ConditionalNode:
		return fail(NotSupported, "a graph with conditional nodes has no copies")
	}
	return nil
}

// copyable returns an error if the graph cannot be copied. The caller must hold d.mu.
func (g *Graph) copyable() error {
	for _, n := range g.nodes {
		err := n.kind.single()
		if err == nil && n.child != nil {
			err = n.child.copyable()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyable returns an error if the executable graph cannot be turned into a graph. The caller must hold d.mu.
func (x *GraphExec) copyable() error {
	for _, n := range x.nodes {
		if err := n.kind.single(); err != nil {
			return err
		}
	}
	return nil
}

// clone copies a graph; each node of the copy refers to its original. The caller must hold d.mu.
func (g *Graph) clone(d *Driver) *Graph {
	c := d.newGraph()
	c.objectReferences = g.objectReferences.copy()
	of := map[*Node]*Node{}
	for _, n := range g.nodes {
		m := &Node{kind: n.kind, work: n.work, original: n}
		if n.child != nil {
			m.child = n.child.clone(d)
		}
		of[n] = m
		c.add(d, m)
	}
	for _, n := range g.nodes {
		for _, b := range n.after {
			of[n].after = append(of[n].after, of[b])
		}
	}
	return c
}

// graph returns a graph with the nodes of an executable graph. The caller must hold d.mu.
func (x *GraphExec) graph(d *Driver) *Graph {
	g := d.newGraph()
	for _, n := range x.nodes {
		m := &Node{kind: n.kind, work: n.enabled()}
		for _, b := range n.after {
			m.after = append(m.after, g.nodes[b])
		}
		g.add(d, m)
	}
	return g
}

// GraphClone is cuGraphClone.
func (t *Thread) GraphClone(graph Handle) (Handle, error) {
	return graphValue(t, graph, func(g *Graph) (Handle, error) {
		if err := g.copyable(); err != nil {
			return 0, err
		}
		return g.clone(t.d).handle, nil
	})
}

// GraphNodeFindInClone is cuGraphNodeFindInClone.
func (t *Thread) GraphNodeFindInClone(node, clone Handle) (Handle, error) {
	return graphValue(t, clone, func(g *Graph) (Handle, error) {
		for _, n := range g.nodes {
			if n.original != nil && n.original.handle == node {
				return n.handle, nil
			}
		}
		return 0, fail(InvalidValue, "no node of the graph was made of %#x", uint64(node))
	})
}

// GraphAddChildGraphNode is cuGraphAddChildGraphNode. The child is copied.
func (t *Thread) GraphAddChildGraphNode(graph Handle, after []Handle, child Handle) (Handle, error) {
	return graphValue(t, graph, func(g *Graph) (Handle, error) {
		c, err := object[*Graph](t.d, child)
		if err != nil {
			return 0, err
		}
		before, err := g.nodesOf(t.d, after)
		if err == nil {
			err = c.copyable()
		}
		if err != nil {
			return 0, err
		}
		n := &Node{kind: ChildNode, child: c.clone(t.d), after: before}
		g.add(t.d, n)
		return n.handle, nil
	})
}

// GraphChildGraphNodeGetGraph is cuGraphChildGraphNodeGetGraph.
func (t *Thread) GraphChildGraphNodeGetGraph(node Handle) (Handle, error) {
	return nodeValue(t, node, func(n *Node) (Handle, error) {
		if n.child == nil {
			return 0, fail(InvalidValue, "node %#x is of no child", uint64(node))
		}
		return n.child.handle, nil
	})
}

// nodeWork replaces the work of a node, which must be of the given kind. The caller must not hold d.mu.
func (t *Thread) nodeWork(node Handle, kind NodeKind, w work) error {
	_, err := nodeValue(t, node, func(n *Node) (struct{}, error) {
		if n.kind != kind {
			return struct{}{}, fail(InvalidValue, "node %#x is of another kind", uint64(node))
		}
		n.work = w
		return struct{}{}, nil
	})
	return err
}

// GraphKernelNodeSetParams is cuGraphKernelNodeSetParams. The node keeps its attributes.
func (t *Thread) GraphKernelNodeSetParams(node Handle, p *LaunchParams) error {
	has, err := t.GraphKernelNodeAttributes(node)
	if err != nil {
		return err
	}
	with := *p
	with.Cooperative, with.Cluster = has.Cooperative, has.Cluster
	l, err := t.prepare(&with)
	if err != nil {
		return err
	}
	return t.nodeWork(node, KernelNode, l)
}

// GraphKernelNodeGetParams is cuGraphKernelNodeGetParams. It returns the launch, the bytes of its arguments, and memory
// for a C copy of them. The copy is valid until the node's parameters change or the node is destroyed.
func (t *Thread) GraphKernelNodeGetParams(node Handle) (p LaunchParams, args [][]byte, clientMemory *ClientMemory, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, l, err := t.kernelNode(node)
	if err != nil {
		return p, nil, nil, err
	}
	for _, a := range l.l.Args {
		args = append(args, a.([]byte))
	}
	if l.clientArguments == nil {
		l.clientArguments = &ClientMemory{}
	}
	return LaunchParams{Func: l.handle, Grid: l.l.Grid, Block: l.l.Block, Shared: uint32(l.l.Shared), Cooperative: l.l.Cooperative, Cluster: l.l.Cluster}, args, l.clientArguments, nil
}

// GraphMemcpyNodeSetParams is cuGraphMemcpyNodeSetParams.
func (t *Thread) GraphMemcpyNodeSetParams(node Handle, c *Copy3D) error {
	w := &copyWork{*c}
	if err := t.try(w); err != nil {
		return err
	}
	return t.nodeWork(node, MemcpyNode, w)
}

// GraphMemcpyNodeGetParams is cuGraphMemcpyNodeGetParams.
func (t *Thread) GraphMemcpyNodeGetParams(node Handle) (Copy3D, error) {
	return nodeValue(t, node, func(n *Node) (Copy3D, error) {
		w, ok := n.work.(*copyWork)
		if !ok {
			return Copy3D{}, fail(InvalidValue, "node %#x is of no copy", uint64(node))
		}
		return w.Copy3D, nil
	})
}

// GraphMemsetNodeSetParams is cuGraphMemsetNodeSetParams.
func (t *Thread) GraphMemsetNodeSetParams(node Handle, f *Fill2D) error {
	w := &fillWork{*f}
	if err := t.try(w); err != nil {
		return err
	}
	return t.nodeWork(node, MemsetNode, w)
}

// GraphMemsetNodeGetParams is cuGraphMemsetNodeGetParams.
func (t *Thread) GraphMemsetNodeGetParams(node Handle) (Fill2D, error) {
	return nodeValue(t, node, func(n *Node) (Fill2D, error) {
		w, ok := n.work.(*fillWork)
		if !ok {
			return Fill2D{}, fail(InvalidValue, "node %#x is of no fill", uint64(node))
		}
		return w.Fill2D, nil
	})
}

// GraphHostNodeSetParams is cuGraphHostNodeSetParams.
func (t *Thread) GraphHostNodeSetParams(node Handle, f HostFunc) error {
	return t.nodeWork(node, HostNode, hostWork{f})
}

// GraphHostNodeGetParams is cuGraphHostNodeGetParams.
func (t *Thread) GraphHostNodeGetParams(node Handle) (HostFunc, error) {
	return nodeValue(t, node, func(n *Node) (HostFunc, error) {
		w, ok := n.work.(hostWork)
		if !ok {
			return HostFunc{}, fail(InvalidValue, "node %#x is of no function", uint64(node))
		}
		return w.HostFunc, nil
	})
}

// GraphExecHostNodeSetParams is cuGraphExecHostNodeSetParams.
func (t *Thread) GraphExecHostNodeSetParams(exec, node Handle, f HostFunc) error {
	return t.setWork(exec, node, HostNode, hostWork{f})
}

// GraphExecChildGraphNodeSetParams is cuGraphExecChildGraphNodeSetParams: the nodes of the child graph take the work of
// another graph. Both graphs must have nodes of the same kinds with the same dependencies.
func (t *Thread) GraphExecChildGraphNodeSetParams(exec, node, child Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return err
	}
	n, err := object[*Node](t.d, node)
	if err != nil {
		return err
	}
	c, err := object[*Graph](t.d, child)
	switch {
	case err != nil:
		return err
	case n.child == nil:
		return fail(InvalidValue, "node %#x is of no child", uint64(node))
	}
	if err := c.copyable(); err != nil {
		return err
	}
	previous, _, err := n.child.flat(nil, nil)
	if err != nil {
		return err
	}
	now, _, err := c.flat(nil, nil)
	if err != nil {
		return err
	}
	if len(now) != len(previous) {
		return fail(InvalidValue, "%d nodes in place of %d", len(now), len(previous))
	}
	at := make([]int, len(previous))
	for i := range previous {
		at[i] = slices.IndexFunc(x.nodes, func(n execNode) bool { return n.handle == previous[i].handle })
		switch {
		case at[i] < 0:
			return fail(InvalidValue, "node %#x is not of the graph", uint64(node))
		case now[i].kind != previous[i].kind || !sameNumbers(now[i].after, previous[i].after):
			return fail(InvalidValue, "node %#x of the child is of another kind, or depends on others", uint64(now[i].handle))
		}
	}
	for i := range now {
		x.nodes[at[i]].work = now[i].work
	}
	if x.childReferences == nil {
		x.childReferences = map[Handle]objectReferences{}
	}
	before := x.childReferences[node]
	x.childReferences[node] = c.all()
	x.release(t.d, before)
	return nil
}

// adoptObjectReferences moves the references of child graphs to the graph's own. The caller must hold d.mu.
func (x *GraphExec) adoptObjectReferences() {
	for _, k := range x.childReferences {
		for o, n := range k {
			x.objectReferences.add(o, n)
		}
	}
	x.childReferences = nil
}

// enabled returns the work of the node; no work while it is disabled.
func (n *execNode) enabled() work {
	if n.disabled {
		return noWork{}
	}
	return n.work
}

// switchable returns a node of an executable graph that can be disabled. The caller must hold d.mu.
func (t *Thread) switchable(exec, node Handle) (*execNode, error) {
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return nil, err
	}
	for i := range x.nodes {
		if n := &x.nodes[i]; n.handle == node && (n.kind == KernelNode || n.kind == MemcpyNode || n.kind == MemsetNode) {
			return n, nil
		}
	}
	return nil, fail(InvalidValue, "node %#x is no launch, copy or fill of the graph", uint64(node))
}

// GraphNodeSetEnabled is cuGraphNodeSetEnabled: a disabled node does no work.
func (t *Thread) GraphNodeSetEnabled(exec, node Handle, enabled bool) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := t.switchable(exec, node)
	if err == nil {
		n.disabled = !enabled
	}
	return err
}

// GraphNodeGetEnabled is cuGraphNodeGetEnabled.
func (t *Thread) GraphNodeGetEnabled(exec, node Handle) (bool, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := t.switchable(exec, node)
	return err == nil && !n.disabled, err
}

// GraphUpdate is a CUgraphExecUpdateResult.
type GraphUpdate int32

// The outcomes of an update.
const (
	UpdateSuccess         GraphUpdate = 0
	UpdateError           GraphUpdate = 1
	UpdateTopologyChanged GraphUpdate = 2
	UpdateNodeTypeChanged GraphUpdate = 3
	UpdateNotSupported    GraphUpdate = 6
)

// GraphExecUpdate is cuGraphExecUpdate: the executable graph takes the work of another graph. Both graphs must have
// nodes of the same kinds with the same dependencies. node is the first node that differs.
func (t *Thread) GraphExecUpdate(exec, graph Handle) (update GraphUpdate, node Handle, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return UpdateError, 0, err
	}
	g, err := object[*Graph](t.d, graph)
	if err != nil {
		return UpdateError, 0, err
	}
	nodes, _, err := g.flat(nil, nil)
	if err != nil {
		return UpdateError, 0, err
	}
	nodes = waitLate(nodes)
	if len(nodes) != len(x.nodes) {
		return UpdateTopologyChanged, 0, fail(GraphExecUpdateFailure, "%d nodes in place of %d", len(nodes), len(x.nodes))
	}
	for i := range nodes {
		n, previous := &nodes[i], &x.nodes[i]
		switch {
		case n.kind != previous.kind:
			return UpdateNodeTypeChanged, n.handle, fail(GraphExecUpdateFailure, "node %#x is of another kind", uint64(n.handle))
		case !sameNumbers(n.after, previous.after):
			return UpdateTopologyChanged, n.handle, fail(GraphExecUpdateFailure, "node %#x depends on others", uint64(n.handle))
		case n.kind.single() != nil && n.handle != previous.handle:
			return UpdateNotSupported, n.handle, fail(GraphExecUpdateFailure, "node %#x is of a kind that is not updated", uint64(n.handle))
		}
	}
	for i := range nodes {
		x.nodes[i].work = nodes[i].work
	}
	x.adoptObjectReferences()
	previous := x.objectReferences
	x.objectReferences = g.all()
	x.release(t.d, previous)
	return UpdateSuccess, 0, nil
}

// sameNumbers reports whether two lists have the same elements.
func sameNumbers(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
