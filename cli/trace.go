package cli

// This file is "gemu trace".

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemu/accelsim"
	"gemu/internal/input"
	"gemu/internal/wholefile"
	"gemu/interp"
	"gemu/play"
	"gemu/ptx"
	"gemu/trace"
)

// machineFlags set the execution of a logged run.
type machineFlags struct {
	policyFlag
	Mode  string `group:"device" default:"check" enum:"check,affine,vector" help:"Mode of execution: check, affine or vector, as in gemu run. The output is the same in every mode." placeholder:"MODE"`
	Eager bool   `group:"device" help:"Execute compactly wherever operands are compact, as in gemu run. The log is the same."`
}

// prepare returns the function that sets the flags in a launch.
func (c *machineFlags) prepare(a *app) func(l *interp.Launch) {
	mode, _ := interp.ParseMode(c.Mode) // the flag allows no other name
	return func(l *interp.Launch) {
		l.Mode, l.CompileEagerly, l.Reconverge = mode, c.Eager, a.reconverger(c.Reconverge)
	}
}

// filterFlags select the logged part of a run.
type filterFlags struct {
	OnlyKernel string       `help:"Keep only the launches of the kernel NAME, for workloads with several kernels." placeholder:"NAME"`
	CTA        trace.Ranges `name:"cta" help:"Keep only these CTAs, by linear index in the grid, from 0: 0-3,7." placeholder:"N,…"`
	Warps      trace.Ranges `help:"Keep only these warps of each CTA, by index, from 0, such as 0-3,7." placeholder:"N,…"`
	Lines      trace.Ranges `help:"Keep only the instructions on these lines of the PTX, from 1: 10-20,31." placeholder:"N,…"`
	Class      []string     `help:"Keep only the instructions of these classes, such as memory,control; gemu isa OPCODE names the class of an instruction." placeholder:"CLASS"`
}

func (c *filterFlags) filter() (trace.Filter, error) {
	for _, name := range c.Class {
		if err := checkClass(name); err != nil {
			return trace.Filter{}, err
		}
	}
	return trace.Filter{Kernel: c.OnlyKernel, CTAs: c.CTA, Warps: c.Warps, Lines: c.Lines, Classes: c.Class}, nil
}

type traceCmd struct {
	launchFlags
	machineFlags
	filterFlags

	Out    string `short:"o" default:"-" help:"Write the log to FILE (- for standard output); the formats for Accel-Sim write to the directory FILE." placeholder:"FILE"`
	HTML   string `name:"html" help:"Write a page with each step of the run instead of a log, to FILE (- for standard output); see docs/play.md." placeholder:"FILE"`
	Format string `enum:"auto,text,binary,bare,accelsim,accelsim-tracez" default:"auto" help:"Format of the log. One of:${logformats}" placeholder:"FORMAT"`
}

// formats are the formats of logs, by their names in --format.
var formats = map[string]trace.Format{"text": trace.Text, "binary": trace.Binary, "bare": trace.Bare}

func (c *traceCmd) Run(a *app) error {
	if c.HTML != "" {
		return c.page(a)
	}
	if strings.HasPrefix(c.Format, "accelsim") {
		return c.accelsim(a)
	}
	format := formats[c.Format]
	if c.Format == "auto" && filepath.Ext(c.Out) == ".gtr" {
		format = trace.Binary
	}
	if err := checkOutput(c.Out); err != nil {
		return fmt.Errorf("-o %s: %w", c.Out, err)
	}
	filter, err := c.filter()
	if err != nil {
		return err
	}
	return a.writeLate(c.Out, func(to io.Writer) (ran, wrote error) { return c.record(a, to, format, filter, a.stderr) })
}

// page writes a page with the part of the run that the filters select.
func (c *traceCmd) page(a *app) error {
	if c.Out != "-" || c.Format != "auto" {
		return errors.New("--html writes a page instead of a log: -o and --format do not apply to it")
	}
	if err := checkOutput(c.HTML); err != nil {
		return fmt.Errorf("--html %s: %w", c.HTML, err)
	}
	filter, err := c.filter()
	if err != nil {
		return err
	}
	r, err := newPageRecorder(&c.launchFlags, filter, play.DefaultEvents)
	if err != nil {
		return err
	}
	j, err := c.open(a, dataOf(a.stderr), r)
	if err != nil {
		return err
	}
	ran := j.run(a, c.prepare(a))
	recording, err := r.close(a, c.Reconverge)
	switch {
	case err != nil:
		return err
	case len(recording.Base64) == 0 && ran == nil:
		return errFilters
	case len(recording.Base64) == 0:
		return ran
	}
	return all(ran, writePage(a, c.HTML, []play.Recording{recording}))
}

