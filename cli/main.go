// Package cli is the command gemu, which runs NVIDIA PTX kernels on any CPU.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"gemu/argument"
	_ "gemu/cli/internal/addresses" // refuses a limit too low for Go's runtime
	"gemu/internal/cleanup"
	"gemu/internal/hostmem"
	"gemu/internal/input"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// Exit statuses.
const (
	exitGood   = 0 // done, and every check held
	exitFailed = 1 // the kernel ran, and trapped or failed a check
	exitBad    = 2 // usage or input
)

type cli struct {
	Run        runCmd        `cmd:"" help:"Run a kernel of a PTX file, or a workload of the library (@NAME)."`
	Machine    machineCmd    `cmd:"" help:"Run a kernel on models of GPUs: hits of caches and memory traffic, by line and by buffer."`
	Profile    profileCmd    `cmd:"" help:"Profile a kernel by line: executions, divergence, coalescing, bank conflicts, loops, occupancy."`
	Structure  structureCmd  `cmd:"" help:"Show the structure of the values of a kernel: uniform, affine or generic."`
	Regfile    regfileCmd    `cmd:"" help:"Compare models of register files on a kernel."`
	Reconverge reconvergeCmd `cmd:"" help:"Run a kernel under every reconvergence policy, and compare the executed instructions."`
	Trace      traceCmd      `cmd:"" help:"Write the commit log of a run: an entry for each warp instruction, with its results and accesses."`
	Diff       diffCmd       `cmd:"" help:"Find the first difference of two commit logs, or of two runs with different kernels, modes or policies."`
	Record     recordCmd     `cmd:"" help:"Write a recording of a run: its events as tables, for other programs. Or show a recording."`
	Replay     replayCmd     `cmd:"" help:"Run a kernel and compare it with another simulator's log, up to the first difference."`
	Compare    compareCmd    `cmd:"" help:"Run the benchmarks of a paper and print its tables next to gemu's."`
	Exec       execCmd       `cmd:"" help:"Run a program that uses CUDA with gemu's libraries, and report its launches and findings."`
	Toolkit    toolkitCmd    `cmd:"" help:"Lay out a CUDA toolkit from NVIDIA's Python packages: NVRTC, headers and nvcc, without a driver."`
	Bench      benchCmd      `cmd:"" help:"Measure the speed of the modes on workloads of the library."`
	Play       playCmd       `cmd:"" help:"Open a page that shows each step of each lane, under several reconvergence policies, and runs kernels. Or write the page to files."`
	Fuzz       fuzzCmd       `cmd:"" help:"Write random programs with their results, and test another implementation with them."`
	Debug      debugCmd      `cmd:"" help:"Debug a kernel: breakpoints, state of its threads, steps forward and back."`
	Check      checkCmd      `cmd:"" help:"Parse and check PTX files."`
	Dump       dumpCmd       `cmd:"" help:"Print a stage of a PTX file: ast, ir, cfg or lowered."`
	Spill      spillCmd      `cmd:"" help:"Rewrite PTX for a number of registers per thread: allocate registers, and spill the rest to local memory."`
	Assist     assistCmd     `cmd:"" help:"Insert assist routines of program points into kernels: PTX functions with a pragma that are called at labels (docs/caba.md)."`
	Phases     phasesCmd     `cmd:"" help:"Divide kernels into phases that need different numbers of registers and amounts of shared memory, and write PTX with them."`
	Ptxas      ptxasCmd      `cmd:"" passthrough:"" help:"Check PTX and pack it for gemu's driver, with the command line and the messages of NVIDIA's assembler."`
	ISA        isaCmd        `cmd:"" name:"isa" help:"List the instructions of PTX and which of them run."`
	Kernels    kernelsCmd    `cmd:"" help:"List the workload library, or print a workload's source."`

	Completion completionCmd `cmd:"" help:"Show how to set up completion of command lines: bash, zsh or fish."`

	HelpOf helpCmd `cmd:"" name:"help" help:"Print the help of a command, or the glossary (help terms)."`

	Plain   bool             `env:"GEMU_PLAIN" help:"Print text for screen readers and simple terminals: no drawing characters, no colours, no redrawing, and sets of lanes in words. Output files, and JSON, CSV and other files written to standard output, stay the same."`
	Version kong.VersionFlag `help:"Print the version."`
	Man     manFlag          `help:"Print the manual page, in the format of man: gemu --man | man -l -."`
}

// app is the common state of commands.
type app struct {
	*Extensions
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	sources *input.Sources // sources of the PTX opened last; nil: none
}

// Main executes the command line of the process with the extended command gemu, and ends the process with the exit status. It
// handles signals, and never returns.
func Main(extensions Extensions) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endingSignals()...)
	go newInterrupts(stop).handle(signals)
	relax()
	unsetEmptyVariables()
	go hostmem.Watch(ctx, func(err error) {
		newOutput(os.Stderr).Write([]byte(fmt.Sprintf("gemu: %v. Raise that limit, or use --memory BYTES, smaller inputs or smaller blocks\n", err)))
		cleanup.Exit(exitBad)
	})
	os.Exit(Run(ctx, extensions, commandLine(os.Args), os.Stdin, os.Stdout, os.Stderr))
}

