package driver

// This file holds tasks, the operations of streams, and their order.
//
// Every operation is a task with its own goroutine. The goroutine first waits for the predecessors of the task. The
// previous task of its stream is a predecessor of each task. A task on the default stream also waits for the last task of
// every blocking stream of the context, and a task on a blocking stream waits for the last task of the default stream
// (driver API, "Stream synchronization behavior"). A task waits only for tasks submitted before it, so waits have no
// cycles.

import (
	"time"

	"gemu/probe"
)

// task is a submitted operation.
type task struct {
	done    chan struct{}    // closed when the task ends
	endedAt time.Time        // set when the task ends
	order   *probe.HostOrder // nil if no probe needs the order

	launches *taskLaunches // nil if the task has no launches, or if Exit does not wait for launches
}

// submit puts an operation into the stream's queue. The operation runs after the previous operation of the stream and
// after the given tasks. name describes the operation for probes. run is not called if the context has a lasting fault
// when its turn comes. An error of run becomes a fault of the context. The caller must hold d.mu.
func (s *Stream) submit(name string, run func(*probe.HostOrder) error, after ...*task) *task {
	t, after := s.next(name, after)
	s.start(t, run, after)
	return t
}

// submitToAll submits an operation to stream s. If contexts is not empty, s must be a default stream; the operation is
// then ordered on the default streams of these contexts, too, as if it were in each of their queues. The caller must hold
// d.mu.
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

// next makes a task at the end of the stream's queue, and returns it with its predecessors: the tasks of after, and those
// given by the order of streams. Predecessors may be nil. The caller must hold d.mu.
func (s *Stream) next(name string, after []*task) (*task, []*task) {
	c := s.ctx
	ordering := &c.dev.d.ordering
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
	if s.last = t; !ordering.enabled {
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
	t.order = ordering.newOrder(s.line, name, s.name(), before)
	after = append(after, ordering.last)
	ordering.last = t
	return t, after
}

// start starts the goroutine of a task: it waits for the predecessors, calls run, and ends the task.
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

// noOperation is the run function of an operation that only waits for its predecessors.
func noOperation(*probe.HostOrder) error { return nil }

// submitAlways is submit for an operation that runs even after a fault of the context. It uses two tasks, because the
// function of a task is not called after a fault. run is called when the first task has ended. The second task, which is
// the result, waits for the return of run, except after a fault. The caller must hold d.mu.
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

// ended reports whether a task has ended. A nil task counts as ended.
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

// settle waits for tasks of the context, writes the output of kernels, and records that the host knows the end of the
// tasks. It returns the context's fault, if any.
func (c *Context) settle(tasks []*task) error {
	d := c.dev.d
	wait(tasks)
	d.kernelOutput.flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ordering.learn(tasks)
	return c.outcome()
}

// finish ends a call that has submitted task t: it unlocks the driver, and waits for t if blocking is true.
func (s *Stream) finish(t *task, blocking bool) error {
	s.ctx.dev.d.mu.Unlock()
	if !blocking {
		return nil
	}
	return s.ctx.settle([]*task{t})
}
