package driver

// This file implements stream capture (driver API, "Stream Management", "Graph Management"): work submitted to a
// captured stream becomes a node of a graph, and does not run.
//
// A captured stream holds the predecessors of its next node (Stream.captureTips). An event recorded on the stream copies
// them. Another stream joins the capture when it waits for the event. A call that cannot be captured invalidates the
// capture: after that, the client can only end the capture.

import (
	"cmp"
	"slices"
)

// CaptureMode is a CUstreamCaptureMode. It selects the threads permitted to end a capture. On a GPU it also forbids
// calls unrelated to streams; here those calls are harmless.
type CaptureMode int32

// The modes of a capture.
const (
	CaptureGlobal      CaptureMode = iota // only the thread that began the capture may end it
	CaptureThreadLocal                    // as CaptureGlobal
	CaptureRelaxed                        // every thread may end the capture
)

// CaptureStatus is a CUstreamCaptureStatus.
type CaptureStatus int32

// The capture states of a stream.
const (
	NotCaptured    CaptureStatus = iota // work runs
	Captured                            // work becomes nodes
	CaptureInvalid                      // the capture has failed, and must be ended
)

// capture is a set of streams captured into the same graph.
type capture struct {
	id            uint64
	graph         *Graph
	ownedByClient bool      // the client made the graph before the capture
	origin        *Stream   // stream on which the capture began
	thread        *Thread   // the thread that may end the capture; nil: any
	streams       []*Stream // captured streams, including origin
	invalid       bool
	ended         bool
}

// invalidate invalidates the capture, and returns an error for the call that cannot be captured.
func (c *capture) invalidate(r Result, format string, args ...any) error {
	c.invalid = true
	return fail(r, format, args...)
}

// enterWork is enterQueue for a call that needs a current context although each stream has a context: a copy, a launch or
// an allocation.
func (t *Thread) enterWork(h Handle) (*Stream, error) {
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	return t.checkWork(t.queue(h))
}

// enterQueue is enterStreamWork for a call that adds a task: it waits while the stream's queue is full.
func (t *Thread) enterQueue(h Handle) (*Stream, error) {
	t.d.mu.Lock()
	return t.checkWork(t.queue(h))
}

// enterStreamWork is enterStream for a call that adds work to a stream, or depends on the stream's work.
func (t *Thread) enterStreamWork(h Handle) (*Stream, error) {
	t.d.mu.Lock()
	return t.checkWork(t.stream(h))
}

// checkWork returns a stream that accepts work. Otherwise, or if err is not nil, it unlocks the driver and returns an
// error. s and err are the results of a search for the stream. The caller must hold d.mu.
func (t *Thread) checkWork(s *Stream, err error) (*Stream, error) {
	if err != nil {
		t.d.mu.Unlock()
		return nil, err
	}
	if err = s.checkSubmittable(); err != nil {
		t.d.mu.Unlock()
	}
	return s, err
}

// checkSubmittable returns an error if the stream does not accept work. Work on the default stream invalidates the
// captures of the streams for which it would wait. The caller must hold d.mu.
func (s *Stream) checkSubmittable() error {
	if s.capture != nil && s.capture.invalid {
		return fail(StreamCaptureInvalidated, "the capture of %s is invalid after an earlier error: end it with cuStreamEndCapture", s.name())
	}
	captured := s.implicitStreams()
	for _, o := range captured {
		o.capture.invalid = true
	}
	return implicitError(captured)
}

// implicitStreams lists the captured streams for which work on s would wait. There are none unless s is the default
// stream. The caller must hold d.mu.
func (s *Stream) implicitStreams() []*Stream {
	if s != s.ctx.legacy {
		return nil
	}
	return slices.DeleteFunc(s.ctx.captured(), func(o *Stream) bool { return o.nonBlocking })
}

// implicitError returns the error of a call on the default stream while the streams of a list are captured; nil for an
// empty list.
func implicitError(captured []*Stream) error {
	if len(captured) == 0 {
		return nil
	}
	return fail(StreamCaptureImplicit, "the default stream cannot be used: it would wait for %s, which is being captured; use another stream", captured[0].name())
}

// capturing lists the captures into a graph. The caller must hold d.mu.
func (d *Driver) capturing(g *Graph) []*capture {
	var list []*capture
	for _, o := range d.objects {
		if s, ok := o.(*Stream); ok && s.capture != nil && s.capture.graph == g && s.capture.origin == s {
			list = append(list, s.capture)
		}
	}
	return list
}

// captured lists the captured streams of the context in order of their handles. The caller must hold d.mu.
func (c *Context) captured() []*Stream {
	var list []*Stream
	for s := range c.streams {
		if s.capture != nil {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *Stream) int { return cmp.Compare(a.handle, b.handle) })
	return list
}

