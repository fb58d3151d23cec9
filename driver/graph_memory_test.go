package driver

import (
	"testing"
	"time"
)

// free returns the free bytes of the device.
func (c *client) free() uint64 {
	c.Helper()
	free, _, err := c.MemGetInfo()
	c.ok(err)
	return free
}

// allocNode adds a node that allocates memory.
func (c *client) allocNode(g Handle, after []Handle, size uint64) (node Handle, addr uint64) {
	c.Helper()
	node, addr, err := c.GraphAddMemAllocNode(g, after, size, Location{Type: OnDevice})
	c.ok(err)
	return node, addr
}

// memoryGraph captures an allocation of words, a fill, an addition, a copy of two words to out, and optionally a free.
func (c *client) memoryGraph(s Handle, to uint64, value uint32, free bool) (graph Handle, addr uint64) {
	c.Helper()
	c.ok(c.StreamBeginCapture(s, CaptureThreadLocal))
	addr = must(c.MemAllocAsync(1<<20, 0, s))(c.T)
	c.ok(c.Memset(fillOf(addr, value, 1<<18), s, true))
	c.ok(c.add(addr, 4, 1, s))
	c.ok(c.Memcpy(Place{Kind: DevicePlace, Device: to}, Place{Kind: DevicePlace, Device: addr}, 8, s, true))
	if free {
		c.ok(c.MemFreeAsync(addr, s))
	}
	return must(c.StreamEndCapture(s))(c.T), addr
}

// TestGraphAllocatesMemory shows that nodes allocate memory when the graph runs, use it, and free it.
func TestGraphAllocatesMemory(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	to := c.alloc(8)
	free := c.free()
	g, addr := c.memoryGraph(s, to, 7, true)
	exec := must(c.GraphInstantiate(g, 0))(t)
	_, err := c.GraphInstantiate(g, 0)
	c.want(InvalidValue, "can have only one executable graph", err)
	_, err = c.GraphClone(g)
	c.want(NotSupported, "cannot be copied", err)
	for _, n := range must(c.GraphGetNodes(g))(t) {
		c.want(NotSupported, "nodes of a graph that allocates", c.GraphDestroyNode(n))
	}
	for range 3 {
		c.ok(c.GraphLaunch(exec, s))
	}
	c.ok(c.StreamSynchronize(s))
	c.expect(to, 8, 8)
	if now := c.free(); now != free {
		t.Errorf("%d bytes are free, %d were before", now, free)
	}
	for a, want := range []uint64{0, 1 << 20, 1 << 20, 1 << 20} {
		if got := must(c.d.DeviceGetGraphMemAttribute(0, GraphMemoryAttribute(a)))(t); got != want {
			t.Errorf("attribute %d is %d, want %d", a, got, want)
		}
	}
	c.ok(c.d.DeviceGraphMemTrim(0))
	if got := must(c.d.DeviceGetGraphMemAttribute(0, GraphMemoryReserved))(t); got != 0 {
		t.Errorf("%d bytes are reserved after a trim", got)
	}
	c.want(InvalidValue, "", c.Memset(fillOf(addr, 0, 1), s, true)) // not allocated
	c.ok(c.GraphDestroy(g))
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.GraphExecDestroy(exec))
	c.ok(c.StreamSynchronize(s))
}

