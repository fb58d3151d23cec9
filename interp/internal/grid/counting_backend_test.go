package grid

import (
	"context"
	"runtime"

	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
)

// Counting is a backend of machine code that counts. It is for launches on a single host thread.
var Counting = new(countingBackend)

// countingBackend counts how often Go runs a warp, and how often these runs enter machine code.
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
			runtime.Gosched() // another goroutine sets Cancelled
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

func (a *countingBackend) NewCheckRunner() machine.Runner { return &countingCheckBackend{counts: a} }

// countingCheckBackend is countingBackend in check mode.
type countingCheckBackend struct {
	exchange.NativeCheckRunner
	counts *countingBackend
}

func (a *countingCheckBackend) Run(w *machine.Warp, budget int) machine.Reason {
	a.counts.beforeRun(w)
	defer a.counts.afterRun(w, w.CTA.Native.EnterCount)
	return a.NativeCheckRunner.Run(w, budget)
}
