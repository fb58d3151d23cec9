package cli

// This file is "gemu ptxas", a stand-in for NVIDIA's assembler. It has that program's command line, checks the
// PTX, and reports errors and, with -v, resources in that program's words, because hosts parse them. It packs the
// PTX for a driver that runs PTX (package cubin). The words and statuses are from releases 12.9 and 13.4.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gemu/internal/cubin"
	"gemu/internal/input"
	"gemu/internal/version"
	"gemu/internal/wholefile"
	"gemu/interp"
	"gemu/ptx"
)

// ptxasName is the name of NVIDIA's program. A process with this name runs "gemu ptxas".
const ptxasName = "ptxas"

// exitRefused is the exit status of ptxas for a module that it refuses.
const exitRefused = 255

// cudaRelease is the release of CUDA whose PTX the command accepts. Hosts ask for the release, and write PTX of
// its version.
const cudaRelease = "13.5"

type ptxasCmd struct {
	Args []string `arg:"" optional:"" help:"Arguments of NVIDIA's ptxas; gemu ptxas --help lists the supported ones."`
}

// assembly is a command line of ptxas.
type assembly struct {
	file, out, arch string
	text            *string // the value of --input-as-string; nil: the input is a file
	verbose         bool
	relocatable     bool
	quiet, strict   bool // no warnings; warnings are errors
	warnLocal       bool
	version, help   bool
	idle            []string // given options without an effect
}

// ptxasOption is an option of ptxas: --long or -short, with its value after "=" or as the next argument.
type ptxasOption struct {
	long, short string
	value       string                        // kind of value, in words; "" if the option has no value
	set         func(*assembly, string) error // nil: the option has no effect here
	doc         string
}

// ptxasOptions is the list of options, in groups by purpose. An option without set is accepted and ignored: it
// concerns machine code, or a check that gemu always makes.
var ptxasOptions = []ptxasOption{
	{"output-file", "o", "FILE", func(a *assembly, v string) error { a.out = v; return nil }, "Write the container to FILE (default elf.o)."},
	{"gpu-name", "arch", "sm_NN|compute_NN", (*assembly).setArch, "Target (default sm_75), noted in the container, which runs on any device. For compute_NN the PTX is checked and nothing is written."},
	{"input-as-string", "ias", "PTX", func(a *assembly, v string) error { a.text = &v; return nil }, "Assemble this text."},
	{"compile-only", "c", "", func(a *assembly, _ string) error { a.relocatable = true; return nil }, "Write a container for the linker."},
	{"verbose", "v", "", func(a *assembly, _ string) error { a.verbose = true; return nil }, "Print the registers (as gemu allocates them) and the memory of kernels, and options without effect."},
	{"disable-warnings", "w", "", func(a *assembly, _ string) error { a.quiet = true; return nil }, "Print no warnings."},
	{"warning-as-error", "Werror", "", func(a *assembly, _ string) error { a.strict = true; return nil }, "Treat warnings as errors."},
	{"warn-on-local-memory-usage", "warn-lmem-usage", "", func(a *assembly, _ string) error { a.warnLocal = true; return nil }, "Warn about kernels that use local memory."},
	{"machine", "m", "64", func(_ *assembly, v string) error { return checkChoice("machine", v, "64") }, "Size of addresses on the host, in bits."},
	{"options-file", "optf", "FILE", nil, "Read options from FILE, separated by white space."}, // expanded before they are set
	{"version", "V", "", func(a *assembly, _ string) error { a.version = true; return nil }, "Print the version."},
	{"help", "h", "", func(a *assembly, _ string) error { a.help = true; return nil }, "Print this help."},

	{"opt-level", "O", "N", nil, ""},
	{"Ofast-compile", "Ofc", "LEVEL", nil, ""},
	{"allow-expensive-optimizations", "allow-expensive-optimizations", "true|false", boolean, ""},
	{"fmad", "fmad", "true|false", boolean, ""},
	{"maxrregcount", "maxrregcount", "N", registers("maxrregcount"), ""},
	{"device-function-maxrregcount", "func-maxrregcount", "N", registers("device-function-maxrregcount"), ""},
	{"register-usage-level", "regUsageLevel", "N", nil, ""},
	{"regAllocOptLevel", "regAllocOptLevel", "N", nil, ""},
	{"split-compile", "split-compile", "N", nil, ""},
	{"generate-line-info", "lineinfo", "", nil, ""},
	{"device-debug", "g", "", nil, ""},
	{"suppress-debug-info", "suppress-debug-info", "", nil, ""},
	{"dont-merge-basicblocks", "no-bb-merge", "", nil, ""},
	{"return-at-end", "ret-end", "", nil, ""},
	{"sp-bounds-check", "sp-bounds-check", "", nil, ""},
	{"device-stack-protector", "device-stack-protector", "true|false", boolean, ""},
	{"g-tensor-memory-access-check", "g-tmem-access-check", "", nil, ""},
	{"gno-tensor-memory-access-check", "gno-tmem-access-check", "", nil, ""},
	{"make-errors-visible-at-exit", "make-errors-visible-at-exit", "", nil, ""},
	{"disable-optimizer-constants", "disable-optimizer-consts", "", nil, ""},
	{"optimize-float-atomics", "opt-fp-atomics", "", nil, ""},
	{"def-load-cache", "dlcm", "MODIFIER", nil, ""},
	{"def-store-cache", "dscm", "MODIFIER", nil, ""},
	{"force-load-cache", "flcm", "MODIFIER", nil, ""},
	{"force-store-cache", "fscm", "MODIFIER", nil, ""},
	{"extensible-whole-program", "ewp", "", nil, ""},
	{"position-independent-code", "pic", "true|false", boolean, ""},
	{"preserve-relocs", "preserve-relocs", "", nil, ""},
	{"compiler-annotations", "annotate", "", nil, ""},
	{"warn-on-spills", "warn-spills", "", nil, ""}, // gemu never spills
	{"warn-on-double-precision-use", "warn-double-usage", "", nil, ""},
	{"enable-extended-smem", "enable-extended-smem", "true|false", boolean, ""},
	{"nv-host", "nv-host", "FILE", readable, ""},
	{"uumn", "uumn", "", nil, ""},
	{"suppress-stack-size-warning", "suppress-stack-size-warning", "", nil, ""},
	{"suppress-double-demote-warning", "suppress-double-demote-warning", "", nil, ""},
	{"suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning", "", nil, ""},
	{"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", "", nil, ""},
}

