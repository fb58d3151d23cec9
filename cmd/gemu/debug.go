package main

// This file is "gemu debug".

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"gemu/debug"
	"gemu/debug/tui"
	"gemu/internal/bytesize"
	"gemu/interp"
)

type debugCmd struct {
	File  string   `arg:"" optional:"" predictor:"source" help:"PTX file, CUDA C++ (.cu, with a compiler that is on the path), or @NAME of a workload; none with --dap, whose client says it."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	launchOptions
	policyFlag

	Mode        string        `default:"vector" enum:"check,affine,vector" help:"How instructions execute: as in gemu run, but on vectors only by default."`
	Async       string        `default:"late" enum:"late,early" help:"When asynchronous effects happen: as late as may be (late, the default), or where they are issued (early)."`
	Commands    string        `short:"x" help:"Execute the commands of FILE, a line each, instead of asking for some." placeholder:"FILE"`
	DAP         string        `name:"dap" help:"Speak the Debug Adapter Protocol, on standard input and output, or with --dap=:PORT to one who connects there." placeholder:":PORT"`
	Checkpoints bytesize.Size `help:"Memory of the host that going back may take, with K, M or G (default 256M)." placeholder:"BYTES"`
}

func (c *debugCmd) Run(a *app) error {
	if c.DAP != "" {
		if c.File != "" || c.Commands != "" {
			return errors.New("--dap: the client says what to launch, and what to do")
		}
		return c.serve(a)
	}
	if c.File == "" {
		return errors.New("what is to be debugged? A PTX file, CUDA C++, or @NAME")
	}
	front, stdout, err := c.front(a)
	if err != nil {
		return err
	}
	return c.debug(a, stdout, front)
}

// maxCommands bounds a file of commands, in bytes.
const maxCommands = 1 << 20

// front is what talks to the user, and where kernels print.
func (c *debugCmd) front(a *app) (debug.Front, io.Writer, error) {
	more := strings.HasPrefix(c.File, "@")
	if c.Commands != "" {
		b, err := readFile(c.Commands, maxCommands)
		if err != nil {
			return nil, nil, err
		}
		return debug.NewLines(strings.NewReader(string(b)), a.stdout, c.Commands, more), a.stdout, nil
	}
	if c.File == "-" {
		return nil, nil, errors.New("standard input has the commands, unless -x FILE has them: it cannot have the kernel")
	}
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return debug.NewLines(a.stdin, a.stdout, "standard input", more), a.stdout, nil
	}
	out, ok := terminal(a.stdout)
	if !ok || os.Getenv("TERM") == "dumb" {
		return debug.NewLines(a.stdin, a.stdout, "", more), a.stdout, nil
	}
	f := tui.New(in, out, more)
	return f, f, nil
}

// debug runs what the flags say under a front end. The user has heard of traps already; what they leave
// is the exit status.
func (c *debugCmd) debug(a *app, stdout io.Writer, front debug.Front) error {
	out := debug.NewOutput(stdout)
	flags := &launchFlags{File: c.File, Extra: c.Extra, launchOptions: c.launchOptions}
	j, err := flags.open(a, out)
	if err != nil {
		return err
	}
	s := debug.New(debug.Options{Budget: uint64(c.Checkpoints), Output: out})
	err = j.run(a, func(l *interp.Launch) {
		l.Mode, l.Reconverge, l.Early = interp.Modes[c.Mode], interp.ReconvergerNamed(c.Reconverge), c.Async == "early"
		l.Progress = nil
		s.Drive(l, front)
	})
	var wrong *debug.ScriptError
	failed := s.Failure()
	switch {
	case errors.As(err, &wrong):
		return &failure{fmt.Errorf("%w", wrong), exitBad}
	case failed != nil && (errors.Is(err, debug.Quit) || errors.Is(err, failed)):
		return &failure{errors.New("the launch has failed"), exitFailed}
	case errors.Is(err, debug.Quit):
		return nil
	}
	return err
}

func (c *debugCmd) serve(a *app) error { return nil }
