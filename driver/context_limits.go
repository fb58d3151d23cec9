package driver

// This file implements limits, cache settings and peer access of contexts.

// Numbers of limits (CUlimit).
const (
	limitStack           = 0
	limitPrintf          = 1
	limitHeap            = 2
	limitSyncDepth       = 3
	limitPendingLaunches = 4
	limitL2Fetch         = 5
	limitPersistingL2    = 6
	limitCIG             = 8 // 1 if graphics shares the context; read-only
)

// Greatest values of limits (driver API, cuCtxSetLimit).
const (
	maxSyncDepth = 24
	maxL2Fetch   = 128 // bytes
)

// defaultLimits returns the limits of a new context. The limits of kernels that launch kernels are the defaults of the
// CUDA C++ Programming Guide ("CUDA Dynamic Parallelism"). Only devices before compute capability 9.0 have limitSyncDepth
// (driver API, cuCtxSetLimit).
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

// CtxSetLimit is cuCtxSetLimit. The values are only stored: the stack of a thread and the heap of a device have the
// bounds of interp.Config, and the cache has no persisting lines.
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
		return fail(InvalidValue, "a synchronization depth of %d, at most %d is allowed", value, maxSyncDepth)
	case limit == limitL2Fetch: // a hint, which may be clamped
		value = min(value, maxL2Fetch)
	case limit == limitPersistingL2: // a hint, which may be clamped
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

// CtxSetCacheConfig is cuCtxSetCacheConfig. The value is only stored: there is no cache to configure.
func (t *Thread) CtxSetCacheConfig(config int) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if config < 0 || config > 3 {
		return fail(InvalidValue, "unknown cache configuration %d", config)
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

// CtxSetSharedMemConfig is cuCtxSetSharedMemConfig. The value is only stored.
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

// greatestPriority is the highest stream priority; 0 is the lowest.
const greatestPriority = -5

// CtxGetStreamPriorityRange is cuCtxGetStreamPriorityRange.
func (t *Thread) CtxGetStreamPriorityRange() (lowest, highest int, err error) {
	if _, err = t.enter(); err != nil {
		return 0, 0, err
	}
	t.d.mu.Unlock()
	return 0, greatestPriority, nil
}

// CtxEnablePeerAccess is cuCtxEnablePeerAccess. All memory is accessible anyway; the call is recorded because a second
// call must fail.
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
		return fail(PeerAccessAlreadyEnabled, "context %#x", uint64(peer))
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
		return fail(PeerAccessNotEnabled, "context %#x", uint64(peer))
	}
	delete(c.peers, p)
	return nil
}
