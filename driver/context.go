package driver

// This file implements contexts and the stack of current contexts of a thread.

import (
	"fmt"

	"gemu/interp"
)

// Context is a CUDA context. It owns the objects made in it: destroying it destroys them.
type Context struct {
	handle        Handle
	id            uint64
	dev           *Device
	flags         uint32
	primary       bool
	users         int   // calls of CtxAttach minus calls of CtxDetach
	dead          bool  // the context was destroyed
	err           error // the first fault, which every later call returns; nil with Settings.ContinueOnFault
	fault         error // with Settings.ContinueOnFault: the first fault that no call has returned yet
	furtherFaults int   // number of faults after fault that no call has returned
	faults        int   // number of failed operations

	legacy       *Stream // the default stream
	orderedAfter *task   // task that precedes all later work; nil: none
	streams      map[*Stream]bool
	endedClocks  [2]clock        // clocks of destroyed streams: [0] of blocking streams, [1] of non-blocking streams
	objects      map[Handle]bool // modules, libraries, events and other objects, except streams
	peers        map[*Context]bool

	limits       map[int]uint64
	cacheConfig  int
	sharedConfig int
}

// newContext makes a context. The caller must hold d.mu.
func (v *Device) newContext(flags uint32) *Context {
	c := &Context{dev: v, flags: flags}
	c.handle = v.d.add(c)
	c.id = uint64(c.handle)
	c.reset()
	return c
}

// reset gives a context the state of a new context. The caller must hold d.mu.
func (c *Context) reset() {
	c.dead, c.err, c.fault, c.furtherFaults, c.users = false, nil, nil, 0, 0
	c.streams, c.objects, c.peers = map[*Stream]bool{}, map[Handle]bool{}, map[*Context]bool{}
	c.limits = c.dev.defaultLimits()
	c.endedClocks, c.orderedAfter = [2]clock{}, nil
	c.legacy = c.newStream(0, 0)
	c.cacheConfig, c.sharedConfig = 0, 0
}

// recordFault records the error of an operation. If it is the first fault, every later call returns it. With
// Settings.ContinueOnFault, only the next call that waits for work returns it. The caller must hold d.mu.
func (c *Context) recordFault(err error) {
	c.faults++
	first := &c.err
	if c.dev.d.settings.ContinueOnFault {
		first = &c.fault
	}
	if *first == nil {
		*first = shortError(err)
	} else if first == &c.fault {
		c.furtherFaults++
	}
}

// outcome returns the result of a call that has waited for work of the context, which is the context's fault or nil. With
// Settings.ContinueOnFault, it forgets the fault. The caller must hold d.mu.
func (c *Context) outcome() error {
	if c.err != nil {
		return c.err
	}
	err := c.fault
	if c.furtherFaults > 0 {
		err = fmt.Errorf("%w (the first of %d faults since the last synchronizing call; standard error shows all of them)", err, c.furtherFaults+1)
	}
	c.fault, c.furtherFaults = nil, 0
	return err
}

// addObject makes an object part of the context. The caller must hold d.mu.
func (c *Context) addObject(o any) Handle {
	h := c.dev.d.add(o)
	c.objects[h] = true
	return h
}

// removeObject removes an object from the context and the driver. The caller must hold d.mu.
func (c *Context) removeObject(h Handle) {
	delete(c.objects, h)
	delete(c.dev.d.objects, h)
}

// destroy waits for the context's work and releases everything that the context owns. A second call has no effect. The
// caller must not hold d.mu.
func (c *Context) destroy() {
	d := c.dev.d
	d.mu.Lock()
	if c.dead {
		d.mu.Unlock()
		return
	}
	c.dead = true
	tasks := c.pending()
	d.mu.Unlock()
	d.awaitTasks(tasks)
	d.kernelOutput.flush()

	d.mu.Lock()
	d.ordering.learn(tasks)
	var modules []*interp.Module
	var arrays []*array
	for h := range c.objects {
		switch o := d.objects[h].(type) {
		case *Module:
			modules = append(modules, o.mod)
		case *Link:
			o.release()
		case *array:
			if o.mipmap == nil {
				arrays = append(arrays, o)
			}
		case *mipmap:
			arrays = append(arrays, &o.array)
		case *Reference:
			o.drop()
		case *Event:
			o.releaseShared()
		}
		delete(d.objects, h)
	}
	for s := range c.streams {
		s.abandonCapture()
		delete(d.objects, s.handle)
		d.ordering.releaseLines(s.line)
	}
	removed := d.regions.take(func(r *region) bool { return r.ctx == c })
	for _, r := range removed {
		r.discharge()
	}
	for _, a := range arrays {
		c.dev.used -= a.charge
	}
	if !c.primary {
		delete(d.objects, c.handle)
	}
	d.mu.Unlock()
	for _, r := range removed {
		r.free(nil)
	}
	for _, a := range arrays {
		a.mem.Free()
	}
	for _, m := range modules {
		m.Unload()
	}
}

// CtxCreate is cuCtxCreate: it makes a context on the device with ordinal dev, and pushes it on the thread's stack.
func (t *Thread) CtxCreate(flags uint32, dev int) (Handle, error) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return 0, err
	}
	if err := checkContextFlags(flags); err != nil {
		return 0, err
	}
	c := v.newContext(flags)
	t.stack = append(t.stack, c)
	return c.handle, nil
}

// checkContextFlags returns an error for unknown flags, and for flags with several scheduling policies (bits 0 to 2).
func checkContextFlags(flags uint32) error {
	if flags&^0xff != 0 || flags&7 == 3 || flags&7 > 4 {
		return fail(InvalidValue, "context flags %#x: a bit is unknown, or there are several CU_CTX_SCHED flags", flags)
	}
	return nil
}