// idle reports whether an option has no effect, except for a check of its value.
func (o *ptxasOption) idle() bool { return o.doc == "" }

// ptxasError is the message and exit status of a run without a result.
type ptxasError struct {
	text   string // lines of messages
	status int
}

func (e *ptxasError) Error() string { return e.text }

// fatal returns the error of a bad command line, or of a file that cannot be opened.
func fatal(format string, args ...any) error {
	return &ptxasError{fatalLine(format, args...), exitBad}
}

// targetMismatch returns the error of a module for a different target.
func targetMismatch(format string, args ...any) error {
	return &ptxasError{fatalLine(format, args...), exitRefused}
}

// refused returns the error of an invalid module; the messages have their places.
func refused(messages ...string) error {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(ptxasName + " " + m + "\n")
	}
	b.WriteString(fatalLine("Ptx assembly aborted due to errors"))
	return &ptxasError{b.String(), exitRefused}
}

func fatalLine(format string, args ...any) string {
	return ptxasName + " fatal   : " + fmt.Sprintf(format, args...) + "\n"
}

// checkChoice returns an error unless the value of an option is in the list.
func checkChoice(option, value string, of ...string) error {
	if !slices.Contains(of, value) {
		return fatal("Value '%s' is not defined for option '%s'", value, option)
	}
	return nil
}

// boolean checks the value of a boolean option without an effect.
func boolean(_ *assembly, v string) error {
	if v != "true" && v != "false" {
		return fatal("'%s': expected true or false", v)
	}
	return nil
}

// readable checks that a file can be read: NVIDIA's program opens it, and gemu does not need it.
func readable(_ *assembly, v string) error {
	f, err := os.Open(v)
	if err != nil {
		return fatal("Could not open input file '%s'", v)
	}
	return f.Close()
}

// registers returns the check of an option whose value is a number of registers.
func registers(option string) func(*assembly, string) error {
	return func(_ *assembly, v string) error {
		if _, err := strconv.ParseUint(v, 10, 32); err != nil && v != "archmax" && v != "archmin" {
			return fatal("Invalid value '%s' for option '%s'", v, option)
		}
		return nil
	}
}

// architectures lists the numbers of the supported sm_NN and compute_NN.
var architectures = []int{50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121}

// architecture splits a name such as sm_90a into its number and its suffix: "a", "f" or "". virtual reports
// whether the name is a compute_NN.
func architecture(name string) (sm int, kind string, virtual, ok bool) {
	number, real := strings.CutPrefix(name, "sm_")
	if !real {
		number, virtual = strings.CutPrefix(name, "compute_")
	}
	digits := strings.TrimRight(number, "af")
	kind = number[len(digits):]
	sm, err := strconv.Atoi(digits)
	return sm, kind, virtual, (real || virtual) && err == nil && (kind == "" || kind == "a" && sm >= 90 || kind == "f" && sm >= 100)
}

