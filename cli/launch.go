package cli

// This file has the common parts of the commands that launch kernels: the flags that select the
// launch, and the launch itself.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"gemu/affinetrack"
	"gemu/argument"
	"gemu/internal/document"
	"gemu/internal/input"
	"gemu/internal/notation"
	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/dispatch"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// sourceArg is the module argument of a command.
type sourceArg struct {
	File string `arg:"" predictor:"source" help:"PTX file (- for standard input), CUDA C++ (.cu; needs nvcc or clang), or @NAME of a workload."`
}

// launchFlags select the launch and the machine.
type launchFlags struct {
	sourceArg
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	kernelFlags
}

// kernelFlags select the kernel, its arguments and the device, for any source. The groups are headings of the help.
type kernelFlags struct {
	programFlags `group:"program"`
	deviceFlags  `group:"device"`
}

// programFlags select the kernel, its extents and its arguments.
type programFlags struct {
	compileFlags
	Kernel  string   `short:"k" help:"Name of the kernel to run; optional if the file has only one kernel." placeholder:"NAME"`
	Grid    string   `short:"g" help:"Size of the grid, in CTAs (thread blocks): X[,Y[,Z]]; a missing Y or Z is 1." placeholder:"X[,Y[,Z]]"`
	Block   string   `short:"b" help:"Size of each CTA, in threads: X[,Y[,Z]]; a missing Y or Z is 1." placeholder:"X[,Y[,Z]]"`
	Cluster string   `help:"Size of each cluster, in CTAs: X[,Y[,Z]]; a missing Y or Z is 1." unset:".reqnctapercluster of the kernel, else no clusters" placeholder:"X[,Y[,Z]]"`
	Arg     []string `short:"a" sep:"none" help:"Kernel arguments, one for each parameter, in the order of the parameters. Several arguments may follow -a, and -a may be given several times. ${arguments}" placeholder:"ARG"`
	Set     []string `sep:"none" help:"Set the .global or .const variable NAME before the launch, or bind the .texref, .surfref or .samplerref NAME. ARG is written as for -a. May be given several times." placeholder:"NAME=ARG"`
	Shared  int      `help:"Size of dynamic shared memory of each CTA, in bytes." unset:"0" placeholder:"BYTES"`
	Coop    bool     `name:"cooperative" help:"Cooperative launch: the CTAs of the grid may wait for each other (grid.sync() of cooperative groups)."`
	Size    int      `help:"Size of the input of a workload (@NAME); gemu kernels NAME says what it counts." unset:"the workload's own size" placeholder:"N"`
}

// deviceFlags select the device, its limits, and the schedule of the launch.
type deviceFlags struct {
	Warp      int           `default:"32" help:"Threads of a warp: 1, 2, 4, 8, 16, 32 or 64." placeholder:"N"`
	SM        int           `name:"sm" help:"Compute capability of the device: 90 for 9.0. It also selects how tensor cores round sums, which differs between generations." unset:"86" placeholder:"NN"`
	Seed      uint64        `help:"Number of the schedule: each N runs the warps in another order, and the same N always in the same order." unset:"0" placeholder:"N"`
	Order     string        `help:"Order in which CTAs begin. A result that depends on it is the result of a race. One of:${ctaorders}" unset:"linear" placeholder:"ORDER"`
	Steps     int64         `help:"Step limit: a warp traps after N instructions." unset:"134217728" placeholder:"N"`
	TimeLimit notation.Span `env:"GEMU_TIME_LIMIT" help:"Time limit of each launch, such as 90s or 5m; a number without a unit is in seconds." unset:"no limit" placeholder:"TIME"`
	Tolerate  string        `env:"GEMU_TOLERATE" help:"Continue after these faults, as GPUs do, and report them on standard error. Some of:${tolerables}" unset:"none" placeholder:"FAULT,…"`
	Workers   int           `help:"Number of host threads. Results do not depend on it." unset:"all cores" placeholder:"N"`
	Engine    string        `default:"auto" env:"GEMU_ENGINE" help:"Engine that executes instructions. Results do not depend on it. One of:${engines}" placeholder:"ENGINE"`

	Base   string        `help:"Address of the first buffer, a multiple of 512. To compare the log with that of another simulator, give the address that it uses." unset:"0x10000000" placeholder:"ADDRESS"`
	Source []string      `name:"source" sep:"none" type:"path" help:"Also show lines of source files below the directory DIR, if the PTX names them. Files below the directory of the PTX are always shown. May be given several times." placeholder:"DIR"`
	Memory notation.Size `placeholder:"BYTES" help:"Limit of host memory for CTAs in flight, in bytes, or with K, M or G. At the limit further CTAs wait; the launch does not fail." unset:"three quarters of the physical memory, or less if a control group, ulimit -v or GOMEMLIMIT sets a limit"`

	DeviceMemory notation.Size `name:"device-memory" env:"GEMU_MEMORY" placeholder:"BYTES" help:"Memory of the device for variables, buffers and textures, in bytes, or with K, M or G. Only accessed pages take memory of the host." unset:"16G"`
}

