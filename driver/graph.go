package driver

// This file implements graphs: nodes, instantiation and launches.

import (
	"slices"
	"unsafe"

	"gemu/interp"
)

// Graph is a set of nodes with dependencies.
type Graph struct {
	handle           Handle
	nodes            []*Node // in the order in which they were added
	objectReferences objectReferences

	conditions []*condition
}

// Node is one unit of work of a graph.
type Node struct {
	handle Handle
	graph  *Graph
	kind   NodeKind
	after  []*Node
	work   work   // nil for a ChildNode
	child  *Graph // of a ChildNode; nil otherwise

	original *Node // in a clone: the cloned node; nil otherwise
}

// NodeKind is a kind of node; the numbers are those of CUgraphNodeType.
type NodeKind int32

// The supported kinds of node.
const (
	KernelNode NodeKind = 0
	MemcpyNode NodeKind = 1
	MemsetNode NodeKind = 2
	HostNode   NodeKind = 3
	ChildNode  NodeKind = 4
	EmptyNode  NodeKind = 5

	EventWaitNode   NodeKind = 6
	EventRecordNode NodeKind = 7

	MemAllocNode NodeKind = 10
	MemFreeNode  NodeKind = 11

	ConditionalNode NodeKind = 13
)

// work is the operation of a node. start checks it and returns the function that runs it; the caller must hold d.mu.
type work interface {
	start(d *Driver) (run func(*interp.HostOrder) error, err error)
}

// reversible is work whose start changes the allocated memory. undo reverts the change if the work does not run.
type reversible interface{ undo(d *Driver) }

type copyWork struct{ Copy3D }
type fillWork struct{ Fill2D }
type hostWork struct{ HostFunc }
type noWork struct{}

func (l *launch) start(*Driver) (func(*interp.HostOrder) error, error) {
	b, err := l.bound()
	if err != nil {
		return nil, err
	}
	return b.run, nil
}

func (w *copyWork) start(d *Driver) (func(*interp.HostOrder) error, error) {
	do, _, err := d.plan(&w.Copy3D)
	return func(o *interp.HostOrder) error { return safely(func() { do(o) }) }, err
}

func (w *fillWork) start(d *Driver) (func(*interp.HostOrder) error, error) {
	do, err := d.fill(&w.Fill2D)
	return func(o *interp.HostOrder) error { return safely(func() { do(o) }) }, err
}

func (w hostWork) start(d *Driver) (func(*interp.HostOrder) error, error) {
	return func(o *interp.HostOrder) error {
		d.hostKnows(o)
		d.awaitHost(w.Call)
		return nil
	}, nil
}

func (noWork) start(*Driver) (func(*interp.HostOrder) error, error) { return noOperation, nil }

// HostFunc is a function of the client.
type HostFunc struct {
	Call           func()
	Function, Data unsafe.Pointer // the client's values, for queries
}

// GraphExec is an executable graph.
type GraphExec struct {
	nodes            []execNode // in an order that respects the dependencies
	chains           int        // number of chains of the nodes
	orderLines       []int      // line of each chain, see ordering; nil before the first launch
	last             *task      // the last launch: launches of the graph run one after the other
	objectReferences objectReferences
	childReferences  map[Handle]objectReferences // references of child graphs set by GraphExecChildGraphNodeSetParams, by child node

	conditions []*condition

	flags uint64 // of GraphInstantiate
}

// execNode is the state of a node when the graph was instantiated.
type execNode struct {
	handle Handle
	kind   NodeKind
	work   work
	after  []int // indices of the predecessors
	chain  int

	disabled bool
}

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

// GraphDestroy is cuGraphDestroy. Executable graphs made from the graph stay valid.
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
	for _, inner := range g.inner() {
		d.drop(inner)
	}
	delete(d.objects, g.handle)
	g.objectReferences.release(d)
}

