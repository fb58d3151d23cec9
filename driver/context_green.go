package driver

// This file implements green contexts (driver API, "Green Contexts"): subsets of a device's multiprocessors with their
// own streams.
//
// A kernel in a green context runs as in any context: it uses all cores of the host. The number of multiprocessors
// affects only queries and the limit of cooperative launches. The context of a green context is the primary context.

import "gemu/interp"

// Multiprocessors is a CUdevSmResource: a subset of a device's multiprocessors.
type Multiprocessors struct {
	Count     int // number of multiprocessors
	Min       int // minimum size of a group
	Alignment int // the size of a group is a multiple of Alignment
}

// Flags of DevSmResourceSplit.
const (
	SplitIgnoreCoscheduling   uint32 = 1 // groups may have any even size (CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING)
	SplitPotentialClusterSize uint32 = 2 // groups can hold the largest clusters; from sm_90 on
)

// GreenContext is a subset of a device's multiprocessors with its own streams.
type GreenContext struct {
	handle       Handle
	ctx          *Context // the primary context, which it retains
	sms          int      // number of multiprocessors
	orderedAfter *task    // task that precedes all later work; nil: none
}

// resourceDescriptor is a CUdevResourceDesc: the number of multiprocessors for a green context.
type resourceDescriptor struct{ sms int }

// multiprocessors returns a subset of count, with the bounds of the compute capability (CUDA Programming Guide, "Green
// Contexts").
func (d *Driver) multiprocessors(count int) Multiprocessors {
	m := Multiprocessors{Count: count, Min: 4, Alignment: 2}
	switch sm := d.settings.SM; {
	case sm >= 90:
		m.Min, m.Alignment = 8, 8
	case sm < 80:
		m.Min = 2
	}
	return m
}

// DeviceGetMultiprocessors is cuDeviceGetDevResource for multiprocessors.
func (d *Driver) DeviceGetMultiprocessors(dev int) (Multiprocessors, error) {
	_, err := d.lockedDevice(dev)
	return d.multiprocessors(interp.Multiprocessors), err
}

// CtxGetMultiprocessors is cuCtxGetDevResource for multiprocessors; 0 means the current context.
func (t *Thread) CtxGetMultiprocessors(h Handle) (Multiprocessors, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, err := t.contextOrCurrent(h)
	return t.d.multiprocessors(interp.Multiprocessors), err
}

// StreamGetMultiprocessors is cuStreamGetDevResource for multiprocessors.
func (t *Thread) StreamGetMultiprocessors(h Handle) (Multiprocessors, error) {
	n, err := streamValue(t, h, (*Stream).multiprocessors)
	return t.d.multiprocessors(n), err
}

// multiprocessors returns the number of multiprocessors available to the stream.
func (s *Stream) multiprocessors() int {
	if s.green != nil {
		return s.green.sms
	}
	return interp.Multiprocessors
}

// DevSmResourceSplit is cuDevSmResourceSplitByCount. It splits the multiprocessors from into n equal groups, with at least
// minimum multiprocessors each, and the remaining multiprocessors. n is at most groups.
func (d *Driver) DevSmResourceSplit(from Multiprocessors, groups, minimum int, flags uint32) (group Multiprocessors, n int, remaining Multiprocessors, err error) {
	switch {
	case flags&^(SplitIgnoreCoscheduling|SplitPotentialClusterSize) != 0 || flags&SplitPotentialClusterSize != 0 && d.settings.SM < 90:
		return group, 0, remaining, fail(InvalidValue, "flags %#x", flags)
	case from.Count < 1 || from.Count > interp.Multiprocessors || minimum < 0 || minimum > from.Count || groups < 0:
		return group, 0, remaining, fail(InvalidValue, "%d groups of at least %d multiprocessors cannot be made of %d", groups, minimum, from.Count)
	}
	bounds := d.multiprocessors(from.Count)
	if flags&SplitIgnoreCoscheduling != 0 {
		bounds.Min, bounds.Alignment = 2, 2
	}
	size := (max(minimum, bounds.Min) + bounds.Alignment - 1) / bounds.Alignment * bounds.Alignment
	n = min(from.Count/size, groups)
	group, remaining = bounds, bounds
	group.Count, remaining.Count = size, from.Count-n*size
	return group, n, remaining, nil
}

