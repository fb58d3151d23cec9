package driver

// This file bounds the queue of a stream.
//
// A task occupies memory until it ends, so a stream has at most maxQueued tasks, as the launch queue of a GPU has. A launch of a
// graph is a task, and each of its nodes is a further task; a stream with maxQueuedNodes nodes is full, too. While a stream is full, a
// call that adds a task waits until a task of the stream has ended. On a GPU, a program hangs if a task of the
// full queue waits for the very thread that waits for room. Here the program does not hang: while any task waits for the
// host, calls do not wait for room.

import "sync"

// maxQueued is the maximum number of a stream's tasks that have not ended.
const maxQueued = 1024

// maxQueuedNodes is the number of nodes of graphs that have not ended, from which on a stream accepts no task. Tests use a smaller value.
var maxQueuedNodes = 1 << 16

// queues holds the state of calls waiting for room in a queue. The driver's mutex guards it.
type queues struct {
	room    *sync.Cond // signalled when a queue has room, and when a task begins to wait for the host
	waiting int        // number of calls waiting for room
	hosts   int        // number of tasks waiting for the host: for a host function, a value written by the host, or another process
}

// changed wakes the calls waiting for room.
func (q *queues) changed() {
	if q.waiting > 0 {
		q.room.Broadcast()
	}
}

// queue is stream for a call that adds a task: it waits while the stream's queue is full. The caller must hold d.mu;
// queue releases it while it waits.
func (t *Thread) queue(h Handle) (*Stream, error) {
	q := &t.d.queues
	s, err := t.stream(h)
	for err == nil && s.capture == nil && s.isFull() && q.hosts == 0 {
		q.waiting++
		t.d.turns.waiting++
		t.d.schedule()
		q.room.Wait()
		t.d.turns.waiting--
		q.waiting--
		s, err = t.stream(h)
	}
	return s, err
}

// isFull reports whether the stream's queue has no room for a task. The caller must hold d.mu.
func (s *Stream) isFull() bool { return s.queued >= maxQueued || s.queuedNodes >= maxQueuedNodes }

// awaitHost calls wait, in which a task runs a function of the host, or waits for another process; other tasks have turns
// meanwhile. The caller must be the running task.
func (d *Driver) awaitHost(wait func()) {
	d.dependOnHost(func() { d.runInHost(wait) })
}

// dependOnHost calls wait, in which a task depends on the host. Until wait returns, no call waits for room in a queue, because
// the task may depend on the thread that would wait.
func (d *Driver) dependOnHost(wait func()) {
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