// addNode adds a node to a graph, after the given nodes of the graph.
func (t *Thread) addNode(graph Handle, after []Handle, kind NodeKind, w work) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, before, err := t.d.place(graph, after)
	if err != nil {
		return 0, err
	}
	n := &Node{kind: kind, work: w, after: before}
	g.add(t.d, n)
	return n.handle, nil
}

// place returns a graph and the predecessors of a new node. The caller must hold d.mu.
func (d *Driver) place(graph Handle, after []Handle) (*Graph, []*Node, error) {
	g, err := object[*Graph](d, graph)
	if err != nil {
		return nil, nil, err
	}
	before, err := g.nodesOf(d, after)
	return g, before, err
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
		err = fail(InvalidValue, "node %#x is of another graph", uint64(h))
	}
	return n, err
}

// nodesOf returns the nodes with the given handles. They must be distinct and belong to the graph. The caller must hold
// d.mu.
func (g *Graph) nodesOf(d *Driver, handles []Handle) ([]*Node, error) {
	var list []*Node
	for _, h := range handles {
		n, err := g.node(d, h)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(list, n):
			return nil, fail(InvalidValue, "node %#x is named twice", uint64(h))
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
		return 0, t.refused(p.Func, err)
	}
	return t.addNode(graph, after, KernelNode, l)
}

// GraphAddMemcpyNode is cuGraphAddMemcpyNode.
func (t *Thread) GraphAddMemcpyNode(graph Handle, after []Handle, c *Copy3D) (Handle, error) {
	w := &copyWork{*c}
	if err := t.try(w); err != nil {
		return 0, err
	}
	return t.addNode(graph, after, MemcpyNode, w)
}

