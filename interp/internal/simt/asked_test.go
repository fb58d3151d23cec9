package simt

import (
	"context"
	"runtime"
)

// Asked is the backend of machine code, of which it counts how often Go asks it to run a warp. It is for launches on one
// thread.
var Asked = new(asked)

type asked struct {
	machineCode
	Times  int
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

func (a *asked) run(w *warp, budget int) reason {
	a.asks(w)
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
	return a.checkedCode.run(w, budget)
}
