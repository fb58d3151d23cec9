package driver

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gemu/ptx"
)

// fillOf makes a fill of words.
func fillOf(at uint64, value uint32, n uint64) *Fill2D {
	return &Fill2D{Dst: at, Value: value, Size: 4, Width: n, Height: 1}
}

// add adds n to x[0], … on a stream.
func (c *client) add(x uint64, n, value int, s Handle) error {
	return c.LaunchKernel(launchParams(c.function("add"), 1, n, x, value), s)
}

// capturing makes a stream and begins to capture it.
func (c *client) capturing() Handle {
	c.Helper()
	s := must(c.StreamCreate(0, 0))(c.T)
	c.ok(c.StreamBeginCapture(s, CaptureGlobal))
	return s
}

// endInvalid ends invalid captures.
func (c *client) endInvalid(streams []Handle) {
	c.Helper()
	for _, s := range streams {
		_, err := c.StreamEndCapture(s)
		c.want(StreamCaptureInvalidated, "", err)
	}
}

// TestCaptureOfForkedStreams shows that a capture follows events to other streams, and that the graph runs what was
// captured.
func TestCaptureOfForkedStreams(t *testing.T) {
	c := newClient(t, nil)
	x, y := c.alloc(16), c.alloc(16)
	s, other := must(c.StreamCreate(0, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	fork, join := must(c.EventCreate(0))(t), must(c.EventCreate(0))(t)
	calls := 0
	c.ok(c.StreamBeginCapture(s, CaptureThreadLocal))
	c.ok(c.Memset(fillOf(x, 4, 4), s, true))
	c.ok(c.EventRecord(fork, s))
	c.ok(c.StreamWaitEvent(other, fork, 0))
	c.ok(c.add(x, 4, 1, s))
	c.ok(c.Memset(fillOf(y, 100, 4), other, true)) // in parallel with the launch
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: func() { calls++ }}))
	c.ok(c.EventRecord(join, other))
	c.ok(c.StreamWaitEvent(s, join, 0))
	c.ok(c.Memcpy(Place{Kind: DevicePlace, Device: y}, Place{Kind: DevicePlace, Device: x}, 8, s, true))
	info := must(c.StreamGetCaptureInfo(other))(t)
	if info.Status != Captured || info.ID == 0 || len(info.Predecessors) != 1 {
		t.Errorf("the second stream is %+v", info)
	}
	g := must(c.StreamEndCapture(s))(t)
	if info := must(c.StreamGetCaptureInfo(other))(t); info.Status != NotCaptured {
		t.Errorf("after the end the second stream is %+v", info)
	}
	c.expect(y, 0, 0, 0, 0)
	nodes := must(c.GraphGetNodes(g))(t)
	var kinds []NodeKind
	for _, n := range nodes {
		kinds = append(kinds, must(c.GraphNodeGetType(n))(t))
	}
	if want := []NodeKind{MemsetNode, KernelNode, MemsetNode, HostNode, MemcpyNode}; !slices.Equal(kinds, want) {
		t.Fatalf("nodes are %v, want %v", kinds, want)
	}
	edges := must(c.GraphGetEdges(g))(t)
	want := []Edge{{nodes[0], nodes[1]}, {nodes[0], nodes[2]}, {nodes[2], nodes[3]}, {nodes[1], nodes[4]}, {nodes[3], nodes[4]}}
	if !slices.Equal(edges, want) {
		t.Errorf("edges are %x, want %x", edges, want)
	}
	exec := must(c.GraphInstantiate(g, 0))(t)
	for range 2 {
		c.ok(c.GraphLaunch(exec, s))
		c.ok(c.StreamSynchronize(s))
		c.expect(y, 5, 5, 100, 100)
	}
	if calls != 2 {
		t.Errorf("the function ran %d times, want 2", calls)
	}
	c.want(CapturedEvent, "", c.EventQuery(fork))
	c.ok(c.EventRecord(fork, s))
	c.ok(c.EventSynchronize(fork))

	// A captured launch of a graph becomes a child node.
	c.ok(c.StreamBeginCapture(s, CaptureRelaxed))
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.add(y, 4, 1000, s))
	outer := must(c.StreamEndCapture(s))(t)
	if n := len(must(c.GraphGetNodes(outer))(t)); n != 2 {
		t.Errorf("%d nodes, want 2", n)
	}
	child := must(c.GraphChildGraphNodeGetGraph(must(c.GraphGetRootNodes(outer))(t)[0]))(t)
	if n := len(must(c.GraphGetEdges(child))(t)); n != len(edges) {
		t.Errorf("the child has %d edges, want %d", n, len(edges))
	}
	c.ok(c.GraphLaunch(must(c.GraphInstantiate(outer, 0))(t), s))
	c.ok(c.StreamSynchronize(s))
	c.expect(y, 1005, 1005, 1100, 1100)
}

