package interp

// This file is launches that can pause, be saved, and go on from where they were saved.

import (
	"context"
	"errors"

	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// Execution is a launch that pauses where a probe wants it to (Event.Pause). Until it has
// ended or is closed the device runs no other launch; memory may be looked at and changed
// while it pauses. An Execution is not for use by several goroutines at a time.
type Execution struct {
	*launched
	ended bool
	err   error
}

// State is a launch as it was when it was saved, with the memory of its device.
type State = machine.State

// Latest is what a lane of a CTA in flight did last.
type Latest = machine.Latest

// ErrEnded is the error of continuing a launch that has ended; ErrClosed is what probes are told
// that one has ended by that is closed before.
var (
	ErrEnded  = errors.New("the launch has ended")
	ErrClosed = errors.New("the launch was closed before it had ended")
)

// Start readies a launch to run. The error is a *LaunchError or *ptx.Unsupported, or that of
// Module.Launch for one that cannot begin.
func (m *Module) Start(l *Launch) (*Execution, error) {
	d := m.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := m.prepare(l)
	if err != nil {
		return nil, err
	}
	grid.AllowPause(r.grid)
	if err := grid.Begin(r.grid); err != nil {
		grid.End(r.grid, err)
		return nil, err
	}
	e := &Execution{launched: r}
	d.paused = e
	return e, nil
}

// Continue runs the launch until it has ended, or pauses. The error is that of Module.Launch;
// it ends the launch.
func (e *Execution) Continue(ctx context.Context) (ended bool, err error) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	if e.ended {
		return true, ErrEnded
	}
	paused, err := e.run(func() (bool, error) { return grid.Continue(e.grid, ctx) })
	if !paused {
		e.end(err)
	}
	return e.ended, err
}

// ContinueTo is Continue that also pauses as soon as so many instructions have begun (Event.Step)
// as step says. A probe must want all events in one order.
func (e *Execution) ContinueTo(ctx context.Context, step int64) (ended bool, err error) {
	e.dev.mu.Lock()
	grid.PauseAt(e.grid, step)
	e.dev.mu.Unlock()
	return e.Continue(ctx)
}

// Steps is how many instructions have begun: the Event.Step of the next.
func (e *Execution) Steps() int64 { return grid.Steps(e.grid) }

// Info describes the launch, as its probes see it.
func (e *Execution) Info() *probe.LaunchInfo { return grid.Info(e.grid) }

// Find is the allocation of global memory that an address lies in, which may have been freed; nil if
// there is none.
func (e *Execution) Find(addr uint64) *probe.Allocation { return e.dev.Find(addr) }

// Module is the module that the kernel is of.
func (e *Execution) Module() *Module { return e.module }

// runDriven is Run of a launch that somebody else drives.
func (m *Module) runDriven(ctx context.Context, l *Launch) (*Result, error) {
	e, err := m.Start(l)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	err = l.Drive(ctx, e)
	if err == nil && !e.ended {
		err = ErrClosed
	}
	if e.ended && e.err != nil {
		err = e.err
	}
	return e.result(err), err
}

// Result is what the launch has counted of CTAs that have ended.
func (e *Execution) Result() *Result { return e.result(e.err) }

// WarpSplits are the lanes of the CTAs in flight, by CTA and warp, where they stand while the
// launch pauses.
func (e *Execution) WarpSplits() []probe.WarpSplit {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	return grid.WarpSplits(e.grid)
}

// WaitingSplits are the lanes of the CTAs in flight that are in no warp split: each lot waits before an
// instruction where others are to meet it.
func (e *Execution) WaitingSplits() []probe.WarpSplit {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	return grid.WaitingSplits(e.grid)
}

// Latest is what a lane did last; false of one whose CTA is not in flight. State.Latest is the same of
// a state. A probe must want all events in one order.
func (e *Execution) Latest(cta, index, lane int) (Latest, bool) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	return warp.LatestInGrid(e.grid, cta, index, lane)
}

// InFlight calls do with the index of each CTA that was in flight at some moment from one state to a later one,
// nil being the launch's end, until it gives false. Some may not have begun yet.
func (e *Execution) InFlight(from, to *State, visit func(cta int) bool) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	warp.InFlight(e.grid, from, to, visit)
}

// Visited adds to a list, by Event.Index, the instructions that may have begun since it was asked for last:
// those of straight stretches of code of which some have.
func (e *Execution) Visited(list []bool) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	warp.VisitedBlocks(e.grid, list)
}

// Program is the launch's instructions.
func (e *Execution) Program() probe.Program { return grid.Program(e.grid) }

// Save copies the whole launch: memory, CTAs, what they wait for, and whose turn is next. Pages
// of memory, and CTAs, that are what they were in the state that was saved or restored last are
// not copied again.
// The error is that of a device that has memory of the host, which cannot be saved. Probes
// and sinks with methods Save and Restore (see Saver) go back with it.
func (e *Execution) Save() (*State, error) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	return grid.Save(e.grid)
}

// Restore makes the launch, ended or not, what it was when one of its states was saved; it
// goes on from there as it did then. What kernels have printed since stays printed, and what
// probes have been told since is told again, the launch's end (OnLaunchEnd) too if it had
// ended; its begin is not. The error is a *LaunchError if another launch is under way, or that
// of allocating memory anew.
func (e *Execution) Restore(s *State) error {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	if e.ended {
		if err := e.dev.free(); err != nil {
			return err
		}
	}
	if err := grid.Restore(e.grid, s); err != nil {
		return err
	}
	e.ended, e.err, e.dev.paused = false, nil, e
	return nil
}

// Release gives a state up, which must not be restored any more.
func (e *Execution) Release(s *State) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	grid.Release(e.grid, s)
}

// StateBytes is how many bytes of the host's memory the states take that were saved and not released.
func (e *Execution) StateBytes() uint64 {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	return grid.StateBytes(e.grid)
}

// Close gives a launch up that has not ended.
func (e *Execution) Close() {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	if !e.ended {
		e.end(ErrClosed)
	}
}

func (e *Execution) end(err error) {
	grid.End(e.grid, err)
	e.ended, e.err, e.dev.paused = true, err, nil
}

// free tells whether the device can run a launch.
func (d *Device) free() error {
	if d.paused != nil {
		return launchErrorf("kernel %s has paused on this device: it has to end, or be closed", d.paused.kernel.Name)
	}
	return nil
}