// compileFlags select the form of the PTX of CUDA C++.
type compileFlags struct {
	Branches bool `help:"Compile CUDA C++ so that branches stay branches: otherwise the compiler turns each small if into selections without a branch. Needs clang."`
}

// check returns an error if the flags do not apply to an input.
func (f compileFlags) check(file string) error {
	if f.Branches && filepath.Ext(file) != ".cu" {
		return fmt.Errorf("--branches: %s is not CUDA C++ (.cu), so nothing is compiled", file)
	}
	return nil
}

// policyFlag chooses a reconvergence policy.
type policyFlag struct {
	Reconverge string `group:"device" default:"auto" type:"reconverger" predictor:"reconverger" help:"${reconvergence}" placeholder:"POLICY"`
}

// job is a prepared launch of a kernel, or the prepared launches of a workload, as selected by
// launchFlags.
type job struct {
	flags          *launchFlags
	device         *interp.Device
	engineReported bool             // the user knows that Go executes a launch meant for machine code
	sources        *input.Sources   // sources of the PTX's compilation
	results        []*interp.Result // results of the launches so far

	tolerated []*probe.Tolerated // faults after which launches have continued

	// For a kernel:
	module    *interp.Module
	launch    *interp.Launch
	arguments *argument.List // arguments of the launch, and values of variables

	// For a workload:
	workload *kernels.Workload
	session  *kernels.Session
	order    dispatch.Order // order in which CTAs begin; nil: ascending
}

// open prepares a job on a device with the given probes. Output of its kernels goes to stdout.
func (c *launchFlags) open(a *app, stdout io.Writer, probes ...probe.Probe) (*job, error) {
	if c.SM != 0 && c.SM < 30 {
		return nil, fmt.Errorf("--sm %d: want a compute capability from 30 on, such as 90 for 9.0", c.SM)
	}
	if err := checkMinimums(minimum{"--steps", c.Steps, 0}, minimum{"--shared", int64(c.Shared), 0}, minimum{"--workers", int64(c.Workers), 0}, minimum{"--size", int64(c.Size), 0}); err != nil {
		return nil, err
	}
	tolerate, err := probe.ParseTolerance(c.Tolerate)
	if err != nil {
		return nil, fmt.Errorf("--tolerate: %w", err)
	}
	if err := input.CheckDirs(c.Source); err != nil {
		return nil, fmt.Errorf("--source: %w", err)
	}
	order, err := c.ctaOrder()
	if err != nil {
		return nil, err
	}
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	engine, err := interp.EngineNamed(c.Engine)
	if err != nil {
		return nil, fmt.Errorf("--engine (GEMU_ENGINE) %s: %w", c.Engine, err)
	}
	j := &job{flags: c, sources: input.NewSources(c.File, c.Source...), arguments: &argument.List{}, order: order}
	dev := interp.NewDevice(interp.Config{Base: base, Engine: engine, Stdout: stdout, Workers: c.Workers, HostMemory: uint64(c.Memory), Memory: uint64(c.DeviceMemory), SM: c.SM, TimeLimit: time.Duration(c.TimeLimit), Tolerance: tolerate, OnTolerated: j.tolerates(a), Probes: probes})
	j.device = dev
	if err := c.compileFlags.check(c.File); err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(c.File, "@"); ok {
		if c.Grid != "" || c.Block != "" || c.Kernel != "" || len(c.Arg)+len(c.Extra)+len(c.Set) > 0 || c.Shared != 0 || c.Coop || c.Cluster != "" {
			return nil, ownLaunches(name)
		}
		if j.workload, err = lookupWorkload(name); err != nil {
			return nil, err
		}
		j.session, err = kernels.Start(a.ctx, j.workload, dev, c.Size)
		return j, err
	}
	a.sources = j.sources
	return j, j.open(a, dev)
}

// minimum is the smallest permitted value of a flag.
type minimum struct {
	flag         string
	value, least int64
}

// checkMinimums returns an error for the first flag with a value below its minimum.
func checkMinimums(list ...minimum) error {
	for _, m := range list {
		if m.value < m.least {
			return fmt.Errorf("%s %d: want a number from %d on", m.flag, m.value, m.least)
		}
	}
	return nil
}

