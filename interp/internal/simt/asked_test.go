package simt

import (
	"context"
	"runtime"
)

// Asked is the backend of machine code, of which it counts how often Go asks it to run a warp, and how often it is entered for
// that. It is for launches on one thread.
var Asked = new(asked)

type asked struct {
	machineCode
	Times, Entered int

	Cancel context.CancelFunc // called when it is asked the At-th time
	At     int
}

// asks is told before each time.
func (a *asked) asks(w *warp) {
	a.Times++
	if a.Times == a.At {
		for a.Cancel(); !w.cta.grid.cancelled.Load(); {
			runtime.Gosched() // the launch is told by another goroutine
		}
	}
}

// ran is told behind it how often machine code had been entered.
func (a *asked) ran(w *warp, before int64) { a.Entered += int(w.cta.native.entered - before) }

func (a *asked) run(w *warp, budget int) reason {
	a.asks(w)
	defer a.ran(w, w.cta.native.entered)
	return a.machineCode.run(w, budget)
}

func (a *asked) checks() runner { return &askedChecked{by: a} }

// askedChecked is it in check mode.
type askedChecked struct {
	checkedCode
	by *asked
}

func (a *askedChecked) run(w *warp, budget int) reason {
	a.by.asks(w)
	defer a.by.ran(w, w.cta.native.entered)
	return a.checkedCode.run(w, budget)
}
