package driver

import (
	"testing"
	"time"
)

// held returns a host function that waits until release is called.
func held() (f, release func()) {
	c := make(chan bool)
	return func() { <-c }, func() { close(c) }
}

// A node records its event when it runs, not when the graph is launched or has ended.
func TestGraphRecordsEvent(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(8)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	before, release := held()
	behind, finish := held()
	g := must(c.GraphCreate(0))(t)
	first := must(c.GraphAddHostNode(g, nil, HostFunc{Call: before}))(t)
	fill := must(c.GraphAddMemsetNode(g, []Handle{first}, fillOf(x, 5, 2)))(t)
	record := must(c.GraphAddEventNode(g, []Handle{fill}, EventRecordNode, e))(t)
	must(c.GraphAddHostNode(g, []Handle{record}, HostFunc{Call: behind}))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.StreamWaitEvent(other, e, 0))
	c.ok(c.add(x, 2, 1, other))
	time.Sleep(10 * time.Millisecond)
	c.want(NotReady, "", c.EventQuery(e))
	c.want(NotReady, "", c.StreamQuery(other))
	release()
	c.ok(c.EventSynchronize(e))
	c.want(NotReady, "", c.StreamQuery(s))
	c.ok(c.StreamSynchronize(other))
	finish()
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 6, 6)
}

// A node waits for the last record of its event before the launch of the graph.
func TestGraphWaitsForEvent(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(8)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	e, never := must(c.EventCreate(0))(t), must(c.EventCreate(0))(t)
	g := must(c.GraphCreate(0))(t)
	wait := must(c.GraphAddEventNode(g, nil, EventWaitNode, e))(t)
	must(c.GraphAddMemsetNode(g, []Handle{wait}, fillOf(x, 5, 2)))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, s)) // there is nothing to wait for
	c.ok(c.StreamSynchronize(s))

	hold, release := held()
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
	c.ok(c.add(x, 2, 1, other))
	c.ok(c.EventRecord(e, other))
	c.ok(c.GraphLaunch(exec, s))
	time.Sleep(10 * time.Millisecond)
	c.want(NotReady, "", c.StreamQuery(s))
	release()
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 5, 5) // the fill ran after the addition

	// The event of a node can be replaced, in the executable graph and in the graph.
	hold, release = held()
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
	c.ok(c.EventRecord(e, other))
	c.ok(c.GraphExecEventNodeSetEvent(exec, wait, EventWaitNode, never))
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.StreamSynchronize(s))
	if got := must(c.GraphEventNodeGetEvent(wait, EventWaitNode))(t); got != e {
		t.Errorf("the node's event is %#x, want %#x", got, e)
	}
	c.ok(c.GraphEventNodeSetEvent(wait, EventWaitNode, never))
	if got := must(c.GraphEventNodeGetEvent(wait, EventWaitNode))(t); got != never {
		t.Errorf("the node's event is %#x, want %#x", got, never)
	}
	release()
	c.want(InvalidValue, "has a different kind", c.GraphEventNodeSetEvent(wait, EventRecordNode, e))
	c.want(InvalidValue, "of this kind", c.GraphExecEventNodeSetEvent(exec, wait, EventRecordNode, e))
	_, err := c.GraphEventNodeGetEvent(wait, EventRecordNode)
	c.want(InvalidValue, "has a different kind", err)
	_, err = c.GraphAddEventNode(g, nil, EventWaitNode, g)
	c.want(InvalidHandle, "", err)
	records := must(c.GraphCreate(0))(t)
	must(c.GraphAddEventNode(records, nil, EventRecordNode, e))(t)
	clone := must(c.GraphClone(records))(t)
	if got := must(c.GraphEventNodeGetEvent(must(c.GraphGetNodes(clone))(t)[0], EventRecordNode))(t); got != e {
		t.Errorf("the clone's event is %#x, want %#x", got, e)
	}
	// An update replaces the events.
	exec = must(c.GraphInstantiate(records, 0))(t)
	c.ok(c.GraphEventNodeSetEvent(must(c.GraphGetNodes(clone))(t)[0], EventRecordNode, never))
	if _, _, err := c.GraphExecUpdate(exec, clone); err != nil {
		t.Fatal(err)
	}
	hold, release = held()
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: hold}))
	c.ok(c.GraphLaunch(exec, s))
	c.want(NotReady, "", c.EventQuery(never))
	release()
	c.ok(c.EventSynchronize(never))
}

