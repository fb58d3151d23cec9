package driver

// This file is how much work a stream takes before calls wait for it.
//
// A task takes memory until it is over, so a stream takes maxQueued of them, as a GPU's launch queue does. A call that
// would add one more waits until a task of the stream is over. On a GPU, a program hangs that is to release a task of a full
// queue from the thread that waits for the queue. Here it does not: while a task waits for the host, calls do not wait.

import "sync"

// maxQueued is how many tasks of a stream may be under way or wait.
const maxQueued = 1024

// queues is what calls know that wait for room in a queue. The driver's mutex guards it.
type queues struct {
	room    *sync.Cond // signalled when a queue has room, and when a task begins to wait for the host
	waiting int        // calls that wait
	hosts   int        // tasks that wait for the host: for a function of it, a value that it writes, another process
}

// changed wakes the calls that wait for room.
func (q *queues) changed() {
	if q.waiting > 0 {
		q.room.Broadcast()
	}
}

// queue is stream for a call that adds a task: it waits while the stream's queue is full. d.mu is held, but not
// while it waits.
func (t *Thread) queue(h Handle) (*Stream, error) {
	q := &t.d.queues
	s, err := t.stream(h)
	for err == nil && s.capture == nil && s.queued >= maxQueued && q.hosts == 0 {
		q.waiting++
		q.room.Wait()
		q.waiting--
		s, err = t.stream(h)
	}
	return s, err
}

// awaitHost runs what a task waits for the host with: its thread may be the one that waits for room.
func (d *Driver) awaitHost(wait func()) {
	change := func(n int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.queues.hosts += n
		d.queues.changed()
	}
	change(1)
	defer change(-1)
	wait()
}
