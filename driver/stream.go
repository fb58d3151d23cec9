package driver

// This file implements streams and events, and the order of work.
//
// Every operation is a task with its own goroutine. The goroutine first waits for the tasks that must come before: the
// previous task of its stream. A task on the default stream also waits for the last task of every blocking stream of
// the context, and a task on a blocking stream waits for the last task of the default stream (manual of the driver API,
// "Stream synchronization behavior"). A task waits only for tasks submitted before it, so no two tasks wait for each
// other.

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"gemu/interp"
)

// task is an operation that was submitted.
type task struct {
	done    chan struct{}     // closed when it ends
	endedAt time.Time         // set when it ends
	order   *interp.HostOrder // nil if no probe needs the order

	launches *pending // nil if it has no launches, or if Exit does not wait for launches
}

// Stream is a queue of operations.
type Stream struct {
	handle      Handle
	ctx         *Context
	nonBlocking bool // created with CU_STREAM_NON_BLOCKING: not ordered with the default stream
	perThread   bool // it is the default stream of a thread
	priority    int
	line        int           // see ordering
	last        *task         // the last task submitted; nil at first
	queued      int           // number of tasks that have not ended
	green       *GreenContext // nil: none

	attributes  map[StreamAttribute]AttributeValue // attributes that were set
	capture     *capture                           // nil while the stream is not captured
	captureTips []*Node                            // predecessors of the next captured node
	clientTips  *ClientMemory                      // the copy of captureTips that the client received last
}

// Reserved handles of streams.
const (
	streamLegacy    Handle = 1
	streamPerThread Handle = 2
)

const flagNonBlocking = 1

// eventExternal is CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL: in a capture, the call becomes a node that
// records the event, or waits for it, in every launch of the graph.
const eventExternal uint32 = 1

var errExternal = fail(InvalidValue, "an external event outside of a capture")

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

// submit puts an operation into the stream's queue. It runs after the previous operation and after the given tasks.
// name describes it for probes. It does not run if the context has a fault by then. An error of run becomes a fault of
// the context. The caller must hold d.mu.
func (s *Stream) submit(name string, run func(*interp.HostOrder) error, after ...*task) *task {
	t, after := s.next(name, after)
	s.start(t, run, after)
	return t
}

// submitToAll submits an operation to a default stream and orders it on the default streams of other contexts, too, as
// if it were in each of their queues. The caller must hold d.mu.
func (s *Stream) submitToAll(contexts []*Context, name string, run func(*interp.HostOrder) error) *task {
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
func (s *Stream) start(t *task, run func(*interp.HostOrder) error, after []*task) {
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
			c.fails(err)
		}
		t.noteEnd(d)
		s.queued--
		d.queues.changed()
		d.mu.Unlock()
		close(t.done)
	}()
}

// noOperation is the function of an operation that only waits.
func noOperation(*interp.HostOrder) error { return nil }