// Threads capture their own streams in parallel.
func TestCaptureInManyThreads(t *testing.T) {
	c := newClient(t, nil)
	f := c.function("add")
	var wg sync.WaitGroup
	for i := range 4 {
		o := c.d.NewThread()
		x := c.alloc(16)
		wg.Go(func() {
			err := func() error {
				if err := o.CtxSetCurrent(c.ctx); err != nil {
					return err
				}
				s, err := o.StreamCreate(flagNonBlocking, 0)
				if err != nil {
					return err
				}
				for range 5 {
					g, err := Handle(0), o.StreamBeginCapture(s, CaptureThreadLocal)
					for range i + 1 {
						err = errors.Join(err, o.LaunchKernel(launchParams(f, 1, 4, x, 1), s))
					}
					if err == nil {
						g, err = o.StreamEndCapture(s)
					}
					if err != nil {
						return err
					}
					exec, err := o.GraphInstantiate(g, 0)
					if err != nil {
						return err
					}
					if err := errors.Join(o.GraphLaunch(exec, s), o.StreamSynchronize(s), o.GraphExecDestroy(exec), o.GraphDestroy(g)); err != nil {
						return err
					}
				}
				return nil
			}()
			if err != nil {
				t.Error(err)
			}
		})
		defer func() { n := uint32(5 * (i + 1)); c.expect(x, n, n, n, n) }()
	}
	wg.Wait()
}

// TestCaptureToGraph shows that a capture adds its nodes to an existing graph, after given nodes.
func TestCaptureToGraph(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(16)
	s := must(c.StreamCreate(0, 0))(t)
	g := must(c.GraphCreate(0))(t)
	first := must(c.GraphAddMemsetNode(g, nil, fillOf(x, 3, 4)))(t)
	c.ok(c.StreamBeginCaptureToGraph(s, g, []Handle{first}, CaptureGlobal))
	c.ok(c.add(x, 4, 1, s))
	c.ok(c.StreamUpdateCaptureDependencies(s, []Handle{first}, true))
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() {}}))
	if end := must(c.StreamEndCapture(s))(t); end != g {
		t.Errorf("the capture gave graph %#x, want %#x", end, g)
	}
	if list := must(c.GraphNodeGetDependentNodes(first))(t); len(list) != 2 {
		t.Errorf("%d nodes depend on the first, want 2", len(list))
	}
	c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(t), s))
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 4, 4, 4, 4)
}