// GraphAddMemsetNode is cuGraphAddMemsetNode.
func (t *Thread) GraphAddMemsetNode(graph Handle, after []Handle, f *Fill2D) (Handle, error) {
	w := &fillWork{*f}
	if err := t.try(w); err != nil {
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

// try checks work without running it.
func (t *Thread) try(w work) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return t.d.try(w)
}

// try checks work of a graph without running it. Meanwhile the memory of allocation nodes counts as allocated. The
// caller must hold d.mu.
func (d *Driver) try(w work) error {
	for _, r := range d.freeGraphRegions {
		d.regions.insert(r)
	}
	_, err := w.start(d)
	d.regions.take(func(r *region) bool { return r.graph != nil && d.freeGraphRegions.find(r.addr) == r })
	return err
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
		return fail(InvalidValue, "%d nodes before %d nodes", len(from), len(to))
	}
	for i := range from {
		before, err := g.node(t.d, from[i])
		if err != nil {
			return err
		}
		n, err := g.node(t.d, to[i])
		switch {
		case err != nil:
			return err
		case slices.Contains(n.after, before):
			return fail(InvalidValue, "the dependency exists")
		}
		n.after = append(n.after, before)
		if _, err := g.order(); err != nil {
			n.after = n.after[:len(n.after)-1]
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

// order returns the nodes in an order that respects the dependencies. The caller must hold d.mu.
func (g *Graph) order() ([]*Node, error) {
	done := map[*Node]bool{}
	var list []*Node
	for len(list) < len(g.nodes) {
		before := len(list)
		for _, n := range g.nodes {
			if !done[n] && !slices.ContainsFunc(n.after, func(o *Node) bool { return !done[o] }) {
				done[n] = true
				list = append(list, n)
			}
		}
		if len(list) == before {
			return nil, fail(InvalidValue, "the graph's dependencies go round in a circle")
		}
	}
	return list, nil
}

// autoFreeOnLaunch is CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH: a launch first frees the allocations that the
// previous launch left.
const autoFreeOnLaunch uint64 = 1

// GraphInstantiate is cuGraphInstantiate. Only the flag autoFreeOnLaunch has an effect.
func (t *Thread) GraphInstantiate(graph Handle, flags uint64) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := object[*Graph](t.d, graph)
	if err != nil {
		return 0, err
	}
	x := &GraphExec{flags: flags}
	if x.nodes, _, err = g.flat(nil, nil); err != nil {
		return 0, err
	}
	x.nodes = waitLate(x.nodes)
	if err := x.takeMemory(); err != nil {
		return 0, err
	}
	var after [][]int
	for _, n := range x.nodes {
		after = append(after, n.after)
	}
	nodeChains, n := chains(after)
	for i := range x.nodes {
		x.nodes[i].chain = nodeChains[i]
	}
	x.chains = n
	x.objectReferences, x.conditions = g.all(), g.allConditions()
	return t.d.add(x), nil
}

// GraphExecGetFlags is cuGraphExecGetFlags.
func (t *Thread) GraphExecGetFlags(exec Handle) (uint64, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return 0, err
	}
	return x.flags, nil
}

// flat appends the graph's nodes to list, and replaces each child node by the nodes of the child. Nodes without
// predecessors come after the nodes with indices before. ends are the indices of the last nodes, which come before
// everything that follows the graph. The caller must hold d.mu.
func (g *Graph) flat(list []execNode, before []int) (all []execNode, ends []int, err error) {
	nodes, err := g.order()
	if err != nil {
		return nil, nil, err
	}
	lasts := map[*Node][]int{}
	inner := map[*Node]bool{}
	for _, n := range nodes {
		after := before
		if len(n.after) > 0 {
			after = nil
		}
		for _, b := range n.after {
			inner[b] = true
			for _, i := range lasts[b] {
				if !slices.Contains(after, i) {
					after = append(after, i)
				}
			}
		}
		if n.child == nil {
			e := execNode{handle: n.handle, kind: n.kind, work: n.work, after: after}
			if w, ok := n.work.(*conditional); ok {
				if e.work, err = w.newBranch(); err != nil {
					return nil, nil, err
				}
			}
			lasts[n] = []int{len(list)}
			list = append(list, e)
			continue
		}
		if list, lasts[n], err = n.child.flat(list, after); err != nil {
			return nil, nil, err
		}
	}
	if len(nodes) == 0 {
		return list, before, nil
	}
	for _, n := range nodes {
		if !inner[n] {
			ends = append(ends, lasts[n]...)
		}
	}
	return list, ends, nil
}

// waitLate reorders the list so that each node that waits for an event comes as late as its successors allow. Nodes run
// one after the other, and another branch of the graph may be needed to complete the event.
func waitLate(nodes []execNode) []execNode {
	list := make([]execNode, 0, len(nodes))
	at := make([]int, len(nodes)) // 1 + the new index of each node; 0: not placed yet
	take := func(wait bool) {
		for i, n := range nodes {
			if at[i] > 0 || (n.kind == EventWaitNode) != wait || slices.ContainsFunc(n.after, func(b int) bool { return at[b] == 0 }) {
				continue
			}
			after := make([]int, len(n.after))
			for k, b := range n.after {
				after[k] = at[b] - 1
			}
			n.after = after
			list = append(list, n)
			at[i] = len(list)
			if wait {
				return // further nodes may be ready now
			}
		}
	}
	for len(list) < len(nodes) {
		take(false) // one pass is enough: the nodes are in dependency order
		take(true)
	}
	return list
}

// GraphUpload is cuGraphUpload. It only checks its arguments.
func (t *Thread) GraphUpload(exec, stream Handle) error {
	if _, err := t.enterStream(stream); err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	_, err := object[*GraphExec](t.d, exec)
	return err
}

// GraphExecDestroy is cuGraphExecDestroy. A running launch continues to its end.
func (t *Thread) GraphExecDestroy(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	x, err := object[*GraphExec](t.d, h)
	if err != nil {
		return err
	}
	delete(t.d.objects, h)
	x.releaseMemory()
	x.adoptObjectReferences()
	t.d.ordering.releaseLines(x.orderLines...)
	x.release(t.d, x.objectReferences)
	return nil
}

// nodeOf returns a node of an executable graph, which must be of the given kind. The caller must hold d.mu.
func (t *Thread) nodeOf(exec, node Handle, kind NodeKind) (*execNode, error) {
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(x.nodes, func(n execNode) bool { return n.handle == node })
	if i < 0 || x.nodes[i].kind != kind {
		return nil, fail(InvalidValue, "node %#x is not such a node of the graph", uint64(node))
	}
	return &x.nodes[i], nil
}

// setWork changes the work of a node of an executable graph for later launches.
func (t *Thread) setWork(exec, node Handle, kind NodeKind, w work) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := t.nodeOf(exec, node, kind)
	if err != nil {
		return err
	}
	n.work = w
	return nil
}