func (a *assembly) setArch(name string) error {
	if sm, _, _, ok := architecture(name); !ok || !slices.Contains(architectures, sm) {
		return fatal("Value '%s' is not defined for option 'gpu-name'", name)
	}
	a.arch = name
	return nil
}

// option finds the option named by an argument, and the value inside the argument.
func option(arg string) (o *ptxasOption, value string, found bool) {
	name, value, found := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
	long, isLong := strings.CutPrefix(name, "-")
	for i := range ptxasOptions {
		o := &ptxasOptions[i]
		switch {
		case isLong && o.long == long, !isLong && o.short == name:
			return o, value, found
		case !isLong && !found && (o.short == "O" || o.short == "m") && strings.HasPrefix(name, o.short) && isNumber(name[1:]):
			return o, name[1:], true // -O3, -m64
		}
	}
	return nil, "", false
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// read reads the arguments. depth is the nesting depth of option files.
func (a *assembly) read(ctx context.Context, args []string, depth int) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			if a.file != "" {
				return fatal("gemu assembles one input file at a time, but two are given: %s and %s", a.file, arg)
			}
			a.file = arg
			continue
		}
		o, value, found := option(arg)
		switch {
		case o == nil:
			return fatal("Unknown option '%s'", strings.TrimPrefix(arg, "-"))
		case o.value == "" && found:
			return fatal("no argument expected after '-%s'", o.short)
		case o.value != "" && !found:
			if i++; i == len(args) {
				return fatal("argument expected after '%s'", arg)
			}
			value = args[i]
		}
		var err error
		switch {
		case o.long == "options-file" && depth > 0:
			err = fatal("an options file must not name another options file: %s", value)
		case o.long == "options-file":
			var text []byte
			if text, err = input.ReadFile(ctx, value, input.MaxText); err != nil {
				return fatal("Could not open input file '%s'", value)
			}
			err = a.read(ctx, strings.Fields(string(text)), depth+1)
		case o.set != nil:
			err = o.set(a, value)
		}
		if err != nil {
			return err
		}
		if o.idle() {
			a.idle = append(a.idle, "--"+o.long)
		}
	}
	return nil
}

// Run assembles a module.
func (c *ptxasCmd) Run(a *app) error {
	options := assembly{out: "elf.o", arch: "sm_75"}
	if err := options.read(a.ctx, c.Args, 0); err != nil {
		return err
	}
	switch {
	case options.version:
		_, err := fmt.Fprintf(a.stdout, "ptxas: gemu's assembler, which checks PTX and packs it for gemu's driver\n%s\nCuda compilation tools, release %s, V%[2]s.0\n", version.Text(), cudaRelease)
		return err
	case options.help || len(c.Args) == 0:
		return printPtxasHelp(a)
	case options.file == "" && options.text == nil:
		return fatal("No input file specified")
	case options.file != "" && options.text != nil:
		return fatal("gemu assembles one input at a time, but a file and a text are given: %s", options.file)
	}
	name, text, err := options.source(a)
	if err != nil {
		return err
	}
	m, err := ptx.ParseString(name, text)
	var list ptx.ErrorList
	if errors.As(err, &list) {
		return refused(places(list)...)
	}
	if err != nil {
		return refused(fmt.Sprintf("fatal   : %v", err))
	}
	sm, _, virtual, _ := architecture(options.arch)
	if err := options.suits(m.Target); err != nil || virtual {
		return err
	}
	if err := options.describe(a, m); err != nil {
		return err
	}
	if err := wholefile.Write(a.ctx, options.out, cubin.Pack([]byte(text), sm, options.relocatable)); err != nil {
		return fatal("Output file '%s' could not be opened", options.out)
	}
	return nil
}