// tolerables lists the tolerable faults, for --help.
func tolerables() string {
	var list []string
	for _, t := range probe.Tolerances() {
		list = append(list, t.Name+": "+t.Doc)
	}
	return helpList(list...)
}

// tolerates returns a function that reports tolerated faults, and collects them for reports.
func (j *job) tolerates(a *app) func(*probe.Tolerated) {
	return func(t *probe.Tolerated) {
		j.tolerated = append(j.tolerated, t)
		fmt.Fprintln(a.stderr, t.Report())
	}
}

// base returns the address of the first buffer; 0 selects the default.
func (c *kernelFlags) base() (uint64, error) {
	if c.Base == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(c.Base, 0, 64)
	if err != nil || v%512 != 0 || v < probe.FirstAddress || v >= 1<<62 {
		return 0, fmt.Errorf("--base %s: want a multiple of 512 from %#x on", c.Base, probe.FirstAddress)
	}
	return v, nil
}

// ctaOrder returns the order in which CTAs begin; nil without --order.
func (c *kernelFlags) ctaOrder() (dispatch.Order, error) {
	if c.Order == "" {
		return nil, nil
	}
	order, err := dispatch.Parse(c.Order)
	if err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return order, nil
}

// ownLaunches returns the error for kernel flags that are given together with a workload.
func ownLaunches(name string) error {
	return fmt.Errorf("a workload chooses its own launches: -k, -g, -b, -a, --cluster, --set, --shared, --cooperative, --out and --expect do not apply to @%s", name)
}

// open prepares the launch of a kernel.
func (j *job) open(a *app, dev *interp.Device) error {
	c := j.flags
	grid, err := parseDim("-g", "the size of the grid, in CTAs", c.Grid)
	if err != nil {
		return err
	}
	block, err := parseDim("-b", "the size of each CTA, in threads", c.Block)
	if err != nil {
		return err
	}
	var cluster ptx.Dim3
	if c.Cluster != "" {
		if cluster, err = parseDim("--cluster", "the size of each cluster, in CTAs", c.Cluster); err != nil {
			return err
		}
		if cluster == (ptx.Dim3{}) {
			return fmt.Errorf("--cluster %s: a cluster must have at least one CTA", c.Cluster)
		}
	}
	src, err := a.readSource(c.File, c.compileFlags)
	if err != nil {
		return err
	}
	m, err := ptx.ParseString(sourceName(c.File), src)
	if err != nil {
		return err
	}
	if j.module, err = dev.LoadModule(m); err != nil {
		return err
	}
	kernel, err := j.module.Kernel(c.Kernel)
	if err != nil {
		return err
	}
	if j.arguments, err = argument.Bind(a.ctx, j.module, kernel, slices.Concat(c.Arg, c.Extra)); err != nil {
		return err
	}
	for _, s := range c.Set {
		if err := j.arguments.Set(a.ctx, s); err != nil {
			return fmt.Errorf("--set %s: %w", s, err)
		}
	}
	j.launch = &interp.Launch{Kernel: kernel.Name, Grid: grid, Block: block, Args: j.arguments.Values, Shared: c.Shared, Cooperative: c.Coop, Cluster: cluster}
	return nil
}

// run executes the launches, each prepared by prepare, and compares the result of a workload with
// its reference. j.results has all begun launches, even if run fails.
func (j *job) run(a *app, prepare func(l *interp.Launch)) error {
	ready := func(l *interp.Launch) {
		l.WarpSize, l.MaxSteps, l.Seed, l.Dispatch = j.flags.Warp, j.flags.Steps, j.flags.Seed, j.order
		if l.WarpSize == 0 {
			l.WarpSize = -1 // makes the launch fail with a message instead of using the default
		}
		if f, ok := terminal(a.stderr); ok {
			l.Progress = func(poll func() (int64, int64)) func() { return showProgress(f, l.Kernel, poll) }
		}
		prepare(l)
		j.reportEngine(a, l)
	}
	if j.workload == nil {
		ready(j.launch)
		r, err := j.module.Run(a.ctx, j.launch)
		if r != nil {
			j.results = append(j.results, r)
		}
		return err
	}
	j.session.Prepare = ready
	err := j.workload.Run(j.session)
	j.results = j.session.Results
	var mismatch *kernels.Mismatch
	if errors.As(err, &mismatch) {
		return &failure{fmt.Errorf("@%s: %w", j.workload.Name, mismatch), exitFailed}
	}
	return err
}

