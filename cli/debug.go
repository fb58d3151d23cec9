package cli

// This file is "gemu debug".

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"gemu/debug"
	"gemu/debug/dap"
	"gemu/debug/tui"
	"gemu/internal/notation"
	"gemu/internal/strip"
	"gemu/interp"
)

type debugCmd struct {
	File  string   `arg:"" optional:"" predictor:"source" help:"PTX file, CUDA C++ (.cu; needs nvcc or clang), or @NAME of a workload. With --dap, the client names the program."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	kernelFlags
	policyFlag

	Mode        string        `group:"device" default:"vector" enum:"check,affine,vector" help:"Mode of execution: check, affine or vector; see gemu run." placeholder:"MODE"`
	Async       string        `group:"device" default:"late" enum:"late,early" help:"Time at which asynchronous copies and tensor operations take effect: late (at the wait that orders them) or early (where they are issued)." placeholder:"TIME"`
	Commands    string        `short:"x" help:"Execute the commands of FILE, one per line, instead of prompting for commands." placeholder:"FILE"`
	HTML        string        `name:"html" help:"Write a page with each step of the run to FILE (- for standard output) instead of starting a session; see docs/play.md." placeholder:"FILE"`
	DAP         string        `name:"dap" help:"Speak the Debug Adapter Protocol: --dap on standard input and output, --dap=:PORT on that TCP port." placeholder:":PORT"`
	Checkpoints notation.Size `help:"Host memory for the checkpoints that stepping back uses, in bytes, or with K, M or G." unset:"256M" placeholder:"BYTES"`
}

func (c *debugCmd) Run(a *app) error {
	if c.DAP != "" {
		if c.File != "" || c.Commands != "" || c.HTML != "" {
			return errors.New("--dap takes no program, no -x FILE and no --html: the client chooses the program and sends the commands")
		}
		return c.serve(a)
	}
	if c.File == "" {
		return errors.New("the program is missing: a PTX file, CUDA C++, or @NAME")
	}
	if c.HTML != "" {
		if c.Commands != "" || c.Async != "late" {
			return errors.New("--html writes a page instead of starting a session: -x and --async do not apply to it")
		}
		page := traceCmd{launchFlags: launchFlags{sourceArg{c.File}, c.Extra, c.kernelFlags}, machineFlags: machineFlags{policyFlag: c.policyFlag, Mode: c.Mode}, Out: "-", Format: "auto", HTML: c.HTML}
		return page.page(a)
	}
	front, stdout, err := c.front(a)
	if err != nil {
		return err
	}
	return c.debug(a, stdout, front, c.Commands == "" && isTerminal(a.stdin))
}

// maxCommands bounds a file of commands, in bytes.
const maxCommands = 1 << 20

// front returns the front end, and the writer for the output of kernels.
func (c *debugCmd) front(a *app) (debug.Front, io.Writer, error) {
	more := strings.HasPrefix(c.File, "@")
	if c.Commands != "" {
		b, err := readFile(a.ctx, c.Commands, maxCommands)
		if err != nil {
			return nil, nil, err
		}
		return debug.NewLines(strings.NewReader(string(b)), a.stdout, c.Commands, more), a.stdout, nil
	}
	if c.File == "-" {
		return nil, nil, errors.New("standard input cannot contain both the kernel and the commands: use a file for the kernel")
	}
	if !isTerminal(a.stdin) {
		return debug.NewLines(a.stdin, a.stdout, "standard input", more), a.stdout, nil
	}
	out, ok := terminal(a.stdout)
	if !ok || os.Getenv("TERM") == "dumb" {
		return debug.NewLines(a.stdin, a.stdout, "", more), a.stdout, nil
	}
	f := tui.New(a.stdin, out, more)
	return f, f, nil
}

// isTerminal reports whether a reader is a terminal.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// debug runs the launch of the flags under a front end. The front end has reported traps already; debug
// returns their exit status. If interrupts is set, the session handles interrupts after the kernel is
// prepared.
func (c *debugCmd) debug(a *app, stdout io.Writer, front debug.Front, interrupts bool) error {
	out := debug.NewOutput(stdout)
	flags := &launchFlags{sourceArg: sourceArg{c.File}, Extra: c.Extra, kernelFlags: c.kernelFlags}
	strips := strip.NewRecorder(strip.Options{MaxWarps: debugStrips, MaxRuns: debugRuns, SourceOf: sourceOf})
	j, err := flags.open(a, out, strips)
	if err != nil {
		return err
	}
	sub := *a
	if interrupts {
		sub.ctx = context.WithoutCancel(a.ctx)
		sessions.Add(1)
		defer sessions.Add(-1)
	}
	s := debug.New(debug.Options{Budget: uint64(c.Checkpoints), Output: out, SourceDirs: c.Source, Strip: a.drawStrip(strips)})
	mode, err := interp.ParseMode(c.Mode)
	if err != nil {
		return fmt.Errorf("--mode: %w", err)
	}
	err = j.run(&sub, func(l *interp.Launch) {
		l.Mode, l.Reconverge, l.EagerEffects = mode, a.reconverger(c.Reconverge), c.Async == "early"
		l.Progress = nil
		s.Drive(l, front)
	})
	var wrong *debug.ScriptError
	failed := s.Failure()
	switch {
	case errors.As(err, &wrong):
		return &failure{fmt.Errorf("%w", wrong), exitBad}
	case failed != nil && (errors.Is(err, debug.ErrQuit) || errors.Is(err, failed)):
		return &failure{errors.New("the launch has failed"), exitFailed}
	case errors.Is(err, debug.ErrQuit):
		return nil
	}
	return err
}

// Limits of the strips of a session: warps, and runs of a warp.
const (
	debugStrips = 64
	debugRuns   = 20_000
)

// drawStrip returns the function that writes the strip of a warp that has begun: with characters, or in words for an output of plain text.
func (a *app) drawStrip(strips *strip.Recorder) func(to io.Writer, cta, warp, width int) bool {
	return func(to io.Writer, cta, warp, width int) bool {
		s := strips.Warp(cta, warp)
		if s == nil || s.Warps[0].Steps == 0 {
			return false
		}
		groups := strip.Groups([]*strip.Strip{s})
		if a.isPlain() {
			strip.Describe(to, groups)
			return true
		}
		screen := newScreen(a.stdout)
		if width == 0 {
			width = screen.width
		}
		target := screen.strips(width)
		target.Newest = true // the session is at the last step
		strip.Print(to, groups, target)
		return true
	}
}

// dapArguments are the arguments of a client's launch request: the flags of "gemu debug".
type dapArguments struct {
	Program     string   `json:"program"`
	Kernel      string   `json:"kernel"`
	Grid        dapDim   `json:"grid"`
	Block       dapDim   `json:"block"`
	Cluster     dapDim   `json:"cluster"`
	Args        []string `json:"args"`
	Set         []string `json:"set"`
	Shared      int      `json:"shared"`
	Cooperative bool     `json:"cooperative"`
	Size        int      `json:"size"`
	Warp        int      `json:"warp"`
	SM          int      `json:"sm"`
	Seed        uint64   `json:"seed"`
	Steps       int64    `json:"steps"`
	Reconverge  string   `json:"reconverge"`
	Mode        string   `json:"mode"`
	Async       string   `json:"async"`
	Source      []string `json:"source"`
	CWD         string   `json:"cwd"` // where files are looked for
}

// dapDim is an extent: "8,8", 8 or [8, 8].
type dapDim string

func (d *dapDim) UnmarshalJSON(b []byte) error {
	*d = dapDim(strings.NewReplacer("[", "", "]", "", " ", "", `"`, "").Replace(string(b)))
	return nil
}

