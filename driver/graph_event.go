package driver

// This file implements nodes that record events or wait for them (driver API, "Graph Management"). Each launch of the
// graph records its events again. A node that waits for an event waits for the last record that was submitted before the
// launch, or by an earlier node of the same launch.

import "gemu/probe"

// eventWork is the work of an event node.
type eventWork struct {
	event  *Event
	handle Handle // handle of the event
}

// recordWork records the event when the node runs.
type recordWork struct{ eventWork }

// waitWork waits for the event.
type waitWork struct{ eventWork }

// start makes a task for the record: later waits for the event wait for this task. The task ends when the node runs.
func (w *recordWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	t := newTask(nil)
	w.event.recorded = recorded{task: t}
	return func(*probe.HostOrder) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.endNow(t)
		return nil
	}, nil
}

// start returns a function without effect: the task of the event's last record is a predecessor of the node's task.
func (w *waitWork) start(*Driver) (func(*probe.HostOrder) error, error) {
	return func(*probe.HostOrder) error { return nil }, nil
}

// eventTask returns the task of a node's event in the launch being submitted, or nil. The caller must hold d.mu.
func eventTask(w work) *task {
	switch w := w.(type) {
	case *recordWork:
		return w.event.task
	case *waitWork:
		return w.event.task
	}
	return nil
}

// errNoEventNode is the error for a node with an event of several processes.
var errNoEventNode = &Error{Result: NotSupported, Detail: "a graph node with an event that processes share (CU_EVENT_INTERPROCESS)"}

// eventNode makes the work of an event node. The caller must hold d.mu.
func (d *Driver) eventNode(kind NodeKind, event Handle) (work, error) {
	e, err := d.event(event)
	switch {
	case err != nil:
		return nil, err
	case e.shared != nil:
		return nil, errNoEventNode
	}
	if kind == EventRecordNode {
		return &recordWork{eventWork{e, event}}, nil
	}
	return &waitWork{eventWork{e, event}}, nil
}

// GraphAddEventNode is cuGraphAddEventRecordNode and cuGraphAddEventWaitNode.
func (t *Thread) GraphAddEventNode(graph Handle, after []Handle, kind NodeKind, event Handle) (Handle, error) {
	return graphValue(t, graph, func(g *Graph) (Handle, error) {
		predecessors, err := g.nodesByHandle(t.d, after)
		if err != nil {
			return 0, err
		}
		w, err := t.d.eventNode(kind, event)
		if err != nil {
			return 0, err
		}
		n := &Node{kind: kind, work: w, predecessors: predecessors}
		g.add(t.d, n)
		return n.handle, nil
	})
}

// GraphEventNodeGetEvent is cuGraphEventRecordNodeGetEvent and cuGraphEventWaitNodeGetEvent.
func (t *Thread) GraphEventNodeGetEvent(node Handle, kind NodeKind) (Handle, error) {
	return nodeValue(t, node, func(n *Node) (Handle, error) {
		if n.kind != kind {
			return 0, fail(InvalidValue, "node %#x has a different kind", uint64(node))
		}
		if w, ok := n.work.(*recordWork); ok {
			return w.handle, nil
		}
		return n.work.(*waitWork).handle, nil
	})
}

// GraphEventNodeSetEvent is cuGraphEventRecordNodeSetEvent and cuGraphEventWaitNodeSetEvent.
func (t *Thread) GraphEventNodeSetEvent(node Handle, kind NodeKind, event Handle) error {
	t.d.mu.Lock()
	w, err := t.d.eventNode(kind, event)
	t.d.mu.Unlock()
	if err != nil {
		return err
	}
	return t.setNodeWork(node, kind, w)
}

// GraphExecEventNodeSetEvent is cuGraphExecEventRecordNodeSetEvent and cuGraphExecEventWaitNodeSetEvent.
func (t *Thread) GraphExecEventNodeSetEvent(exec, node Handle, kind NodeKind, event Handle) error {
	t.d.mu.Lock()
	w, err := t.d.eventNode(kind, event)
	t.d.mu.Unlock()
	if err != nil {
		return err
	}
	return t.setExecNodeWork(exec, node, kind, w)
}