// submitAlways is submit for an operation that runs even after a fault of the context. The caller must hold d.mu.
func (s *Stream) submitAlways(name string, run func(*interp.HostOrder), after ...*task) *task {
	before := s.submit(name, noOperation, after...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-before.done
		run(before.order)
	}()
	return s.submit("", func(*interp.HostOrder) error { <-ended; return nil })
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
	d.stderr.flush()
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
	// Until the work has ended, calls that wait for the context or the default stream wait for it.
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
	if err := s.uncaptured(); err != nil {
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

// waitedTasks lists the tasks that a wait for the stream waits for: for the default stream, the tasks of all blocking
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
	if err := s.uncaptured(); err != nil {
		t.d.mu.Unlock()
		return err
	}
	tasks := s.waitedTasks()
	s.learnPredecessors()
	t.d.mu.Unlock()
	return s.ctx.settle(tasks)
}

// StreamWaitEvent is cuStreamWaitEvent: later work on the stream runs after the work recorded by the event.
func (t *Thread) StreamWaitEvent(h, event Handle, flags uint32) error {
	s, err := t.enterQueue(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	e, err := object[*Event](t.d, event)
	if err != nil {
		return err
	}
	if flags&^eventExternal != 0 {
		return fail(InvalidValue, "flags %#x", flags)
	}
	switch {
	case flags == eventExternal && s.capture == nil:
		return errExternal
	case flags == eventExternal && e.shared != nil:
		return s.capture.invalidate(NotSupported, "%s", errNoEventNode.Detail)
	case flags == eventExternal:
		s.recordNode(&Node{kind: EventWaitNode, work: &waitWork{eventWork{e, event}}})
	case s.capture != nil || e.capture != nil:
		return s.waitCaptured(e)
	case e.foreign():
		s.waitForeign(e.shared)
	case e.task != nil:
		s.submit("", noOperation, e.task)
	}
	return nil
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
	s.submit("", func(o *interp.HostOrder) error {
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
	if err := s.uncaptured(); err != nil {
		return err
	}
	c := s.ctx
	s.submitAlways("", func(o *interp.HostOrder) {
		t.d.hostKnows(o)
		c.dev.d.mu.Lock()
		err := cmp.Or(c.err, c.fault)
		c.dev.d.mu.Unlock()
		t.d.awaitHost(func() { f(ResultOf(err)) })
	})
	return nil
}

// streamValue returns a value computed from a stream.
func streamValue[T any](t *Thread, h Handle, get func(*Stream) T) (v T, err error) {
	s, err := t.enterStream(h)
	if err != nil {
		return v, err
	}
	defer t.d.mu.Unlock()
	return get(s), nil
}

// StreamGetFlags is cuStreamGetFlags.
func (t *Thread) StreamGetFlags(h Handle) (uint32, error) {
	return streamValue(t, h, func(s *Stream) uint32 {
		if s.nonBlocking {
			return flagNonBlocking
		}
		return 0
	})
}

// StreamGetPriority is cuStreamGetPriority.
func (t *Thread) StreamGetPriority(h Handle) (int, error) {
	return streamValue(t, h, func(s *Stream) int { return s.priority })
}

// StreamAttribute is a CUlaunchAttributeID of a stream.
type StreamAttribute int32

// The attributes of a stream. All except the priority are hints: they are only stored.
const (
	StreamAccessPolicyWindow    StreamAttribute = 1
	StreamSynchronizationPolicy StreamAttribute = 3
	StreamPriority              StreamAttribute = 8
	StreamMemSyncDomainMap      StreamAttribute = 9
	StreamMemSyncDomain         StreamAttribute = 10
)

// AttributeValue is a CUlaunchAttributeValue.
type AttributeValue [64]byte

func (a StreamAttribute) check() error {
	switch a {
	case StreamAccessPolicyWindow, StreamSynchronizationPolicy, StreamPriority, StreamMemSyncDomainMap, StreamMemSyncDomain:
		return nil
	}
	return fail(InvalidValue, "attribute %d of a stream", a)
}

// StreamSetAttribute is cuStreamSetAttribute.
func (t *Thread) StreamSetAttribute(h Handle, a StreamAttribute, v AttributeValue) error {
	s, err := t.enterStream(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := a.check(); err != nil {
		return err
	}
	if a == StreamPriority {
		s.priority = min(max(int(int32(binary.LittleEndian.Uint32(v[:]))), greatestPriority), 0)
		return nil
	}
	if s.attributes == nil {
		s.attributes = map[StreamAttribute]AttributeValue{}
	}
	s.attributes[a] = v
	return nil
}

// StreamGetAttribute is cuStreamGetAttribute. An attribute that was not set is zero.
func (t *Thread) StreamGetAttribute(h Handle, a StreamAttribute) (v AttributeValue, err error) {
	s, err := t.enterStream(h)
	if err != nil {
		return v, err
	}
	defer t.d.mu.Unlock()
	if err := a.check(); err != nil {
		return v, err
	}
	v = s.attributes[a]
	if a == StreamPriority {
		binary.LittleEndian.PutUint32(v[:], uint32(int32(s.priority)))
	}
	return v, nil
}

// StreamCopyAttributes is cuStreamCopyAttributes.
func (t *Thread) StreamCopyAttributes(to, from Handle) error {
	s, err := t.enterStream(to)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	o, err := t.stream(from)
	if err != nil {
		return err
	}
	s.attributes, s.priority = maps.Clone(o.attributes), o.priority
	return nil
}

// StreamGetCtx is cuStreamGetCtx.
func (t *Thread) StreamGetCtx(h Handle) (Handle, error) {
	return streamValue(t, h, func(s *Stream) Handle { return s.ctx.handle })
}

// StreamGetDevice is cuStreamGetDevice.
func (t *Thread) StreamGetDevice(h Handle) (int, error) {
	return streamValue(t, h, func(s *Stream) int { return s.ctx.dev.ordinal })
}

// StreamGetID is cuStreamGetId.
func (t *Thread) StreamGetID(h Handle) (uint64, error) {
	return streamValue(t, h, func(s *Stream) uint64 { return uint64(s.handle) })
}

// Event is a point in the work of a stream.
type Event struct {
	ctx      *Context
	noTiming bool
	shared   *sharedEvent // nil unless other processes can open the event
	recorded
}

// recorded is the last recording of an event.
type recorded struct {
	task    *task    // nil until it is recorded on a stream that is not captured
	capture *capture // nil unless it was last recorded on a captured stream
	tips    []*Node  // predecessors of the recording in the capture
}

// Flags of EventCreate.
const (
	flagNoTiming     = 2
	flagInterprocess = 4
)

// EventCreate is cuEventCreate.
func (t *Thread) EventCreate(flags uint32) (Handle, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	e := &Event{ctx: c, noTiming: flags&flagNoTiming != 0}
	switch {
	case flags&^7 != 0:
		return 0, fail(InvalidValue, "event flags %#x", flags)
	case flags&flagInterprocess != 0 && !e.noTiming:
		return 0, fail(InvalidValue, "event flags %#x: CU_EVENT_INTERPROCESS without CU_EVENT_DISABLE_TIMING", flags)
	case flags&flagInterprocess != 0:
		if e.shared, err = createShared(); err != nil {
			return 0, err
		}
	}
	return c.addObject(e), nil
}

// EventDestroy is cuEventDestroy.
func (t *Thread) EventDestroy(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	e, err := t.d.event(h)
	if err != nil {
		return err
	}
	e.ctx.removeObject(h)
	e.destroyed()
	return nil
}

// destroyed releases the event's memory. The caller must hold d.mu.
func (e *Event) destroyed() {
	if e.shared != nil {
		e.shared.drop()
	}
}

// event returns the event with a handle. The caller must hold d.mu.
func (d *Driver) event(h Handle) (*Event, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	return object[*Event](d, h)
}

// EventRecord is cuEventRecord.
func (t *Thread) EventRecord(h, stream Handle) error { return t.EventRecordWithFlags(h, stream, 0) }

// EventRecordWithFlags is cuEventRecordWithFlags.
func (t *Thread) EventRecordWithFlags(h, stream Handle, flags uint32) error {
	s, err := t.enterQueue(stream)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	e, err := t.d.event(h)
	if err != nil {
		return err
	}
	switch {
	case e.ctx != s.ctx:
		return fail(InvalidHandle, "the event and the stream belong to different contexts")
	case flags&^eventExternal != 0:
		return fail(InvalidValue, "flags %#x", flags)
	case flags == eventExternal && s.capture == nil:
		return errExternal
	case flags == eventExternal && e.shared != nil:
		return s.capture.invalidate(NotSupported, "%s", errNoEventNode.Detail)
	case flags == eventExternal:
		s.recordNode(&Node{kind: EventRecordNode, work: &recordWork{eventWork{e, h}}})
		return nil
	}
	if e.capture, e.tips = s.capture, slices.Clone(s.captureTips); s.capture == nil {
		return e.record(s)
	}
	return nil
}

// EventQuery is cuEventQuery: NotReady until the recorded work has ended.
func (t *Thread) EventQuery(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	e, err := t.d.event(h)
	switch {
	case err != nil:
		return err
	case e.capture != nil:
		return e.captured()
	case e.foreign():
		switch isEnded, err := e.shared.ended(e.shared.newest()); {
		case err != nil:
			return err
		case !isEnded:
			return NotReady
		}
		return e.ctx.outcome()
	case !e.task.ended() && !e.recordEnded():
		return NotReady
	}
	t.d.ordering.learn([]*task{e.task})
	return e.ctx.outcome()
}

// EventSynchronize is cuEventSynchronize.
func (t *Thread) EventSynchronize(h Handle) error {
	t.d.mu.Lock()
	e, err := t.d.event(h)
	if err == nil && e.capture != nil {
		err = e.captured()
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	if e.foreign() {
		shared, m := e.shared, e.shared.newest()
		shared.add()
		defer shared.drop()
		t.d.mu.Unlock()
		if err := shared.wait(m); err != nil {
			return err
		}
		return e.ctx.settle(nil)
	}
	last := e.task
	t.d.mu.Unlock()
	return e.ctx.settle([]*task{last})
}

// EventElapsedTime is cuEventElapsedTime: host time between two events, in milliseconds.
func (t *Thread) EventElapsedTime(start, end Handle) (float32, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	a, err := t.d.event(start)
	if err != nil {
		return 0, err
	}
	b, err := t.d.event(end)
	switch {
	case err != nil:
		return 0, err
	case a.capture != nil:
		return 0, a.captured()
	case b.capture != nil:
		return 0, b.captured()
	case a.task == nil || b.task == nil:
		return 0, fail(InvalidHandle, "an event that was not recorded")
	case a.noTiming || b.noTiming:
		return 0, fail(InvalidHandle, "an event without timing")
	case a.ctx != b.ctx:
		return 0, fail(InvalidHandle, "the events belong to different contexts")
	case !a.task.ended() || !b.task.ended():
		return 0, NotReady
	}
	t.d.ordering.learn([]*task{a.task, b.task})
	return float32(b.task.endedAt.Sub(a.task.endedAt).Seconds() * 1e3), nil
}
