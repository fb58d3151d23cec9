package driver

import (
	"testing"

	"gemu/internal/goroutine"
	"gemu/probe"
)

// TestTasksOnWaitingThread: a thread that waits for a task runs the task and its predecessors, if no goroutine has begun
// them. Other tasks run on other goroutines: those that depend on the client, and those for which the thread does not wait.
func TestTasksOnWaitingThread(t *testing.T) {
	c := newClient(t, nil)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	caller := goroutine.ID()
	ids := make([]uint64, 5) // the goroutine of each task; 0 if it has not run
	note := func(i int) operation {
		return func(*probe.HostOrder) error { ids[i] = goroutine.ID(); return nil }
	}
	c.d.mu.Lock()
	stream := c.d.objects[s].(*Stream)
	stream.submitFor(true, "", note(0)) // no goroutine runs it, so the caller must
	second := stream.submit("", note(1))
	onHost := stream.submitOnHost("", note(2))
	last := stream.submit("", note(3))
	c.d.mu.Unlock()
	c.d.awaitTasks([]*task{second})
	if ids[0] != caller || ids[1] != caller {
		t.Errorf("the awaited task and its predecessor ran on goroutines %#x of %#x", ids[:2], caller)
	}
	c.d.wait([]*task{onHost, last}) // runs no tasks
	if ids[2] == caller || ids[2] == 0 || ids[3] == caller || ids[3] == 0 {
		t.Errorf("the tasks after the awaited one ran on goroutines %#x of %#x", ids[2:4], caller)
	}

	// The thread does not run a task that depends on the client, even if it waits for the task.
	c.d.mu.Lock()
	stream.submitFor(true, "", note(0))
	onHost = stream.submitOnHost("", note(4))
	c.d.mu.Unlock()
	c.d.awaitTasks([]*task{onHost})
	if ids[0] != caller || ids[4] == caller {
		t.Errorf("the predecessor of a function of the client ran on goroutine %#x, the function on %#x of %#x", ids[0], ids[4], caller)
	}
}

// TestReadyTasksRunTogether: when a task ends, all tasks that are ready run, even if a thread that waits runs one of them.
func TestReadyTasksRunTogether(t *testing.T) {
	c := newClient(t, nil)
	first := must(c.StreamCreate(flagNonBlocking, 0))(t)
	second := must(c.StreamCreate(flagNonBlocking, 0))(t)
	signal := make(chan bool)
	c.d.mu.Lock()
	one, two := c.d.objects[first].(*Stream), c.d.objects[second].(*Stream)
	common := one.submitFor(true, "", func(*probe.HostOrder) error { return nil })
	receiver := one.submit("", func(*probe.HostOrder) error { c.d.awaitHost(func() { <-signal }); return nil })
	sender := two.submit("", func(*probe.HostOrder) error { c.d.awaitHost(func() { signal <- true }); return nil }, common)
	c.d.mu.Unlock()
	c.d.awaitTasks([]*task{receiver}) // would wait for ever if the sender did not run meanwhile
	c.d.wait([]*task{sender})

	// A task that is ready at its submission runs although nobody waits for it.
	c.d.mu.Lock()
	one.submit("", func(*probe.HostOrder) error { signal <- true; return nil })
	c.d.mu.Unlock()
	<-signal
	c.ok(c.StreamSynchronize(first))
}

// TestGraphOnWaitingThread: a thread that waits for a launch of a graph runs no node that calls a function of the client.
func TestGraphOnWaitingThread(t *testing.T) {
	c := newClient(t, nil)
	x, caller, on := c.alloc(8), goroutine.ID(), uint64(0)
	g := must(c.GraphCreate(0))(t)
	fill := must(c.GraphAddMemsetNode(g, nil, fillOf(x, 5, 2)))(t)
	must(c.GraphAddHostNode(g, []Handle{fill}, HostFunc{Call: func() { on = goroutine.ID() }}))(t)
	c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(t), 0))
	c.ok(c.CtxSynchronize(0))
	if on == caller || on == 0 {
		t.Errorf("the function of the client ran on goroutine %#x of %#x", on, caller)
	}
}
