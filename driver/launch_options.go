package driver

// This file implements launches with options of their own, whose results are returned as data.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/affinetrack"
	"gemu/record"
	"gemu/sanitize"
)

// LaunchOptions are the options of one launch.
type LaunchOptions struct {
	// settings are those of the driver, changed by the options: only settings of launchVariables differ. Sanitize, Models and Machines
	// have the observers of the launch alone.
	settings Settings

	warp      int    // lanes of a warp; 0: 32
	seed      uint64 // number of the schedule
	structure bool   // the value structure is counted
	profile   bool   // the launch is profiled
	record    bool   // the launch is recorded, with settings.RecordWith
	id        uint64 // number for Interrupt; 0: none

	given map[string]bool // names of the options that were given
}

// launchVariables are the environment variables whose settings a launch can have for itself. The name of the option is
// the name of the variable without GEMU_, in lower case.
var launchVariables = []string{"GEMU_MODE", "GEMU_ENGINE", "GEMU_POLICY", "GEMU_RECONVERGE", "GEMU_ASYNC", "GEMU_WORKERS", "GEMU_STEPS", "GEMU_TIME_LIMIT", "GEMU_SM", "GEMU_SANITIZE", "GEMU_REGFILE", "GEMU_MACHINE"}

// launchOption is an option without an environment variable.
type launchOption struct {
	name string
	set  func(o *LaunchOptions, v string) error
}

// launchOptions are the options without an environment variable: clients of the driver API expect warps of 32 lanes, and
// their launches need no schedules.
var launchOptions = []launchOption{
	{"warp", func(o *LaunchOptions, v string) (err error) {
		o.warp, err = atoi(v, 1, 64)
		if err != nil || o.warp&(o.warp-1) != 0 {
			return fmt.Errorf("want 1, 2, 4, 8, 16, 32 or 64")
		}
		return nil
	}},
	{"seed", func(o *LaunchOptions, v string) error {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return fmt.Errorf("want a number from 0 to 2^64-1")
		}
		o.seed = n
		return nil
	}},
	{"id", func(o *LaunchOptions, v string) error {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil || n == 0 {
			return fmt.Errorf("want a number from 1 to 2^64-1")
		}
		o.id = n
		return nil
	}},
	{"structure", func(o *LaunchOptions, v string) (err error) {
		o.structure, err = zeroOrOne(v)
		return err
	}},
	{"profile", func(o *LaunchOptions, v string) (err error) {
		o.profile, err = zeroOrOne(v)
		return err
	}},
	{"record", func(o *LaunchOptions, v string) (err error) {
		o.record = true
		if v == "events" {
			o.settings.RecordWith = record.Contents{}
			return nil
		}
		o.settings.RecordWith, err = record.ParseContents(strings.Split(v, ","))
		return err
	}},
}

// zeroOrOne parses 0 as false and 1 as true.
func zeroOrOne(v string) (bool, error) {
	n, err := atoi(v, 0, 1)
	return n == 1, err
}

// variableOf returns the environment variable with the name of an option; nil if there is none.
func variableOf(option string) *Variable {
	i := slices.IndexFunc(Variables, func(v Variable) bool { return v.Name == "GEMU_"+strings.ToUpper(option) })
	if i < 0 || option != strings.ToLower(option) {
		return nil
	}
	return &Variables[i]
}

// optionNames lists the names of all options.
func optionNames() string {
	var names []string
	for _, v := range launchVariables {
		names = append(names, strings.ToLower(strings.TrimPrefix(v, "GEMU_")))
	}
	for _, o := range launchOptions {
		names = append(names, o.name)
	}
	return strings.Join(names, ", ")
}

// defaultOptions returns the options of a launch without options of its own.
func (d *Driver) defaultOptions() *LaunchOptions {
	o := &LaunchOptions{settings: d.settings}
	o.settings.Sanitize, o.settings.Models, o.settings.Machines = nil, nil, nil // the driver's own observe all launches
	return o
}

// ParseLaunchOptions reads the options of a launch: pairs name=value between white space, such as "mode=check warp=16".
// Without an option, the driver's setting applies; without sanitize, only the sanitizers of the driver observe the launch.
// The error has the result InvalidValue and names the option.
func (d *Driver) ParseLaunchOptions(text string) (*LaunchOptions, error) {
	o := d.defaultOptions()
	o.given = map[string]bool{}
	for _, pair := range strings.Fields(text) {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || value == "":
			return nil, fail(InvalidValue, "launch option %q: want NAME=VALUE, without space around =", pair)
		case o.given[name]:
			return nil, fail(InvalidValue, "launch option %s is given twice", name)
		}
		o.given[name] = true
		if err := o.set(name, value); err != nil {
			return nil, fail(InvalidValue, "launch option %s: %v", pair, err)
		}
	}
	switch s := &d.settings; {
	case s.Stats != "" && cmp.Or(o.settings.Policy, affinetrack.Policies[0]) != cmp.Or(s.Policy, affinetrack.Policies[0]):
		return nil, fail(InvalidValue, "launch option policy: the file of GEMU_STATS has all launches under one policy, which GEMU_POLICY sets")
	case o.warp != 0 && o.warp != 32 && (len(o.settings.Models) > 0 || len(o.settings.Machines) > 0):
		return nil, fail(InvalidValue, "launch option warp=%d: models and machines, of the options regfile and machine, observe warps of 32 lanes", o.warp)
	case o.warp != 0 && o.warp != 32 && (len(s.Models) > 0 || len(s.Machines) > 0 || s.Accelsim != ""):
		return nil, fail(InvalidValue, "launch option warp=%d: GEMU_REGFILE, GEMU_MACHINE and GEMU_ACCELSIM observe warps of 32 lanes", o.warp)
	}
	return o, nil
}

// set sets an option.
func (o *LaunchOptions) set(name, value string) error {
	if i := slices.IndexFunc(launchOptions, func(x launchOption) bool { return x.name == name }); i >= 0 {
		return launchOptions[i].set(o, value)
	}
	v := variableOf(name)
	switch {
	case v == nil:
		return fmt.Errorf("unknown: want some of %s", optionNames())
	case !slices.Contains(launchVariables, v.Name):
		return fmt.Errorf("this option belongs to the process: set %s before the library is loaded. A launch has %s", v.Name, optionNames())
	}
	if err := v.set(&o.settings, value); err != nil {
		return err
	}
	if slices.ContainsFunc(o.settings.Sanitize, func(t *sanitize.Tool) bool { return t.Rare }) {
		return fmt.Errorf("a leak is memory of the process, not of a launch: set GEMU_SANITIZE before the library is loaded")
	}
	return nil
}

// nameOf returns the name, for messages, of the place that sets a setting: the launch option if it was given, and
// otherwise the environment variable.
func (o *LaunchOptions) nameOf(variable string) string {
	option := strings.ToLower(strings.TrimPrefix(variable, "GEMU_"))
	if o != nil && o.given[option] {
		return "launch option " + option
	}
	return variable
}

// execFlag names the flag of gemu exec for a setting in a message about a launch without options.
func (o *LaunchOptions) execFlag(flag string) string {
	if o != nil {
		return ""
	}
	return " (gemu exec: " + flag + ")"
}

// HasReports reports whether results are requested that only an Outcome has.
func (o *LaunchOptions) HasReports() bool {
	return o.structure || o.profile || o.record || len(o.settings.Sanitize) > 0 || len(o.settings.Models) > 0 || len(o.settings.Machines) > 0
}

// HasID reports whether the launch has a number for Driver.Interrupt.
func (o *LaunchOptions) HasID() bool { return o.id != 0 }
