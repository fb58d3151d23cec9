package cli

// This file is "gemu run".

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemu/affinetrack"
	"gemu/argument"
	"gemu/internal/document"
	"gemu/interp"
	"gemu/models/traffic"
	"gemu/report"
	"gemu/sanitize"
	"gemu/sanitize/finding"
	"gemu/sanitize/outcome"
)

type runCmd struct {
	launchFlags
	policyFlag
	sanitizeFlags
	findingsFlags

	Out    []string `sep:"none" help:"After the launch, write a buffer to FILE (NAME.npy, NAME.png or NAME.png:WIDTHxHEIGHT; any other name gets the bytes; - prints the elements). I is the number of a kernel argument, from 0, or the name of a .global or .const variable. May be given several times." placeholder:"I=FILE"`
	Expect []string `sep:"none" help:"After the launch, compare a buffer with ARG, an array written as for -a. A difference makes the exit status 1. I is the number of a kernel argument, from 0, or the name of a .global or .const variable. May be given several times." placeholder:"I=ARG"`
	Rtol   float64  `help:"Relative tolerance of --expect for floats." unset:"0" placeholder:"X"`
	Atol   float64  `help:"Absolute tolerance of --expect for floats." unset:"0" placeholder:"X"`

	Mode   string `group:"device" default:"check" enum:"check,affine,vector" help:"Mode of execution. A result is compact if gemu stores it as a base and a stride from lane to lane. Results are the same in every mode. One of:${modes}" placeholder:"MODE"`
	Eager  bool   `group:"device" help:"Execute compactly wherever operands are compact, even where this is slower: for tests of compact execution."`
	Policy string `help:"Value policy of --stats: the rules by which a value counts as compact. One of:${policies}" unset:"gemu" placeholder:"NAME"`

	Async string `group:"device" default:"late" enum:"late,early,both" help:"Time at which asynchronous copies and tensor operations take effect: late (at the wait that orders them), early (where they are issued), or both (run both ways, and report differences)." placeholder:"TIME"`

	Probe []string `predictor:"probe" help:"Observe the launch with probes, and print their reports. Another Go module can add probes to the command (docs/go.md). This command has ${probes}" placeholder:"NAME"`
	Stats bool     `help:"Print the numbers of instructions, branches and register accesses, and the structure of values (see gemu help terms value structure)."`
	JSON  string   `name:"json" help:"Write the launch as JSON to FILE (- for standard output)." placeholder:"FILE"`
}