// Memory that a graph leaves allocated is freed by a call, by a stream, by a second graph, or by the graph's next
// launch.
func TestGraphMemoryFreedLater(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(0, 0))(t)
	to := c.alloc(8)
	g, addr := c.memoryGraph(s, to, 20, false)
	exec := must(c.GraphInstantiate(g, 0))(t)
	other := must(c.GraphCreate(0))(t)
	must(c.GraphAddMemFreeNode(other, nil, addr))(t)
	_, err := c.GraphAddMemFreeNode(other, nil, addr)
	c.want(InvalidValue, "another node of the graph frees", err)
	_, err = c.GraphAddMemFreeNode(other, nil, to)
	c.want(InvalidValue, "that a graph allocates", err)
	ends := must(c.GraphInstantiate(other, 0))(t)
	for i, end := range []func() error{
		func() error { return c.MemFree(addr) },
		func() error { return c.MemFreeAsync(addr, s) },
		func() error { return c.GraphLaunch(ends, s) },
	} {
		c.ok(c.GraphLaunch(exec, s))
		c.want(InvalidValue, "is still allocated by the last launch", c.GraphLaunch(exec, s))
		c.ok(c.add(addr, 2, i, s))
		c.ok(c.StreamSynchronize(s))
		c.expect(addr, uint32(21+i), uint32(21+i))
		c.ok(end())
		c.want(InvalidValue, "", c.GraphLaunch(ends, s))
	}
	c.ok(c.GraphExecDestroy(exec))
	exec = must(c.GraphInstantiate(g, autoFreeOnLaunch))(t)
	for range 3 {
		c.ok(c.GraphLaunch(exec, s))
	}
	c.ok(c.StreamSynchronize(s))
	c.expect(addr, 21, 21)

	// It outlives its graph until it is freed.
	c.ok(c.GraphExecDestroy(exec))
	c.ok(c.GraphDestroy(g))
	c.expect(addr, 21, 21)
	c.ok(c.MemFree(addr))
	c.want(InvalidValue, "", c.MemFree(addr))
}

// A failed launch does not change the allocated memory.
func TestGraphMemoryAfterFailure(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(0, 0))(t)
	x := c.alloc(16)
	g := must(c.GraphCreate(0))(t)
	n, addr := c.allocNode(g, nil, 64)
	f := must(c.GraphAddMemFreeNode(g, []Handle{n}, addr))(t)
	n, second := c.allocNode(g, []Handle{f}, 64)
	must(c.GraphAddMemsetNode(g, []Handle{n}, fillOf(x, 1, 4)))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.MemFree(x))
	free := c.free()
	for range 2 {
		c.want(InvalidValue, "", c.GraphLaunch(exec, s))
	}
	if now := c.free(); now != free {
		t.Errorf("%d bytes are free, %d were before", now, free)
	}
	c.want(InvalidValue, "", c.MemFree(second))
	c.ok(c.GraphExecDestroy(exec))
	c.ok(c.GraphDestroy(g))
}

// Memory with a pending free stays even if its graph is destroyed: kernels and copies before the free use it.
func TestGraphDestroyedBeforeFree(t *testing.T) {
	for _, freed := range []string{"by a stream", "by another graph"} {
		c := newClient(t, nil)
		s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
		to := c.alloc(8)
		g, addr := c.memoryGraph(s, to, 7, false)
		exec := must(c.GraphInstantiate(g, 0))(t)
		c.ok(c.GraphLaunch(exec, s))
		c.ok(c.StreamSynchronize(s))
		hold, release := held()
		c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
		c.ok(c.add(addr, 4, 1, other))
		c.ok(c.Memcpy(device(to), device(addr), 8, other, true))
		work := c.d.objects[g].(*Graph).nodes[0].work.(*allocWork)
		pages, gone := work.releasePages, make(chan bool, 1)
		work.releasePages = func() { pages(); gone <- true }
		if freed == "by a stream" {
			c.ok(c.MemFreeAsync(addr, other))
		} else {
			f := must(c.GraphCreate(0))(t)
			must(c.GraphAddMemFreeNode(f, nil, addr))(t)
			c.ok(c.GraphLaunch(must(c.GraphInstantiate(f, 0))(t), other))
		}
		c.ok(c.GraphExecDestroy(exec))
		c.ok(c.GraphDestroy(g))
		select {
		case <-gone:
			t.Fatalf("%s: the memory is gone while it is used", freed)
		case <-time.After(20 * time.Millisecond):
		}
		release()
		c.ok(c.StreamSynchronize(other))
		c.expect(to, 9, 9)
		<-gone
	}
}