// A failed launch ends the waits for records that it did not reach.
func TestGraphFailsBeforeRecord(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	g := must(c.GraphCreate(0))(t)
	bad := must(c.GraphAddKernelNode(g, nil, launchParams(c.function("add"), 1, 1, 8, 1)))(t)
	must(c.GraphAddEventNode(g, []Handle{bad}, EventRecordNode, e))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	hold, release := held()
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: hold}))
	c.ok(c.GraphLaunch(exec, s)) // this launch fails
	first := must(c.EventCreate(0))(t)
	c.ok(c.GraphExecEventNodeSetEvent(exec, must(c.GraphGetNodes(g))(t)[1], EventRecordNode, first))
	c.ok(c.GraphLaunch(exec, s)) // this launch does not begin
	release()
	c.want(IllegalAddress, "", c.EventSynchronize(e))
	c.want(IllegalAddress, "", c.EventSynchronize(first))
}

// A launch that fails before it records an event ends, although a later node waits for the event.
func TestGraphFailsBeforeRecordAndWait(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	g := must(c.GraphCreate(0))(t)
	bad := must(c.GraphAddKernelNode(g, nil, launchParams(c.function("add"), 1, 1, 8, 1)))(t)
	record := must(c.GraphAddEventNode(g, []Handle{bad}, EventRecordNode, e))(t)
	must(c.GraphAddEventNode(g, []Handle{record}, EventWaitNode, e))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	hold, release := held()
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: hold}))
	c.ok(c.GraphLaunch(exec, s)) // this launch fails
	c.ok(c.GraphLaunch(exec, s)) // this launch does not begin
	release()
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
}

// A refused launch does not change the recording of an event.
func TestGraphRefusedBeforeRecord(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	g := must(c.GraphCreate(0))(t)
	record := must(c.GraphAddEventNode(g, nil, EventRecordNode, e))(t)
	c.allocNode(g, []Handle{record}, 4096)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.EventRecord(e, s))
	c.want(InvalidValue, "free it before the next launch", c.GraphLaunch(exec, s))
	c.ok(c.EventSynchronize(e))

	// This is also so if the launch records the event twice.
	child := must(c.GraphCreate(0))(t)
	must(c.GraphAddEventNode(child, nil, EventRecordNode, e))(t)
	g = must(c.GraphCreate(0))(t)
	once := must(c.GraphAddChildGraphNode(g, nil, child))(t)
	again := must(c.GraphAddChildGraphNode(g, []Handle{once}, child))(t)
	c.allocNode(g, []Handle{again}, 4096)
	exec = must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.EventRecord(e, s))
	c.want(InvalidValue, "free it before the next launch", c.GraphLaunch(exec, s))
	c.ok(c.StreamSynchronize(s))
	c.ok(c.EventQuery(e))
}

// A node waits only when no other node can run, because another branch may complete the event.
func TestGraphWaitsLast(t *testing.T) {
	c := newClient(t, nil)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	x := c.alloc(8)
	e := must(c.EventCreate(0))(t)
	hold, release := held()
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
	c.ok(c.EventRecord(e, other))
	branch := must(c.GraphCreate(0))(t)
	must(c.GraphAddHostNode(branch, nil, HostFunc{Call: release}))(t)
	g := must(c.GraphCreate(0))(t)
	wait := must(c.GraphAddEventNode(g, nil, EventWaitNode, e))(t)
	fill := must(c.GraphAddMemsetNode(g, []Handle{wait}, fillOf(x, 5, 1)))(t)
	inner := must(c.GraphAddChildGraphNode(g, nil, branch))(t)
	must(c.GraphAddMemcpyNode(g, []Handle{fill, inner}, &Copy3D{Src: Side{Place: device(x)}, Dst: Side{Place: device(x + 4)}, Width: 4, Height: 1, Depth: 1}))(t)
	c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(t), s))
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 5, 5)
}

