package driver

import (
	"testing"
	"time"
)

// held is a function of the host that waits, and what lets it go on.
func held() (f, release func()) {
	c := make(chan bool)
	return func() { <-c }, func() { close(c) }
}

// A node records its event in its turn: not when the graph is launched, and not when it is over.
func TestGraphRecordsEvent(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(8)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	before, letGo := held()
	behind, letEnd := held()
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
	letGo()
	c.ok(c.EventSynchronize(e))
	c.want(NotReady, "", c.StreamQuery(s))
	c.ok(c.StreamSynchronize(other))
	letEnd()
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 6, 6)
}

// A node waits for what its event has recorded as the graph is launched.
func TestGraphWaitsForEvent(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(8)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	e, never := must(c.EventCreate(0))(t), must(c.EventCreate(0))(t)
	g := must(c.GraphCreate(0))(t)
	wait := must(c.GraphAddEventNode(g, nil, EventWaitNode, e))(t)
	must(c.GraphAddMemsetNode(g, []Handle{wait}, fillOf(x, 5, 2)))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, s)) // for nothing
	c.ok(c.StreamSynchronize(s))

	hold, letGo := held()
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
	c.ok(c.add(x, 2, 1, other))
	c.ok(c.EventRecord(e, other))
	c.ok(c.GraphLaunch(exec, s))
	time.Sleep(10 * time.Millisecond)
	c.want(NotReady, "", c.StreamQuery(s))
	letGo()
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 5, 5) // after the sum

	// Of another event, in what is executable and in the graph.
	hold, letGo = held()
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
	letGo()
	c.want(InvalidValue, "of another kind", c.GraphEventNodeSetEvent(wait, EventRecordNode, e))
	c.want(InvalidValue, "not such a node", c.GraphExecEventNodeSetEvent(exec, wait, EventRecordNode, e))
	_, err := c.GraphEventNodeGetEvent(wait, EventRecordNode)
	c.want(InvalidValue, "of another kind", err)
	_, err = c.GraphAddEventNode(g, nil, EventWaitNode, g)
	c.want(InvalidHandle, "", err)
	body := must(c.GraphCreate(0))(t)
	must(c.GraphAddEventNode(body, nil, EventRecordNode, e))(t)
	must(c.GraphInstantiate(must(c.GraphClone(body))(t), 0))(t)
}

// Nobody waits for ever for a record that a launch does not come to.
func TestGraphFailsBeforeRecord(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	g := must(c.GraphCreate(0))(t)
	bad := must(c.GraphAddKernelNode(g, nil, launchParams(c.function("add"), 1, 1, 8, 1)))(t)
	must(c.GraphAddEventNode(g, []Handle{bad}, EventRecordNode, e))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	hold, letGo := held()
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: hold}))
	c.ok(c.GraphLaunch(exec, s)) // this one fails
	first := must(c.EventCreate(0))(t)
	c.ok(c.GraphExecEventNodeSetEvent(exec, must(c.GraphGetNodes(g))(t)[1], EventRecordNode, first))
	c.ok(c.GraphLaunch(exec, s)) // and this one does not begin
	letGo()
	c.want(IllegalAddress, "", c.EventSynchronize(e))
	c.want(IllegalAddress, "", c.EventSynchronize(first))
}

// A launch that is refused leaves what an event has recorded.
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
	c.want(InvalidValue, "was not freed", c.GraphLaunch(exec, s))
	c.ok(c.EventSynchronize(e))
}

// A capture has such nodes for events that others are to see.
func TestCapturesExternalEvents(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(8)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	from, to := must(c.EventCreate(0))(t), must(c.EventCreate(0))(t)
	c.want(InvalidValue, "outside of a capture", c.EventRecordWithFlags(to, s, eventExternal))
	c.want(InvalidValue, "outside of a capture", c.StreamWaitEvent(s, from, eventExternal))
	c.ok(c.StreamBeginCapture(s, CaptureThreadLocal))
	c.ok(c.StreamWaitEvent(s, from, eventExternal))
	c.ok(c.Memset(fillOf(x, 5, 2), s, true))
	c.ok(c.EventRecordWithFlags(to, s, eventExternal))
	c.ok(c.EventQuery(to)) // it has recorded nothing yet
	g := must(c.StreamEndCapture(s))(t)
	var kinds []NodeKind
	for _, n := range must(c.GraphGetNodes(g))(t) {
		kinds = append(kinds, must(c.GraphNodeGetType(n))(t))
	}
	if len(kinds) != 3 || kinds[0] != EventWaitNode || kinds[1] != MemsetNode || kinds[2] != EventRecordNode {
		t.Fatalf("nodes are of kinds %v", kinds)
	}
	hold, letGo := held()
	c.ok(c.LaunchHostFunc(other, HostFunc{Call: hold}))
	c.ok(c.EventRecord(from, other))
	c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(t), s))
	c.want(NotReady, "", c.EventQuery(to))
	letGo()
	c.ok(c.EventSynchronize(to))
	c.expect(x, 5, 5)
}
