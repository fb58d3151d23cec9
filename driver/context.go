package driver

// This file is contexts: what a client's work on a device happens in.

import (
	"fmt"

	"gemu/interp"
)

// Context is a context. What is made in it dies with it.
type Context struct {
	handle  Handle
	id      uint64
	dev     *Device
	flags   uint32
	primary bool
	users   int // besides who has made it: calls of CtxAttach less those of CtxDetach
	dead    bool
	err     error // the first fault; the result of all calls from then on
	fault   error // with Settings.ContinueOnFault: the first fault that no call has returned yet
	further int   // faults after it
	faults  int   // operations that have failed

	legacy       *Stream // the default stream
	orderedAfter *task   // that all later work comes after; nil: none
	streams      map[*Stream]bool
	endedClocks  [2]clock        // of streams that are gone: those that the default stream comes after, and others
	objects      map[Handle]bool // modules, libraries, events, graphs …
	peers        map[*Context]bool

	limits       map[int]uint64
	cacheConfig  int
	sharedConfig int
}

// newContext makes a context. d.mu is held.
func (v *Device) newContext(flags uint32) *Context {
	c := &Context{dev: v, flags: flags}
	c.handle = v.d.add(c)
	c.id = uint64(c.handle)
	c.reset()
	return c
}

// reset gives a context the state of a new one. d.mu is held.
func (c *Context) reset() {
	c.dead, c.err, c.fault, c.further, c.users = false, nil, nil, 0, 0
	c.streams, c.objects, c.peers = map[*Stream]bool{}, map[Handle]bool{}, map[*Context]bool{}
	c.limits = c.dev.defaultLimits()
	c.endedClocks, c.orderedAfter = [2]clock{}, nil
	c.legacy = c.newStream(0, 0)
	c.cacheConfig, c.sharedConfig = 0, 0
}

// fails notes the error of an operation. It is the result of all calls from then on, or, if the settings say so, of the next
// call that waits. d.mu is held.
func (c *Context) fails(err error) {
	c.faults++
	to := &c.err
	if c.dev.d.settings.ContinueOnFault {
		to = &c.fault
	}
	if *to == nil {
		*to = shortError(err)
	} else if to == &c.fault {
		c.further++
	}
}

// outcome is the result of a call that waits for work of the context. d.mu is held.
func (c *Context) outcome() error {
	if c.err != nil {
		return c.err
	}
	err := c.fault
	if c.further > 0 {
		err = fmt.Errorf("%w (and %d more since the last call that has waited, each on standard error)", err, c.further)
	}
	c.fault, c.further = nil, 0
	return err
}

// addObject makes an object part of the context. d.mu is held.
func (c *Context) addObject(o any) Handle {
	h := c.dev.d.add(o)
	c.objects[h] = true
	return h
}

// removeObject forgets an object. d.mu is held.
func (c *Context) removeObject(h Handle) {
	delete(c.objects, h)
	delete(c.dev.d.objects, h)
}

// destroy ends a context: it waits for its work and gives back what it owns.
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
	wait(tasks)
	d.stderr.flush()

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
			o.destroyed()
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

// CtxCreate is cuCtxCreate: the new context becomes current.
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

func checkContextFlags(flags uint32) error {
	if flags&^0xff != 0 || flags&7 == 3 || flags&7 > 4 {
		return fail(InvalidValue, "context flags %#x", flags)
	}
	return nil
}

// context is the context with a handle. d.mu is held.
func (d *Driver) context(h Handle) (*Context, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	c, ok := d.objects[h].(*Context)
	if !ok || c.dead {
		return nil, fail(InvalidContext, "%#x is no context", uint64(h))
	}
	return c, nil
}

// CtxDestroy is cuCtxDestroy. A context that is current is popped.
func (t *Thread) CtxDestroy(h Handle) error {
	t.d.mu.Lock()
	c, err := t.d.context(h)
	t.d.mu.Unlock()
	switch {
	case err != nil:
		return err
	case c.primary:
		return fail(InvalidContext, "a primary context is released, not destroyed")
	}
	if t.top() == c {
		t.stack = t.stack[:len(t.stack)-1]
	}
	c.destroy()
	return nil
}

// CtxAttach is cuCtxAttach: the current context has one more user, and the call gives its handle.
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

