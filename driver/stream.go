package driver

// This file implements streams.

import (
	"cmp"

	"gemu/probe"
)

// Stream is a queue of operations.
type Stream struct {
	handle      Handle
	ctx         *Context
	nonBlocking bool          // created with CU_STREAM_NON_BLOCKING: not ordered with the default stream
	perThread   bool          // the default stream of a thread
	priority    int           // from greatestPriority to 0; only stored
	line        int           // number of the stream's line; see ordering
	last        *task         // the last task submitted; nil at first
	queued      int           // number of tasks that have not ended, without nodes of graphs
	queuedNodes int           // number of nodes of graphs that have not ended
	green       *GreenContext // green context for which the stream was made; nil: none

	attributes  map[StreamAttribute]AttributeValue // attributes set by the client
	capture     *capture                           // nil while the stream is not captured
	captureTips []*Node                            // predecessors of the next captured node
	clientTips  *ClientMemory                      // memory for the client's last copy of captureTips
}

// Reserved handles of streams.
const (
	streamLegacy    Handle = 1 // CU_STREAM_LEGACY: the default stream of a context
	streamPerThread Handle = 2 // CU_STREAM_PER_THREAD: the default stream of a thread in a context
)

// flagNonBlocking is CU_STREAM_NON_BLOCKING.
const flagNonBlocking = 1

// newStream makes a stream. The caller must hold d.mu.
func (c *Context) newStream(flags uint32, priority int) *Stream {
	s := &Stream{ctx: c, nonBlocking: flags&flagNonBlocking != 0, priority: priority, line: c.dev.d.ordering.newLine()}
	s.handle = c.dev.d.add(s)
	c.streams[s] = true
	return s
}

// stream returns the stream with a handle. 0 and streamLegacy are the default stream of the current context;
// streamPerThread is this thread's default stream there. Other handles need no current context. The error may be an
// earlier fault in the stream's context. The caller must hold d.mu.
func (t *Thread) stream(h Handle) (*Stream, error) {
	switch h {
	case 0, streamLegacy:
		c, err := t.current()
		if err != nil {
			return nil, err
		}
		return c.legacy, nil
	case streamPerThread:
		c, err := t.current()
		if err != nil {
			return nil, err
		}
		s := t.streams[c]
		if s == nil || !c.streams[s] {
			s = c.newStream(0, 0)
			s.perThread = true
			t.streams[c] = s
		}
		return s, nil
	}
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	s, err := object[*Stream](t.d, h)
	if err != nil {
		return nil, err
	}
	return s, s.ctx.err
}

// enterStream locks the driver for a call on a stream, unless it returns an error.
func (t *Thread) enterStream(h Handle) (*Stream, error) {
	t.d.mu.Lock()
	s, err := t.stream(h)
	if err != nil {
		t.d.mu.Unlock()
	}
	return s, err
}

// StreamCreate is cuStreamCreateWithPriority, and cuStreamCreate with a priority of 0.
func (t *Thread) StreamCreate(flags uint32, priority int) (Handle, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	if flags&^flagNonBlocking != 0 {
		return 0, fail(InvalidValue, "stream flags %#x, want 0 or CU_STREAM_NON_BLOCKING (1)", flags)
	}
	return c.newStream(flags, min(max(priority, greatestPriority), 0)).handle, nil
}

// StreamDestroy is cuStreamDestroy. Queued work still runs.
func (t *Thread) StreamDestroy(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.d.ready {
		return fail(NotInitialized, "cuInit was not called")
	}
	s, err := object[*Stream](t.d, h)
	if err != nil {
		return err
	}
	c := s.ctx
	if s == c.legacy {
		return fail(InvalidHandle, "the default stream cannot be destroyed")
	}
	s.retire()
	return nil
}

// retire removes the stream's handle. Queued work still runs. The caller must hold d.mu.
func (s *Stream) retire() {
	s.abandonCapture()
	d := s.ctx.dev.d
	delete(d.objects, s.handle)
	if s.last.ended() {
		s.remove()
		return
	}
	// The stream stays in the context until its work has ended, so that waits for the context or for the default stream
	// include the work.
	go func() {
		<-s.last.done
		d.mu.Lock()
		defer d.mu.Unlock()
		s.remove()
	}()
}

// StreamQuery is cuStreamQuery: NotReady while work is pending.
func (t *Thread) StreamQuery(h Handle) error {
	s, err := t.enterStreamWork(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := s.forbidCapture(); err != nil {
		return err
	}
	tasks := s.waitedTasks()
	for _, last := range tasks {
		if !last.ended() {
			t.d.notePoll()
			return NotReady
		}
	}
	s.learnPredecessors()
	t.d.ordering.learn(tasks)
	return s.ctx.outcome()
}

// waitedTasks lists the tasks for which a wait for the stream waits: the last task of the stream, and for the default
// stream also the last tasks of all blocking streams. The caller must hold d.mu.
func (s *Stream) waitedTasks() []*task {
	list := []*task{s.last}
	if s == s.ctx.legacy {
		for o := range s.ctx.streams {
			if !o.nonBlocking {
				list = append(list, o.last)
			}
		}
	}
	return list
}

// StreamSynchronize is cuStreamSynchronize.
func (t *Thread) StreamSynchronize(h Handle) error {
	s, err := t.enterStreamWork(h)
	if err != nil {
		return err
	}
	if err := s.forbidCapture(); err != nil {
		t.d.mu.Unlock()
		return err
	}
	tasks := s.waitedTasks()
	s.learnPredecessors()
	t.d.mu.Unlock()
	return s.ctx.settle(tasks)
}

// LaunchHostFunc is cuLaunchHostFunc: f runs in the order of the stream, on a thread of the driver.
func (t *Thread) LaunchHostFunc(h Handle, f HostFunc) error {
	s, err := t.enterQueue(h)
	if err != nil {
		return err
	}
	if s.capture != nil {
		return s.record(HostNode, hostWork{f})
	}
	defer t.d.mu.Unlock()
	s.submitOnHost("", func(o *probe.HostOrder) error {
		t.d.hostKnows(o) // f may notify other threads, which then know the end of earlier work without a call of the driver
		t.d.awaitHost(f.Call)
		return nil
	})
	return nil
}

// StreamAddCallback is cuStreamAddCallback: like LaunchHostFunc, but f also runs after a fault, and receives it as a
// Result.
func (t *Thread) StreamAddCallback(h Handle, f func(Result)) error {
	s, err := t.enterQueue(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := s.forbidCapture(); err != nil {
		return err
	}
	c := s.ctx
	callback := newTask(func(o *probe.HostOrder) error {
		t.d.hostKnows(o)
		c.dev.d.mu.Lock()
		err := cmp.Or(c.err, c.fault)
		c.dev.d.mu.Unlock()
		t.d.awaitHost(func() { f(ResultOf(err)) })
		return nil
	})
	callback.always, callback.onHost = true, true
	s.submitTask(callback, "")
	return nil
}