// reportEngine reports once if Go executes a launch for which machine code was requested.
func (j *job) reportEngine(a *app, l *interp.Launch) {
	if j.engineReported || j.flags.Engine != "native" {
		return
	}
	if reason := j.device.WhyNotNative(l); reason != "" {
		j.engineReported = true
		fmt.Fprintf(a.stderr, "gemu: --engine native: %s. The results are the same, but the launch is slower; --engine auto does not print this message\n", reason)
	}
}

// structure runs the job and returns the structure of its values.
func (j *job) structure(a *app, policy *affinetrack.Policy, reconverge *interp.Reconverger) error {
	return j.run(a, func(l *interp.Launch) {
		l.Mode, l.Policy, l.Reconverge, l.Structure = interp.Vector, policy, reconverge, true
	})
}

// total returns the sums over the launches of a job.
func (j *job) total() *interp.Result {
	last := j.results[len(j.results)-1]
	if len(j.results) == 1 {
		return last
	}
	t := &interp.Result{Kernel: last.Kernel, Grid: last.Grid, Block: last.Block, Cluster: last.Cluster, WarpSize: last.WarpSize, Reconverge: last.Reconverge, Mode: last.Mode}
	for _, r := range j.results {
		if r.Structure != nil {
			if t.Structure == nil {
				t.Structure = &structure.Structure{Policy: r.Structure.Policy}
			}
			t.Structure.Add(r.Structure)
		}
		t.Duration += r.Duration
		t.WarpInstructions += r.WarpInstructions
		t.ThreadInstructions += r.ThreadInstructions
		t.LaneSlots += r.LaneSlots
		t.Branches += r.Branches
		t.DivergentBranches += r.DivergentBranches
		t.Splits += r.Splits
		t.Reconvergences += r.Reconvergences
	}
	return t
}

// facts describes the finished launches of a job.
func (j *job) facts() document.Launch { return document.LaunchOf(j.flags.File, j.results) }

// groups returns the launches of a job, grouped.
func (j *job) groups() []document.Group { return document.Groups(j.results) }

// parsePolicy returns the policy with a name; "" selects the default.
func parsePolicy(name string) (*affinetrack.Policy, error) {
	if name == "" {
		return affinetrack.Policies[0], nil
	}
	if p := affinetrack.PolicyByName(name); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("--policy %s: unknown value policy; want one of %s", name, policyNames())
}

func policyNames() string {
	var names []string
	for _, p := range slices.Concat(affinetrack.Policies, affinetrack.Variants) {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func lookupWorkload(name string) (*kernels.Workload, error) {
	w := kernels.Lookup(name)
	if w == nil {
		return nil, fmt.Errorf("unknown workload @%s%s; \"gemu kernels\" lists all", name, nearestWorkload(name))
	}
	return w, nil
}

// nearestWorkload returns a question about the workload that was probably meant: by the same beginning, or by few differences.
func nearestWorkload(name string) string {
	var names []string
	for _, w := range kernels.All() {
		if strings.HasPrefix(w.Name, name) || strings.HasPrefix(name, w.Name) {
			return fmt.Sprintf(" (did you mean @%s?)", w.Name)
		}
		names = append(names, w.Name)
	}
	if near := notation.Nearest(name, names); near != "" {
		return fmt.Sprintf(" (did you mean @%s?)", near)
	}
	return ""
}

// parseDim reads an extent X[,Y[,Z]]. meaning describes it in the message about a missing flag.
func parseDim(flag, meaning, s string) (ptx.Dim3, error) {
	if s == "" {
		return ptx.Dim3{}, fmt.Errorf("%s X[,Y[,Z]] is missing: %s", flag, meaning)
	}
	var n []int
	for _, p := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(p))
		if errors.Is(err, strconv.ErrRange) {
			return ptx.Dim3{}, fmt.Errorf("%s %s: a number is too large", flag, s)
		}
		if err != nil || len(n) == 3 {
			return ptx.Dim3{}, fmt.Errorf("%s %s: want one to three numbers, X[,Y[,Z]], such as 64 or 16,16", flag, s)
		}
		n = append(n, v)
	}
	return ptx.Dim(n...), nil
}

// terminal returns the file of a writer if it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		return o.file, o.file != nil
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// showProgress draws a progress bar if a launch takes longer than a second, until stop is called.
func showProgress(w io.Writer, kernel string, poll func() (int64, int64)) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-quit:
			return
		case <-time.After(time.Second):
		}
		_, all := poll()
		bar := progressbar.NewOptions64(all, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(kernel),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				bar.Clear()
				return
			case <-tick.C:
				done, _ := poll()
				bar.Set64(done)
			}
		}
	}()
	return func() { close(quit); <-gone }
}
