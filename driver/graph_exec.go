package driver

// This file implements executable graphs: instantiation, updates of nodes, and launches.

import (
	"slices"

	"gemu/probe"
)

// GraphExec is an executable graph.
type GraphExec struct {
	nodes            []execNode // in the order in which a launch runs them; predecessors come first
	chainCount       int        // number of chains of the nodes
	orderLines       []int      // line of each chain, see ordering; nil before the first launch
	last             *task      // task of the last launch: launches of the graph run in sequence
	objectReferences objectReferences
	childReferences  map[Handle]objectReferences // references of child graphs set by GraphExecChildGraphNodeSetParams, by child node

	conditions []*condition

	flags uint64 // flags of GraphInstantiate
}

// execNode is a node of an executable graph.
type execNode struct {
	handle       Handle // handle of the graph's node
	kind         NodeKind
	work         work
	predecessors []int // indices of the predecessors
	chain        int

	disabled bool // a launch skips the work
}

// autoFreeOnLaunch is CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH: a launch first frees the remaining allocations
// of the previous launch.
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
	if x.nodes, _, err = g.flatten(nil, nil); err != nil {
		return 0, err
	}
	x.nodes = waitLate(x.nodes)
	if err := x.claimAllocations(); err != nil {
		return 0, err
	}
	var predecessors [][]int
	for _, n := range x.nodes {
		predecessors = append(predecessors, n.predecessors)
	}
	nodeChains, n := chains(predecessors)
	for i := range x.nodes {
		x.nodes[i].chain = nodeChains[i]
	}
	x.chainCount = n
	x.objectReferences, x.conditions = g.retainObjects(), g.allConditions()
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

// flatten appends the graph's nodes to list, and replaces each child node by the nodes of the child. predecessors are the
// indices of the graph's predecessors: they become the predecessors of nodes without any. ends are the indices of the
// nodes without successors: they are the predecessors of the graph's successors. The caller must hold d.mu.
func (g *Graph) flatten(list []execNode, predecessors []int) (all []execNode, ends []int, err error) {
	nodes, err := g.order()
	if err != nil {
		return nil, nil, err
	}
	endsOf := map[*Node][]int{} // a single index, except for child nodes
	hasSuccessor := map[*Node]bool{}
	for _, n := range nodes {
		nodePredecessors := predecessors
		if len(n.predecessors) > 0 {
			nodePredecessors = nil
		}
		for _, p := range n.predecessors {
			hasSuccessor[p] = true
			for _, i := range endsOf[p] {
				if !slices.Contains(nodePredecessors, i) {
					nodePredecessors = append(nodePredecessors, i)
				}
			}
		}
		if n.child == nil {
			e := execNode{handle: n.handle, kind: n.kind, work: n.work, predecessors: nodePredecessors}
			if w, ok := n.work.(*conditionalWork); ok {
				if e.work, err = w.newRun(); err != nil {
					return nil, nil, err
				}
			}
			endsOf[n] = []int{len(list)}
			list = append(list, e)
			continue
		}
		if list, endsOf[n], err = n.child.flatten(list, nodePredecessors); err != nil {
			return nil, nil, err
		}
	}
	if len(nodes) == 0 {
		return list, predecessors, nil
	}
	for _, n := range nodes {
		if !hasSuccessor[n] {
			ends = append(ends, endsOf[n]...)
		}
	}
	return list, ends, nil
}