// KernelAttributes are the attributes of a kernel node: see LaunchParams.
type KernelAttributes struct {
	Cooperative bool
	Cluster     interp.Dim3
}

// attributes returns the attributes of a launch.
func (l *launch) attributes() KernelAttributes {
	return KernelAttributes{l.l.Cooperative, l.l.Cluster}
}

// kernelNode returns a kernel node and its launch. The caller must hold d.mu.
func (t *Thread) kernelNode(h Handle) (*Node, *launch, error) {
	n, err := object[*Node](t.d, h)
	if err != nil {
		return nil, nil, err
	}
	l, ok := n.work.(*launch)
	if !ok {
		return nil, nil, fail(InvalidValue, "node %#x is of no kernel", uint64(h))
	}
	return n, l, nil
}

// GraphKernelNodeAttributes is cuGraphKernelNodeGetAttribute.
func (t *Thread) GraphKernelNodeAttributes(node Handle) (KernelAttributes, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, l, err := t.kernelNode(node)
	if err != nil {
		return KernelAttributes{}, err
	}
	return l.attributes(), nil
}

// GraphKernelNodeSetAttributes is cuGraphKernelNodeSetAttribute. Executable graphs do not change.
func (t *Thread) GraphKernelNodeSetAttributes(node Handle, a KernelAttributes) error {
	t.d.mu.Lock()
	n, l, err := t.kernelNode(node)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	to := *l // including clientArguments
	t.d.mu.Unlock()
	p := &LaunchParams{Grid: l.l.Grid, Block: l.l.Block, Shared: uint32(l.l.Shared), Cooperative: a.Cooperative, Cluster: a.Cluster}
	if to.l.Cluster, err = l.f.extents(t.d, p); err != nil {
		return err
	}
	to.l.Cooperative = a.Cooperative
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n.work = &to
	return nil
}

// GraphExecKernelNodeSetParams is cuGraphExecKernelNodeSetParams. The node keeps its attributes.
func (t *Thread) GraphExecKernelNodeSetParams(exec, node Handle, p *LaunchParams) error {
	t.d.mu.Lock()
	n, err := t.nodeOf(exec, node, KernelNode)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	with, has := *p, n.work.(*launch).attributes()
	t.d.mu.Unlock()
	with.Cooperative, with.Cluster = has.Cooperative, has.Cluster
	l, err := t.prepare(&with)
	if err != nil {
		return err
	}
	return t.setWork(exec, node, KernelNode, l)
}

// GraphExecMemcpyNodeSetParams is cuGraphExecMemcpyNodeSetParams.
func (t *Thread) GraphExecMemcpyNodeSetParams(exec, node Handle, c *Copy3D) error {
	w := &copyWork{*c}
	if err := t.try(w); err != nil {
		return err
	}
	return t.setWork(exec, node, MemcpyNode, w)
}

// GraphExecMemsetNodeSetParams is cuGraphExecMemsetNodeSetParams.
func (t *Thread) GraphExecMemsetNodeSetParams(exec, node Handle, f *Fill2D) error {
	w := &fillWork{*f}
	if err := t.try(w); err != nil {
		return err
	}
	return t.setWork(exec, node, MemsetNode, w)
}

