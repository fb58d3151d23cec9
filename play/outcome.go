package play

// This file describes the end of a run to a reader.

import (
	"errors"
	"strconv"
	"strings"

	"gemu/argument"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// describe sets the status, the message and the place of a response for the error of its run; nil for a launch that is done.
func (r *run) describe(err error) {
	p := r.response
	var trap *probe.Trap
	var limit *errLimit
	switch {
	case err == nil:
		p.Status = Done
		return
	case errors.As(err, &limit):
		p.Status, p.Message = Stopped, limit.Error()+": later steps are not shown"
		return
	case errors.As(err, &trap):
		p.Status = statusOf(trap.Kind)
		p.Message, p.Place = trap.Report(), r.placeOfTrap(trap)
	default:
		p.Status = Failed
		p.Message, p.Place = messageOf(err), placeOf(err)
	}
	if trap == nil && r.launched { // the launch ended with an error that is no fault of the kernel, such as missing memory
		p.Status = Trapped
	}
	var wrong *argument.Error
	if errors.As(err, &wrong) && wrong.Index >= 0 {
		p.Argument, p.Offset = &wrong.Index, wrong.Offset
	}
	p.Field = fieldOf(err)
}

// fieldError is an error of a field of the request.
type fieldError struct {
	field string // its name in JSON
	error
}

func (e *fieldError) Unwrap() error { return e.error }

// requestFields has the fields of the request, by the field of interp.Launch that they set.
var requestFields = map[string]string{"Grid": "grid", "Block": "block", "Cluster": "cluster", "Shared": "shared", "Cooperative": "cooperative", "WarpSize": "warp"}

// fieldOf returns the name of the field of the request that an error refuses; "" if there is none.
func fieldOf(err error) string {
	var wrong *fieldError
	var refused *interp.LaunchError
	switch {
	case errors.As(err, &wrong):
		return wrong.field
	case errors.As(err, &refused):
		return requestFields[refused.Field]
	}
	return ""
}

// placeOfTrap returns the place of a trap in the text of the request: of CUDA C++ in the line that .loc names.
func (r *run) placeOfTrap(t *probe.Trap) *Place {
	if isCUDA(r.request.Name) {
		parts := strings.Split(t.Source, ":")
		if n := len(parts); n >= 3 {
			line, err1 := strconv.Atoi(parts[n-2])
			column, err2 := strconv.Atoi(parts[n-1])
			if err1 == nil && err2 == nil {
				return &Place{r.request.Name, line, column}
			}
		}
		return nil
	}
	return &Place{t.File, int(t.Pos.Line), int(t.Pos.Col)}
}

// statusOf returns the status of a trap.
func statusOf(kind error) Status {
	switch kind {
	case probe.ErrStepLimit, probe.ErrTimeLimit:
		return Stopped
	case probe.ErrDeadlock, probe.ErrKeptOut:
		return Deadlock
	}
	return Trapped
}

// messageOf returns the message of an error, with the line of the source and a caret where the error has a place.
func messageOf(err error) string {
	var lines []string
	add := func(err error, snippet string) {
		lines = append(lines, err.Error())
		if snippet != "" {
			lines = append(lines, snippet)
		}
	}
	var list ptx.ErrorList
	var located interface {
		error
		Snippet() string
	}
	switch {
	case errors.As(err, &list):
		for _, e := range list {
			add(e, e.Snippet())
		}
	case errors.As(err, &located):
		add(err, located.Snippet())
	default:
		add(err, "")
	}
	return strings.Join(lines, "\n")
}

// placeOf returns the first place of an error; nil if it has none.
func placeOf(err error) *Place {
	var list ptx.ErrorList
	var unsupported *ptx.Unsupported
	var memory *interp.MemoryError
	var compiler *CompileError
	at := func(file string, pos ptx.Pos) *Place { return &Place{file, int(pos.Line), int(pos.Col)} }
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return at(list[0].File, list[0].Pos)
	case errors.As(err, &unsupported):
		return at(unsupported.File, unsupported.Pos)
	case errors.As(err, &memory):
		return at(memory.File, memory.Pos)
	case errors.As(err, &compiler):
		return compiler.place()
	}
	return nil
}

// CompileError is the error of a compiler of CUDA C++.
type CompileError struct {
	Name string // name of the source
	Text string // messages of the compiler
}

func (e *CompileError) Error() string { return e.Text }

// place returns the place of the first message "NAME:LINE:COLUMN: …"; nil if there is none.
func (e *CompileError) place() *Place {
	for line := range strings.Lines(e.Text) {
		rest, ok := strings.CutPrefix(line, e.Name+":")
		if !ok {
			continue
		}
		parts := strings.SplitN(rest, ":", 3)
		if len(parts) < 3 {
			continue
		}
		l, err1 := strconv.Atoi(parts[0])
		c, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil {
			return &Place{e.Name, l, c}
		}
	}
	return nil
}
