package driver

// This file implements memory allocated and freed by graphs (driver API, "Graph Management"; programming guide, "Graph
// Memory Nodes").
//
// An allocation node has a fixed address and fixed pages. They are released when the memory is free and neither the
// node's graph nor an executable graph made from it exists. In a launch, kernels can access the memory after the
// allocation node has run, until a free node, cuMemFreeAsync or cuMemFree frees it. A free keeps the address and the
// pages for the next launch.
//
// The region of an allocation node is in Driver.regions while it is allocated, and in Driver.freeGraphRegions
// otherwise. It changes between the two when a launch or a free is submitted, not when it runs.

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/probe"
)

// allocWork is the work of an allocation node.
type allocWork struct {
	region       *region
	name         string     // name of the memory in messages
	releasePages func()     // releases the region's pages
	exec         *GraphExec // the executable graph with the right to allocate the region; nil: none
	orphaned     bool       // no graph or executable graph has the node any more
	pendingFrees int        // number of frees that were submitted and have not ended
}

// freeWork is the work of a free node.
type freeWork struct{ region *region }

// graphMemory counts the bytes of a device that graphs allocate. An allocation or a free counts when it is submitted.
type graphMemory struct {
	used         uint64 // bytes allocated and not freed
	usedHigh     uint64 // maximum of used since the last reset of usedHigh
	reserved     uint64 // maximum of used since the last DeviceGraphMemTrim
	reservedHigh uint64 // maximum of reserved since the last reset of reservedHigh
}

// GraphMemoryAttribute is a CUgraphMem_attribute.
type GraphMemoryAttribute int32

// The attributes of a device's memory for graphs, in bytes. An allocation or a free counts when it is submitted. A high
// water mark can only be set to 0, which resets it to the present value of its attribute.
const (
	GraphMemoryUsed         GraphMemoryAttribute = iota // bytes that launches of graphs have allocated and that are not freed
	GraphMemoryUsedHigh                                 // high water mark: maximum of GraphMemoryUsed since the last reset
	GraphMemoryReserved                                 // maximum of GraphMemoryUsed since the last DeviceGraphMemTrim
	GraphMemoryReservedHigh                             // high water mark: maximum of GraphMemoryReserved since the last reset
)

// newAllocation makes the work of an allocation node of size bytes. The memory is reserved but not allocated: a launch
// allocates it. The graph gets a reference that keeps it reserved. The caller must hold d.mu.
func (g *Graph) newAllocation(c *Context, size uint64) (*allocWork, error) {
	d := c.dev.d
	if size == 0 {
		return nil, fail(InvalidValue, "an allocation node of 0 bytes, at least 1 is required")
	}
	if total := d.settings.Memory; size > total {
		return nil, fail(OutOfMemory, "%d bytes requested, the device has %d", size, total)
	}
	data, release, err := d.pages.Allocate(size)
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	d.buffers++
	w := &allocWork{name: fmt.Sprintf("memory of a graph #%d", d.buffers), releasePages: release}
	w.region = &region{addr: d.poolAddress(size), size: size, data: data, kind: deviceRegion, ctx: c, charge: size, graph: w}
	d.freeGraphRegions.insert(w.region)
	g.objectReferences.add(&UserObject{references: 1, destroy: func() { w.orphan(d) }}, 1)
	return w, nil
}

// orphan is called when the last graph or executable graph with the node is destroyed. The pages are released now, or
// when the memory has been freed. The caller must not hold d.mu.
func (w *allocWork) orphan(d *Driver) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.orphaned = true
	w.releasePagesIfUnused(d)
}

// releasePagesIfUnused releases the pages if the node is orphaned, the memory is free, and no free is pending. The caller
// must hold d.mu.
func (w *allocWork) releasePagesIfUnused(d *Driver) {
	if w.orphaned && w.pendingFrees == 0 && d.freeGraphRegions.find(w.region.addr) == w.region {
		d.freeGraphRegions.remove(w.region)
		w.releasePages()
	}
}

// noteFreeEnded records that a free has ended. The caller must not hold d.mu.
func (w *allocWork) noteFreeEnded(d *Driver) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.pendingFrees--
	w.releasePagesIfUnused(d)
}

// start allocates the memory for a launch: calls may use it from now on, and kernels when the returned function has run.
func (w *allocWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	r := w.region
	if d.regions.find(r.addr) == r {
		return nil, fail(InvalidValue, "%s is still allocated by the last launch: free it before the next launch", w.name)
	}
	if err := r.ctx.dev.reserve(r.size); err != nil {
		return nil, err
	}
	d.freeGraphRegions.remove(r)
	d.addRegion(r)
	r.ctx.dev.graphs.countAllocation(r.size)
	return func(o *probe.HostOrder) (err error) {
		if r.buf, err = d.gpu.MapOrdered(r.addr, r.data, w.name, interp.Permanent, o); err != nil {
			return fail(OutOfMemory, "%v", err)
		}
		return nil
	}, nil
}