// orders returns the orders of the nodes in a launch of the graph, and makes its task t come after all of them. events
// holds, by node, the task of the node's event. The caller must hold d.mu.
func (x *GraphExec) orders(s *Stream, t *task, events []*task) []*interp.HostOrder {
	o := &s.ctx.dev.d.ordering
	list := make([]*interp.HostOrder, len(x.nodes))
	if t.order == nil {
		return list
	}
	for len(x.orderLines) < x.chains {
		x.orderLines = append(x.orderLines, o.newLine())
	}
	begin := clock(t.order.Before)
	for i := range x.nodes {
		n := &x.nodes[i]
		before := begin
		for _, b := range n.after {
			before = before.union(list[b].Before)
		}
		if n.kind == EventWaitNode && events[i] != nil && events[i].order != nil {
			before = before.union(events[i].order.Before)
		}
		list[i] = o.newOrder(x.orderLines[n.chain], nodeNames[n.kind], "a graph on "+s.name(), before)
		if n.kind == EventRecordNode {
			events[i].order = list[i]
		}
		t.order.Before = clock(t.order.Before).union(list[i].Before)
	}
	return list
}

// nodeNames are the names of operations for probes.
var nodeNames = map[NodeKind]string{KernelNode: "a launch", MemcpyNode: "a copy", MemsetNode: "a fill"}

// GraphLaunch is cuGraphLaunch: the nodes run one after the other, as one operation of the stream, after earlier
// launches of the graph.
func (t *Thread) GraphLaunch(exec, stream Handle) error {
	s, err := t.enterWork(stream)
	if err != nil {
		t.graphRefused(exec, err)
		return err
	}
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	if s.capture != nil {
		defer t.d.mu.Unlock()
		if err := x.copyable(); err != nil {
			return err
		}
		s.recordNode(&Node{kind: ChildNode, child: x.graph(t.d)})
		return nil
	}
	if x.flags&autoFreeOnLaunch != 0 {
		x.freeLeft(s)
	}
	var runs []func(*interp.HostOrder) error
	var kernels []string  // of all launches, in order
	var launches []string // by node: its kernel; "": none
	var events []*task
	var back []func() // reverts each start
	for _, n := range x.nodes {
		w := n.enabled()
		undo := func() {}
		switch w := w.(type) {
		case *recordWork: // a launch may record the same event twice
			previous := w.event.recorded
			undo = func() { w.event.recorded = previous }
		case reversible:
			undo = func() { w.undo(t.d) }
		}
		run, err := w.start(t.d)
		if err != nil {
			for _, undo := range slices.Backward(back) {
				undo()
			}
			if l, ok := w.(*launch); ok && len(t.d.settings.Sanitize) > 0 {
				t.d.sanitizer.Fail(l.f.kernel.Name, err)
			}
			t.d.mu.Unlock()
			return err
		}
		kernel := ""
		switch w := w.(type) {
		case *launch:
			kernel = w.f.kernel.Name
		case *branch:
			kernel = conditionalKernels
		}
		if launches = append(launches, kernel); kernel != "" {
			kernels = append(kernels, kernel)
		}
		runs, events, back = append(runs, run), append(events, taskOf(w)), append(back, undo)
	}
	previousTask, after := s.next("", []*task{x.last})
	x.last = previousTask
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok {
			w.region.allocTask = previousTask
		}
	}
	orders := x.orders(s, previousTask, events)
	s.start(previousTask, func(*interp.HostOrder) error {
		for _, c := range x.conditions {
			c.reset()
		}
		for i, run := range runs {
			if launches[i] != "" {
				if err := previousTask.noteLaunch(t.d); err != nil {
					return err
				}
			}
			if err := run(orders[i]); err != nil {
				return err
			}
		}
		return nil
	}, after)
	t.d.expectLaunches(previousTask, kernels...)
	for i, n := range x.nodes {
		if n.kind == EventRecordNode {
			go func() { // release waiters if a failed launch does not reach the node
				<-previousTask.done
				events[i].end()
			}()
		}
	}
	return s.finish(previousTask, t.d.settings.Blocking)
}