// A call that cannot be captured returns the reason, and the capture can only be ended.
func TestInvalidatedCapture(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(16)
	free := must(c.StreamCreate(flagNonBlocking, 0))(t)
	before := must(c.EventCreate(0))(t)
	c.ok(c.EventRecord(before, free))
	within := must(c.EventCreate(0))(t)
	host := make([]byte, 4)
	for _, bad := range []struct {
		name string
		want Result
		do   func(s Handle) error
	}{
		{"StreamSynchronize", StreamCaptureUnsupported, c.StreamSynchronize},
		{"StreamQuery", StreamCaptureUnsupported, c.StreamQuery},
		{"CtxSynchronize", StreamCaptureUnsupported, func(Handle) error { return c.CtxSynchronize(0) }},
		{"StreamAddCallback", StreamCaptureUnsupported, func(s Handle) error { return c.StreamAddCallback(s, func(Result) {}) }},
		{"the default stream", StreamCaptureImplicit, func(Handle) error { return c.add(x, 1, 1, 0) }},
		{"a copy that waits", StreamCaptureUnsupported, func(s Handle) error {
			return c.Memcpy(Place{Kind: HostPlace, Host: unsafe.Pointer(&host[0])}, Place{Kind: DevicePlace, Device: x}, 4, s, false)
		}},
		{"an event from outside", StreamCaptureIsolation, func(s Handle) error { return c.StreamWaitEvent(s, before, 0) }},
		{"MemAllocAsync", InvalidValue, func(s Handle) error {
			_, err := c.MemAllocAsync(0, 0, s)
			return err
		}},
		{"MemFreeAsync", InvalidValue, func(s Handle) error { return c.MemFreeAsync(x, s) }},
		{"EventQuery", CapturedEvent, func(s Handle) error {
			c.ok(c.EventRecord(within, s))
			return c.EventQuery(within)
		}},
		{"another capture", StreamCaptureMerge, func(s Handle) error {
			o := c.capturing()
			c.ok(c.EventRecord(within, o))
			err := c.StreamWaitEvent(s, within, 0)
			_, end := c.StreamEndCapture(o)
			c.want(StreamCaptureInvalidated, "", end)
			return err
		}},
		{"a stream that goes", Success, func(s Handle) error {
			o := must(c.StreamCreate(0, 0))(t)
			c.ok(c.EventRecord(within, s))
			c.ok(c.StreamWaitEvent(o, within, 0))
			c.ok(c.add(x, 1, 1, o))
			return c.StreamDestroy(o)
		}},
	} {
		s := c.capturing()
		c.want(bad.want, "", bad.do(s))
		if info := must(c.StreamGetCaptureInfo(s))(t); info.Status != CaptureInvalid {
			t.Errorf("%s: the stream is %+v", bad.name, info)
		}
		c.want(StreamCaptureInvalidated, "", c.add(x, 1, 1, s))
		g, err := c.StreamEndCapture(s)
		c.want(StreamCaptureInvalidated, "", err)
		if g != 0 {
			t.Errorf("%s: there is a graph", bad.name)
		}
		c.ok(c.add(x, 1, 0, s))
		c.ok(c.StreamSynchronize(s))
	}

	// These calls do not change the capture.
	s := c.capturing()
	goes := must(c.StreamCreate(0, 0))(t)
	c.ok(c.EventRecord(within, s))
	c.ok(c.StreamWaitEvent(goes, within, 0))
	c.ok(c.add(x, 1, 1, goes))
	c.ok(c.EventRecord(within, goes))
	c.ok(c.StreamWaitEvent(s, within, 0))
	c.ok(c.StreamDestroy(goes)) // s waits for its captured work
	if info := must(c.StreamGetCaptureInfo(s))(t); info.Status != Captured {
		t.Errorf("a stream that goes when it is waited for: %+v", info)
	}
	c.want(IllegalState, "already", c.StreamBeginCapture(s, CaptureGlobal))
	c.want(InvalidValue, "argument", c.LaunchKernel(&LaunchParams{Func: c.function("add"), Grid: ptx.Dim(1), Block: ptx.Dim(1)}, s))
	c.want(InvalidValue, "allocation", c.Memset(fillOf(x, 1, 5), s, true))
	_, err := c.d.NewThread().StreamEndCapture(s)
	c.want(StreamCaptureWrongThread, "", err)
	o := c.d.NewThread()
	c.ok(o.CtxSetCurrent(c.ctx))
	_, err = o.StreamEndCapture(s)
	c.want(StreamCaptureWrongThread, "", err)
	must(c.StreamEndCapture(s))(t)
	_, err = c.StreamEndCapture(s)
	c.want(IllegalState, "not being captured", err)
	c.want(StreamCaptureUnsupported, "default stream", c.StreamBeginCapture(0, CaptureGlobal))
	c.want(InvalidValue, "mode 3", c.StreamBeginCapture(s, 3))

	// A query of the default stream is no work.
	s = c.capturing()
	_, err = c.StreamGetCaptureInfo(0)
	c.want(StreamCaptureImplicit, "default stream", err)
	c.ok(c.add(x, 1, 0, s))
	must(c.StreamEndCapture(s))(t)
	if info := must(c.StreamGetCaptureInfo(0))(t); info.Status != NotCaptured {
		t.Errorf("the default stream is %+v", info)
	}

	// A call that waits for all streams invalidates all captures, and names the first.
	for range 5 { // a map would not produce this order by chance
		list := []Handle{c.capturing(), c.capturing(), c.capturing()}
		c.want(StreamCaptureImplicit, fmt.Sprintf("stream %#x", list[0]), c.add(x, 1, 1, 0))
		c.endInvalid(list)
		list = []Handle{c.capturing(), c.capturing(), c.capturing()}
		c.want(StreamCaptureUnsupported, fmt.Sprintf("stream %#x", list[0]), c.CtxSynchronize(0))
		c.endInvalid(list)
	}

	s = c.capturing()
	c.ok(c.GraphDestroy(must(c.StreamGetCaptureInfo(s))(t).Graph))
	c.ok(c.add(x, 1, 1, s))
	_, err = c.StreamEndCapture(s)
	c.want(StreamCaptureInvalidated, "destroyed", err)

	c.want(InvalidValue, "allowed only in a capture", c.EventRecordWithFlags(before, free, 1))
	c.want(InvalidValue, "allowed only in a capture", c.StreamWaitEvent(free, before, 1))

	// Work of another stream must be joined, and a capture ends on the stream where it began.
	s = c.capturing()
	c.ok(c.EventRecord(within, s))
	c.ok(c.StreamWaitEvent(free, within, 0))
	c.ok(c.add(x, 1, 1, free))
	_, err = c.StreamEndCapture(s)
	c.want(StreamCaptureUnjoined, "", err)
	c.ok(c.StreamSynchronize(free))
	s = c.capturing()
	c.ok(c.EventRecord(within, s))
	c.ok(c.StreamWaitEvent(free, within, 0))
	_, err = c.StreamEndCapture(free)
	c.want(StreamCaptureUnmatched, "", err)
	c.ok(c.StreamDestroy(s)) // destroys the capture, too
	c.ok(c.StreamSynchronize(free))
	c.want(CapturedEvent, "ended", c.StreamWaitEvent(free, within, 0))
	c.expect(x, 0, 0, 0, 0)
}

