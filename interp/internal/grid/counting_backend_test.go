package grid

import (
	"context"
	"runtime"

	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
)

// Counting is the backend of machine code with counters: how often Go calls it to run a warp, and how often these runs enter
// machine code. It is for launches on a single thread.
var Counting = new(countingBackend)

type countingBackend struct {
	exchange.MachineCode
	Runs, Entries int

	Cancel   context.CancelFunc // called when Runs reaches CancelAt
	CancelAt int
}

// beforeRun is called before each run.
func (a *countingBackend) beforeRun(w *machine.Warp) {
	a.Runs++
	if a.Runs == a.CancelAt {
		for a.Cancel(); !w.CTA.Grid.Cancelled.Load(); {
			runtime.Gosched() // the launch learns of it on another goroutine
		}
	}
}

// afterRun is called after each run, with the number of entries before it.
func (a *countingBackend) afterRun(w *machine.Warp, before int64) {
	a.Entries += int(w.CTA.Native.EnterCount - before)
}

func (a *countingBackend) Run(w *machine.Warp, budget int) machine.Reason {
	a.beforeRun(w)
	defer a.afterRun(w, w.CTA.Native.EnterCount)
	return a.MachineCode.Run(w, budget)
}

func (a *countingBackend) NewCheckRunner() machine.Runner { return &countingCheckBackend{by: a} }

// countingCheckBackend is countingBackend in check mode.
type countingCheckBackend struct {
	exchange.NativeCheckRunner
	by *countingBackend
}

func (a *countingCheckBackend) Run(w *machine.Warp, budget int) machine.Reason {
	a.by.beforeRun(w)
	defer a.by.afterRun(w, w.CTA.Native.EnterCount)
	return a.NativeCheckRunner.Run(w, budget)
}