// CtxDetach is cuCtxDetach: the current context, which h has to be, has one user less. The last
// one destroys it.
func (t *Thread) CtxDetach(h Handle) error {
	t.d.mu.Lock()
	c, err := t.d.context(h)
	switch {
	case err == nil && c != t.top():
		err = fail(InvalidContext, "the context to leave is not current")
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

// CtxPushCurrent is cuCtxPushCurrent.
func (t *Thread) CtxPushCurrent(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.d.context(h)
	if err == nil {
		t.stack = append(t.stack, c)
	}
	return err
}

// CtxPopCurrent is cuCtxPopCurrent.
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

// CtxSetCurrent is cuCtxSetCurrent; 0 leaves none.
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

// CtxGetCurrent is cuCtxGetCurrent: 0 if there is none.
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

// CtxGetDevice is cuCtxGetDevice; 0 means the current context.
func (t *Thread) CtxGetDevice(h Handle) (int, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.contextOr(h)
	if err != nil {
		return 0, err
	}
	return c.dev.ordinal, nil
}

// contextOr is the context with a handle, or the current one for 0. d.mu is held.
func (t *Thread) contextOr(h Handle) (*Context, error) {
	if h == 0 {
		return t.current()
	}
	return t.d.context(h)
}

// CtxGetID is cuCtxGetId; 0 means the current context.
func (t *Thread) CtxGetID(h Handle) (uint64, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	c, err := t.contextOr(h)
	if err != nil {
		return 0, err
	}
	return c.id, nil
}

// CtxGetAPIVersion is cuCtxGetApiVersion; 0 means the current context.
func (t *Thread) CtxGetAPIVersion(h Handle) (int, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, err := t.contextOr(h)
	return 3020, err // of contexts from cuCtxCreate_v2 on
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

// CtxSynchronize is cuCtxSynchronize: it waits for all work of the context, of the
// current one for 0. The error is that of the first fault.
func (t *Thread) CtxSynchronize(h Handle) error {
	t.d.mu.Lock()
	c, err := t.contextOr(h)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	if err := c.uncaptured(); err != nil {
		t.d.mu.Unlock()
		return err
	}
	tasks := c.pending()
	t.d.ordering.known = t.d.ordering.known.union(c.endedClocks[0]).union(c.endedClocks[1])
	t.d.mu.Unlock()
	return c.settle(tasks)
}

// Numbers of limits (CUlimit).
const (
	limitStack           = 0
	limitPrintf          = 1
	limitHeap            = 2
	limitSyncDepth       = 3
	limitPendingLaunches = 4
	limitL2Fetch         = 5
	limitPersistingL2    = 6
	limitCIG             = 8 // whether graphics shares the context; it cannot be set
)

// Greatest values of limits (driver API, cuCtxSetLimit).
const (
	maxSyncDepth = 24
	maxL2Fetch   = 128 // bytes
)

// defaultLimits gives the limits of a new context. Those of kernels that launch kernels are the defaults of the CUDA C++
// Programming Guide ("CUDA Dynamic Parallelism"); the depth is of devices before 9.0 alone (driver API, cuCtxSetLimit).
func (v *Device) defaultLimits() map[int]uint64 {
	limits := map[int]uint64{
		limitStack: 1024, limitPrintf: 1 << 20, limitHeap: 256 << 20, limitPendingLaunches: 2048, limitL2Fetch: 64, limitPersistingL2: 0, limitCIG: 0,
	}
	if v.d.settings.SM < 90 {
		limits[limitSyncDepth] = 2
	}
	return limits
}

// CtxGetLimit is cuCtxGetLimit.
func (t *Thread) CtxGetLimit(limit int) (uint64, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	v, ok := c.limits[limit]
	if !ok {
		return 0, fail(UnsupportedLimit, "limit %d", limit)
	}
	return v, nil
}

// CtxSetLimit is cuCtxSetLimit. The values are remembered; a thread's stack and the heap of a device have the bounds of
// interp.Config, and the cache keeps no bytes for what persists.
func (t *Thread) CtxSetLimit(limit int, value uint64) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	switch _, ok := c.limits[limit]; {
	case !ok:
		return fail(UnsupportedLimit, "limit %d", limit)
	case limit == limitCIG:
		return fail(UnsupportedLimit, "limit %d can only be queried", limit)
	case limit == limitSyncDepth && value > maxSyncDepth:
		return fail(InvalidValue, "a depth of %d, at most %d", value, maxSyncDepth)
	case limit == limitL2Fetch: // a hint, that may be clamped
		value = min(value, maxL2Fetch)
	case limit == limitPersistingL2: // a hint, too
		value = 0
	}
	c.limits[limit] = value
	return nil
}

// CtxGetCacheConfig is cuCtxGetCacheConfig.
func (t *Thread) CtxGetCacheConfig() (int, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	return c.cacheConfig, nil
}

// CtxSetCacheConfig is cuCtxSetCacheConfig. There is no cache to configure.
func (t *Thread) CtxSetCacheConfig(config int) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if config < 0 || config > 3 {
		return fail(InvalidValue, "cache configuration %d", config)
	}
	c.cacheConfig = config
	return nil
}

// CtxGetSharedMemConfig is cuCtxGetSharedMemConfig.
func (t *Thread) CtxGetSharedMemConfig() (int, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	return max(c.sharedConfig, 1), nil // banks of four bytes
}

// CtxSetSharedMemConfig is cuCtxSetSharedMemConfig. There are no banks.
func (t *Thread) CtxSetSharedMemConfig(config int) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if config < 0 || config > 2 {
		return fail(InvalidValue, "shared memory configuration %d", config)
	}
	c.sharedConfig = config
	return nil
}