// Client memory of a node is valid until the node changes or is destroyed; client memory of a stream is valid until the
// next query. Each thread has its own default stream.
func TestLifetimeOfReturnedArrays(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(16)
	freed := make(chan string, 10)
	lend := func(l *ClientMemory, name string) unsafe.Pointer {
		return l.Allocate(func() unsafe.Pointer { return unsafe.Pointer(&[1]*int{}) }, func(unsafe.Pointer) { freed <- name })
	}
	gone := func(want ...string) {
		t.Helper()
		for range 3 {
			runtime.GC()
		}
		got := []string{}
		for range want {
			select {
			case name := <-freed:
				got = append(got, name)
			case <-time.After(5 * time.Second):
			}
		}
		for len(freed) > 0 {
			got = append(got, <-freed)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("freed are %q, want %q", got, want)
		}
	}
	g := must(c.GraphCreate(0))(t)
	k := must(c.GraphAddKernelNode(g, nil, launchParams(c.function("add"), 1, 4, x, 1)))(t)
	ask := func(name string) unsafe.Pointer {
		_, _, l, err := c.GraphKernelNodeGetParams(k)
		c.ok(err)
		return lend(l, name)
	}
	if ask("first") != ask("again") {
		t.Error("the arguments are lent twice")
	}
	c.ok(c.GraphKernelNodeSetAttributes(k, KernelAttributes{}))
	gone()
	c.ok(c.GraphKernelNodeSetParams(k, launchParams(c.function("add"), 1, 4, x, 2)))
	ask("second")
	gone("first")
	c.ok(c.GraphDestroy(g))
	gone("second")

	o := c.d.NewThread()
	c.ok(o.CtxSetCurrent(c.ctx))
	for i, t := range []*Thread{c.Thread, o} {
		c.ok(t.StreamBeginCapture(streamPerThread, CaptureGlobal))
		info, err := t.StreamGetCaptureInfo(streamPerThread)
		c.ok(err)
		lend(info.ClientMemory, fmt.Sprint("thread ", i))
	}
	gone()
	must(c.StreamGetCaptureInfo(streamPerThread))(t)
	gone("thread 0")
}