// unsetEmptyVariables unsets the variables of gemu that are empty: an empty variable counts as unset, as in the libraries.
func unsetEmptyVariables() {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value == "" && strings.HasPrefix(name, "GEMU_") {
			os.Unsetenv(name)
		}
	}
}

// Run executes a command line of the extended command gemu; args begin after the name of the program. It returns the exit status:
// 0 for success, 1 if a kernel or a check failed, 2 for wrong usage or input. Results go to stdout, messages to stderr. The end of
// ctx stops launches. Several calls must not run at the same time.
func Run(ctx context.Context, extensions Extensions, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, messages := newOutput(stdout), newOutput(stderr)
	args, plain := cutPlainFlag(args)
	if plain {
		out, messages = newPlainOutput(stdout), newPlainOutput(stderr)
	}
	status := exitBad
	if err := extensions.check(); err != nil {
		fmt.Fprintf(messages, "gemu: %v\n", err)
	} else {
		status = execute(ctx, &extensions, args, stdin, out, messages)
	}
	out.close()
	if out.err != nil {
		fmt.Fprintf(messages, "gemu: %v\n", out.err)
		status = max(status, exitBad)
	}
	messages.close()
	return status
}

// cutPlainFlag returns the arguments without --plain, and reports whether they or the environment ask for plain text. It precedes the
// parser, whose errors are text, too.
func cutPlainFlag(args []string) (rest []string, plain bool) {
	plain, _ = strconv.ParseBool(os.Getenv("GEMU_PLAIN")) // the parser refuses other values
	for i, a := range args {
		switch a {
		case "--":
			return append(rest, args[i:]...), plain
		case "--plain":
			plain = true
		default:
			rest = append(rest, a)
		}
	}
	return rest, plain
}

func execute(ctx context.Context, x *Extensions, args []string, stdin io.Reader, stdout *output, stderr io.Writer) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "gemu: internal error, please report it: %v\n", r)
			status = exitBad
		}
	}()
	exited, help := -1, io.Writer(stdout)
	if _, asked := completing(); len(args) == 0 && !asked { // without arguments there is no result
		args, help = []string{"--help"}, stderr
		defer func() { status = exitBad }()
	}
	args = helpArgs(args)
	var err error
	parser := x.newParser(grammar(args), kong.Writers(help, stderr), kong.Exit(func(code int) { exited = code; panic(exitPanic{}) }))
	a := &app{Extensions: x, ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	func() {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(exitPanic); !ok {
					panic(r)
				}
			}
		}()
		if line, ok := completing(); ok {
			for _, word := range complete(parser.Model.Node, line, x.predictors()) {
				fmt.Fprintln(stdout, word)
			}
			parser.Exit(exitGood)
		}
		var kctx *kong.Context
		if kctx, err = parser.Parse(gatherArgs(args)); err != nil {
			err = nameProgramFlag(nameMissingValue(err), args)
		} else {
			err = kctx.Run(a)
		}
	}()
	if exited >= 0 {
		return exited
	}
	if err != nil && !errors.Is(err, stdout.err) { // run reports write errors
		status = a.report(err)
	}
	if a.sources != nil {
		if note := a.sources.Note(); note != "" {
			fmt.Fprintf(stderr, "gemu: %s\n", note)
		}
	}
	return status
}

// nameMissingValue rewrites the parser's error for a flag that lacks its value, at the end of the command line or before "--".
func nameMissingValue(err error) error {
	flag, rest, ok := strings.Cut(err.Error(), ": expected ")
	if ok && (strings.HasSuffix(rest, ` but got "EOL" (<EOL>)`) || strings.Contains(rest, ` but got "--"`)) {
		return fmt.Errorf("%s: no value; want %s=VALUE", flag, flag)
	}
	return err
}

// nameProgramFlag adds the usage of gemu exec to the parser's error for a flag of a program that does not follow "--".
func nameProgramFlag(err error, args []string) error {
	if strings.HasPrefix(err.Error(), "unknown flag ") && len(args) > 0 && args[0] == "exec" && !slices.Contains(args, "--") {
		return fmt.Errorf("%w; flags of the program follow --: gemu exec [FLAGS] -- PROGRAM [ARGUMENTS]", err)
	}
	return err
}

