package driver

import (
	"testing"
	"time"

	"gemu/probe"
)

// Attributes of streams are stored and copied; the priority is that of the stream.
func TestStreamAttributes(t *testing.T) {
	c := newClient(t, nil)
	a := must(c.StreamCreate(0, greatestPriority))(t)
	b := must(c.StreamCreate(0, 0))(t)
	v := AttributeValue{1, 2, 3}
	c.ok(c.StreamSetAttribute(a, StreamAccessPolicyWindow, v))
	if got := must(c.StreamGetAttribute(b, StreamAccessPolicyWindow))(t); got != (AttributeValue{}) {
		t.Errorf("what was not set is %v", got)
	}
	c.ok(c.StreamCopyAttributes(b, a))
	if got := must(c.StreamGetAttribute(b, StreamAccessPolicyWindow))(t); got != v {
		t.Errorf("the copy is %v, want %v", got, v)
	}
	if got := must(c.StreamGetPriority(b))(t); got != greatestPriority {
		t.Errorf("the priority is %d, want %d", got, greatestPriority)
	}
	c.ok(c.StreamSetAttribute(b, StreamPriority, AttributeValue{}))
	if got := must(c.StreamGetAttribute(b, StreamPriority))(t); got != (AttributeValue{}) {
		t.Errorf("the priority is %v, want 0", got)
	}
	c.want(InvalidValue, "attribute 2", c.StreamSetAttribute(a, 2, v))
	c.want(InvalidHandle, "", c.StreamCopyAttributes(a, 12345))
}

// Streams and events can be used in a thread without a current context. A default stream and all further calls need a
// context.
func TestStreamsWithoutContext(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	x := c.alloc(4)
	other := c.d.NewThread()
	c.ok(other.EventRecord(e, s))
	c.ok(other.StreamSynchronize(s))
	c.ok(other.StreamQuery(s))
	c.ok(other.EventSynchronize(e))
	c.ok(other.EventQuery(e))
	c.ok(other.StreamWaitEvent(s, e, 0))
	if got := must(other.StreamGetFlags(s))(t); got != flagNonBlocking {
		t.Errorf("flags are %d", got)
	}
	called := make(chan bool, 1)
	c.ok(other.LaunchHostFunc(s, HostFunc{Call: func() { called <- true }}))
	c.ok(other.StreamSynchronize(s))
	<-called
	c.want(InvalidContext, "no context is current", other.EventRecord(e, 0))
	c.want(InvalidContext, "no context is current", other.StreamSynchronize(streamPerThread))
	c.want(InvalidContext, "no context is current", other.Memset(fillOf(x, 1, 1), s, true))
	_, err := other.EventCreate(0)
	c.want(InvalidContext, "no context is current", err)
	c.ok(other.StreamDestroy(s))
	c.want(InvalidHandle, "is not the handle of a stream", other.StreamQuery(s))
}

