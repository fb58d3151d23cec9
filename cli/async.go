package cli

// This file is "gemu run --async=both".

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gemu/argument"
	"gemu/interp"
	"gemu/ptx"
)

// asyncTwin is a second job, equal to the main job except for the time of its asynchronous effects.
type asyncTwin struct {
	*job
	err error // error of its launches
}

// early runs the job of the flags once, on a device of its own. Its asynchronous effects happen when they are issued. The output
// of its kernels is discarded.
func (c *runCmd) early(a *app, prepare func(l *interp.Launch)) (*asyncTwin, error) {
	if c.File == "-" {
		return nil, errors.New("--async=both reads the file twice: the file cannot be standard input")
	}
	j, err := c.open(a, io.Discard)
	if err != nil {
		return nil, err
	}
	t := &asyncTwin{job: j}
	t.err = j.run(a, func(l *interp.Launch) {
		prepare(l)
		l.EagerEffects, l.Structure, l.Probes = true, false, nil
	})
	if a.ctx.Err() != nil {
		return nil, t.err
	}
	return t, nil
}

// compare returns the error of the command. ran is the error of the launches of job j; err is ran, or an error in their results.
// If the results depend on the time of effects, the returned error says so, after err. A fault of either job is an error of the
// command; a note names the job.
func (t *asyncTwin) compare(a *app, j *job, ran, err error) error {
	note := func(format string, args ...any) {
		fmt.Fprintf(a.stderr, "gemu: --async=both: "+format+"\n", args...)
	}
	switch {
	case t.err != nil && ran == nil:
		note("the launch fails with early asynchronous effects, but not with late effects")
		return t.err
	case t.err == nil && ran != nil:
		note("the launch fails with late asynchronous effects, but not with early effects")
		return err
	case ran != nil:
		if ran.Error() != t.err.Error() {
			note("the launch also fails with early asynchronous effects: %v", t.err)
		}
		return err
	case j.workload != nil: // a workload compares its own results
		return err
	}
	msg := differences(t.finalMemory(), j.finalMemory(), func(name string) string {
		if t.arguments.Bindings[name] == nil {
			return "variable " + name
		}
		return "buffer of argument " + name
	})
	switch {
	case msg == "":
		return err
	case err != nil:
		msg = fmt.Sprintf("%v\n%s", err, msg)
	}
	return &failure{errors.New(msg), exitFailed}
}

// differences names the arrays with different bytes; "" if there are none.
func differences(early, late map[string]*argument.Array, title func(name string) string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(late)) {
		first, n := 0, 0
		lateArray, earlyArray := late[name], early[name]
		for i := range lateArray.Len() {
			if lateArray.Bits(i) != earlyArray.Bits(i) {
				if n++; n == 1 {
					first = i
				}
			}
		}
		if n == 0 {
			continue
		}
		lateText, earlyText := lateArray.Format(first), earlyArray.Format(first)
		if lateText == earlyText { // equal NaNs
			lateText, earlyText = fmt.Sprintf("%s (%#x)", lateText, lateArray.Bits(first)), fmt.Sprintf("%s (%#x)", earlyText, earlyArray.Bits(first))
		}
		list = append(list, fmt.Sprintf("--async=both: %s: %d of %d elements depend on the time of asynchronous effects\n   [%d] is %s with late effects, %s with early effects", title(name), n, lateArray.Len(), first, lateText, earlyText))
	}
	return strings.Join(list, "\n")
}

// finalMemory returns the memory after the launches: the buffers of the arguments and the
// variables of the module.
func (j *job) finalMemory() map[string]*argument.Array {
	all := map[string]*argument.Array{}
	for _, d := range j.module.Decls {
		if v, ok := d.(*ptx.Var); ok && v.Space == ptx.Global {
			if b, err := j.arguments.Lookup(v.Name); err == nil {
				all[v.Name] = b.Array()
			}
		}
	}
	for name, b := range j.arguments.Bindings {
		all[name] = b.Array()
	}
	return all
}
