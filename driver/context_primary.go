package driver

// This file implements the primary contexts of devices.

// PrimaryCtxRetain is cuDevicePrimaryCtxRetain. It waits until a concurrent destruction of the primary context has
// ended.
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

// PrimaryCtxRelease is cuDevicePrimaryCtxRelease: the last release destroys the context.
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

// PrimaryCtxReset is cuDevicePrimaryCtxReset: it destroys the state of the primary context. Threads with a
// reference to it continue with a new state.
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
