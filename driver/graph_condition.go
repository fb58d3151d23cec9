package driver

// This file implements conditional nodes (driver API, "Graph Management"; programming guide, "Conditional Graph
// Nodes"): they run graphs once, several times or not at all, depending on a value set by kernels.

import (
	"encoding/binary"
	"slices"

	"gemu/interp"
	"gemu/probe"
)

// condition is the value that controls a conditional node. Its handle is the address of the value in device memory, to
// which cudaGraphSetConditional of the device runtime writes.
type condition struct {
	memory        *interp.Buffer
	initial       uint32 // initial value
	resetAtLaunch bool   // each launch of the graph begins with the initial value
	used          bool   // a node uses it
}

// handle returns the CUgraphConditionalHandle.
func (c *condition) handle() uint64 { return c.memory.Addr() }

// value returns the current value.
func (c *condition) value() uint32 { return binary.LittleEndian.Uint32(c.memory.Bytes()) }

// reset sets the initial value at a launch, if resetAtLaunch is true.
func (c *condition) reset() {
	if c.resetAtLaunch {
		binary.LittleEndian.PutUint32(c.memory.Bytes(), c.initial)
	}
}

// ConditionalKind is a CUgraphConditionalNodeType.
type ConditionalKind int32

// The kinds of conditional node.
const (
	ConditionalIf     ConditionalKind = iota // run the first body if the value is not 0, otherwise the second, if any
	ConditionalWhile                         // repeat the body while the value is not 0
	ConditionalSwitch                        // run the body whose index is the value
)

// assignDefault is CU_GRAPH_COND_ASSIGN_DEFAULT.
const assignDefault uint32 = 1

// conditionalWork is the work of a conditional node in a graph.
type conditionalWork struct {
	condition    *condition
	kind         ConditionalKind
	bodies       []*Graph
	clientBodies *ClientMemory // for a C list of the bodies, valid as long as the node exists
}

// conditionalRun is the work of a conditional node in an executable graph.
type conditionalRun struct {
	condition *condition
	kind      ConditionalKind
	bodies    [][]execNode
}

// start has no effect: a launch starts the conditionalRun that newRun has made.
func (w *conditionalWork) start(*Driver) (func(*probe.HostOrder) error, error) {
	return noWork{}.start(nil)
}

// newRun makes a conditionalRun with the current nodes of the bodies. The caller must hold d.mu.
func (w *conditionalWork) newRun() (*conditionalRun, error) {
	r := &conditionalRun{condition: w.condition, kind: w.kind}
	for _, g := range w.bodies {
		nodes, _, err := g.flatten(nil, nil)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			switch n.kind {
			case KernelNode, MemcpyNode, MemsetNode, EmptyNode, ConditionalNode:
			default:
				return nil, fail(InvalidValue, "node %#x has a kind that the graph of a conditional node cannot contain", uint64(n.handle))
			}
		}
		r.bodies = append(r.bodies, nodes)
	}
	return r, nil
}

// start has no effect before the node runs: then the nodes of the bodies are started, each when it is its turn.
func (r *conditionalRun) start(d *Driver) (func(*probe.HostOrder) error, error) {
	return func(o *probe.HostOrder) error {
		for range maxIterations {
			body, ok := r.currentBody()
			for i := range body {
				d.mu.Lock()
				run, err := body[i].work.start(d)
				d.mu.Unlock()
				if err == nil {
					err = run(o)
				}
				if err != nil {
					return err
				}
			}
			if r.kind != ConditionalWhile || !ok {
				return nil
			}
		}
		return fail(LaunchTimeout, "the loop of a WHILE node was stopped after %d iterations: its condition is still %d", maxIterations, r.condition.value())
	}, nil
}

// maxIterations is the maximum number of repetitions of a WHILE node: a node must end even if its condition never becomes
// 0.
const maxIterations = 1 << 20

// currentBody returns the body for the current value of the condition. ok is false if there is none.
func (r *conditionalRun) currentBody() (body []execNode, ok bool) {
	value := r.condition.value()
	index := uint64(value)
	if r.kind != ConditionalSwitch { // body 0 is for nonzero values, body 1 for 0
		index = 0
		if value == 0 {
			index = 1
		}
	}
	if index >= uint64(len(r.bodies)) {
		return nil, false
	}
	return r.bodies[index], true
}

// allConditions lists the conditions of the graph and its inner graphs. The caller must hold d.mu.
func (g *Graph) allConditions() []*condition {
	list := slices.Clone(g.conditions)
	for _, inner := range g.innerGraphs() {
		list = append(list, inner.allConditions()...)
	}
	return list
}

// innerGraphs lists the child graphs and the bodies of conditional nodes. The caller must hold d.mu.
func (g *Graph) innerGraphs() []*Graph {
	var list []*Graph
	for _, n := range g.nodes {
		if n.child != nil {
			list = append(list, n.child)
		}
		if w, ok := n.work.(*conditionalWork); ok {
			list = append(list, w.bodies...)
		}
	}
	return list
}

// GraphConditionalHandleCreate is cuGraphConditionalHandleCreate.
func (t *Thread) GraphConditionalHandleCreate(graph Handle, first, flags uint32) (uint64, error) {
	if flags&^assignDefault != 0 {
		return 0, fail(InvalidValue, "flags %#x", flags)
	}
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	_, err := object[*Graph](t.d, graph)
	t.d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	memory, err := t.d.gpu.AllocNamed("a condition of a graph", 4) // waits for a running launch
	if err != nil {
		return 0, fail(OutOfMemory, "%v", err)
	}
	return graphValue(t, graph, func(g *Graph) (uint64, error) {
		c := &condition{memory: memory, initial: first, resetAtLaunch: flags&assignDefault != 0}
		g.conditions = append(g.conditions, c)
		g.objectReferences.add(&UserObject{references: 1, destroy: func() { memory.Free() }}, 1)
		return c.handle(), nil
	})
}

// GraphAddConditionalNode is cuGraphAddNode for a conditional node. It makes n bodies. clientMemory is for a C list of
// them, valid as long as the node exists.
func (t *Thread) GraphAddConditionalNode(graph Handle, after []Handle, handle uint64, kind ConditionalKind, n uint32) (node Handle, bodies []Handle, clientMemory *ClientMemory, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, predecessors, err := t.d.graphAndPredecessors(graph, after)
	if err != nil {
		return 0, nil, nil, err
	}
	index := slices.IndexFunc(g.conditions, func(c *condition) bool { return c.handle() == handle })
	maximum := map[ConditionalKind]uint32{ConditionalIf: 2, ConditionalWhile: 1, ConditionalSwitch: maxBodies}[kind]
	switch {
	case index < 0:
		return 0, nil, nil, fail(InvalidValue, "%#x is not the handle of a condition of the graph", handle)
	case g.conditions[index].used:
		return 0, nil, nil, fail(InvalidValue, "another node uses condition %#x already", handle)
	case n == 0 || n > maximum:
		return 0, nil, nil, fail(InvalidValue, "a conditional node of type %d cannot have %d graphs", kind, n)
	}
	g.conditions[index].used = true
	w := &conditionalWork{condition: g.conditions[index], kind: kind, clientBodies: &ClientMemory{}}
	for range n {
		body := t.d.newGraph()
		w.bodies = append(w.bodies, body)
		bodies = append(bodies, body.handle)
	}
	created := &Node{kind: ConditionalNode, work: w, predecessors: predecessors}
	g.add(t.d, created)
	return created.handle, bodies, w.clientBodies, nil
}

// maxBodies is the maximum number of bodies of a switch. It bounds the list of bodies that the client gets.
const maxBodies = 1 << 16