// undo reverts start: the memory is free again. discharge counts a pending free, but no free operation will end, so undo
// takes it off the count.
func (w *allocWork) undo(d *Driver) {
	d.regions.remove(w.region)
	w.region.discharge()
	w.pendingFrees--
	w.releasePagesIfUnused(d)
}

// start frees the memory for calls; the returned function unmaps it from kernels.
func (w *freeWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	r := w.region
	if d.regions.find(r.addr) != r {
		return nil, fail(InvalidValue, "%s is not allocated", r.graph.name)
	}
	d.regions.remove(r)
	r.discharge()
	return func(o *probe.HostOrder) error { r.free(o); return nil }, nil
}

// undo reverts start: the memory is allocated again.
func (w *freeWork) undo(d *Driver) {
	r := w.region
	r.ctx.dev.used += r.charge
	r.ctx.dev.graphs.countAllocation(r.size)
	r.graph.pendingFrees--
	d.freeGraphRegions.remove(r)
	d.addRegion(r)
}

// noteFreeSubmitted records that a free was submitted: a later launch may allocate the memory. If the node is orphaned,
// the end of the free releases the memory instead. The caller must hold d.mu.
func (w *allocWork) noteFreeSubmitted(d *Driver) {
	w.region.ctx.dev.graphs.used -= w.region.size
	w.pendingFrees++
	d.freeGraphRegions.insert(w.region)
}

// countAllocation counts an allocation of size bytes.
func (m *graphMemory) countAllocation(size uint64) {
	m.used += size
	m.usedHigh = max(m.usedHigh, m.used)
	m.reserved = max(m.reserved, m.used)
	m.reservedHigh = max(m.reservedHigh, m.reserved)
}

// claimAllocations gives the executable graph the right to allocate the memory of its nodes. It returns an error if
// another executable graph has the right. The caller must hold d.mu.
func (x *GraphExec) claimAllocations() error {
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok && w.exec != nil {
			return fail(InvalidValue, "a graph that allocates memory can have only one executable graph at a time")
		}
	}
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok {
			w.exec = x
		}
	}
	return nil
}

// releaseAllocations gives up the right of claimAllocations. The caller must hold d.mu.
func (x *GraphExec) releaseAllocations() {
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok {
			w.exec = nil
		}
	}
}

// freeRemaining submits frees, on stream s, of the memory of nodes that is still allocated. The caller must
// hold d.mu.
func (x *GraphExec) freeRemaining(s *Stream) {
	d := s.ctx.dev.d
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok && d.regions.find(w.region.addr) == w.region {
			s.submit("", nil, x.last)
			d.regions.remove(w.region)
			w.region.discharge()
			x.last = s.submitAlways("a free", w.region.free)
		}
	}
}

// newFree makes the work of a node that frees the memory at addr, which must be the memory of an allocation node. The
// caller must hold d.mu.
func (g *Graph) newFree(d *Driver, addr uint64) (*freeWork, error) {
	r := d.freeGraphRegions.find(addr)
	if r == nil {
		r = d.regions.find(addr)
	}
	switch {
	case r == nil || r.addr != addr || r.graph == nil:
		return nil, fail(InvalidValue, "no memory that a graph allocates begins at %#x", addr)
	case slices.ContainsFunc(g.nodes, func(n *Node) bool { w, ok := n.work.(*freeWork); return ok && w.region == r }):
		return nil, fail(InvalidValue, "another node of the graph frees %s already", r.graph.name)
	}
	return &freeWork{r}, nil
}

// GraphAddMemAllocNode is cuGraphAddMemAllocNode for size bytes of memory of the current context's device. It returns
// the new node and the address of the memory.
func (t *Thread) GraphAddMemAllocNode(graph Handle, after []Handle, size uint64, location Location) (node Handle, addr uint64, err error) {
	c, err := t.enter()
	if err != nil {
		return 0, 0, err
	}
	defer t.d.mu.Unlock()
	g, predecessors, err := t.d.graphAndPredecessors(graph, after)
	if err != nil {
		return 0, 0, err
	}
	switch dev, err := location.device(t.d); {
	case err != nil:
		return 0, 0, err
	case dev != c.dev:
		return 0, 0, fail(NotSupported, "a graph node that allocates memory of another device than the current context's")
	}
	w, err := g.newAllocation(c, size)
	if err != nil {
		return 0, 0, err
	}
	n := &Node{kind: MemAllocNode, work: w, predecessors: predecessors}
	g.add(t.d, n)
	return n.handle, w.region.addr, nil
}