// DevResourceGenerateDesc is cuDevResourceGenerateDesc: the descriptor of all given multiprocessors. It is never
// destroyed.
func (d *Driver) DevResourceGenerateDesc(sms []Multiprocessors) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &resourceDescriptor{}
	for _, m := range sms {
		r.sms += m.Count
		if m.Count < 1 || r.sms > interp.Multiprocessors {
			return 0, fail(InvalidResourceConfiguration, "%d multiprocessors requested, the device has %d", r.sms, interp.Multiprocessors)
		}
	}
	if r.sms == 0 {
		return 0, fail(InvalidResourceConfiguration, "the resources contain no multiprocessors")
	}
	return d.add(r), nil
}

// GreenCtxCreate is cuGreenCtxCreate. It retains the primary context. The flag for a default stream has no effect: a green
// context uses the default stream of the primary context.
func (d *Driver) GreenCtxCreate(desc Handle, dev int, flags uint32) (Handle, error) {
	if flags&^1 != 0 {
		return 0, fail(InvalidValue, "flags %#x", flags)
	}
	d.mu.Lock()
	r, err := object[*resourceDescriptor](d, desc)
	d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	primary, err := d.PrimaryCtxRetain(dev)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.context(primary)
	if err != nil {
		return 0, err
	}
	g := &GreenContext{ctx: c, sms: r.sms}
	g.handle = d.add(g)
	return g.handle, nil
}

// green returns the green context with a handle. The caller must hold d.mu.
func (d *Driver) green(h Handle) (*GreenContext, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	g, ok := d.objects[h].(*GreenContext)
	switch {
	case !ok:
		return nil, fail(InvalidContext, "%#x is not the handle of a green context", uint64(h))
	case g.ctx.dead:
		return nil, fail(ContextIsDestroyed, "the primary context was destroyed")
	}
	return g, g.ctx.err
}

// GreenCtxDestroy is cuGreenCtxDestroy. Its streams become streams of the primary context.
func (d *Driver) GreenCtxDestroy(h Handle) error {
	d.mu.Lock()
	g, ok := d.objects[h].(*GreenContext)
	if !ok {
		d.mu.Unlock()
		return fail(InvalidContext, "%#x is not the handle of a green context", uint64(h))
	}
	delete(d.objects, h)
	for s := range g.ctx.streams {
		if s.green == g {
			s.green = nil
		}
	}
	d.mu.Unlock()
	return d.PrimaryCtxRelease(g.ctx.dev.ordinal)
}

// CtxFromGreenCtx is cuCtxFromGreenCtx: it returns the primary context.
func (d *Driver) CtxFromGreenCtx(h Handle) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, err := d.green(h)
	if err != nil {
		return 0, err
	}
	return g.ctx.handle, nil
}

// GreenCtxGetMultiprocessors is cuGreenCtxGetDevResource for multiprocessors.
func (d *Driver) GreenCtxGetMultiprocessors(h Handle) (Multiprocessors, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, err := d.green(h)
	if err != nil {
		return Multiprocessors{}, err
	}
	return d.multiprocessors(g.sms), nil
}

// GreenCtxGetID is cuGreenCtxGetId.
func (d *Driver) GreenCtxGetID(h Handle) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.green(h)
	return uint64(h), err
}

// GreenCtxStreamCreate is cuGreenCtxStreamCreate. The flags must be CU_STREAM_NON_BLOCKING.
func (d *Driver) GreenCtxStreamCreate(h Handle, flags uint32, priority int) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, err := d.green(h)
	switch {
	case err != nil:
		return 0, err
	case flags != flagNonBlocking:
		return 0, fail(InvalidValue, "flags %#x, want CU_STREAM_NON_BLOCKING", flags)
	}
	s := g.ctx.newStream(flags, min(max(priority, greatestPriority), 0))
	s.green = g
	return s.handle, nil
}

// StreamGetGreenCtx is cuStreamGetGreenCtx; 0 if the stream belongs to no green context.
func (t *Thread) StreamGetGreenCtx(h Handle) (Handle, error) {
	return streamValue(t, h, func(s *Stream) Handle {
		if s.green == nil {
			return 0
		}
		return s.green.handle
	})
}