// A child node keeps its new work.
func TestChildNodeKeepsItsWork(t *testing.T) {
	c := newClient(t, nil)
	g := must(c.GraphCreate(0))(t)
	plain := must(c.GraphCreate(0))(t)
	must(c.GraphAddEmptyNode(plain, nil))(t)
	child := must(c.GraphAddChildGraphNode(g, nil, plain))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	gone := make(chan int, 2)
	for i := range 2 {
		thing := must(c.d.UserObjectCreate(func() { gone <- i }, 1, noDestructorSync))(t)
		with := must(c.GraphClone(plain))(t)
		c.ok(c.d.GraphRetainUserObject(with, thing, 1, moveReferences))
		c.ok(c.GraphExecChildGraphNodeSetParams(exec, child, with))
		c.ok(c.GraphDestroy(with))
	}
	if first := <-gone; first != 0 {
		t.Errorf("thing %d has gone, want 0", first)
	}
	select {
	case i := <-gone:
		t.Errorf("thing %d has gone", i)
	case <-time.After(10 * time.Millisecond):
	}
	c.ok(c.GraphExecDestroy(exec))
	if last := <-gone; last != 1 {
		t.Errorf("thing %d has gone, want 1", last)
	}
}

// The capture of an external event adds an event node.
func TestCapturesExternalEvents(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(8)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	from, to := must(c.EventCreate(0))(t), must(c.EventCreate(0))(t)
	c.want(InvalidValue, "allowed only in a capture", c.EventRecordWithFlags(to, s, eventExternal))
	c.want(InvalidValue, "allowed only in a capture", c.StreamWaitEvent(s, from, eventExternal))
	c.ok(c.StreamBeginCapture(s, CaptureThreadLocal))
	c.ok(c.StreamWaitEvent(s, from, eventExternal))
	c.ok(c.Memset(fillOf(x, 5, 2), s, true))
	c.ok(c.EventRecordWithFlags(to, s, eventExternal))
	c.ok(c.EventQuery(to)) // nothing was recorded yet
	g := must(c.StreamEndCapture(s))(t)
	var kinds []NodeKind
	for _, n := range must(c.GraphGetNodes(g))(t) {
		kinds = append(kinds, must(c.GraphNodeGetType(n))(t))
	}
	if len(kinds) != 3 || kinds[0] != EventWaitNode || kinds[1] != MemsetNode || kinds[2] != EventRecordNode {
		t.Fatalf("nodes are of kinds %v", kinds)
	}
	hold, release := held()
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
	c.ok(c.EventRecord(from, other))
	c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(t), s))
	c.want(NotReady, "", c.EventQuery(to))
	release()
	c.ok(c.EventSynchronize(to))
	c.expect(x, 5, 5)
}

// User objects of a launch exist until the launch ends, even if the graph changes.
func TestReferencesOfLaunch(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	hold, release := held()
	gone := make(chan bool, 1)
	with := func(f func()) Handle {
		g := must(c.GraphCreate(0))(t)
		must(c.GraphAddHostNode(g, nil, HostFunc{Call: f}))(t)
		return g
	}
	plain := with(func() {})
	g := must(c.GraphCreate(0))(t)
	child := must(c.GraphAddChildGraphNode(g, nil, plain))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	using := with(hold)
	thing := must(c.d.UserObjectCreate(func() { gone <- true }, 1, noDestructorSync))(t)
	c.ok(c.d.GraphRetainUserObject(using, thing, 1, moveReferences))
	c.ok(c.GraphExecChildGraphNodeSetParams(exec, child, using))
	c.ok(c.GraphDestroy(using))
	c.ok(c.GraphLaunch(exec, s))
	c.ok(c.GraphExecChildGraphNodeSetParams(exec, child, plain))
	select {
	case <-gone:
		t.Error("the thing is gone while the launch uses it")
	case <-time.After(20 * time.Millisecond):
	}
	release()
	<-gone
}
