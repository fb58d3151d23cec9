package driver

// This file holds tasks, the operations of streams, and their order.
//
// The previous task of its stream is a predecessor of each task. A task on the default stream also comes after the last
// task of every blocking stream of the context, and a task on a blocking stream comes after the last task of the default
// stream (driver API, "Stream synchronization behavior"). The predecessors of a task were submitted before it, so the
// order has no cycles.
//
// A task is ready when all its predecessors have ended. Ready tasks take turns (stream_turns.go). A task runs in one of three
// places:
//
//   - on a new goroutine, if it was ready when it was submitted, or if the goroutine of its last predecessor continues with
//     another task;
//   - on the goroutine of its last predecessor, which continues with one of the tasks that are ready then;
//   - on the thread of a client that waits for it (awaitTasks), if no goroutine has begun it. A launch followed by a
//     synchronisation then needs no switch to another thread. Tasks that depend on the client (onHost) never run there.
//
// Each ready task has a goroutine from the moment when it is ready, except the task that a client's thread runs next. So a
// task runs even if no client waits for it.

import (
	"time"

	"gemu/probe"
)

// operation is the function of a task. order is nil if no probe needs it.
type operation func(order *probe.HostOrder) error

// task is a submitted operation. The driver's mutex guards the fields after done and order.
type task struct {
	done  chan struct{}    // closed when the task ends
	order *probe.HostOrder // nil if no probe needs the order

	endedAt time.Time // set when the task ends
	stream  *Stream   // nil for a task outside the queue of a stream: endNow ends it
	run     operation // nil: the task only waits for its predecessors
	always  bool      // run is called even after a fault of the context
	onHost  bool      // run calls functions of the client, or waits for the host
	counter *int      // Stream.queued or Stream.queuedNodes, in which the task counts until it ends; nil: none
	begun   bool      // the task runs, or waits for its turn, or has ended
	unmet   int       // number of predecessors that have not ended
	taskTurns

	predecessors []*task // tasks before it that had not ended at the submission; nil when the task has begun
	successors   []*task // tasks that have it as predecessor

	launches *taskLaunches // nil if the task has no launches, or if Exit does not wait for launches
}

// newTask makes a task.
func newTask(run operation) *task { return &task{done: make(chan struct{}), run: run} }

// submit puts an operation into the stream's queue. The operation runs after the previous operation of the stream and
// after the given tasks. name describes the operation for probes. run is not called if the context has a lasting fault
// when its turn comes. An error of run becomes a fault of the context. The caller must hold d.mu.
func (s *Stream) submit(name string, run operation, predecessors ...*task) *task {
	return s.submitTask(newTask(run), name, predecessors...)
}

// submitOnHost is submit for an operation that calls functions of the client, or waits for the host. The caller must hold
// d.mu.
func (s *Stream) submitOnHost(name string, run operation) *task {
	t := newTask(run)
	t.onHost = true
	return s.submitTask(t, name)
}

// submitAlways is submit for an operation that runs even after a fault of the context. The caller must hold d.mu.
func (s *Stream) submitAlways(name string, run func(*probe.HostOrder), predecessors ...*task) *task {
	t := newTask(func(o *probe.HostOrder) error { run(o); return nil })
	t.always = true
	return s.submitTask(t, name, predecessors...)
}

// submitTask is submit for a new task. The caller must hold d.mu.
func (s *Stream) submitTask(t *task, name string, predecessors ...*task) *task {
	s.start(t, s.next(t, name, predecessors))
	return t
}

// submitFor is submit for a caller that, if awaited is true, calls awaitTasks for the task when it has unlocked the driver: the
// caller's thread may run the task, so a goroutine for the task would be started in vain. The caller must hold d.mu.
func (s *Stream) submitFor(awaited bool, name string, run operation, predecessors ...*task) *task {
	if !awaited {
		return s.submit(name, run, predecessors...)
	}
	t := newTask(run)
	t.link(s, s.next(t, name, predecessors))
	return t
}

// submitToAll is submitFor for an operation that is also ordered on the default streams of the contexts, as if it were in
// each of their queues. If contexts is not empty, s must be a default stream. The caller must hold d.mu.
func (s *Stream) submitToAll(contexts []*Context, awaited bool, name string, run operation) *task {
	var predecessors []*task
	for _, c := range contexts {
		predecessors = append(predecessors, c.legacy.submit("", nil))
	}
	t := s.submitFor(awaited, name, run, predecessors...)
	for _, c := range contexts {
		c.legacy.submit("", nil, t)
	}
	return t
}

// next puts a task at the end of the stream's queue, and returns its predecessors: the given tasks, and the tasks
// before it in the order of streams. Predecessors may be nil. The caller must hold d.mu.
func (s *Stream) next(t *task, name string, predecessors []*task) []*task {
	c := s.ctx
	ordering := &c.dev.d.ordering
	predecessors = append(predecessors, s.last, c.dev.d.paused, c.orderedAfter)
	if s.green != nil {
		predecessors = append(predecessors, s.green.orderedAfter)
	}
	switch {
	case s == c.legacy:
		for o := range c.streams {
			if !o.nonBlocking {
				predecessors = append(predecessors, o.last)
			}
		}
	case !s.nonBlocking:
		predecessors = append(predecessors, c.legacy.last)
	}
	t.count(&s.queued)
	if s.last = t; !ordering.enabled {
		return predecessors
	}
	var known clock
	for _, p := range predecessors {
		if p != nil && p.order != nil {
			known = known.union(p.order.Before)
		}
	}
	if s == c.legacy {
		known = known.union(c.endedClocks[0])
	}
	t.order = ordering.newOrder(s.line, name, s.name(), known)
	return predecessors
}

