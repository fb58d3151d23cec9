package grid

import (
	"context"
	"runtime"

	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
)

// Asked is the backend of machine code with counters: how often Go asks it to run a warp, and how often these runs enter
// machine code. It is for launches on a single thread.
var Asked = new(recordingBackend)

type recordingBackend struct {
	exchange.MachineCode
	Times, Entered int

	Cancel context.CancelFunc // called when Times reaches Inner
	Inner  int
}

// asks is called before each run.
func (a *recordingBackend) asks(w *machine.Warp) {
	a.Times++
	if a.Times == a.Inner {
		for a.Cancel(); !w.CTA.Grid.Cancelled.Load(); {
			runtime.Gosched() // the launch learns of it on another goroutine
		}
	}
}

// ran is called after each run, with the number of entries before it.
func (a *recordingBackend) ran(w *machine.Warp, before int64) {
	a.Entered += int(w.CTA.Native.EnterCount - before)
}

func (a *recordingBackend) Run(w *machine.Warp, budget int) machine.Reason {
	a.asks(w)
	defer a.ran(w, w.CTA.Native.EnterCount)
	return a.MachineCode.Run(w, budget)
}

func (a *recordingBackend) NewCheckRunner() machine.Runner { return &recordingCheckBackend{by: a} }

// recordingCheckBackend is recordingBackend in check mode.
type recordingCheckBackend struct {
	exchange.NativeCheckRunner
	by *recordingBackend
}

func (a *recordingCheckBackend) Run(w *machine.Warp, budget int) machine.Reason {
	a.by.asks(w)
	defer a.by.ran(w, w.CTA.Native.EnterCount)
	return a.NativeCheckRunner.Run(w, budget)
}