// GraphAddMemFreeNode is cuGraphAddMemFreeNode.
func (t *Thread) GraphAddMemFreeNode(graph Handle, after []Handle, addr uint64) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, predecessors, err := t.d.graphAndPredecessors(graph, after)
	if err != nil {
		return 0, err
	}
	w, err := g.newFree(t.d, addr)
	if err != nil {
		return 0, err
	}
	n := &Node{kind: MemFreeNode, work: w, predecessors: predecessors}
	g.add(t.d, n)
	return n.handle, nil
}

// GraphMemAllocNodeGetParams is cuGraphMemAllocNodeGetParams: it returns the size of the allocation in bytes, the ordinal
// of its device, and its address.
func (t *Thread) GraphMemAllocNodeGetParams(node Handle) (size uint64, dev int, addr uint64, err error) {
	r, err := nodeValue(t, node, func(n *Node) (*region, error) {
		w, ok := n.work.(*allocWork)
		if !ok {
			return nil, fail(InvalidValue, "node %#x is not an allocation node", uint64(node))
		}
		return w.region, nil
	})
	if err != nil {
		return 0, 0, 0, err
	}
	return r.size, r.ctx.dev.ordinal, r.addr, nil
}

// GraphMemFreeNodeGetParams is cuGraphMemFreeNodeGetParams: it returns the address of the memory that the node frees.
func (t *Thread) GraphMemFreeNodeGetParams(node Handle) (addr uint64, err error) {
	return nodeValue(t, node, func(n *Node) (uint64, error) {
		w, ok := n.work.(*freeWork)
		if !ok {
			return 0, fail(InvalidValue, "node %#x is not a free node", uint64(node))
		}
		return w.region.addr, nil
	})
}

// DeviceGetGraphMemAttribute is cuDeviceGetGraphMemAttribute.
func (d *Driver) DeviceGetGraphMemAttribute(dev int, a GraphMemoryAttribute) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return 0, err
	}
	switch a {
	case GraphMemoryUsed:
		return v.graphs.used, nil
	case GraphMemoryUsedHigh:
		return v.graphs.usedHigh, nil
	case GraphMemoryReserved:
		return v.graphs.reserved, nil
	case GraphMemoryReservedHigh:
		return v.graphs.reservedHigh, nil
	}
	return 0, fail(InvalidValue, "unknown attribute %d of memory for graphs, want %d to %d", a, GraphMemoryUsed, GraphMemoryReservedHigh)
}

// DeviceSetGraphMemAttribute is cuDeviceSetGraphMemAttribute: it resets a high water mark. value must be 0.
func (d *Driver) DeviceSetGraphMemAttribute(dev int, a GraphMemoryAttribute, value uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	switch {
	case err != nil:
		return err
	case a == GraphMemoryUsedHigh && value == 0:
		v.graphs.usedHigh = v.graphs.used
	case a == GraphMemoryReservedHigh && value == 0:
		v.graphs.reservedHigh = v.graphs.reserved
	default:
		return fail(InvalidValue, "attribute %d of memory for graphs cannot be set to %d: only the high water marks %d and %d can be set, to 0", a, value, GraphMemoryUsedHigh, GraphMemoryReservedHigh)
	}
	return nil
}

// DeviceGraphMemTrim is cuDeviceGraphMemTrim. It changes only the count GraphMemoryReserved: nodes keep their pages.
func (d *Driver) DeviceGraphMemTrim(dev int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err == nil {
		v.graphs.reserved = v.graphs.used
	}
	return err
}

// memAllocCaptured is MemAllocAsync on a captured stream: it records an allocation node. The caller must hold d.mu.
func (s *Stream) memAllocCaptured(size uint64, pool Handle) (uint64, error) {
	d := s.ctx.dev.d
	if pool != 0 {
		p, err := d.pool(pool)
		switch {
		case err != nil:
			return 0, err
		case p.checkOwned() != nil:
			return 0, p.checkOwned()
		case p.place != (poolPlace{deviceRegion, s.ctx.dev}):
			return 0, s.capture.invalidate(NotSupported, "an allocation in a captured stream from a pool that is not memory of the stream's device")
		}
	}
	w, err := s.capture.graph.newAllocation(s.ctx, size)
	if err != nil {
		s.capture.invalid = true
		return 0, err
	}
	s.recordNode(&Node{kind: MemAllocNode, work: w})
	return w.region.addr, nil
}

// memFreeCaptured is MemFreeAsync on a captured stream: it records a free node. The caller must hold d.mu.
func (s *Stream) memFreeCaptured(addr uint64) error {
	w, err := s.capture.graph.newFree(s.ctx.dev.d, addr)
	if err != nil {
		s.capture.invalid = true
		return err
	}
	s.recordNode(&Node{kind: MemFreeNode, work: w})
	return nil
}
