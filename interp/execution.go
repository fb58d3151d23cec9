package interp

// This file has executions: launches that can pause, be saved and be restored.

import (
	"context"
	"errors"

	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// Execution is a launch that pauses when a probe requests it (Event.Pause). The device runs no other launch until the execution
// has ended or is closed. While the launch pauses, the caller may read and change memory. An Execution must not be used by
// several goroutines at the same time. Called from a probe of its device, Continue, ContinueTo, WarpSplits, WaitingSplits,
// InFlight, Visited, Save, Restore, Release and Close return ErrInProbe. All other methods may be called from a probe.
type Execution struct {
	*launched
	ended bool
	err   error
}

// State is a saved launch, with the memory of its device. It is immutable, and only the Execution that saved it can restore it.
type State struct{ state *machine.State }

// Latest returns the latest instruction that a lane had begun when the state was saved; ok is false if its CTA was not in flight.
// A probe of the launch must subscribe to all events in a single order (probe.Subscription.InOrder).
func (s *State) Latest(cta, warp, lane int) (latest probe.Latest, ok bool) {
	return s.state.Latest(cta, warp, lane)
}

var (
	// ErrEnded is the error of continuing a launch that has ended.
	ErrEnded = errors.New("the launch has ended")
	// ErrClosed is the error that probes receive at the end of a launch that was closed before it had ended.
	ErrClosed = errors.New("the launch was closed before it had ended")
)

// Start prepares a launch, which Continue then runs. The error is a *LaunchError, a *ptx.Unsupported, or the error of
// Module.Launch for a launch that cannot begin.
func (m *Module) Start(l *Launch) (*Execution, error) {
	d := m.dev
	if err := d.mu.acquire(true); err != nil {
		return nil, err
	}
	defer d.mu.release()
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

// Continue runs the launch until it ends or pauses. The errors are the same as Module.Launch's; an error ends the launch.
func (e *Execution) Continue(ctx context.Context) (ended bool, err error) {
	if err := e.dev.mu.acquire(true); err != nil {
		return false, err
	}
	defer e.dev.mu.release()
	if e.ended {
		return true, ErrEnded
	}
	paused, err := e.run(func() (bool, error) { return grid.Continue(e.grid, ctx) })
	if !paused {
		e.end(err)
	}
	return e.ended, err
}

// ContinueTo is like Continue, and also pauses when step instructions have begun (Event.Step). A probe of the launch must
// subscribe to all events in a single order (probe.Subscription.InOrder).
func (e *Execution) ContinueTo(ctx context.Context, step int64) (ended bool, err error) {
	if err := e.dev.mu.acquire(false); err != nil {
		return false, err
	}
	grid.PauseAt(e.grid, step)
	e.dev.mu.release()
	return e.Continue(ctx)
}

// Steps returns the number of instructions that have begun: the Event.Step of the next instruction.
func (e *Execution) Steps() int64 { return grid.Steps(e.grid) }

// Info returns the description of the launch that probes receive.
func (e *Execution) Info() *probe.LaunchInfo { return grid.Info(e.grid) }

// Find returns the allocation of global memory at an address; nil if there is none. The allocation may be freed already.
func (e *Execution) Find(addr uint64) *probe.Allocation { return e.dev.Find(addr) }

// Module returns the module of the kernel.
func (e *Execution) Module() *Module { return e.module }

// runDriven runs a launch whose Drive function continues the execution.
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

// Result returns the counts of the CTAs that have ended.
func (e *Execution) Result() *Result { return e.result(e.err) }

// Stack returns the reconvergence stack of a warp, as Event.AppendStack does, while the launch pauses; index is the index of the
// warp in the CTA. It returns nil if the CTA is not in flight.
func (e *Execution) Stack(cta, index int) ([]probe.StackEntry, error) {
	if err := e.dev.mu.acquire(true); err != nil {
		return nil, err
	}
	defer e.dev.mu.release()
	return grid.Stack(e.grid, cta, index), nil
}

// WarpSplits returns the warp splits of the CTAs in flight, by CTA and warp, while the launch pauses.
func (e *Execution) WarpSplits() ([]probe.WarpSplit, error) {
	if err := e.dev.mu.acquire(true); err != nil {
		return nil, err
	}
	defer e.dev.mu.release()
	return grid.WarpSplits(e.grid), nil
}

// WaitingSplits returns the lanes of the CTAs in flight that are in no warp split: each group waits at a reconvergence
// point for missing lanes.
func (e *Execution) WaitingSplits() ([]probe.WarpSplit, error) {
	if err := e.dev.mu.acquire(true); err != nil {
		return nil, err
	}
	defer e.dev.mu.release()
	return grid.WaitingSplits(e.grid), nil
}

// Latest returns the latest instruction that a lane has begun; index is the index of its warp in the CTA. ok is false if the CTA
// is not in flight. State.Latest returns the same for a saved state. A probe of the launch must subscribe to all events in a single
// order (probe.Subscription.InOrder).
func (e *Execution) Latest(cta, index, lane int) (latest probe.Latest, ok bool) {
	if e.dev.mu.acquire(false) == nil {
		defer e.dev.mu.release()
	}
	return warp.LatestInGrid(e.grid, cta, index, lane)
}

// InFlight calls visit with the index of each CTA that was in flight at some moment between two states, until visit returns
// false. If to is nil, the launch's end takes its place. Some of the CTAs may not have begun.
func (e *Execution) InFlight(from, to *State, visit func(cta int) bool) error {
	if err := e.dev.mu.acquire(true); err != nil {
		return err
	}
	defer e.dev.mu.release()
	var end *machine.State
	if to != nil {
		end = to.state
	}
	warp.InFlight(e.grid, from.state, end, visit)
	return nil
}

// Visited sets list[i] for each instruction with Event.Index i that may have begun since the last call of Visited: all
// instructions of each basic block that a warp has entered. list has an element for each instruction of Program.
func (e *Execution) Visited(list []bool) error {
	if err := e.dev.mu.acquire(true); err != nil {
		return err
	}
	defer e.dev.mu.release()
	warp.VisitedBlocks(e.grid, list)
	return nil
}

// Program returns the launch's instructions.
func (e *Execution) Program() probe.Program { return grid.Program(e.grid) }

// Save copies the whole launch: memory, CTAs, their waits and the schedule. It copies only pages of memory and CTAs that
// have changed since the last Save or Restore. It returns an error if the device has mapped memory of the host, which cannot
// be saved. Probes and sinks with the methods Save and Restore (see Saver) are saved, too.
func (e *Execution) Save() (*State, error) {
	if err := e.dev.mu.acquire(true); err != nil {
		return nil, err
	}
	defer e.dev.mu.release()
	s, err := grid.Save(e.grid)
	if err != nil {
		return nil, err
	}
	return &State{s}, nil
}

// Restore returns the launch, even if it has ended, to a state that Save returned. The launch then continues as it did from
// that state before. Output that the kernel has printed since is not taken back. Probes receive the events after the state
// again, including the launch's end (OnLaunchEnd) if it had ended, but not its beginning (OnLaunch). The error is a
// *LaunchError if another launch is in progress, or the error of an allocation.
func (e *Execution) Restore(s *State) error {
	if err := e.dev.mu.acquire(true); err != nil {
		return err
	}
	defer e.dev.mu.release()
	if e.ended {
		if err := e.dev.free(); err != nil {
			return err
		}
	}
	if err := grid.Restore(e.grid, s.state); err != nil {
		return err
	}
	e.ended, e.err, e.dev.paused = false, nil, e
	return nil
}

// Release releases a state, which must not be restored afterwards.
func (e *Execution) Release(s *State) error {
	if err := e.dev.mu.acquire(true); err != nil {
		return err
	}
	defer e.dev.mu.release()
	grid.Release(e.grid, s.state)
	return nil
}

// StateBytes returns the number of bytes of host memory of the saved states that are not released.
func (e *Execution) StateBytes() uint64 {
	if e.dev.mu.acquire(false) == nil {
		defer e.dev.mu.release()
	}
	return grid.StateBytes(e.grid)
}

// Close ends a launch that has not ended.
func (e *Execution) Close() error {
	if err := e.dev.mu.acquire(true); err != nil {
		return err
	}
	defer e.dev.mu.release()
	if !e.ended {
		e.end(ErrClosed)
	}
	return nil
}

func (e *Execution) end(err error) {
	grid.End(e.grid, err)
	e.ended, e.err, e.dev.paused = true, err, nil
}

// free returns an error if the device cannot run a launch now.
func (d *Device) free() error {
	if d.paused != nil {
		return launchErrorf("kernel %s is paused on this device: finish or close its execution first", d.paused.kernel.Name)
	}
	return nil
}