// forbidCapture returns an error, and invalidates the capture, if the stream is captured. It is for calls that cannot be
// captured. The caller must hold d.mu.
func (s *Stream) forbidCapture() error {
	if s.capture == nil {
		return nil
	}
	return s.capture.invalidate(StreamCaptureUnsupported, "%s is being captured, and this call cannot be captured", s.name())
}

// forbidCapture returns an error, and invalidates all captures of the context's streams, if there is one. It is for calls
// that wait for the context. The caller must hold d.mu.
func (c *Context) forbidCapture() (err error) {
	for _, s := range slices.Backward(c.captured()) {
		err = s.forbidCapture()
	}
	return err
}

// record adds work to the graph of the stream's capture as a node. The caller must hold d.mu; record unlocks it.
func (s *Stream) record(kind NodeKind, w work) error {
	d := s.ctx.dev.d
	defer d.mu.Unlock()
	if err := d.checkNodeWork(w); err != nil {
		return err
	}
	s.recordNode(&Node{kind: kind, work: w})
	return nil
}

// recordTransfer is record for copies and fills. If async is false, it returns an error: a synchronous call cannot be
// captured.
func (s *Stream) recordTransfer(kind NodeKind, w work, async Async) error {
	if !async {
		defer s.ctx.dev.d.mu.Unlock()
		return s.forbidCapture()
	}
	return s.record(kind, w)
}

// recordNode adds a node to the graph of the capture. The caller must hold d.mu.
func (s *Stream) recordNode(n *Node) {
	n.predecessors = s.captureTips
	s.capture.graph.add(s.ctx.dev.d, n)
	s.captureTips = []*Node{n}
}

// StreamBeginCapture is cuStreamBeginCapture.
func (t *Thread) StreamBeginCapture(h Handle, mode CaptureMode) error {
	return t.beginCapture(h, nil, nil, mode)
}

// StreamBeginCaptureToGraph is cuStreamBeginCaptureToGraph: the first captured nodes come after the given nodes of the
// graph.
func (t *Thread) StreamBeginCaptureToGraph(h, graph Handle, after []Handle, mode CaptureMode) error {
	return t.beginCapture(h, &graph, after, mode)
}