// TestEditedGraph shows that clones are independent, and that added and removed edges and nodes change what runs.
func TestEditedGraph(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(16)
	g := must(c.GraphCreate(0))(t)
	fill := must(c.GraphAddMemsetNode(g, nil, fillOf(x, 1, 4)))(t)
	k := must(c.GraphAddKernelNode(g, []Handle{fill}, launchParams(c.function("add"), 1, 4, x, 1)))(t)
	clone := must(c.GraphClone(g))(t)
	k2 := must(c.GraphNodeFindInClone(k, clone))(t)
	c.ok(c.GraphKernelNodeSetParams(k2, launchParams(c.function("add"), 1, 4, x, 10)))
	p, args, _, err := c.GraphKernelNodeGetParams(k2)
	c.ok(err)
	if p.Func != c.function("add") || p.Block != ptx.Dim(4) || len(args) != 2 || args[1][0] != 10 {
		t.Errorf("the launch is %+v with %v", p, args)
	}
	run := func(exec Handle, want ...uint32) {
		t.Helper()
		c.ok(c.GraphLaunch(exec, 0))
		c.expect(x, want...)
	}
	exec := must(c.GraphInstantiate(g, 0))(t)
	run(exec, 2, 2, 2, 2)
	if update, _, err := c.GraphExecUpdate(exec, clone); update != UpdateSuccess || err != nil {
		t.Error(update, err)
	}
	run(exec, 11, 11, 11, 11)
	c.ok(c.GraphNodeSetEnabled(exec, fill, false))
	if on := must(c.GraphNodeGetEnabled(exec, fill))(t); on {
		t.Error("the node is enabled")
	}
	run(exec, 21, 21, 21, 21)
	c.ok(c.GraphNodeSetEnabled(exec, fill, true))
	run(exec, 11, 11, 11, 11)

	// A child between two nodes, and an empty child.
	outer := must(c.GraphCreate(0))(t)
	child := must(c.GraphAddChildGraphNode(outer, nil, clone))(t)
	c.ok(c.GraphDestroy(clone)) // the child is a copy
	nothing := must(c.GraphAddChildGraphNode(outer, []Handle{child}, must(c.GraphCreate(0))(t)))(t)
	last := must(c.GraphAddKernelNode(outer, []Handle{nothing}, launchParams(c.function("add"), 1, 2, x, 100)))(t)
	if inner := must(c.GraphChildGraphNodeGetGraph(child))(t); len(must(c.GraphGetNodes(inner))(t)) != 2 {
		t.Error("the child does not have the nodes of the graph")
	}
	whole := must(c.GraphInstantiate(outer, 0))(t)
	run(whole, 111, 111, 11, 11)
	if after := c.d.objects[whole].(*GraphExec).nodes[2].predecessors; !slices.Equal(after, []int{1}) {
		t.Errorf("the last node comes after %v, want the second", after)
	}
	update, _, err := c.GraphExecUpdate(whole, g)
	c.want(GraphExecUpdateFailure, "the new graph has 2 nodes, the executable graph 3", err)
	if update != UpdateTopologyChanged {
		t.Errorf("the update is %d", update)
	}
	c.want(InvalidValue, "listed twice", func() error {
		_, err := c.GraphAddEmptyNode(outer, []Handle{last, last})
		return err
	}())

	// Nodes and edges are removed.
	if roots := must(c.GraphGetRootNodes(outer))(t); !slices.Equal(roots, []Handle{child}) {
		t.Errorf("roots are %x, want %x", roots, child)
	}
	c.want(InvalidValue, "does not depend", c.GraphRemoveDependencies(outer, []Handle{nothing, child}, []Handle{last, last}))
	if list := must(c.GraphNodeGetDependencies(last))(t); !slices.Equal(list, []Handle{nothing}) {
		t.Errorf("after a removal that failed the last node depends on %x", list)
	}
	c.ok(c.GraphRemoveDependencies(outer, []Handle{nothing}, []Handle{last}))
	c.ok(c.GraphDestroyNode(child))
	c.want(InvalidHandle, "", c.GraphDestroyNode(child))
	if roots := must(c.GraphGetRootNodes(outer))(t); !slices.Equal(roots, []Handle{nothing, last}) {
		t.Errorf("roots are %x, want %x", roots, []Handle{nothing, last})
	}

	// The work of nodes is read and changed.
	c.ok(c.GraphMemsetNodeSetParams(fill, fillOf(x, 7, 3)))
	if f := must(c.GraphMemsetNodeGetParams(fill))(t); f != *fillOf(x, 7, 3) {
		t.Errorf("the fill is %+v", f)
	}
	calls := 0
	h := must(c.GraphAddHostNode(g, []Handle{k}, HostFunc{Call: func() { calls++ }}))(t)
	c.ok(c.GraphHostNodeSetParams(h, HostFunc{Call: func() { calls += 10 }}))
	back := Copy3D{
		Src: Side{Place: Place{Kind: DevicePlace, Device: x}}, Dst: Side{Place: Place{Kind: DevicePlace, Device: x + 12}},
		Width: 4, Height: 1, Depth: 1,
	}
	cp := must(c.GraphAddMemcpyNode(g, []Handle{h}, &back))(t)
	back.Src.Device = x + 4
	c.ok(c.GraphMemcpyNodeSetParams(cp, &back))
	if got := must(c.GraphMemcpyNodeGetParams(cp))(t); got != back {
		t.Errorf("the copy is %+v", got)
	}
	exec = must(c.GraphInstantiate(g, 0))(t)
	run(exec, 8, 8, 8, 8)
	c.ok(c.GraphExecHostNodeSetParams(exec, h, HostFunc{Call: func() { calls += 100 }}))
	run(exec, 8, 8, 8, 8)
	if calls != 110 {
		t.Errorf("functions have counted %d, want 110", calls)
	}
	c.want(InvalidValue, "has a different kind", c.GraphHostNodeSetParams(k, HostFunc{Call: func() {}}))
	c.want(InvalidValue, "is not a copy node", func() error { _, err := c.GraphMemcpyNodeGetParams(k); return err }())
	c.want(InvalidValue, "not a kernel, copy or fill node", c.GraphNodeSetEnabled(exec, h, false))
}

