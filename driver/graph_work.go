package driver

// This file holds the work of nodes.

import (
	"unsafe"

	"gemu/probe"
)

// work is the operation of a node. start checks the operation when a launch of the graph is submitted, and returns the
// function that executes it. The caller of start must hold d.mu.
type work interface {
	start(d *Driver) (run func(*probe.HostOrder) error, err error)
}

// reversible is work whose start changes the allocated memory. undo reverts the change if the work does not run.
type reversible interface{ undo(d *Driver) }

// copyWork copies memory.
type copyWork struct{ Copy3D }

// fillWork sets memory to a value.
type fillWork struct{ Fill2D }

// hostWork calls a function of the client.
type hostWork struct{ HostFunc }

// noWork is the work of an empty node, which only orders other nodes.
type noWork struct{}

func (l *launch) start(*Driver) (func(*probe.HostOrder) error, error) {
	b, err := l.bind()
	if err != nil {
		return nil, err
	}
	return b.run, nil
}

func (w *copyWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	execute, _, err := d.plan(&w.Copy3D)
	return func(o *probe.HostOrder) error { return safely(func() { execute(o) }) }, err
}

func (w *fillWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	execute, err := d.fill(&w.Fill2D)
	return func(o *probe.HostOrder) error { return safely(func() { execute(o) }) }, err
}

func (w hostWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	return func(o *probe.HostOrder) error {
		d.hostKnows(o)
		d.awaitHost(w.Call)
		return nil
	}, nil
}

func (noWork) start(*Driver) (func(*probe.HostOrder) error, error) {
	return func(*probe.HostOrder) error { return nil }, nil
}

// HostFunc is a function of the client.
type HostFunc struct {
	Call           func()         // calls the function
	Function, Data unsafe.Pointer // the C function and its argument, for queries
}

// checkNodeWork checks the work of a copy node or fill node without executing it.
func (t *Thread) checkNodeWork(w work) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return t.d.checkNodeWork(w)
}

// checkNodeWork checks the work of a copy node or fill node without executing it. During the check the memory of
// allocation nodes counts as allocated. The caller must hold d.mu.
func (d *Driver) checkNodeWork(w work) error {
	for _, r := range d.freeGraphRegions {
		d.regions.insert(r)
	}
	_, err := w.start(d)
	d.regions.take(func(r *region) bool { return r.graph != nil && d.freeGraphRegions.find(r.addr) == r })
	return err
}