// count adds the task to a counter until it ends.
func (t *task) count(counter *int) {
	*counter++
	t.counter = counter
}

// link makes the task come after its predecessors, and gives it its place in the order of turns. The caller must hold d.mu.
func (t *task) link(s *Stream, predecessors []*task) {
	u := &s.ctx.dev.d.turns
	u.submitted++
	t.stream, t.number = s, u.submitted
	for _, p := range predecessors {
		if !p.ended() {
			p.successors = append(p.successors, t)
			t.predecessors = append(t.predecessors, p)
		}
	}
	if t.unmet = len(t.predecessors); t.run != nil {
		u.released = false
		if t.unmet == 0 {
			s.ctx.dev.d.addReady(t)
		}
	}
}

// start links the task, and starts its goroutine if it is ready. The caller must hold d.mu.
func (s *Stream) start(t *task, predecessors []*task) {
	t.link(s, predecessors)
	d := s.ctx.dev.d
	switch {
	case t.unmet > 0:
	case t.run == nil:
		d.end(t)
	default:
		go d.runTasks(t)
	}
}

// runTasks runs a ready task, and then tasks for which the previous one was the last predecessor.
func (d *Driver) runTasks(t *task) {
	for ready := []*task{t}; len(ready) > 0; ready = d.runTask(ready[0]) {
		for _, r := range ready[1:] {
			go d.runTasks(r)
		}
	}
}

// runTask runs a ready task, unless it has begun, and returns the tasks that are ready after it.
func (d *Driver) runTask(t *task) (ready []*task) {
	c := t.stream.ctx
	d.mu.Lock()
	if t.begun {
		d.mu.Unlock()
		return nil
	}
	t.begun, t.predecessors = true, nil
	d.takeTurn(t)
	err := c.err
	d.mu.Unlock()
	if err == nil || t.always {
		err = t.run(t.order)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		c.recordFault(err)
	}
	return d.end(t)
}

// end ends a task, and each task without an operation that is ready after it. It returns the other tasks that are ready,
// which the caller must run. The caller must hold d.mu.
func (d *Driver) end(t *task) (ready []*task) {
	now := time.Now()
	for ended := []*task{t}; len(ended) > 0; {
		t, ended = ended[0], ended[1:]
		t.endedAt, t.begun, t.predecessors, t.run = now, true, nil, nil
		t.noteEnd(d)
		if t.counter != nil {
			*t.counter--
			d.queues.changed()
		}
		d.removeTask(t)
		close(t.done)
		for _, next := range t.successors {
			if next.unmet--; next.unmet > 0 {
				continue
			}
			if next.run == nil {
				ended = append(ended, next)
			} else {
				d.addReady(next)
				ready = append(ready, next)
			}
		}
		t.successors = nil
	}
	d.schedule()
	return ready
}

// endNow ends a task outside the queue of a stream, unless it has ended. The caller must hold d.mu.
func (d *Driver) endNow(t *task) {
	if t.ended() {
		return
	}
	for _, r := range d.end(t) {
		go d.runTasks(r)
	}
}

// awaitTasks waits until the tasks have ended; nil tasks are skipped. The calling thread of the client runs ready tasks that
// no goroutine has begun, if a task of the list depends on them. The caller must not hold d.mu.
func (d *Driver) awaitTasks(tasks []*task) {
	if !d.beginWait(tasks) {
		return
	}
	for _, t := range tasks {
		if !t.ended() {
			d.runHere(t)
			<-t.done
		}
	}
}

// runHere runs the unfinished predecessors of a task and the task itself on the calling goroutine. It returns early at a task
// that another goroutine runs, or that depends on the client.
func (d *Driver) runHere(target *task) {
	path := []*task{target} // each task but the first is a predecessor of the task before it
	for len(path) > 0 {
		t := path[len(path)-1]
		d.mu.Lock()
		isEnded, isBegun, predecessor := t.ended(), t.begun, t.unendedPredecessor()
		d.mu.Unlock()
		switch {
		case isEnded:
			path = path[:len(path)-1]
		case isBegun || t.stream == nil:
			return
		case predecessor != nil:
			path = append(path, predecessor)
		case t.onHost:
			return
		default:
			path = path[:len(path)-1]
			for _, r := range d.runTask(t) {
				if len(path) == 0 || r != path[len(path)-1] || r.onHost {
					go d.runTasks(r)
				}
			}
		}
	}
}

// unendedPredecessor returns a predecessor that has not ended, or nil. The caller must hold d.mu.
func (t *task) unendedPredecessor() *task {
	for _, p := range t.predecessors {
		if !p.ended() {
			return p
		}
	}
	return nil
}

// wait is awaitTasks for callers that hold locks: it runs no tasks. The caller must not hold d.mu.
func (d *Driver) wait(tasks []*task) {
	d.beginWait(tasks)
	waitInBackground(tasks)
}

// waitInBackground waits until the tasks have ended; nil tasks are skipped. It is for goroutines: no thread of the host waits.
func waitInBackground(tasks []*task) {
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
	d.awaitTasks(tasks)
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