// errNotWritten is the write error of an output with nothing to keep.
var errNotWritten = errors.New("nothing is written")

// writeLate calls write with a writer to the file of a name, or to standard output for "-". write returns the error of the run, and
// that of writing. The file gets its name when it is complete: after a write error, also errNotWritten, an earlier file stays.
func (a *app) writeLate(name string, write func(to io.Writer) (ran, wrote error)) error {
	to, commit := dataOf(a.stdout), func(wrote error) error { return wrote }
	if name != "-" {
		file := &lateFile{ctx: a.ctx, name: name}
		to, commit = file, file.commit
	}
	ran, wrote := write(to)
	switch wrote = commit(wrote); {
	case wrote == nil || errors.Is(wrote, errNotWritten):
		return ran
	case name == "-": // standard output has reported the error
		return wrote
	}
	return &failure{input.FileError("write", name, wrote), exitBad}
}

// lateFile is a file that is created at the first write: after a typing error in the command line an
// earlier log still exists.
type lateFile struct {
	ctx  context.Context
	name string
	file *wholefile.File
}

func (f *lateFile) Write(b []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = wholefile.Create(f.ctx, f.name); err != nil {
			return 0, err
		}
	}
	return f.file.Write(b)
}

// commit gives the complete file its name. After a write error, which it returns, the earlier log
// stays.
func (f *lateFile) commit(wrote error) error {
	switch {
	case f.file == nil:
		return wrote
	case wrote != nil:
		f.file.Discard()
		return wrote
	}
	return f.file.Commit()
}

// accelsim writes traces for Accel-Sim.
func (c *traceCmd) accelsim(a *app) error {
	filter, err := c.filter()
	switch {
	case err != nil:
		return err
	case !filter.IsZero():
		return fmt.Errorf("--format %s writes whole launches: filters do not apply", c.Format)
	case c.Out == "-":
		return fmt.Errorf("--format %s writes a directory: -o DIR is missing", c.Format)
	}
	sm := c.SM
	if sm == 0 {
		sm = interp.DefaultSM
	}
	version := accelsim.VersionFor(sm)
	if version == 0 {
		return fmt.Errorf("--sm %d: Accel-Sim supports sm_%d and later", sm, accelsim.Versions()[0])
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return input.FileError("write", c.Out, err)
	}
	x, err := accelsim.New(c.Out, version)
	if err != nil {
		return err
	}
	x.Packed = c.Format == "accelsim-tracez"
	j, err := c.open(a, dataOf(a.stderr), x)
	if err != nil {
		x.Discard()
		return err
	}
	if run := j.run(a, c.prepare(a)); run != nil {
		x.Discard()
		return run
	}
	if wrote := x.Close(); wrote != nil {
		return &failure{input.FileError("write", c.Out, wrote), exitBad}
	}
	fmt.Fprintf(a.stdout, "%s in %s, binary version %d\n", counted(len(j.results), "kernel"), filepath.Join(c.Out, "kernelslist.g"), version)
	return nil
}

// record logs a run. The first error is the error of the run, the second the error of writing the
// log.
func (c *traceCmd) record(a *app, to io.Writer, format trace.Format, filter trace.Filter, stdout io.Writer) (run, wrote error) {
	w, err := trace.NewWriter(to, format, &trace.Header{Version: trace.Version, Filter: filter})
	if err != nil {
		return nil, err
	}
	r := trace.NewRecorder(w, filter)
	j, err := c.open(a, stdout, r)
	if err != nil {
		return err, errNotWritten
	}
	run = j.run(a, c.prepare(a))
	if wrote = r.Close(); wrote != nil || w.Records() > 0 {
		return run, wrote
	}
	if run == nil && !filter.IsZero() {
		run = errors.New("no instruction passes the filters --only-kernel, --cta, --warps, --lines and --class")
	}
	if run != nil { // also of a launch that was refused
		wrote = errNotWritten
	}
	return run, wrote
}

// checkClass returns an error if instructions have no class with this name.
func checkClass(name string) error {
	var names []string
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms() {
			names = append(names, f.Class.String())
		}
	}
	if slices.Contains(names, name) {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("--class %s: want some of %s", name, strings.Join(slices.Compact(names), ", "))
}