func (t *Thread) beginCapture(h Handle, graph *Handle, after []Handle, mode CaptureMode) error {
	s, err := t.enterStream(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	switch {
	case mode < CaptureGlobal || mode > CaptureRelaxed:
		return fail(InvalidValue, "capture mode %d, want 0 (global), 1 (thread-local) or 2 (relaxed)", mode)
	case s == s.ctx.legacy:
		return fail(StreamCaptureUnsupported, "the default stream cannot be captured: capture a stream of cuStreamCreate")
	case s.capture != nil:
		return fail(IllegalState, "%s is already being captured", s.name())
	}
	t.d.captures++
	c := &capture{id: t.d.captures, origin: s, streams: []*Stream{s}}
	var tips []*Node
	if graph != nil {
		c.ownedByClient = true
		if c.graph, err = object[*Graph](t.d, *graph); err == nil {
			tips, err = c.graph.nodesByHandle(t.d, after)
		}
		if err != nil {
			return err
		}
	} else {
		c.graph = t.d.newGraph()
	}
	if mode != CaptureRelaxed {
		c.thread = t
	}
	s.capture, s.captureTips = c, tips
	return nil
}

// StreamEndCapture is cuStreamEndCapture. If it returns an error, the graph is 0.
func (t *Thread) StreamEndCapture(h Handle) (graph Handle, err error) {
	s, err := t.enterStream(h)
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	c := s.capture
	switch {
	case c == nil:
		return 0, fail(IllegalState, "%s is not being captured", s.name())
	case c.origin != s:
		return 0, c.invalidate(StreamCaptureUnmatched, "the capture must be ended on %s, where it began", c.origin.name())
	case c.thread != nil && c.thread != t:
		return 0, fail(StreamCaptureWrongThread, "the capture must be ended in the thread that began it")
	case c.invalid:
		err = fail(StreamCaptureInvalidated, "the capture of %s is invalid after an earlier error", s.name())
	case t.d.objects[c.graph.handle] != any(c.graph):
		err = fail(StreamCaptureInvalidated, "the graph of the capture was destroyed")
	default:
		for _, o := range c.streams {
			if !s.joined(o.captureTips) {
				err = fail(StreamCaptureUnjoined, "%s does not wait for the work captured on %s", s.name(), o.name())
			}
		}
	}
	t.d.endCapture(c)
	if err != nil {
		if !c.ownedByClient {
			t.d.drop(c.graph)
		}
		return 0, err
	}
	return c.graph.handle, nil
}

// endCapture ends a capture. The caller must hold d.mu.
func (d *Driver) endCapture(c *capture) {
	c.ended = true
	for _, s := range c.streams {
		s.capture, s.captureTips = nil, nil
	}
}

// abandonCapture removes a destroyed stream from its capture, and ends the capture if it began on the stream. The
// caller must hold d.mu.
func (s *Stream) abandonCapture() {
	switch c := s.capture; {
	case c == nil:
	case c.origin == s:
		s.ctx.dev.d.endCapture(c)
		if !c.ownedByClient {
			s.ctx.dev.d.drop(c.graph)
		}
	default:
		c.streams = slices.DeleteFunc(c.streams, func(o *Stream) bool { return o == s })
		if !slices.ContainsFunc(c.streams, func(o *Stream) bool { return o.joined(s.captureTips) }) {
			c.invalid = true // no stream of the capture follows the nodes of s, so they cannot be joined any more
		}
		s.capture, s.captureTips = nil, nil
	}
}

// joined reports whether the stream's next captured node comes after all of the given nodes.
func (s *Stream) joined(nodes []*Node) bool {
	seen := map[*Node]bool{}
	var visit func(list []*Node)
	visit = func(list []*Node) {
		for _, n := range list {
			if !seen[n] {
				seen[n] = true
				visit(n.predecessors)
			}
		}
	}
	visit(s.captureTips)
	return !slices.ContainsFunc(nodes, func(n *Node) bool { return !seen[n] })
}

// waitCaptured is StreamWaitEvent if the stream is captured or the event was recorded in a capture. The caller must hold
// d.mu.
func (s *Stream) waitCaptured(e *Event) error {
	c := e.capture
	switch {
	case c == nil && e.task == nil && !e.foreign(): // the event was never recorded
		return nil
	case c == nil:
		return s.capture.invalidate(StreamCaptureIsolation, "%s is being captured and cannot wait for work outside the capture", s.name())
	case c.ended:
		return fail(CapturedEvent, "the event was recorded in a capture that has ended")
	case c.invalid:
		return fail(StreamCaptureInvalidated, "the event was recorded in a capture that is invalid after an earlier error")
	case s == s.ctx.legacy:
		return c.invalidate(StreamCaptureImplicit, "the default stream cannot wait for captured work")
	case s.capture == nil:
		s.capture, s.captureTips = c, nil
		c.streams = append(c.streams, s)
	case s.capture != c:
		s.capture.invalid = true
		return c.invalidate(StreamCaptureMerge, "%s and the event belong to different captures", s.name())
	}
	s.captureTips = union(s.captureTips, e.tips)
	return nil
}

// invalidateCapture invalidates the capture in which the event was last recorded, and returns the error of a call that
// needs the end or the time of the event. The caller must hold d.mu.
func (e *Event) invalidateCapture() error {
	return e.capture.invalidate(CapturedEvent, "the event was recorded in a capture")
}

// union returns the nodes of both lists without duplicates.
func union(a, b []*Node) []*Node {
	list := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// CaptureInfo is the result of StreamGetCaptureInfo. All fields except Status are set only for a captured stream.
type CaptureInfo struct {
	Status       CaptureStatus // state of the stream
	ID           uint64        // number of the capture, unique in the process
	Graph        Handle        // graph of the capture
	Predecessors []Handle      // predecessors of the stream's next node
	ClientMemory *ClientMemory // memory for a C copy of Predecessors, which is valid until the next query of the stream
}

// StreamGetCaptureInfo is cuStreamGetCaptureInfo and cuStreamIsCapturing. For the default stream it returns
// StreamCaptureImplicit while a blocking stream is captured; the capture continues.
func (t *Thread) StreamGetCaptureInfo(h Handle) (CaptureInfo, error) {
	s, err := t.enterStream(h)
	if err != nil {
		return CaptureInfo{}, err
	}
	defer t.d.mu.Unlock()
	c := s.capture
	switch {
	case c == nil:
		return CaptureInfo{}, implicitError(s.implicitStreams())
	case c.invalid:
		return CaptureInfo{Status: CaptureInvalid}, nil
	}
	s.clientTips = &ClientMemory{}
	return CaptureInfo{Captured, c.id, c.graph.handle, nodeHandles(s.captureTips), s.clientTips}, nil
}

// StreamUpdateCaptureDependencies is cuStreamUpdateCaptureDependencies: it adds predecessors of the stream's next node,
// or replaces the present predecessors if replace is true.
func (t *Thread) StreamUpdateCaptureDependencies(h Handle, after []Handle, replace bool) error {
	s, err := t.enterStreamWork(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if s.capture == nil {
		return fail(IllegalState, "%s is not being captured", s.name())
	}
	nodes, err := s.capture.graph.nodesByHandle(t.d, after)
	switch {
	case err != nil:
		return err
	case replace:
		s.captureTips = nil
	}
	s.captureTips = union(s.captureTips, nodes)
	return nil
}