// A stream accepts a limited number of tasks; calls that add more wait for room. They do not wait while a task waits
// for the host.
func TestFullQueue(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	x := c.alloc(4)
	c.write(x, 0)
	const launches = 3 * maxQueued
	queued := func() (tasks, waiting int) {
		c.d.mu.Lock()
		defer c.d.mu.Unlock()
		return c.d.objects[s].(*Stream).queued, c.d.queues.waiting
	}
	submit := func() {
		for range launches {
			c.ok(c.add(x, 1, 1, s))
		}
	}
	// A task that does not wait for the host blocks the stream.
	gate := make(chan struct{})
	c.d.mu.Lock()
	c.d.objects[s].(*Stream).submit("", func(*probe.HostOrder) error { <-gate; return nil })
	c.d.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		submit()
	}()
	for {
		tasks, waiting := queued()
		if tasks > maxQueued {
			t.Fatalf("%d tasks are queued", tasks)
		}
		if waiting > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if tasks, _ := queued(); tasks != maxQueued {
		t.Errorf("a call waits for a queue of %d tasks, want %d", tasks, maxQueued)
	}
	// Other streams continue.
	c.ok(c.Memset(fillOf(c.alloc(4), 1, 1), must(c.StreamCreate(flagNonBlocking, 0))(t), true))
	close(gate)
	<-ended
	c.ok(c.StreamSynchronize(s))
	c.expect(x, launches)

	// The thread that fills the queue must end the function that the stream waits for: it does not wait for room.
	gate = make(chan struct{})
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() { <-gate }}))
	submit()
	close(gate)
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 2*launches)

	// The same with a value that the thread must write.
	flag := c.alloc(4)
	c.write(flag, 0)
	c.ok(c.StreamMemoryOps(s, []MemoryOp{{Kind: WaitValue32, Addr: flag, Value: 1}}, 0))
	submit()
	c.ok(c.Memset(fillOf(flag, 1, 1), must(c.StreamCreate(flagNonBlocking, 0))(t), true))
	c.ok(c.StreamSynchronize(s))
	c.expect(x, 3*launches)
	if tasks, waiting := queued(); tasks != 0 || waiting != 0 {
		t.Errorf("%d tasks and %d calls are left", tasks, waiting)
	}
}

// A stream with many nodes of graphs is full, although it has few tasks.
func TestFullQueueOfNodes(t *testing.T) {
	defer func(n int) { maxQueuedNodes = n }(maxQueuedNodes)
	maxQueuedNodes = 20
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	g := must(c.GraphCreate(0))(t)
	for range 8 { // with the beginning, a launch has 9 tasks
		must(c.GraphAddEmptyNode(g, nil))(t)
	}
	exec := must(c.GraphInstantiate(g, 0))(t)
	gate, ended := make(chan struct{}), make(chan struct{})
	c.d.mu.Lock()
	stream := c.d.objects[s].(*Stream)
	stream.submit("", func(*probe.HostOrder) error { <-gate; return nil })
	c.d.mu.Unlock()
	go func() {
		defer close(ended)
		for range 10 {
			c.ok(c.GraphLaunch(exec, s))
		}
	}()
	nodes, waiting := 0, 0
	for begin := time.Now(); waiting == 0 && time.Since(begin) < 20*time.Second; time.Sleep(time.Millisecond) {
		c.d.mu.Lock()
		nodes, waiting = stream.queuedNodes, c.d.queues.waiting
		c.d.mu.Unlock()
	}
	if nodes != 27 || waiting != 1 {
		t.Errorf("%d nodes are queued, and %d calls wait; want 27 and 1", nodes, waiting)
	}
	close(gate)
	<-ended
	c.ok(c.StreamSynchronize(s))
	if stream.queuedNodes != 0 || stream.queued != 0 {
		t.Errorf("%d nodes and %d tasks are left", stream.queuedNodes, stream.queued)
	}
}

// A copy between the memory of two devices on a default stream comes after earlier work on both devices and before
// later work. Non-blocking streams are not ordered with it.
func TestCopyBetweenDevices(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.Devices = 2 })
	c2 := must(c.CtxCreate(0, 1))(t)
	there := must(c.MemAlloc(4))(t)
	c.ok(c.CtxSetCurrent(c.ctx))
	here := must(c.MemAlloc(8))(t)
	separate := must(c.StreamCreate(flagNonBlocking, 0))(t)
	fill := func(at uint64, value uint32) { c.ok(c.Memset(fillOf(at, value, 1), 0, true)) }
	move := func(to, from uint64) { c.ok(c.Memcpy(device(to), device(from), 4, 0, true)) }
	first := func() byte { // read directly, after all work
		var b [4]byte
		c.ok(c.CtxSynchronize(c2))
		c.ok(c.Memcpy(Place{Kind: HostPlace, Host: pointerTo(b[:])}, device(here), 4, 0, false))
		return b[0]
	}
	// Work on the first device waits for gate; unordered work has time to finish first.
	for _, behind := range []bool{true, false} {
		gate := make(chan struct{})
		wait := func() { c.ok(c.LaunchHostFunc(0, HostFunc{Call: func() { <-gate }})) }
		if behind {
			wait()
		}
		fill(here+4, 1)
		c.ok(c.CtxSetCurrent(c2))
		fill(there, 7)
		if !behind {
			wait()
		}
		move(here+4, there)
		c.ok(c.CtxSetCurrent(c.ctx))
		move(here, here+4)
		time.Sleep(10 * time.Millisecond)
		c.want(NotReady, "", c.StreamQuery(0))
		c.ok(c.StreamQuery(separate))
		close(gate)
		if got := first(); got != 7 {
			t.Errorf("behind the gate %v: %d, want 7", behind, got)
		}
	}
}