// A user object lives as long as the client, a graph, or an executable graph refers to it.
func TestLifetimeOfUserObject(t *testing.T) {
	c := newClient(t, nil)
	gone := make(chan bool, 1)
	alive := func() {
		t.Helper()
		select {
		case <-gone:
			t.Error("the object was destroyed")
		case <-time.After(time.Millisecond):
		}
	}
	o := must(c.d.UserObjectCreate(func() { gone <- true }, 2, 1))(t)
	parent, g := must(c.GraphCreate(0))(t), must(c.GraphCreate(0))(t)
	c.ok(c.d.GraphRetainUserObject(g, o, 2, 1)) // the client's own references
	c.ok(c.d.GraphRetainUserObject(g, o, 1, 0))
	must(c.GraphAddChildGraphNode(parent, nil, g))(t)
	exec := must(c.GraphInstantiate(parent, 0))(t)
	c.want(InvalidValue, "4 references to release, only 3 are held", c.d.GraphReleaseUserObject(g, o, 4))
	c.ok(c.d.GraphReleaseUserObject(g, o, 3))
	alive()
	c.ok(c.GraphDestroy(g))
	c.ok(c.GraphDestroy(parent))
	alive()
	c.ok(c.GraphLaunch(exec, 0))
	c.ok(c.GraphExecDestroy(exec))
	<-gone
	c.want(InvalidValue, "not the handle of a user object", c.d.UserObjectRetain(o, 1))
	_, err := c.d.UserObjectCreate(func() {}, 1, 0)
	c.want(InvalidValue, "flags", err)
	o = must(c.d.UserObjectCreate(func() { gone <- true }, 1, 1))(t)
	c.ok(c.d.UserObjectRetain(o, 1))
	c.want(InvalidValue, "3 references to release, only 2 are held", c.d.UserObjectRelease(o, 3))
	c.ok(c.d.UserObjectRelease(o, 2))
	<-gone
}
