package interp

// This file has launches that take turns on a device: Launch.Yield.
//
// A device has a single parameter block for the arguments of its current launch, and a lowered kernel has a single set of constants
// that its current launch has computed. So if another launch has had a turn, yield writes the arguments into the block again, and
// grid.Resume computes the constants again.

import (
	"context"
	"time"

	"gemu/interp/internal/grid"
)

// Turn describes a launch at the end of its turn.
type Turn struct {
	// Changed reports that the launch may have changed memory in the turn.
	Changed bool
	// Stalled reports that the launch cannot continue by itself: no CTA has changed memory, and the state of all threads has
	// occurred before. Only a change of memory by others can let it continue. A launch that does not fit in the host memory left by
	// the launches in flight is also stalled, before it begins.
	Stalled bool
	// Places describes the places of the first warps in flight. It may be called until Yield returns, from any goroutine.
	Places func() []string
}

// Resumption says how a launch continues after Yield.
type Resumption struct {
	// Changed must be true if other launches, copies or functions may have changed memory during Yield. The host's own writes need
	// not be reported: a stalled launch that runs again finds them.
	Changed bool
	// OthersRan must be true if another launch, copy or function has made progress during Yield. If it is false, a stalled launch has
	// waited for itself, and the time counts for its limit of time (Config.TimeLimit).
	OthersRan bool
	// Deadlock ends the launch with a trap of kind probe.ErrDeadlock. It has an effect only for a stalled launch.
	Deadlock bool
	// Notes are further lines of the deadlock's trap.
	Notes []string
	// Err, unless nil, ends the launch with this error.
	Err error
}

// runInTurns runs the launch to its end, and yields the device between its turns. A launch that ends while it waits for memory has not
// begun. The caller holds the device's lock.
func (r *launched) runInTurns(ctx context.Context) error {
	g := r.grid
	grid.TakeTurns(g)
	for !grid.Fits(g) {
		why := func() []string {
			return []string{"it has not begun: its CTAs do not fit in the host memory that the other kernels leave"}
		}
		if err := r.yield(&Turn{Stalled: true, Places: why}); err != nil {
			grid.Discard(g)
			return err
		}
	}
	r.begun = true
	err := grid.Begin(g)
	for yields := true; err == nil; {
		if yields, err = grid.Continue(g, ctx); !yields || err != nil {
			break
		}
		err = r.yield(&Turn{Changed: g.MemoryChanged, Stalled: g.Stalled, Places: func() []string { return grid.Places(g) }})
	}
	grid.Finish(g, err)
	return err
}

// yield releases the device, calls Yield, and takes the device back for the launch. The error ends the launch.
func (r *launched) yield(t *Turn) error {
	d := r.dev
	if r.parameters == nil {
		r.parameters, r.shadow = d.mem.Parameters(), d.mem.ParameterShadow()
	}
	from := time.Now()
	resumption := r.callYield(t)
	if r.begun && t.Stalled && !resumption.OthersRan {
		r.grid.Elapsed += time.Since(from)
	}
	if d.simtDevice.Current != r.grid {
		block := d.mem.SizeParams(len(r.parameters))
		copy(block.Data, r.parameters)
		copy(block.Shadow, r.shadow)
		for name, o := range r.Objects {
			if err := r.module.bind(name, o); err != nil {
				return launchErrorf("%v", err)
			}
		}
	}
	err := grid.Resume(r.grid, resumption.Changed)
	d.simtDevice.Current = r.grid
	switch {
	case resumption.Err != nil:
		grid.Stop(r.grid)
		return resumption.Err
	case resumption.Deadlock && t.Stalled:
		return grid.Deadlock(r.grid, resumption.Notes...)
	}
	return err
}

// callYield calls Yield while the device is free. The caller holds the device's lock before and after, also if Yield panics.
func (r *launched) callYield(t *Turn) Resumption {
	from := time.Now()
	running.Add(-1)
	r.dev.mu.release()
	defer func() {
		if err := r.dev.mu.acquire(true); err != nil {
			panic("BUG: Yield returned to a callback of the device: " + err.Error())
		}
		running.Add(1)
		r.duration -= time.Since(from)
	}()
	return r.Yield(t)
}
