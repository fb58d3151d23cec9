package main

// This file implements launches with options, and their results as data: gemu_launch_with, gemu_report and gemu_forget.

/*
#define GEMU_TYPES_ONLY
#include "gemu.h"
*/
import "C"

import (
	"sync"
	"sync/atomic"

	"gemu/cmd/internal/process"
	"gemu/driver"
)

var (
	outcomes    sync.Map      // *driver.Outcome by handle (uint64)
	lastOutcome atomic.Uint64 // the last handle
)

// launchOptions reads the options of a launch.
func launchOptions(text *C.char) (*driver.LaunchOptions, error) {
	d, err := process.Driver()
	if err != nil {
		return nil, err
	}
	options := ""
	if text != nil {
		options = C.GoString(text)
	}
	return d.ParseLaunchOptions(options)
}

//export gemu_launch_with
func gemu_launch_with(p *C.gemu_launch_params, text *C.char, counts *C.gemu_counts, outcome *C.gemu_outcome) C.int {
	if outcome != nil {
		*outcome = 0
	}
	return call(func(c *client) error {
		if p == nil {
			return errNull
		}
		options, err := launchOptions(text)
		if err != nil {
			return err
		}
		if outcome == nil && options.HasReports() {
			return &driver.Error{Result: driver.InvalidValue, Detail: "the launch options sanitize and structure need a pointer for the outcome"}
		}
		l := launchParams(p)
		l.Options = options
		if p.observer != nil {
			o := newObserver(p.observer, p.user)
			defer o.free()
			l.Probes = append(l.Probes, o)
		}
		r, err := c.RunForOutcome(&l)
		if r != nil && outcome != nil {
			h := lastOutcome.Add(1)
			outcomes.Store(h, r)
			*outcome = C.gemu_outcome(h)
		}
		if err == nil && counts != nil {
			*counts = countsOf(r.Result)
		}
		return err
	})
}

//export gemu_start_with
func gemu_start_with(params *C.gemu_launch_params, text *C.char, run *C.gemu_run) C.int {
	return call(func(*client) error {
		options, err := launchOptions(text)
		if err == nil && (options.HasReports() || options.HasID()) {
			err = &driver.Error{Result: driver.InvalidValue, Detail: "the launch options sanitize, structure and id do not work with gemu_start_with: it has no outcome, and gemu_stop ends it"}
		}
		if err != nil {
			return err
		}
		return startLaunch(params, options, run)
	})
}

// callAnytime implements functions that do not use the device: they may be called while it is busy.
func callAnytime(f func() error) C.int {
	c, err := thisClient()
	if err != nil {
		return C.int(driver.ResultOf(err))
	}
	return c.failed(f())
}

// errNull is the error of a call with a null pointer.
var errNull error = &driver.Error{Result: driver.InvalidValue, Detail: "a null pointer"}

// errNoOutcome is the error of a call with a handle of no outcome.
var errNoOutcome error = &driver.Error{Result: driver.InvalidHandle, Detail: "no outcome of a launch has this handle: it is 0, or gemu_forget has released it"}

//export gemu_report
func gemu_report(outcome C.gemu_outcome, name *C.char, text **C.char) C.int {
	if text != nil {
		*text = nil
	}
	return callAnytime(func() error {
		kept, ok := outcomes.Load(uint64(outcome))
		if !ok {
			return errNoOutcome
		}
		o := kept.(*driver.Outcome)
		if name == nil || text == nil {
			return errNull
		}
		var report any
		switch name := C.GoString(name); {
		case name == "statistics":
			report = o.Statistics
		case name == "findings" && o.Findings != nil:
			report = o.Findings
		case name == "findings":
			return &driver.Error{Result: driver.NotFound, Detail: "no sanitizer has observed the launch: the launch option sanitize selects them"}
		default:
			return &driver.Error{Result: driver.InvalidValue, Detail: "unknown report " + name + ": want statistics or findings"}
		}
		storeJSON(text, report)
		return nil
	})
}

//export gemu_forget
func gemu_forget(outcome C.gemu_outcome) C.int {
	return callAnytime(func() error {
		if _, ok := outcomes.LoadAndDelete(uint64(outcome)); !ok && outcome != 0 {
			return errNoOutcome
		}
		return nil
	})
}
