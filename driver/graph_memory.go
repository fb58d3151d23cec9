package driver

// This file implements memory allocated and freed by graphs (driver API, "Graph Management"; programming guide, "Graph
// Memory Nodes"). An allocation node has a fixed address and fixed pages for as long as its graph, or an executable
// graph made from it, exists. In a launch, kernels can access the memory after the node has run, and until a free node,
// a stream or cuMemFree frees it. The memory then stays reserved for the next launch.

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/probe"
)

// allocWork is the work of an allocation node.
type allocWork struct {
	region       *region
	name         string
	pages        func()     // releases the region's pages
	exec         *GraphExec // the executable graph of the node; nil: none
	orphaned     bool       // no graph refers to the memory
	pendingFrees int        // number of frees submitted but not ended
}

// freeWork is the work of a free node.
type freeWork struct{ region *region }

// graphMemory counts the bytes of a device for graphs.
type graphMemory struct {
	used         uint64 // allocated by launches now
	usedHigh     uint64 // maximum of used since its last reset
	reserved     uint64 // maximum of used since the last trim
	reservedHigh uint64 // maximum of reserved since its last reset
}

// GraphMemoryAttribute is a CUgraphMem_attribute.
type GraphMemoryAttribute int32

// The attributes of a device's memory for graphs.
const (
	GraphMemoryUsed         GraphMemoryAttribute = iota // bytes allocated by launched graphs now
	GraphMemoryUsedHigh                                 // maximum of GraphMemoryUsed since its last reset; can be set to 0
	GraphMemoryReserved                                 // maximum of GraphMemoryUsed since the last trim
	GraphMemoryReservedHigh                             // maximum of GraphMemoryReserved since its last reset; can be set to 0
)

// newAllocation makes the work of an allocation node. The graph keeps the memory. The caller must hold d.mu.
func (g *Graph) newAllocation(c *Context, size uint64) (*allocWork, error) {
	d := c.dev.d
	if size == 0 {
		return nil, fail(InvalidValue, "0 bytes")
	}
	if total := d.settings.Memory; size > total {
		return nil, fail(OutOfMemory, "%d bytes requested, the device has %d", size, total)
	}
	data, release, err := d.pages.Allocate(size)
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	d.buffers++
	w := &allocWork{name: fmt.Sprintf("memory of a graph #%d", d.buffers), pages: release}
	w.region = &region{addr: d.poolAddress(size), size: size, data: data, kind: deviceRegion, ctx: c, charge: size, graph: w}
	d.freeGraphRegions.insert(w.region)
	g.objectReferences.add(&UserObject{references: 1, destroy: func() { w.orphan(d) }}, 1)
	return w, nil
}

// orphan is called when no graph refers to the memory. It releases the memory as soon as it is free.
func (w *allocWork) orphan(d *Driver) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.orphaned = true
	w.releasePagesIfUnused(d)
}

// end releases the pages if no graph refers to them and no work uses them. The caller must hold d.mu.
func (w *allocWork) releasePagesIfUnused(d *Driver) {
	if w.orphaned && w.pendingFrees == 0 && d.freeGraphRegions.find(w.region.addr) == w.region {
		d.freeGraphRegions.remove(w.region)
		w.pages()
	}
}

// noteFreed records the end of a free. The caller must not hold d.mu.
func (w *allocWork) noteFreeEnded(d *Driver) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.pendingFrees--
	w.releasePagesIfUnused(d)
}

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

func (w *allocWork) undo(d *Driver) {
	d.regions.remove(w.region)
	w.region.discharge()
	w.pendingFrees--
	w.releasePagesIfUnused(d)
}

func (w *freeWork) start(d *Driver) (func(*probe.HostOrder) error, error) {
	r := w.region
	if d.regions.find(r.addr) != r {
		return nil, fail(InvalidValue, "%s is not allocated", r.graph.name)
	}
	d.regions.remove(r)
	r.discharge()
	return func(o *probe.HostOrder) error { r.free(o); return nil }, nil
}

