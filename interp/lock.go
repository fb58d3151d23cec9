package interp

// This file has the lock of a device.

import (
	"errors"
	"sync"

	"gemu/internal/goroutine"
)

// ErrInProbe is the error of a call that changes a device, from a probe or another callback of the same device: an event
// handler, Launch.Progress, Config.Stdout or Config.OnTolerated. The device is in the middle of a launch, or of a change of its
// memory. The methods that only read may be called there.
var ErrInProbe = errors.New("a probe, or another callback of the device, must not change the device: do it after the launch")

// deviceLock is held by a launch while it runs, and by each change of a device. Its holders are goroutines, so that a call from
// a callback returns ErrInProbe instead of waiting for itself.
type deviceLock struct {
	mu      sync.Mutex
	holder  uint64   // number of the goroutine that holds mu, if it may run callbacks; else 0
	holders sync.Map // numbers of the goroutines that may run callbacks: holder, and the goroutines that run CTAs
}

// acquire takes the lock. It waits while another goroutine holds it, and returns ErrInProbe if the caller runs a callback of the
// holder. callbacks: the caller may run callbacks while it holds the lock.
func (l *deviceLock) acquire(callbacks bool) error {
	if !l.mu.TryLock() {
		if l.inCallback() {
			return ErrInProbe
		}
		l.mu.Lock()
	}
	if callbacks {
		id := goroutine.ID()
		l.holders.Store(id, true)
		l.holder = id
	}
	return nil
}

// release releases the lock.
func (l *deviceLock) release() {
	if l.holder != 0 {
		l.holders.Delete(l.holder)
		l.holder = 0
	}
	l.mu.Unlock()
}

// enter adds the calling goroutine to the holders, until it calls leave.
func (l *deviceLock) enter() (leave func()) {
	id := goroutine.ID()
	l.holders.Store(id, true)
	return func() { l.holders.Delete(id) }
}

// inCallback reports whether the caller runs a callback of a holder.
func (l *deviceLock) inCallback() bool {
	_, ok := l.holders.Load(goroutine.ID())
	return ok
}
