package driver

// This file implements changes of executable graphs as a whole.

import (
	"slices"
)

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
		return fail(InvalidValue, "node %#x is not a child graph node", uint64(node))
	}
	if err := c.checkCopyable(); err != nil {
		return err
	}
	previous, _, err := n.child.flatten(nil, nil)
	if err != nil {
		return err
	}
	replacement, _, err := c.flatten(nil, nil)
	if err != nil {
		return err
	}
	if len(replacement) != len(previous) {
		return fail(InvalidValue, "the new graph has %d nodes, the executable graph %d", len(replacement), len(previous))
	}
	indices := make([]int, len(previous)) // in x.nodes
	for i := range previous {
		indices[i] = slices.IndexFunc(x.nodes, func(n execNode) bool { return n.handle == previous[i].handle })
		switch {
		case indices[i] < 0:
			return fail(InvalidValue, "the executable graph has no node for node %#x", uint64(node))
		case replacement[i].kind != previous[i].kind || !sameNumbers(replacement[i].predecessors, previous[i].predecessors):
			return fail(InvalidValue, "node %#x of the child graph has a different kind or different dependencies", uint64(replacement[i].handle))
		}
	}
	for i := range replacement {
		x.nodes[indices[i]].work = replacement[i].work
	}
	if x.childReferences == nil {
		x.childReferences = map[Handle]objectReferences{}
	}
	previousReferences := x.childReferences[node]
	x.childReferences[node] = c.retainObjects()
	x.releaseAfterLastLaunch(t.d, previousReferences)
	return nil
}

// switchableNode returns a node of an executable graph if it can be disabled. The caller must hold d.mu.
func (t *Thread) switchableNode(exec, node Handle) (*execNode, error) {
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return nil, err
	}
	for i := range x.nodes {
		if n := &x.nodes[i]; n.handle == node && (n.kind == KernelNode || n.kind == MemcpyNode || n.kind == MemsetNode) {
			return n, nil
		}
	}
	return nil, fail(InvalidValue, "node %#x is not a kernel, copy or fill node of the graph", uint64(node))
}

// GraphNodeSetEnabled is cuGraphNodeSetEnabled: a disabled node does no work.
func (t *Thread) GraphNodeSetEnabled(exec, node Handle, enabled bool) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := t.switchableNode(exec, node)
	if err == nil {
		n.disabled = !enabled
	}
	return err
}

// GraphNodeGetEnabled is cuGraphNodeGetEnabled.
func (t *Thread) GraphNodeGetEnabled(exec, node Handle) (bool, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := t.switchableNode(exec, node)
	return err == nil && !n.disabled, err
}

// GraphUpdate is a CUgraphExecUpdateResult.
type GraphUpdate int32

// The outcomes of an update.
const (
	UpdateSuccess         GraphUpdate = 0 // the executable graph has the new work
	UpdateError           GraphUpdate = 1 // a handle is invalid
	UpdateTopologyChanged GraphUpdate = 2 // the number of nodes or a dependency differs
	UpdateNodeTypeChanged GraphUpdate = 3 // the kind of a node differs
	UpdateNotSupported    GraphUpdate = 6 // a memory node or a conditional node is not the node of the executable graph
)

// GraphExecUpdate is cuGraphExecUpdate: the executable graph takes the work of another graph. Both graphs must have
// nodes of the same kinds with the same dependencies. node is the first node that differs; 0 if there is none, or if the
// numbers of nodes differ.
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
	nodes, _, err := g.flatten(nil, nil)
	if err != nil {
		return UpdateError, 0, err
	}
	nodes = waitLate(nodes)
	if len(nodes) != len(x.nodes) {
		return UpdateTopologyChanged, 0, fail(GraphExecUpdateFailure, "the new graph has %d nodes, the executable graph %d", len(nodes), len(x.nodes))
	}
	for i := range nodes {
		n, previous := &nodes[i], &x.nodes[i]
		switch {
		case n.kind != previous.kind:
			return UpdateNodeTypeChanged, n.handle, fail(GraphExecUpdateFailure, "node %#x has a different kind", uint64(n.handle))
		case !sameNumbers(n.predecessors, previous.predecessors):
			return UpdateTopologyChanged, n.handle, fail(GraphExecUpdateFailure, "node %#x has different dependencies", uint64(n.handle))
		case n.kind.checkCopyable() != nil && n.handle != previous.handle:
			return UpdateNotSupported, n.handle, fail(GraphExecUpdateFailure, "node %#x has a kind that cannot be updated", uint64(n.handle))
		}
	}
	for i := range nodes {
		x.nodes[i].work = nodes[i].work
	}
	x.adoptObjectReferences()
	previous := x.objectReferences
	x.objectReferences = g.retainObjects()
	x.releaseAfterLastLaunch(t.d, previous)
	return UpdateSuccess, 0, nil
}

// sameNumbers reports whether two lists have the same elements in any order.
func sameNumbers(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
