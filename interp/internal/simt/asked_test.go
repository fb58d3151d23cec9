package simt

import (
	"context"
	"runtime"
)

// Asked is the backend of machine code, of which it counts how often Go asks it to run a warp, and how often it is entered for
// that. It is for launches on one thread.
var Asked = new(recordingBackend)

type recordingBackend struct {
	machineCode
	Times, Entered int

	Cancel context.CancelFunc // called when it is asked the At-th time
	Inner  int
}

// asks is told before each time.
func (a *recordingBackend) asks(w *warp) {
	a.Times++
	if a.Times == a.Inner {
		for a.Cancel(); !w.cta.grid.cancelled.Load(); {
			runtime.Gosched() // the launch is told by another goroutine
		}
	}
}

// ran is told behind it how often machine code had been entered.
func (a *recordingBackend) ran(w *warp, before int64) {
	a.Entered += int(w.cta.native.enterCount - before)
}

func (a *recordingBackend) run(w *warp, budget int) reason {
	a.asks(w)
	defer a.ran(w, w.cta.native.enterCount)
	return a.machineCode.run(w, budget)
}

func (a *recordingBackend) newCheckRunner() runner { return &recordingCheckBackend{by: a} }

// recordingCheckBackend is it in check mode.
type recordingCheckBackend struct {
	nativeCheckRunner
	by *recordingBackend
}

func (a *recordingCheckBackend) run(w *warp, budget int) reason {
	a.by.asks(w)
	defer a.by.ran(w, w.cta.native.enterCount)
	return a.nativeCheckRunner.run(w, budget)
}