// context returns the context with a handle. The caller must hold d.mu.
func (d *Driver) context(h Handle) (*Context, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	c, ok := d.objects[h].(*Context)
	if !ok || c.dead {
		return nil, fail(InvalidContext, "%#x is not the handle of a context", uint64(h))
	}
	return c, nil
}

// CtxDestroy is cuCtxDestroy. If the context is current in this thread, it is popped from the stack.
func (t *Thread) CtxDestroy(h Handle) error {
	t.d.mu.Lock()
	c, err := t.d.context(h)
	t.d.mu.Unlock()
	switch {
	case err != nil:
		return err
	case c.primary:
		return fail(InvalidContext, "the primary context cannot be destroyed: use cuDevicePrimaryCtxRelease")
	}
	if t.top() == c {
		t.stack = t.stack[:len(t.stack)-1]
	}
	c.destroy()
	return nil
}

// CtxAttach is cuCtxAttach: it adds a user of the current context and returns its handle.
func (t *Thread) CtxAttach(flags uint32) (Handle, error) {
	if flags != 0 {
		return 0, fail(InvalidValue, "flags %d, want 0", flags)
	}
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	c.users++
	return c.handle, nil
}

// CtxDetach is cuCtxDetach: it removes a user of the context h, which must be current. Without a user left, it destroys
// the context.
func (t *Thread) CtxDetach(h Handle) error {
	t.d.mu.Lock()
	c, err := t.d.context(h)
	switch {
	case err == nil && c != t.top():
		err = fail(InvalidContext, "the context to detach is not current")
	case err == nil && c.users > 0:
		c.users--
		t.d.mu.Unlock()
		return nil
	}
	t.d.mu.Unlock()
	if err != nil {
		return err
	}
	return t.CtxDestroy(h)
}

// CtxPushCurrent is cuCtxPushCurrent: it makes a context current.
func (t *Thread) CtxPushCurrent(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.d.context(h)
	if err == nil {
		t.stack = append(t.stack, c)
	}
	return err
}

// CtxPopCurrent is cuCtxPopCurrent: it returns the context that was current.
func (t *Thread) CtxPopCurrent() (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.d.ready {
		return 0, fail(NotInitialized, "cuInit was not called")
	}
	n := len(t.stack)
	if n == 0 {
		return 0, fail(InvalidContext, "no context is current in this thread")
	}
	c := t.stack[n-1]
	t.stack = t.stack[:n-1]
	if c == nil {
		return 0, nil
	}
	return c.handle, nil
}

// CtxSetCurrent is cuCtxSetCurrent: it replaces the current context by the context h. For 0, it pops the current context.
func (t *Thread) CtxSetCurrent(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.d.ready {
		return fail(NotInitialized, "cuInit was not called")
	}
	if h == 0 {
		if n := len(t.stack); n > 0 {
			t.stack = t.stack[:n-1]
		}
		return nil
	}
	c, err := t.d.context(h)
	if err != nil {
		return err
	}
	if n := len(t.stack); n > 0 {
		t.stack[n-1] = c
	} else {
		t.stack = append(t.stack, c)
	}
	return nil
}

// CtxGetCurrent is cuCtxGetCurrent; it returns 0 if no context is current.
func (t *Thread) CtxGetCurrent() (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.d.ready {
		return 0, fail(NotInitialized, "cuInit was not called")
	}
	if c := t.top(); c != nil {
		return c.handle, nil
	}
	return 0, nil
}

// CtxGetDevice is cuCtxGetDevice: it returns the ordinal of the context's device. 0 means the current context.
func (t *Thread) CtxGetDevice(h Handle) (int, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.contextOrCurrent(h)
	if err != nil {
		return 0, err
	}
	return c.dev.ordinal, nil
}

// contextOrCurrent returns the context with a handle, or the current context for 0. The caller must hold d.mu.
func (t *Thread) contextOrCurrent(h Handle) (*Context, error) {
	if h == 0 {
		return t.current()
	}
	return t.d.context(h)
}

// CtxGetID is cuCtxGetId: it returns a number that no other context of the process has. 0 means the current context.
func (t *Thread) CtxGetID(h Handle) (uint64, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.contextOrCurrent(h)
	if err != nil {
		return 0, err
	}
	return c.id, nil
}

// CtxGetAPIVersion is cuCtxGetApiVersion; 0 means the current context.
func (t *Thread) CtxGetAPIVersion(h Handle) (int, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, err := t.contextOrCurrent(h)
	return 3020, err // the version of contexts since cuCtxCreate_v2
}

// CtxGetFlags is cuCtxGetFlags.
func (t *Thread) CtxGetFlags() (uint32, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	return c.flags, nil
}

// CtxSetFlags is cuCtxSetFlags.
func (t *Thread) CtxSetFlags(flags uint32) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := checkContextFlags(flags); err != nil {
		return err
	}
	c.flags = flags
	return nil
}

// CtxSynchronize is cuCtxSynchronize: it waits for all work of the context h, or of the current context for 0. It
// returns the first fault of the context.
func (t *Thread) CtxSynchronize(h Handle) error {
	t.d.mu.Lock()
	c, err := t.contextOrCurrent(h)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	if err := c.forbidCapture(); err != nil {
		t.d.mu.Unlock()
		return err
	}
	tasks := c.pending()
	t.d.ordering.known = t.d.ordering.known.union(c.endedClocks[0]).union(c.endedClocks[1])
	t.d.mu.Unlock()
	return c.settle(tasks)
}

// Check returns an error unless a context without a fault is current. It implements calls that have no effect in gemu.
func (t *Thread) Check() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	t.d.mu.Unlock()
	return nil
}