// newParser returns the parser of a grammar of the command.
func (x *Extensions) newParser(grammar any, options ...kong.Option) *kong.Kong {
	if c, ok := reflect.ValueOf(grammar).Elem().FieldByName("Exec").Addr().Interface().(*execCmd); ok {
		c.Settings = kong.Plugins{newSettingFlags()}
	}
	parser, err := kong.New(grammar, append(options,
		kong.Name("gemu"),
		kong.Description("gemu runs NVIDIA PTX kernels on any CPU, warp by warp."),
		kong.UsageOnError(),
		x.vars(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(describeValue),
		kong.ExplicitGroups(flagGroups),
		kong.NamedMapper("reconverger", kong.MapperFunc(x.decodeReconverger)),
	)...)
	if err != nil {
		panic(err)
	}
	parser.Model.HelpFlag.Help = "Print the help of the command."
	return parser
}

// workloadNames returns the completions of "@".
func workloadNames() (list []string) {
	for _, w := range kernels.All() {
		list = append(list, "@"+w.Name)
	}
	return list
}

// exitPanic carries kong's exit status out of its parser.
type exitPanic struct{}

// gatherArgs lets -a take several values: "-a 1 2 3" is "-a=1 -a=2 -a=3". It
// also keeps values that begin with a minus sign from looking like flags.
func gatherArgs(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		if a == "--dap" { // --dap=:PORT is the form with a value
			a = "--dap=-"
		}
		if a != "-a" && a != "--arg" {
			out = append(out, a)
			continue
		}
		first := true
		for i+1 < len(args) && (first || !isFlag(args[i+1])) {
			i++
			out = append(out, "--arg="+args[i])
			first = false
		}
		if first {
			out = append(out, a)
		}
	}
	return out
}

// isFlag reports whether a word is a flag, not a negative number.
func isFlag(s string) bool {
	return len(s) > 1 && s[0] == '-' && !(s[1] >= '0' && s[1] <= '9' || s[1] == '.' || strings.HasPrefix(s, "-inf") || strings.HasPrefix(s, "-nan"))
}

// failure is an error with its exit status.
type failure struct {
	error
	status int
}

func (f *failure) Unwrap() error { return f.error }

// report prints an error in the form for its kind, and returns the exit status.
func (a *app) report(err error) int {
	var list ptx.ErrorList
	var beyond *interp.MemoryError
	var trap *probe.Trap
	var unsupported *ptx.Unsupported
	var f *failure
	var several joinedErrors
	var assembler *ptxasError
	var ended *exitStatus
	switch {
	case errors.As(err, &ended):
		return ended.status
	case errors.As(err, &assembler):
		fmt.Fprint(a.stderr, assembler.text)
		return assembler.status
	case errors.As(err, &several):
		status := exitGood
		for _, err := range several {
			status = max(status, a.report(err))
		}
		return status
	case errors.As(err, &list):
		for _, e := range list {
			fmt.Fprintln(a.stderr, e)
			if s := e.Snippet(); s != "" {
				fmt.Fprintln(a.stderr, s)
			}
		}
		return exitBad
	case errors.As(err, &unsupported):
		fmt.Fprintln(a.stderr, unsupported)
		if s := unsupported.Snippet(); s != "" {
			fmt.Fprintln(a.stderr, s)
		}
		return exitBad
	case errors.As(err, &beyond):
		fmt.Fprintf(a.stderr, "%v\n", err)
		if s := beyond.Snippet(); s != "" {
			fmt.Fprintln(a.stderr, s)
		}
		a.adviseMemory(err)
		return exitBad
	case errors.As(err, &trap):
		fmt.Fprintln(a.stderr, trap.Report())
		if s := a.origin(trap.Source); s != "" {
			fmt.Fprintf(a.stderr, "   %s:\n%s\n", trap.Source, s)
		}
		if trap.Tolerable != probe.Strict {
			fmt.Fprintf(a.stderr, "   --tolerate %v (or GEMU_TOLERATE) lets the kernel continue, as GPUs do\n", trap.Tolerable)
		}
		switch trap.Kind {
		case probe.ErrMismatch:
			fmt.Fprintln(a.stderr, "   this is an error of gemu, not of the kernel: please report it; --mode vector runs the kernel without compact execution")
		case probe.ErrStepLimit:
			fmt.Fprintln(a.stderr, "   --steps raises the limit")
		case probe.ErrTimeLimit:
			fmt.Fprintln(a.stderr, "   --time-limit and GEMU_TIME_LIMIT set the limit")
		case probe.ErrKeptOut:
			fmt.Fprintln(a.stderr, "   --memory raises the limit")
		}
		return exitFailed
	case errors.As(err, &f):
		fmt.Fprintf(a.stderr, "gemu: %v\n", f.error)
		return f.status
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(a.stderr, "gemu: %s\n", strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted"))
		return exitFailed
	}
	fmt.Fprintf(a.stderr, "gemu: %v\n", err)
	var wrong *argument.Error
	if errors.As(err, &wrong) && wrong.Snippet() != "" {
		fmt.Fprintln(a.stderr, wrong.Snippet())
	}
	a.adviseMemory(err)
	return exitBad
}

// adviseMemory prints advice for an error about missing memory.
func (a *app) adviseMemory(err error) {
	switch {
	case errors.Is(err, interp.ErrNoHostMemory):
		fmt.Fprintln(a.stderr, "   the limit is that of this process (physical memory, control group, ulimit -v): raise it, or make the variables, buffers or blocks smaller")
	case errors.Is(err, interp.ErrOutOfMemory):
		fmt.Fprintln(a.stderr, "   --device-memory raises the limit")
	}
}