// CtxRecordEvent is cuCtxRecordEvent: the event records all work of the context.
func (t *Thread) CtxRecordEvent(h, event Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.contextOrCurrent(h)
	if err != nil {
		return err
	}
	return t.d.recordAll(c, nil, event)
}

// GreenCtxRecordEvent is cuGreenCtxRecordEvent: the event records the work of all streams of the green context.
func (t *Thread) GreenCtxRecordEvent(h, event Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := t.d.green(h)
	if err != nil {
		return err
	}
	return t.d.recordAll(g.ctx, g, event)
}

// streamsIn lists the streams of a context, or of its green context g if g is not nil. If a stream is captured, it
// invalidates the capture and returns an error. The caller must hold d.mu.
func (c *Context) streamsIn(g *GreenContext) (list []*Stream, err error) {
	for s := range c.streams {
		if g != nil && s.green != g {
			continue
		}
		if s.capture != nil {
			err = s.capture.invalidate(StreamCaptureUnsupported, "%s is being captured", s.name())
		}
		list = append(list, s)
	}
	return list, err
}

// recordAll records an event after all work of a context, or of its green context g. The caller must hold d.mu.
func (d *Driver) recordAll(c *Context, g *GreenContext, event Handle) error {
	e, err := d.event(event)
	if err != nil {
		return err
	}
	if e.ctx != c {
		return fail(InvalidHandle, "the event belongs to another context")
	}
	streams, err := c.streamsIn(g)
	if err != nil {
		return err
	}
	var after []*task
	for _, s := range streams {
		after = append(after, s.last)
	}
	separate := c.newStream(flagNonBlocking, 0)
	separate.submit("", nil, after...)
	e.capture, e.tips = nil, nil
	err = e.record(separate)
	separate.retire()
	return err
}

// CtxWaitEvent is cuCtxWaitEvent: all later work of the context runs after the work recorded by the event.
func (t *Thread) CtxWaitEvent(h, event Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.contextOrCurrent(h)
	if err != nil {
		return err
	}
	return t.d.waitAll(c, nil, event)
}

// GreenCtxWaitEvent is cuGreenCtxWaitEvent: all later work of the green context runs after the work recorded by the
// event.
func (t *Thread) GreenCtxWaitEvent(h, event Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	g, err := t.d.green(h)
	if err != nil {
		return err
	}
	return t.d.waitAll(g.ctx, g, event)
}

// waitAll orders all later work of a context, or of its green context g, after the work recorded by an event. The
// caller must hold d.mu.
func (d *Driver) waitAll(c *Context, g *GreenContext, event Handle) error {
	e, err := d.event(event)
	if err != nil {
		return err
	}
	if e.capture != nil {
		return e.capture.invalidate(StreamCaptureUnsupported, "the event was recorded in a capture")
	}
	if _, err := c.streamsIn(g); err != nil {
		return err
	}
	orderedAfter := &c.orderedAfter
	if g != nil {
		orderedAfter = &g.orderedAfter
	}
	separate := c.newStream(flagNonBlocking, 0)
	if e.foreign() {
		separate.waitForeign(e.shared)
	}
	*orderedAfter = separate.submit("", nil, e.task, *orderedAfter)
	separate.retire()
	return nil
}

// checkResident returns an error unless all blocks of a cooperative launch are resident at the same time on the
// multiprocessors of a green context. The caller must not hold d.mu.
func (t *Thread) checkResident(p *LaunchParams, l *launch, stream Handle) error {
	if !p.Cooperative {
		return nil
	}
	sms, err := streamValue(t, stream, (*Stream).multiprocessors)
	if err != nil || sms == interp.Multiprocessors {
		return nil // the launch itself reports an invalid stream
	}
	n, err := l.f.residency(l.spec.Block.Count(), l.spec.Shared)
	if err == nil && l.spec.Grid.Count() > n*sms {
		err = t.d.printError(fail(CooperativeLaunchTooLarge, "kernel %s: a cooperative launch of %d blocks: the %d multiprocessors of the green context hold at most %d at once", l.f.kernel.Name, l.spec.Grid.Count(), sms, n*sms))
	}
	return err
}
