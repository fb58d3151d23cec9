package driver

// This file implements events.

import (
	"slices"
)

// eventExternal is CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL. With this flag, a call on a captured stream adds a
// node to the graph. Every launch of the graph records the event at the node, or waits for it.
const eventExternal uint32 = 1

// errExternal is the error of a call with eventExternal on a stream that is not captured.
var errExternal = fail(InvalidValue, "CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL are allowed only in a capture")

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
		return fail(InvalidValue, "flags %#x, want 0 or 1", flags)
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
		s.submit("", nil, e.task)
	}
	return nil
}

// Event marks a point in the work of a stream, when it is recorded.
type Event struct {
	ctx      *Context
	noTiming bool
	shared   *sharedEvent // nil unless the event can be opened in other processes
	recorded
}

// recorded is the last recording of an event.
type recorded struct {
	task    *task    // the last recording on a stream that was not captured; nil: none
	capture *capture // nil unless the event was last recorded on a captured stream
	tips    []*Node  // nodes of the capture before the recording
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
		return 0, fail(InvalidValue, "event flags %#x: %#x is unknown", flags, flags&^7)
	case flags&flagInterprocess != 0 && !e.noTiming:
		return 0, fail(InvalidValue, "event flags %#x: CU_EVENT_INTERPROCESS needs CU_EVENT_DISABLE_TIMING", flags)
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
	e.releaseShared()
	return nil
}

// releaseShared releases the memory shared with other processes, if any. The caller must hold d.mu.
func (e *Event) releaseShared() {
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
		return fail(InvalidValue, "flags %#x, want 0 or 1", flags)
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
		return e.invalidateCapture()
	case e.foreign():
		switch isEnded, err := e.shared.ended(e.shared.newest()); {
		case err != nil:
			return err
		case !isEnded:
			return NotReady
		}
		return e.ctx.outcome()
	case !e.task.ended() && !e.recordEnded():
		t.d.notePoll()
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
		err = e.invalidateCapture()
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	if e.foreign() {
		shared, record := e.shared, e.shared.newest()
		shared.add()
		defer shared.drop()
		t.d.mu.Unlock()
		if err := shared.wait(record); err != nil {
			return err
		}
		return e.ctx.settle(nil)
	}
	last := e.task
	t.d.mu.Unlock()
	return e.ctx.settle([]*task{last})
}

// EventElapsedTime is cuEventElapsedTime: the time between two events in milliseconds, measured by the host's clock.
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
		return 0, a.invalidateCapture()
	case b.capture != nil:
		return 0, b.invalidateCapture()
	case a.task == nil || b.task == nil:
		return 0, fail(InvalidHandle, "one of the events has not been recorded")
	case a.noTiming || b.noTiming:
		return 0, fail(InvalidHandle, "one of the events was created with CU_EVENT_DISABLE_TIMING and has no time")
	case a.ctx != b.ctx:
		return 0, fail(InvalidHandle, "the events belong to different contexts")
	case !a.task.ended() || !b.task.ended():
		return 0, NotReady
	}
	t.d.ordering.learn([]*task{a.task, b.task})
	return float32(b.task.endedAt.Sub(a.task.endedAt).Seconds() * 1e3), nil
}