// A free on a second stream comes after the allocation, and leaves nothing in the map.
func TestFreeBeforeAllocation(t *testing.T) {
	c := newClient(t, nil)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	hold, release := held()
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: hold}))
	p := must(c.MemAllocAsync(1<<20, 0, s))(t)
	c.ok(c.MemFreeAsync(p, other))
	time.Sleep(20 * time.Millisecond)
	c.want(NotReady, "", c.StreamQuery(other))
	release()
	c.ok(c.StreamSynchronize(other))
	c.ok(c.StreamSynchronize(s))
	c.ok(c.add(p, 1, 1, s))
	c.want(IllegalAddress, "", c.StreamSynchronize(s))
}

// Streams run in parallel, each in order; events and the default stream order them.
func TestStreamsRunInParallel(t *testing.T) {
	c := newClient(t, nil)
	flag := must(c.MemHostAlloc(4, 0))(t)
	a := must(c.StreamCreate(flagNonBlocking, 0))(t)
	b := must(c.StreamCreate(flagNonBlocking, 0))(t)
	x := c.alloc(4)
	gate := make(chan struct{})
	c.ok(c.LaunchHostFunc(a, HostFunc{Call: func() { <-gate }}))
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, address(flag), 1), a))
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, x, 77), a))
	e := must(c.EventCreate(0))(t)
	c.ok(c.EventRecord(e, a))
	c.want(NotReady, "", c.EventQuery(e))
	c.want(NotReady, "", c.StreamQuery(a))
	c.ok(c.StreamQuery(b))
	c.ok(c.StreamWaitEvent(b, e, 0))
	c.want(NotReady, "", c.StreamQuery(b))
	c.ok(c.StreamQuery(0)) // the default stream does not wait for non-blocking streams
	var order []string
	c.ok(c.LaunchHostFunc(b, HostFunc{Call: func() { order = append(order, "b") }}))
	close(gate)
	c.ok(c.StreamSynchronize(b))
	c.ok(c.EventQuery(e))
	if len(order) != 1 || *(*uint32)(flag) != 1 {
		t.Errorf("order %v, flag %d", order, *(*uint32)(flag))
	}
	c.expect(x, 77)
	e2 := must(c.EventCreate(0))(t)
	c.ok(c.EventRecord(e2, a))
	c.ok(c.EventSynchronize(e2))
	if ms, err := c.EventElapsedTime(e, e2); err != nil || ms < 0 {
		t.Errorf("%v ms, %v", ms, err)
	}
	if ms, _ := c.EventElapsedTime(e2, e); ms > 0 {
		t.Errorf("%v ms backwards", ms)
	}
	// A blocking stream and the default stream wait for each other.
	s := must(c.StreamCreate(0, 0))(t)
	gate = make(chan struct{})
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() { <-gate }}))
	done := make(chan bool, 1)
	c.ok(c.LaunchHostFunc(0, HostFunc{Call: func() { done <- true }}))
	c.want(NotReady, "", c.StreamQuery(0))
	close(gate)
	c.ok(c.CtxSynchronize(0))
	if !<-done {
		t.Fail()
	}
	c.ok(c.StreamDestroy(s))
	c.want(InvalidHandle, "", c.StreamSynchronize(s))
}