// source returns the text to assemble, and its name in messages.
func (options *assembly) source(a *app) (name, text string, err error) {
	if options.text != nil {
		return "application ptx input", *options.text, nil
	}
	text, err = a.readSource(options.file, compileFlags{})
	if errors.As(err, new(*fs.PathError)) || err != nil && options.file != "-" && !exists(options.file) {
		return "", "", fatal("Input file '%s' could not be opened", options.file)
	}
	if err != nil {
		return "", "", fatal("%v", err)
	}
	return options.file, text, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// places formats errors in the form of ptxas.
func places(list ptx.ErrorList) []string {
	var lines []string
	for _, e := range list {
		hint := ""
		if e.Hint != "" {
			hint = fmt.Sprintf(" (did you mean %s?)", e.Hint)
		}
		lines = append(lines, fmt.Sprintf("%s, line %d; error   : %s%s", e.File, e.Pos.Line, e.Msg, hint))
	}
	return lines
}

// suits checks that the targets of the PTX include the architecture of the command line (manual 11.1.2).
func (options *assembly) suits(target []string) error {
	arch, archKind, _, _ := architecture(options.arch)
	for _, t := range target {
		sm, kind, _, ok := architecture(t)
		switch {
		case !ok: // a target without a number, such as texmode_independent
		case kind == "a" && (sm != arch || archKind != "a"):
			return targetMismatch("PTX with .target '%s' cannot be compiled for architecture '%s'", t, options.arch)
		case sm > arch:
			return targetMismatch("SM version specified by .target is higher than default SM version assumed")
		case kind == "f" && sm/10 != arch/10:
			return targetMismatch("Program with .target '%s' cannot be compiled to different SM-family architecture", t)
		}
	}
	return nil
}

// describe warns of legal PTX that gemu does not run, and prints with -v the resources of the kernels.
func (options *assembly) describe(a *app, m *ptx.Module) error {
	warned := false
	warn := func(format string, args ...any) {
		if !options.quiet {
			fmt.Fprintf(a.stderr, ptxasName+" warning : "+format+"\n", args...)
			warned = true
		}
	}
	info := func(format string, args ...any) {
		if options.verbose {
			fmt.Fprintf(a.stderr, ptxasName+" info    : "+format+"\n", args...)
		}
	}
	if len(options.idle) > 0 {
		info("(gemu) without effect: %s", strings.Join(options.idle, " "))
	}
	mod, err := unboundedDevice().LoadModule(m)
	if err != nil {
		return refused(fmt.Sprintf("fatal   : %v", err))
	}
	sizes := map[ptx.Space]int{}
	for _, v := range m.Vars() {
		sizes[v.Space] += v.Size()
	}
	constant := ""
	if n := sizes[ptx.Const]; n > 0 {
		constant = fmt.Sprintf(", %d bytes cmem[3]", n)
	}
	info("%d bytes gmem%s", sizes[ptx.Global], constant)
	for _, k := range m.Kernels() {
		info("Compiling entry function '%s' for '%s'", k.Name, options.arch)
		needs, err := mod.Info(k.Name, interp.Vector)
		var unsupported *ptx.Unsupported
		switch {
		case errors.As(err, &unsupported) && options.relocatable: // the linker may supply the missing function
			continue
		case errors.As(err, &unsupported):
			warn("%s will not run: %v", k.Name, err)
			continue
		case err != nil:
			return refused(fmt.Sprintf("fatal   : %v", err))
		}
		if needs.Local > 0 && options.warnLocal {
			warn("Local memory used for function '%s', size of stack frame: %d bytes", k.Name, needs.Local)
		}
		info("Function properties for %s\n    %d bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", k.Name, needs.Local)
		shared := ""
		if needs.Shared > 0 {
			shared = fmt.Sprintf(", %d bytes smem", needs.Shared)
		}
		info("Used %d registers%s, %d bytes cmem[0]", needs.Registers, shared, needs.ParamBytes)
	}
	if warned && options.strict {
		return refused("error   : warnings are errors (--warning-as-error)")
	}
	return nil
}

// printPtxasHelp lists the options.
func printPtxasHelp(a *app) error {
	fmt.Fprint(a.stdout, "Usage  : ptxas [options] <ptx file>\n\nChecks PTX and packs it into a file that gemu's driver loads as a cubin.\n\nOptions\n=======\n")
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	var idle []string
	for i := range ptxasOptions {
		o := &ptxasOptions[i]
		if o.idle() {
			idle = append(idle, "--"+o.long)
			continue
		}
		name := "--" + o.long
		if o.value != "" {
			name += " " + o.value
		}
		fmt.Fprintf(w, "%s\t(-%s)\t%s\n", name, o.short, o.doc)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\nAccepted, without effect on execution:\n  %s\n", strings.Join(idle, "\n  "))
	return err
}

// commandLine returns the arguments of gemu for the arguments of the process.
func commandLine(args []string) []string {
	if len(args) > 0 && filepath.Base(args[0]) == ptxasName {
		return append([]string{ptxasName}, args[1:]...)
	}
	return args[1:]
}