func (c *runCmd) Run(a *app) (failed error) {
	policy, err := parsePolicy(c.Policy)
	if err != nil {
		return err
	}
	for flag, tolerance := range map[string]float64{"--rtol": c.Rtol, "--atol": c.Atol} {
		if !(tolerance >= 0) { // also refuses NaN
			return fmt.Errorf("%s %v: want a number from 0 on", flag, tolerance)
		}
	}
	watch, err := c.sanitizers(a)
	if err != nil {
		return err
	}
	reporters, err := a.probes(c.Probe)
	if err != nil {
		return fmt.Errorf("--probe: %w", err)
	}
	probes := slices.Clone(watch.Probes)
	for _, r := range reporters {
		probes = append(probes, r)
	}
	j, err := c.open(a, dataOf(a.stdout), probes...)
	if err != nil {
		return err
	}
	// Outputs and expectations are checked before the launch: a typing error must not cost the results.
	if j.workload != nil && len(c.Out)+len(c.Expect) > 0 {
		return ownLaunches(j.workload.Name)
	}
	outs, err := targets(j, "--out", "FILE", c.Out)
	if err != nil {
		return err
	}
	expects, err := targets(j, "--expect", "ARG", c.Expect)
	if err != nil {
		return err
	}
	expected := make([]*argument.Array, len(expects))
	for i, e := range expects {
		if expected[i], err = argument.ReadArray(a.ctx, e.value); err != nil {
			return fmt.Errorf("--expect %s=%s: %w", e.name, e.value, err)
		}
		if got := e.Array(); got.Len() != expected[i].Len() {
			return fmt.Errorf("--expect %s=%s: it has %d elements, but the buffer has %d", e.name, e.value, expected[i].Len(), got.Len())
		}
	}
	for _, o := range outs {
		if err := checkOutput(o.value); err != nil {
			return fmt.Errorf("--out %s=%s: %w", o.name, o.value, err)
		}
	}
	if err := checkOutput(c.JSON); err != nil {
		return fmt.Errorf("--json %s: %w", c.JSON, err)
	}
	rules, err := c.readRules(a, outputs{{"--json", c.JSON}})
	if err != nil {
		return err
	}
	mode, err := interp.ParseMode(c.Mode)
	if err != nil {
		return fmt.Errorf("--mode: %w", err)
	}
	registers := &traffic.Counter{}
	prepare := func(l *interp.Launch) {
		if l.Mode, l.Policy, l.Structure = mode, policy, c.Stats; c.Stats {
			l.Probes = append(l.Probes, registers)
		}
		l.Reconverge, l.CompileEagerly, l.EagerEffects = a.reconverger(c.Reconverge), c.Eager, c.Async == "early"
	}
	var other *asyncTwin
	if c.Async == "both" {
		if other, err = c.early(a, prepare); err != nil {
			return err
		}
	}
	ran := j.run(a, prepare)
	if len(j.results) == 0 {
		return ran
	}
	runErr := ran
	c.statistics(a, j, registers.Counts())
	reported := c.reports(a, reporters)
	defer func() { failed = all(failed, reported) }() // a failed report must not cost further results
	if runErr == nil {
		for _, o := range outs {
			if err := o.write(a, j.arguments.Bindings); err != nil {
				return &failure{fmt.Errorf("--out %s=%s: %w", o.name, o.value, err), exitBad}
			}
		}
		runErr = c.check(expects, expected)
	}
	if other != nil {
		runErr = other.compare(a, j, ran, runErr)
	}
	found, err := c.findings(a, watch, j, prepare)
	if err != nil {
		return err
	}
	counted, err := c.judge(a, j, found, runErr, rules)
	if err != nil {
		return err
	}
	if c.JSON != "" {
		r := newReport(j, runErr)
		if r.Findings = found; runErr == nil && counted.Errors > 0 {
			r.Exit = "findings"
		}
		if err := writeJSON(a, c.JSON, r); err != nil {
			return err
		}
	}
	if runErr == nil && counted.Errors > 0 {
		return &failure{fmt.Errorf("sanitizers have found %d error%s", counted.Errors, plural(counted.Errors)), exitFailed}
	}
	if runErr != nil {
		return runErr
	}
	if len(expects) > 0 {
		fmt.Fprintf(a.stderr, "gemu: %d expectation%s met\n", len(expects), plural(len(expects)))
	}
	if j.workload != nil && c.JSON != "-" {
		fmt.Fprintf(a.stdout, "@%s: %s\n", j.workload.Name, j.session.Summary)
		fmt.Fprintf(a.stdout, "the result is that of the host reference\n")
	}
	return nil
}

// judge makes the report of a run from the findings of sanitizers, which are nil without them, and from the error of the run. It
// prints the findings that count, and writes the reports of the flags.
func (c *runCmd) judge(a *app, j *job, found *sanitize.Report, runErr error, rules *rules) (*report.Report, error) {
	list := found
	status := exitGood
	if runErr != nil {
		status = exitFailed
		if found == nil {
			f := outcome.FindingOf(j.facts().Kernel, runErr)
			if failed := (*failure)(nil); errors.As(runErr, &failed) {
				f.Tool, f.Kind = "run", "expectation failed"
			}
			list = sanitize.NewReport([]finding.Finding{f}, finding.Coverage{})
		}
	}
	r := report.NewSingle(append([]string{"gemu", "run", c.File}, c.Extra...), status, c.File, j.facts().Kernel, int64(len(j.results)), list)
	if err := c.apply(a, rules, r); err != nil {
		return nil, err
	}
	if found != nil {
		if err := r.TextOfSingle(a.stderr, &found.Launches, c.SanitizeLimit); err != nil {
			return nil, err
		}
	}
	return r, c.findingsFlags.write(a, r)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// reports prints the reports of all probes of --probe: to standard output, or to standard error if standard output has the
// JSON. It returns the errors of failed reports.
func (c *runCmd) reports(a *app, reporters []Reporter) error {
	w := a.stdout
	if c.JSON == "-" {
		w = a.stderr
	}
	var errs []error
	for i, r := range reporters {
		if err := r.Report(w); err != nil {
			errs = append(errs, fmt.Errorf("--probe %s: %w", c.Probe[i], err))
		}
	}
	return all(errs...)
}

// statistics prints the report of --stats.
func (c *runCmd) statistics(a *app, j *job, registers traffic.Counts) {
	if !c.Stats {
		return
	}
	r := j.total()
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.stdout, "%-22s "+format+"\n", append([]any{name}, args...)...)
	}
	row("launches", "%d", len(j.results))
	row("thread instructions", "%d", r.ThreadInstructions)
	row("warp instructions", "%d", r.WarpInstructions)
	row("mean active lanes", "%.2f of %d", r.ActiveLanesMean(), r.WarpSize)
	row("branches", "%d", r.Branches)
	row("divergent branches", "%d", r.DivergentBranches)
	row("splits", "%d", r.Splits)
	row("reconvergences", "%d", r.Reconvergences)
	accesses := func(name string, s affinetrack.ClassCounts) {
		n := float64(max(s.Total(), 1))
		row(name, "%d, %.0f%% uniform, %.0f%% affine", s.Total(), 100*float64(s.Uniform)/n, 100*float64(s.Affine)/n)
	}
	accesses("register reads", registers.Reads)
	accesses("register writes", registers.Writes)
	row("reads of constants", "%d", registers.Constants)
	row("seconds", "%.6f", r.Duration.Seconds())
	if r.Structure != nil {
		fmt.Fprintf(a.stdout, "\nvalue structure, policy %s\n", r.Structure.Policy.Name)
		printSummary(a.stdout, r.Structure)
	}
}