// serve speaks the Debug Adapter Protocol with a client.
func (c *debugCmd) serve(a *app) error {
	if c.DAP == "-" {
		return dap.New(a.stdin, dataOf(a.stdout)).Serve(a.ctx, c.launch(a))
	}
	l, err := net.Listen("tcp", local(c.DAP))
	if err != nil {
		return fmt.Errorf("--dap=%s: %w", c.DAP, err)
	}
	fmt.Fprintf(a.stderr, "gemu: waiting for a client at %s\n", l.Addr())
	stop := context.AfterFunc(a.ctx, func() { l.Close() })
	defer stop()
	conn, err := l.Accept()
	l.Close()
	if err != nil {
		return fmt.Errorf("--dap=%s: %w", c.DAP, err)
	}
	defer conn.Close()
	return dap.New(conn, conn).Serve(a.ctx, c.launch(a))
}

// local returns an address to listen at: on this machine, unless the address names a host.
func local(address string) string {
	if strings.HasPrefix(address, ":") {
		return "localhost" + address
	}
	return address
}

// launch returns the function that starts the launch of a client's request.
func (c *debugCmd) launch(a *app) dap.Launch {
	return func(ctx context.Context, arguments json.RawMessage, front debug.Front, stdout io.Writer) error {
		d := dapArguments{Warp: c.Warp, Mode: c.Mode, Async: c.Async, Reconverge: c.Reconverge}
		if err := json.Unmarshal(arguments, &d); err != nil {
			return fmt.Errorf("launch: %w", err)
		}
		const help = "gemu debug --help lists the values"
		if _, err := interp.ParseMode(d.Mode); err != nil {
			return fmt.Errorf("launch: unknown mode %q: %s", d.Mode, help)
		}
		if _, err := a.parseReconverger(d.Reconverge); err != nil {
			return fmt.Errorf("launch: reconverge: %w", err)
		}
		if d.Async != "late" && d.Async != "early" {
			return fmt.Errorf("launch: unknown async %q: %s", d.Async, help)
		}
		if d.Program == "" || d.Program == "-" {
			return errors.New("launch: program is missing: a PTX file, CUDA C++, or @NAME")
		}
		if d.CWD != "" {
			if err := os.Chdir(d.CWD); err != nil {
				return fmt.Errorf("launch: cwd: %w", err)
			}
		}
		now := *c
		now.File, now.Mode, now.Async, now.Reconverge = d.Program, d.Mode, d.Async, d.Reconverge
		now.programFlags = programFlags{
			Kernel: d.Kernel, Grid: string(d.Grid), Block: string(d.Block), Cluster: string(d.Cluster), Arg: d.Args, Set: d.Set, Shared: d.Shared, Coop: d.Cooperative, Size: d.Size,
		}
		now.Warp, now.SM, now.Seed, now.Steps, now.Source = d.Warp, d.SM, d.Seed, d.Steps, append(slices.Clip(c.Source), d.Source...)
		sub := *a
		sub.ctx = ctx
		return now.debug(&sub, stdout, front, false)
	}
}
