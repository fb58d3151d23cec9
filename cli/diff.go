package cli

// This file is "gemu diff".

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemu/internal/cleanup"
	"gemu/internal/input"
	"gemu/probe"
	"gemu/trace"
)

type diffCmd struct {
	A     string   `arg:"" help:"A log, or a program to run: PTX file, CUDA C++, or @NAME of a workload."`
	B     string   `arg:"" optional:"" help:"The second log or program. Without it, A runs twice: give two values to --mode, --reconverge or --seeds."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	kernelFlags
	Reconverge   []string `group:"device" default:"auto" help:"Reconvergence policy (see gemu run): one for both runs, or one each for A and B, such as stack,its." placeholder:"POLICY"`
	Mode         []string `group:"device" default:"check" help:"Mode of execution (see gemu run): one for both runs, or one each for A and B, such as check,vector." placeholder:"MODE"`
	Seeds        []uint64 `group:"device" help:"Number of the schedule (see --seed): one for both runs, or one each for A and B, such as 0,1." unset:"the number of --seed" placeholder:"N"`
	Eager        bool     `group:"device" help:"Execute compactly wherever operands are compact, as in gemu run."`
	KernelB      string   `group:"program" name:"kernel-b" help:"Kernel of B to run." unset:"the kernel of -k" placeholder:"NAME"`
	filterFlags  `group:"compare"`
	compareFlags `group:"compare"`
}

// compareFlags control the comparison of logs.
type compareFlags struct {
	ULP uint64 `name:"ulp" help:"Do not report results of .approx instructions that differ by at most N units in the last place." unset:"0" placeholder:"N"`

	Slice   string `enum:"auto,first,second,both,none" default:"auto" help:"Log in which a different value is traced back to the instructions that produced it: first, second, both, none, or auto (the first log if it contains the registers that instructions read, otherwise the second)." placeholder:"LOG"`
	NoSlice bool   `help:"Do not trace a different value back, as with --slice none."`
}

// isRun reports whether a name is a source to run, not a log.
func isRun(name string) bool {
	return strings.HasPrefix(name, "@") || slices.Contains([]string{".ptx", ".cu"}, filepath.Ext(name))
}

// logFile opens an existing log. It must be a regular file, because it is read several times.
func logFile(name string) trace.Source {
	return trace.Source{Name: name, Open: func() (io.ReadCloser, error) {
		f, err := input.OpenRegular(name)
		if err != nil {
			return nil, input.FileError("read", name, err)
		}
		return f, nil
	}}
}

// live runs a source and writes its log to a file in a directory.
func (c *traceCmd) live(a *app, dir, name string, filter trace.Filter) (trace.Source, error) {
	file := filepath.Join(dir, name)
	f, err := os.Create(file)
	if err != nil {
		return trace.Source{}, input.FileError("write", file, err)
	}
	defer f.Close()
	run, wrote := c.record(a, f, trace.Binary, filter, io.Discard)
	s := logFile(file)
	s.Name = "the log of " + c.File
	var trap *probe.Trap
	switch {
	case wrote != nil && !errors.Is(wrote, errNotWritten):
		return s, input.FileError("write", file, wrote)
	case errors.As(run, &trap): // the log contains the trap
		fmt.Fprintf(a.stderr, "gemu: %s: %v\n", name, run)
		return s, nil
	}
	return s, run
}

func (c *diffCmd) Run(a *app, line *kong.Context) error {
	filter, err := c.filter()
	if err != nil {
		return err
	}
	if c.B == "" {
		c.B = c.A
	}
	names := [2]string{c.A, c.B}
	if slices.Contains(names[:], "-") {
		return errors.New("logs are read several times: a log cannot be standard input")
	}
	if !isRun(c.A) && !isRun(c.B) {
		why := fmt.Sprintf("%s and %s are logs", c.A, c.B)
		if len(c.Extra) > 0 {
			return fmt.Errorf("%s: kernel arguments do not apply", why)
		}
		if err := checkFlags(line, why, "compare"); err != nil {
			return err
		}
	}
	if len(c.Seeds) > 2 {
		return fmt.Errorf("--seeds has %d values: want one for both runs, or two, one for each run", len(c.Seeds))
	}
	var runs [2]*traceCmd // nil for a log
	for i, name := range names {
		mode, err := choice("--mode", c.Mode, i, "check", "affine", "vector")
		if err != nil {
			return err
		}
		policy, err := valueOfRun("--reconverge", c.Reconverge, i)
		if err != nil {
			return err
		}
		if _, err := a.parseReconverger(policy); err != nil {
			return fmt.Errorf("--reconverge: %w", err)
		}
		if !isRun(name) {
			continue
		}
		r := &traceCmd{launchFlags: launchFlags{sourceArg: sourceArg{name}, Extra: c.Extra, kernelFlags: c.kernelFlags}}
		r.Mode, r.Reconverge, r.Eager = mode, policy, c.Eager
		if i == 1 && c.KernelB != "" {
			r.Kernel = c.KernelB
		}
		if len(c.Seeds) > 0 {
			r.Seed = c.Seeds[min(i, len(c.Seeds)-1)]
		}
		runs[i] = r
	}
	dir, remove, err := cleanup.Dir("", "gemu-diff-*")
	if err != nil {
		return err
	}
	defer remove()
	var logs [2]trace.Source
	for i, r := range runs {
		if logs[i] = logFile(names[i]); r == nil {
			continue
		}
		if logs[i], err = r.live(a, dir, [2]string{"first", "second"}[i], filter); err != nil {
			return err
		}
	}
	return c.compare(a, logs[0], logs[1], filter)
}

// choice returns the value of a flag for A or for B.
func choice(flag string, list []string, i int, names ...string) (string, error) {
	s, err := valueOfRun(flag, list, i)
	if err != nil {
		return "", err
	}
	if !slices.Contains(names, s) {
		return "", fmt.Errorf("%s %s: want one of %s", flag, s, strings.Join(names, ", "))
	}
	return s, nil
}

// valueOfRun returns the value of a flag for run i of two; a single value is for both.
func valueOfRun(flag string, list []string, i int) (string, error) {
	if len(list) == 0 || len(list) > 2 {
		return "", fmt.Errorf("%s %s: want one value for both runs, or two values, one for each run", flag, strings.Join(list, ","))
	}
	return list[min(i, len(list)-1)], nil
}

// compare prints the first difference between the filtered entries of two logs.
func (c *compareFlags) compare(a *app, x, y trace.Source, filter trace.Filter) error {
	option, err := trace.Restricted(x, y, filter)
	if err != nil {
		return err
	}
	if option != "" {
		fmt.Fprintf(a.stderr, "gemu: %s\n", option)
	}
	d, summary, err := trace.Compare(x, y, trace.Options{ULP: c.ULP, Filter: filter})
	if err != nil {
		return err
	}
	if d == nil {
		if summary.Empty() {
			return fmt.Errorf("nothing was compared: no instruction of %s and %s passes the filters of both", x.Name, y.Name)
		}
		fmt.Fprintf(a.stdout, "no difference\n%s", summary)
		return nil
	}
	fmt.Fprint(a.stdout, d)
	if c.NoSlice {
		c.Slice = "none"
	}
	logs := [2]trace.Source{x, y}
	switch c.Slice {
	case "auto":
		list, err := d.Slice(logs)
		if err != nil {
			return err
		}
		printSlice(a, d, list, "")
	case "first", "second", "both":
		for i, name := range []string{"first", "second"} {
			if c.Slice != name && c.Slice != "both" {
				continue
			}
			list, err := d.SliceOf(i, logs)
			if err != nil {
				return err
			}
			if printSlice(a, d, list, " in the "+name+" log"); len(list) == 0 {
				fmt.Fprintf(a.stdout, "the %s log does not show the origin of the value\n", name)
			}
		}
	}
	return &failure{errors.New("the logs differ"), exitFailed}
}

// printSlice prints the origin of the value at a difference.
func printSlice(a *app, d *trace.Difference, list []trace.Origin, place string) {
	for i, o := range list {
		if i == 0 {
			fmt.Fprintf(a.stdout, "origin of the value%s, with the values of thread %d:\n", place, d.Thread)
		}
		source := ""
		if o.Thread != d.Thread || o.CTA != d.CTA.Number || o.Launch != d.Launch {
			source = fmt.Sprintf("launch %d, cta %d, thread %d: ", o.Launch, o.CTA, o.Thread)
		}
		fmt.Fprintf(a.stdout, "  %s%s%s\n", strings.Repeat("  ", o.Depth), source, o)
	}
}