// newReport returns the report of a finished job, whose error is err.
func newReport(j *job, err error) *document.Run {
	r := document.NewRun(j.facts(), j.total(), j.tolerated, err)
	var f *failure
	if r.Exit == "stopped" && errors.As(err, &f) {
		r.Exit = "expectation failed"
	}
	return r
}

// writeJSON writes a value as JSON to a file; "-" is standard output.
func writeJSON(a *app, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeOutput(a, name, append(b, '\n'))
}

// target is the buffer of an --out or --expect flag.
type target struct {
	*argument.Binding
	name, value string
}

// targets resolves flags of the form I=VALUE; value is its placeholder in messages.
func targets(j *job, flag, value string, list []string) ([]target, error) {
	var targets []target
	for _, text := range list {
		name, written, ok := strings.Cut(text, "=")
		if !ok || written == "" {
			return nil, fmt.Errorf("%s %s: want I=%s, with I the number of an argument, from 0, or the name of a variable", flag, text, value)
		}
		b, err := j.arguments.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", flag, text, err)
		}
		if b.IsSampler() {
			return nil, fmt.Errorf("%s %s: a sampler has no texels", flag, text)
		}
		targets = append(targets, target{b, name, written})
	}
	return targets, nil
}

// cutSize splits FILE.png:WIDTHxHEIGHT.
func cutSize(s string) (name string, w, h int) {
	i := strings.LastIndexByte(s, ':')
	if i > 0 {
		if n, err := fmt.Sscanf(s[i+1:], "%dx%d", &w, &h); n == 2 && err == nil {
			return s[:i], w, h
		}
	}
	return s, 0, 0
}

// write writes a buffer after the launch.
func (t *target) write(a *app, bindings map[string]*argument.Binding) error {
	arr := t.Array()
	if t.value == "-" {
		return arr.Print(a.stdout)
	}
	name, w, h := cutSize(t.value)
	switch strings.ToLower(filepath.Ext(name)) {
	case ".npy":
		return writeOutput(a, name, argument.EncodeNPY(arr))
	case ".png":
		arr.Shape = pictureShape(arr, w, h, bindings)
		b, err := argument.EncodePNG(arr)
		if err != nil {
			return err
		}
		return writeOutput(a, name, b)
	}
	return writeOutput(a, name, arr.Data)
}

// pictureShape returns the shape of a buffer as a picture: as given, its own, or the shape of an input picture with as many
// elements.
func pictureShape(arr *argument.Array, w, h int, bindings map[string]*argument.Binding) []int {
	n := arr.Len()
	switch {
	case w > 0 && h > 0 && n == w*h:
		return []int{h, w}
	case w > 0 && h > 0 && n == 4*w*h:
		return []int{h, w, 4}
	case w > 0:
		return nil
	case len(arr.Shape) > 1:
		return arr.Shape
	}
	for i := range len(bindings) {
		if b := bindings[strconv.Itoa(i)]; b != nil && len(b.Shape) > 1 && b.Array().Len() == n {
			return b.Shape
		}
	}
	return nil
}

// check compares buffers with their expectations.
func (c *runCmd) check(expects []target, expected []*argument.Array) error {
	var msg strings.Builder
	for i, e := range expects {
		got := e.Array()
		first, n := compareArrays(got, expected[i], c.Rtol, c.Atol)
		if n == 0 {
			continue
		}
		if msg.Len() > 0 {
			msg.WriteString("\n")
		}
		fmt.Fprintf(&msg, "--expect %s=%s: %d of %d elements differ", e.name, e.value, n, got.Len())
		for _, d := range first {
			fmt.Fprintf(&msg, "\n   [%d] got %s, want %s", d.index, d.got, d.want)
		}
		if n > len(first) {
			fmt.Fprintf(&msg, "\n   and %d more", n-len(first))
		}
	}
	if msg.Len() == 0 {
		return nil
	}
	return &failure{errors.New(msg.String()), exitFailed}
}