// waitLate reorders the list so that each node that waits for an event comes as late as its successors allow: a launch starts
// nodes in sequence, and another branch of the graph may record the event.
func waitLate(nodes []execNode) []execNode {
	list := make([]execNode, 0, len(nodes))
	position := make([]int, len(nodes)) // 1 + the new index of each node; 0: not in list yet
	// appendReady appends all other nodes whose predecessors are in list, or, if wait is true, one node that waits.
	appendReady := func(wait bool) {
		for i, n := range nodes {
			if position[i] > 0 || (n.kind == EventWaitNode) != wait || slices.ContainsFunc(n.predecessors, func(p int) bool { return position[p] == 0 }) {
				continue
			}
			predecessors := make([]int, len(n.predecessors))
			for k, p := range n.predecessors {
				predecessors[k] = position[p] - 1
			}
			n.predecessors = predecessors
			list = append(list, n)
			position[i] = len(list)
			if wait {
				return // its successors may be ready now
			}
		}
	}
	for len(list) < len(nodes) {
		appendReady(false) // a single pass is enough: predecessors come first in nodes
		appendReady(true)
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
	x.releaseAllocations()
	x.adoptObjectReferences()
	t.d.ordering.releaseLines(x.orderLines...)
	x.releaseAfterLastLaunch(t.d, x.objectReferences)
	return nil
}

// execNode returns a node of an executable graph, which must be of the given kind. The caller must hold d.mu.
func (t *Thread) execNode(exec, node Handle, kind NodeKind) (*execNode, error) {
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(x.nodes, func(n execNode) bool { return n.handle == node })
	if i < 0 || x.nodes[i].kind != kind {
		return nil, fail(InvalidValue, "the graph has no node %#x of this kind", uint64(node))
	}
	return &x.nodes[i], nil
}

// newOrders returns, by node, the orders of the operations in a launch of the graph, and orders the launch's task t after
// all of them. The orders are nil if operations need no order. events holds, by node, the task of the node's event. The
// caller must hold d.mu.
func (x *GraphExec) newOrders(s *Stream, t *task, events []*task) []*probe.HostOrder {
	o := &s.ctx.dev.d.ordering
	list := make([]*probe.HostOrder, len(x.nodes))
	if t.order == nil {
		return list
	}
	for len(x.orderLines) < x.chainCount {
		x.orderLines = append(x.orderLines, o.newLine())
	}
	begin := clock(t.order.Before)
	for i := range x.nodes {
		n := &x.nodes[i]
		known := begin
		for _, p := range n.predecessors {
			known = known.union(list[p].Before)
		}
		if n.kind == EventWaitNode && events[i] != nil && events[i].order != nil {
			known = known.union(events[i].order.Before)
		}
		list[i] = o.newOrder(x.orderLines[n.chain], nodeNames[n.kind], "a graph on "+s.name(), known)
		if n.kind == EventRecordNode {
			events[i].order = list[i]
		}
		t.order.Before = clock(t.order.Before).union(list[i].Before)
	}
	return list
}

// nodeNames are the names of operations for probes.
var nodeNames = map[NodeKind]string{KernelNode: "a launch", MemcpyNode: "a copy", MemsetNode: "a fill"}

// GraphLaunch is cuGraphLaunch. The launch comes after earlier launches of the graph. Each node becomes a task after the tasks of
// its predecessors, so branches of the graph take turns as streams do. The launch has ended when all its nodes have ended.
func (t *Thread) GraphLaunch(exec, stream Handle) error {
	s, err := t.enterWork(stream)
	if err != nil {
		t.reportRefusedGraph(exec, err)
		return err
	}
	x, err := object[*GraphExec](t.d, exec)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	if s.capture != nil {
		defer t.d.mu.Unlock()
		if err := x.checkCopyable(); err != nil {
			return err
		}
		s.recordNode(&Node{kind: ChildNode, child: x.toGraph(t.d)})
		return nil
	}
	if x.flags&autoFreeOnLaunch != 0 {
		x.freeRemaining(s)
	}
	var runs []func(*probe.HostOrder) error
	var events []*task // by node: the task of its event; nil: none
	var undos []func() // by node: reverts its start
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
			for _, undo := range slices.Backward(undos) {
				undo()
			}
			if l, ok := w.(*launch); ok && t.d.settings.keepsFailures() {
				t.d.sanitizer.Fail(l.f.kernel.Name, err)
			}
			t.d.mu.Unlock()
			return err
		}
		runs, events, undos = append(runs, run), append(events, eventTask(w)), append(undos, undo)
	}
	launchTask := newTask(nil)
	predecessors := s.next(launchTask, "", []*task{x.last})
	x.last = launchTask
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok {
			w.region.allocTask = launchTask
		}
	}
	s.start(launchTask, x.startNodes(s, predecessors, runs, events, x.newOrders(s, launchTask, events)))
	return s.finish(launchTask, t.d.settings.Blocking)
}

// startNodes submits a task for each node of a launch, after the given predecessors of the launch, and returns the tasks. runs, events
// and orders hold, by node, its operation, the task of its event and its order. The caller must hold d.mu.
func (x *GraphExec) startNodes(s *Stream, predecessors []*task, runs []func(*probe.HostOrder) error, events []*task, orders []*probe.HostOrder) []*task {
	d := s.ctx.dev.d
	begin := newTask(func(*probe.HostOrder) error {
		for _, c := range x.conditions {
			c.reset()
		}
		return nil
	})
	failed := false // a node has failed; d.mu guards it
	all := []*task{begin}
	tasks := make([]*task, len(x.nodes))
	for i := range x.nodes {
		n := &x.nodes[i]
		t := newTask(nil)
		kernel := ""
		switch w := n.enabled().(type) {
		case hostWork:
			t.onHost = true
		case *launch:
			kernel = w.f.kernel.Name
		case *conditionalRun:
			kernel = conditionalKernels
		}
		t.order = orders[i]
		t.always = n.kind == EventRecordNode // after a fault too, the node must end the event's task: other tasks wait for it
		t.run = func(o *probe.HostOrder) error {
			d.mu.Lock()
			skip := failed && !t.always
			d.mu.Unlock()
			if skip {
				return nil
			}
			err := error(nil)
			if kernel != "" {
				err = t.noteLaunch(d)
			}
			if err == nil {
				err = runs[i](o)
			}
			if err != nil {
				d.mu.Lock()
				failed = true
				d.mu.Unlock()
			}
			return err
		}
		if kernel != "" {
			d.expectLaunches(t, kernel)
		}
		tasks[i] = t
		all = append(all, t)
	}
	for _, t := range all {
		t.count(&s.queuedNodes)
	}
	s.start(begin, predecessors)
	for i := range x.nodes {
		n := &x.nodes[i]
		before := []*task{begin}
		for _, p := range n.predecessors {
			before = append(before, tasks[p])
		}
		if n.kind == EventWaitNode {
			before = append(before, events[i])
		}
		s.start(tasks[i], before)
	}
	return all
}

// adoptObjectReferences moves the references of childReferences to objectReferences. The caller must hold d.mu.
func (x *GraphExec) adoptObjectReferences() {
	for _, k := range x.childReferences {
		for o, n := range k {
			x.objectReferences.add(o, n)
		}
	}
	x.childReferences = nil
}

// enabled returns the work of the node, or noWork if the node is disabled.
func (n *execNode) enabled() work {
	if n.disabled {
		return noWork{}
	}
	return n.work
}
