package driver

// This file holds tasks, the operations of streams, and their order.
//
// Every operation is a task with its own goroutine. The goroutine first waits for its predecessors: the previous task
// of its stream. A task on the default stream also waits for the last task of every blocking stream of the context, and
// a task on a blocking stream waits for the last task of the default stream (manual of the driver API, "Stream
// synchronization behavior"). A task waits only for tasks submitted before it, so waits have no cycles.

import (
	"time"

	"gemu/probe"
)

// task is a submitted operation.
type task struct {
	done    chan struct{}    // closed when it ends
	endedAt time.Time        // set when it ends
	order   *probe.HostOrder // nil if no probe needs the order

	launches *taskLaunches // nil if it has no launches, or if Exit does not wait for launches
}

// submit puts an operation into the stream's queue. It runs after the previous operation and after the given tasks.
// name describes it for probes. It does not run if the context has a fault by then. An error of run becomes a fault of
// the context. The caller must hold d.mu.
func (s *Stream) submit(name string, run func(*probe.HostOrder) error, after ...*task) *task {
	t, after := s.next(name, after)
	s.start(t, run, after)
	return t
}

// submitToAll submits an operation to a default stream and orders it on the default streams of all further contexts,
// too, as if it were in each of their queues. The caller must hold d.mu.
func (s *Stream) submitToAll(contexts []*Context, name string, run func(*probe.HostOrder) error) *task {
	var after []*task
	for _, c := range contexts {
		after = append(after, c.legacy.submit("", noOperation))
	}
	t := s.submit(name, run, after...)
	for _, c := range contexts {
		c.legacy.submit("", noOperation, t)
	}
	return t
}

// next makes the task of an operation at the end of the stream's queue, and lists its predecessors. The caller must
// hold d.mu.
func (s *Stream) next(name string, after []*task) (*task, []*task) {
	c := s.ctx
	o := &c.dev.d.ordering
	after = append(after, s.last, c.dev.d.paused, c.orderedAfter)
	if s.green != nil {
		after = append(after, s.green.orderedAfter)
	}
	switch {
	case s == c.legacy:
		for o := range c.streams {
			if !o.nonBlocking {
				after = append(after, o.last)
			}
		}
	case !s.nonBlocking:
		after = append(after, c.legacy.last)
	}
	t := &task{done: make(chan struct{})}
	s.queued++
	if s.last = t; !o.enabled {
		return t, after
	}
	var before clock
	for _, b := range after {
		if b != nil && b.order != nil {
			before = before.union(b.order.Before)
		}
	}
	if s == c.legacy {
		before = before.union(c.endedClocks[0])
	}
	t.order = o.newOrder(s.line, name, s.name(), before)
	after = append(after, o.last)
	o.last = t
	return t, after
}

// start makes a task run when its predecessors have ended.
func (s *Stream) start(t *task, run func(*probe.HostOrder) error, after []*task) {
	c := s.ctx
	d := c.dev.d
	go func() {
		wait(after)
		d.mu.Lock()
		err := c.err
		d.mu.Unlock()
		if err == nil {
			err = run(t.order)
		}
		t.endedAt = time.Now()
		d.mu.Lock()
		if err != nil {
			c.recordFault(err)
		}
		t.noteEnd(d)
		s.queued--
		d.queues.changed()
		d.mu.Unlock()
		close(t.done)
	}()
}

// noOperation is the function of an operation that only waits.
func noOperation(*probe.HostOrder) error { return nil }

// submitAlways is submit for an operation that runs even after a fault of the context. The caller must hold d.mu.
func (s *Stream) submitAlways(name string, run func(*probe.HostOrder), after ...*task) *task {
	before := s.submit(name, noOperation, after...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-before.done
		run(before.order)
	}()
	return s.submit("", func(*probe.HostOrder) error { <-ended; return nil })
}

// wait waits until the tasks have ended; nil tasks are skipped.
func wait(tasks []*task) {
	for _, t := range tasks {
		if t != nil {
			<-t.done
		}
	}
}

// ended reports whether a task has ended. A nil task has.
func (t *task) ended() bool {
	if t == nil {
		return true
	}
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// pending lists the last tasks of the context's streams. The caller must hold d.mu.
func (c *Context) pending() []*task {
	var list []*task
	for s := range c.streams {
		list = append(list, s.last)
	}
	return list
}

// pending lists the last tasks of all streams. The caller must hold d.mu.
func (d *Driver) pending() []*task {
	var list []*task
	for _, o := range d.objects {
		if c, ok := o.(*Context); ok && !c.dead {
			list = append(list, c.pending()...)
		}
	}
	return list
}

// settle waits for tasks of the context and records that the host knows their end. It returns the context's fault, if
// any.
func (c *Context) settle(tasks []*task) error {
	d := c.dev.d
	wait(tasks)
	d.kernelOutput.flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ordering.learn(tasks)
	return c.outcome()
}

// finish ends a call that has submitted a task: it unlocks the driver, and waits for the task if blocking.
func (s *Stream) finish(t *task, blocking bool) error {
	s.ctx.dev.d.mu.Unlock()
	if !blocking {
		return nil
	}
	return s.ctx.settle([]*task{t})
}