func (w *freeWork) undo(d *Driver) {
	r := w.region
	r.ctx.dev.used += r.charge
	r.ctx.dev.graphs.countAllocation(r.size)
	r.graph.pendingFrees--
	d.freeGraphRegions.remove(r)
	d.addRegion(r)
}

// setFree records the submission of a free. The memory becomes available for the next launch; if no graph refers to it,
// it is released when the free has ended. The caller must hold d.mu.
func (w *allocWork) noteFreeSubmitted(d *Driver) {
	w.region.ctx.dev.graphs.used -= w.region.size
	w.pendingFrees++
	d.freeGraphRegions.insert(w.region)
}

// use counts an allocation of size bytes.
func (m *graphMemory) countAllocation(size uint64) {
	m.used += size
	m.usedHigh = max(m.usedHigh, m.used)
	m.reserved = max(m.reserved, m.used)
	m.reservedHigh = max(m.reservedHigh, m.reserved)
}

// takeMemory gives the executable graph the right to allocate the memory of its nodes. The caller must hold d.mu.
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

// releaseMemory gives up the right to allocate. The caller must hold d.mu.
func (x *GraphExec) releaseAllocations() {
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok {
			w.exec = nil
		}
	}
}

// freeLeft frees the remaining allocations of the last launch. The caller must hold d.mu.
func (x *GraphExec) freeRemaining(s *Stream) {
	d := s.ctx.dev.d
	for _, n := range x.nodes {
		if w, ok := n.work.(*allocWork); ok && d.regions.find(w.region.addr) == w.region {
			s.submit("", noOperation, x.last)
			d.regions.remove(w.region)
			w.region.discharge()
			x.last = s.submitAlways("a free", w.region.free)
		}
	}
}

// freedNode makes the work of a node that frees the memory at addr. The caller must hold d.mu.
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

// GraphAddMemAllocNode is cuGraphAddMemAllocNode for device memory.
func (t *Thread) GraphAddMemAllocNode(graph Handle, after []Handle, size uint64, location Location) (node Handle, addr uint64, err error) {
	c, err := t.enter()
	if err != nil {
		return 0, 0, err
	}
	defer t.d.mu.Unlock()
	g, before, err := t.d.graphAndPredecessors(graph, after)
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
	n := &Node{kind: MemAllocNode, work: w, after: before}
	g.add(t.d, n)
	return n.handle, w.region.addr, nil
}

// GraphAddMemFreeNode is cuGraphAddMemFreeNode.
func (t *Thread) GraphAddMemFreeNode(graph Handle, after []Handle, addr uint64) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, before, err := t.d.graphAndPredecessors(graph, after)
	if err != nil {
		return 0, err
	}
	w, err := g.newFree(t.d, addr)
	if err != nil {
		return 0, err
	}
	n := &Node{kind: MemFreeNode, work: w, after: before}
	g.add(t.d, n)
	return n.handle, nil
}

// GraphMemAllocNodeGetParams is cuGraphMemAllocNodeGetParams: the size in bytes, the device and the address of the
// allocation.
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

// GraphMemFreeNodeGetParams is cuGraphMemFreeNodeGetParams.
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
	return 0, fail(InvalidValue, "unknown attribute %d of memory for graphs", a)
}

// DeviceSetGraphMemAttribute is cuDeviceSetGraphMemAttribute: it can reset the high water marks.
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
		return fail(InvalidValue, "attribute %d of memory for graphs cannot be set to %d", a, value)
	}
	return nil
}

// DeviceGraphMemTrim is cuDeviceGraphMemTrim.
func (d *Driver) DeviceGraphMemTrim(dev int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err == nil {
		v.graphs.reserved = v.graphs.used
	}
	return err
}

// memAllocCaptured is MemAllocAsync on a captured stream. The caller must hold d.mu.
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

// memFreeCaptured is MemFreeAsync on a captured stream. The caller must hold d.mu.
func (s *Stream) memFreeCaptured(addr uint64) error {
	w, err := s.capture.graph.newFree(s.ctx.dev.d, addr)
	if err != nil {
		s.capture.invalid = true
		return err
	}
	s.recordNode(&Node{kind: MemFreeNode, work: w})
	return nil
}
