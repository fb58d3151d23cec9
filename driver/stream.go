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
	nonBlocking bool // created with CU_STREAM_NON_BLOCKING: not ordered with the default stream
	perThread   bool // it is the default stream of a thread
	priority    int
	line        int           // see ordering
	last        *task         // the last task submitted; nil at first
	queued      int           // number of unended tasks
	green       *GreenContext // nil: none

	attributes  map[StreamAttribute]AttributeValue // set attributes
	capture     *capture                           // nil while the stream is not captured
	captureTips []*Node                            // predecessors of the next captured node
	clientTips  *ClientMemory                      // the client's last copy of captureTips
}

// Reserved handles of streams.
const (
	streamLegacy    Handle = 1
	streamPerThread Handle = 2
)

const flagNonBlocking = 1

// newStream makes a stream. The caller must hold d.mu.
func (c *Context) newStream(flags uint32, priority int) *Stream {
	s := &Stream{ctx: c, nonBlocking: flags&flagNonBlocking != 0, priority: priority, line: c.dev.d.ordering.newLine()}
	s.handle = c.dev.d.add(s)
	c.streams[s] = true
	return s
}

// stream returns the stream with a handle; 0 and streamLegacy name the default stream of the current context. A stream
// with its own handle needs no current context. The caller must hold d.mu.
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

// StreamCreate is cuStreamCreateWithPriority; cuStreamCreate passes priority 0.
func (t *Thread) StreamCreate(flags uint32, priority int) (Handle, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	if flags&^flagNonBlocking != 0 {
		return 0, fail(InvalidValue, "stream flags %#x", flags)
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
	// Until the work has ended, waits for the context or the default stream include it.
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
			return NotReady
		}
	}
	s.learnPredecessors()
	t.d.ordering.learn(tasks)
	return s.ctx.outcome()
}

// waitedTasks lists the tasks awaited by a wait for the stream: for the default stream, the tasks of all blocking
// streams, too. The caller must hold d.mu.
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
	s.submit("", func(o *probe.HostOrder) error {
		t.d.hostKnows(o) // f may notify threads that call no driver function
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
	s.submitAlways("", func(o *probe.HostOrder) {
		t.d.hostKnows(o)
		c.dev.d.mu.Lock()
		err := cmp.Or(c.err, c.fault)
		c.dev.d.mu.Unlock()
		t.d.awaitHost(func() { f(ResultOf(err)) })
	})
	return nil
}
