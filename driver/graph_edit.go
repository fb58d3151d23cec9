package driver

// This file implements queries and changes of the nodes and dependencies of graphs, clones and child graphs.

import (
	"slices"
)

// Edge is a dependency between two nodes of a graph, given by their handles: From runs before To.
type Edge struct{ From, To Handle }

// graphValue returns the value of get for a graph. get runs with d.mu held, and may change the graph.
func graphValue[T any](t *Thread, h Handle, get func(*Graph) (T, error)) (v T, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := object[*Graph](t.d, h)
	if err != nil {
		return v, err
	}
	return get(g)
}

// nodeValue returns the value of get for a node. get runs with d.mu held, and may change the node.
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
			if len(n.predecessors) == 0 {
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
			for _, predecessor := range n.predecessors {
				list = append(list, Edge{predecessor.handle, n.handle})
			}
		}
		return list, nil
	})
}

// GraphNodeGetDependencies is cuGraphNodeGetDependencies.
func (t *Thread) GraphNodeGetDependencies(node Handle) ([]Handle, error) {
	return nodeValue(t, node, func(n *Node) ([]Handle, error) { return nodeHandles(n.predecessors), nil })
}

// GraphNodeGetDependentNodes is cuGraphNodeGetDependentNodes.
func (t *Thread) GraphNodeGetDependentNodes(node Handle) ([]Handle, error) {
	return nodeValue(t, node, func(n *Node) (list []Handle, _ error) {
		for _, o := range n.graph.nodes {
			if slices.Contains(o.predecessors, n) {
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
			return struct{}{}, fail(InvalidValue, "the list of sources has %d nodes, the list of targets %d", len(from), len(to))
		}
		original := map[*Node][]*Node{} // predecessors before the call, of each changed node
		defer func() {
			if err != nil {
				for n, predecessors := range original {
					n.predecessors = predecessors
				}
			}
		}()
		for i := range from {
			predecessor, err := g.node(t.d, from[i])
			if err != nil {
				return struct{}{}, err
			}
			n, err := g.node(t.d, to[i])
			if err != nil {
				return struct{}{}, err
			}
			index := slices.Index(n.predecessors, predecessor)
			if index < 0 {
				return struct{}{}, fail(InvalidValue, "node %#x does not depend on %#x", uint64(to[i]), uint64(from[i]))
			}
			if _, changed := original[n]; !changed {
				original[n] = n.predecessors
			}
			n.predecessors = slices.Delete(slices.Clone(n.predecessors), index, index+1)
		}
		return struct{}{}, nil
	})
	return err
}

// GraphDestroyNode is cuGraphDestroyNode: it removes the node and its dependencies.
func (t *Thread) GraphDestroyNode(node Handle) error {
	_, err := nodeValue(t, node, func(n *Node) (struct{}, error) {
		g := n.graph
		if slices.ContainsFunc(g.nodes, func(o *Node) bool { return o.kind.allocatesOrFrees() }) {
			return struct{}{}, fail(NotSupported, "nodes of a graph that allocates or frees memory cannot be removed")
		}
		g.nodes = slices.DeleteFunc(g.nodes, func(o *Node) bool { return o == n })
		for _, o := range g.nodes {
			o.predecessors = slices.DeleteFunc(slices.Clone(o.predecessors), func(p *Node) bool { return p == n })
		}
		for _, c := range t.d.capturing(g) {
			if slices.ContainsFunc(c.streams, func(s *Stream) bool { return slices.Contains(s.captureTips, n) }) {
				c.invalid = true // the next captured node would lack this predecessor
			}
		}
		delete(t.d.objects, n.handle)
		for _, inner := range (&Graph{nodes: []*Node{n}}).innerGraphs() {
			t.d.drop(inner)
		}
		return struct{}{}, nil
	})
	return err
}

// allocatesOrFrees reports whether nodes of the kind allocate or free memory.
func (k NodeKind) allocatesOrFrees() bool { return k == MemAllocNode || k == MemFreeNode }

// checkCopyable returns an error if nodes of the kind cannot be copied.
func (k NodeKind) checkCopyable() error {
	switch {
	case k.allocatesOrFrees():
		return fail(NotSupported, "a graph that allocates or frees memory cannot be copied")
	case k == ConditionalNode:
		return fail(NotSupported, "a graph with conditional nodes cannot be copied")
	}
	return nil
}

// checkCopyable returns an error if the graph cannot be copied. The caller must hold d.mu.
func (g *Graph) checkCopyable() error {
	for _, n := range g.nodes {
		err := n.kind.checkCopyable()
		if err == nil && n.child != nil {
			err = n.child.checkCopyable()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCopyable returns an error if the executable graph cannot be turned into a graph. The caller must hold d.mu.
func (x *GraphExec) checkCopyable() error {
	for _, n := range x.nodes {
		if err := n.kind.checkCopyable(); err != nil {
			return err
		}
	}
	return nil
}

// clone copies a graph; each node of the copy refers to its original. The caller must hold d.mu.
func (g *Graph) clone(d *Driver) *Graph {
	c := d.newGraph()
	c.objectReferences = g.objectReferences.copy()
	clones := map[*Node]*Node{} // by original
	for _, n := range g.nodes {
		m := &Node{kind: n.kind, work: n.work, original: n}
		if n.child != nil {
			m.child = n.child.clone(d)
		}
		clones[n] = m
		c.add(d, m)
	}
	for _, n := range g.nodes {
		for _, predecessor := range n.predecessors {
			clones[n].predecessors = append(clones[n].predecessors, clones[predecessor])
		}
	}
	return c
}

// toGraph returns a graph with the nodes of an executable graph. The caller must hold d.mu.
func (x *GraphExec) toGraph(d *Driver) *Graph {
	g := d.newGraph()
	for _, n := range x.nodes {
		m := &Node{kind: n.kind, work: n.enabled()}
		for _, i := range n.predecessors {
			m.predecessors = append(m.predecessors, g.nodes[i])
		}
		g.add(d, m)
	}
	return g
}

// GraphClone is cuGraphClone.
func (t *Thread) GraphClone(graph Handle) (Handle, error) {
	return graphValue(t, graph, func(g *Graph) (Handle, error) {
		if err := g.checkCopyable(); err != nil {
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
		return 0, fail(InvalidValue, "the graph has no clone of node %#x", uint64(node))
	})
}

// GraphAddChildGraphNode is cuGraphAddChildGraphNode. The child is copied.
func (t *Thread) GraphAddChildGraphNode(graph Handle, after []Handle, child Handle) (Handle, error) {
	return graphValue(t, graph, func(g *Graph) (Handle, error) {
		c, err := object[*Graph](t.d, child)
		if err != nil {
			return 0, err
		}
		predecessors, err := g.nodesByHandle(t.d, after)
		if err == nil {
			err = c.checkCopyable()
		}
		if err != nil {
			return 0, err
		}
		n := &Node{kind: ChildNode, child: c.clone(t.d), predecessors: predecessors}
		g.add(t.d, n)
		return n.handle, nil
	})
}

// GraphChildGraphNodeGetGraph is cuGraphChildGraphNodeGetGraph.
func (t *Thread) GraphChildGraphNodeGetGraph(node Handle) (Handle, error) {
	return nodeValue(t, node, func(n *Node) (Handle, error) {
		if n.child == nil {
			return 0, fail(InvalidValue, "node %#x is not a child graph node", uint64(node))
		}
		return n.child.handle, nil
	})
}
