package main

// This file implements launches with options, and their results as data: gemu_launch_with, gemu_report and gemu_forget.

/*
#define GEMU_TYPES_ONLY
#include "gemu.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

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
			return &driver.Error{Result: driver.InvalidValue, Detail: "launch options with results, such as sanitize and profile, need a pointer for the outcome"}
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
			err = &driver.Error{Result: driver.InvalidValue, Detail: "launch options with results, such as sanitize and profile, and id do not work with gemu_start_with: it has no outcome, and gemu_stop ends it"}
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
		report, err := reportOf(o, C.GoString(name))
		if err != nil {
			return err
		}
		storeJSON(text, report)
		return nil
	})
}

// reports are the reports of an outcome. option is the launch option that makes a report; "" if every launch has it.
var reports = []struct {
	name, option string
	of           func(o *driver.Outcome) any
}{
	{"statistics", "", func(o *driver.Outcome) any { return o.Statistics }},
	{"run", "", func(o *driver.Outcome) any { return o.Run }},
	{"findings", "sanitize", func(o *driver.Outcome) any { return existing(o.Findings) }},
	{"structure", "structure", func(o *driver.Outcome) any { return existing(o.Structure) }},
	{"profile", "profile", func(o *driver.Outcome) any { return existing(o.Profile) }},
}

// existing returns a report as any: nil for a nil pointer.
func existing[T any](report *T) any {
	if report == nil {
		return nil
	}
	return report
}

// reportOf returns a report of an outcome.
func reportOf(o *driver.Outcome, name string) (any, error) {
	var names []string
	for _, r := range reports {
		if names = append(names, r.name); r.name != name {
			continue
		}
		report := r.of(o)
		if report == nil {
			return nil, &driver.Error{Result: driver.NotFound, Detail: fmt.Sprintf("the launch has no report %s: the launch option %s makes it, and a launch that has failed has no structure", name, r.option)}
		}
		return report, nil
	}
	return nil, &driver.Error{Result: driver.InvalidValue, Detail: fmt.Sprintf("unknown report %q: want one of %s", name, strings.Join(names, ", "))}
}

//export gemu_get_recording
func gemu_get_recording(outcome C.gemu_outcome, data *unsafe.Pointer, size *C.size_t) C.int {
	if data != nil {
		*data = nil
	}
	return callAnytime(func() error {
		kept, ok := outcomes.Load(uint64(outcome))
		switch o, _ := kept.(*driver.Outcome); {
		case !ok:
			return errNoOutcome
		case data == nil || size == nil:
			return errNull
		case o.Recording == nil:
			return &driver.Error{Result: driver.NotFound, Detail: "the launch has no recording: the launch option record makes it"}
		default:
			*data, *size = C.CBytes(o.Recording), C.size_t(len(o.Recording))
			return nil
		}
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