// Stream priorities: 0 is the least.
const greatestPriority = -5

// CtxGetStreamPriorityRange is cuCtxGetStreamPriorityRange.
func (t *Thread) CtxGetStreamPriorityRange() (minimum, greatest int, err error) {
	if _, err = t.enter(); err != nil {
		return 0, 0, err
	}
	t.d.mu.Unlock()
	return 0, greatestPriority, nil
}

// Check reports whether a context is current and good: the whole effect of calls
// that change nothing here.
func (t *Thread) Check() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	t.d.mu.Unlock()
	return nil
}

// CtxEnablePeerAccess is cuCtxEnablePeerAccess. All memory is within reach anyway;
// what is enabled is remembered, as the result of the next call depends on it.
func (t *Thread) CtxEnablePeerAccess(peer Handle, flags uint32) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	p, err := t.d.context(peer)
	switch {
	case err != nil:
		return err
	case flags != 0:
		return fail(InvalidValue, "flags %d, want 0", flags)
	case p.dev == c.dev:
		return fail(InvalidDevice, "the peer is on the same device")
	case c.peers[p]:
		return fail(PeerAccessAlreadyEnabled, "to context %#x", uint64(peer))
	}
	c.peers[p] = true
	return nil
}

// CtxDisablePeerAccess is cuCtxDisablePeerAccess.
func (t *Thread) CtxDisablePeerAccess(peer Handle) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	p, err := t.d.context(peer)
	switch {
	case err != nil:
		return err
	case !c.peers[p]:
		return fail(PeerAccessNotEnabled, "to context %#x", uint64(peer))
	}
	delete(c.peers, p)
	return nil
}

// PrimaryCtxRetain is cuDevicePrimaryCtxRetain. It waits for one that another thread
// destroys.
func (d *Driver) PrimaryCtxRetain(dev int) (Handle, error) {
	v, err := d.lockedDevice(dev)
	if err != nil {
		return 0, err
	}
	v.primaryMu.Lock()
	defer v.primaryMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case v.primary == nil:
		v.primary = v.newContext(v.flags)
		v.primary.primary = true
	case v.primary.dead:
		v.primary.reset()
		v.primary.flags = v.flags
	}
	v.retained++
	return v.primary.handle, nil
}

// PrimaryCtxRelease is cuDevicePrimaryCtxRelease: the last one destroys it.
func (d *Driver) PrimaryCtxRelease(dev int) error {
	v, err := d.lockedDevice(dev)
	if err != nil {
		return err
	}
	v.primaryMu.Lock()
	defer v.primaryMu.Unlock()
	d.mu.Lock()
	if v.retained == 0 {
		d.mu.Unlock()
		return fail(InvalidContext, "the primary context is not retained")
	}
	v.retained--
	last := v.retained == 0
	d.mu.Unlock()
	if last {
		v.primary.destroy()
	}
	return nil
}

// PrimaryCtxReset is cuDevicePrimaryCtxReset: it destroys the primary context's
// state. Those who retain it go on with one that is as good as new.
func (d *Driver) PrimaryCtxReset(dev int) error {
	v, err := d.lockedDevice(dev)
	if err != nil {
		return err
	}
	v.primaryMu.Lock()
	defer v.primaryMu.Unlock()
	if v.primary == nil {
		return nil
	}
	v.primary.destroy()
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.retained > 0 {
		v.primary.reset()
		v.primary.flags = v.flags
	}
	return nil
}

// PrimaryCtxSetFlags is cuDevicePrimaryCtxSetFlags.
func (d *Driver) PrimaryCtxSetFlags(dev int, flags uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err == nil {
		err = checkContextFlags(flags)
	}
	if err != nil {
		return err
	}
	v.flags = flags
	if v.retained > 0 {
		v.primary.flags = flags
	}
	return nil
}

// PrimaryCtxGetState is cuDevicePrimaryCtxGetState.
func (d *Driver) PrimaryCtxGetState(dev int) (flags uint32, active bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return 0, false, err
	}
	return v.flags, v.retained > 0, nil
}
