package cli

// This file is "gemu fuzz": random programs for other implementations of PTX.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"gemu/fuzz"
	"gemu/internal/cleanup"
	"gemu/internal/notation"
	"gemu/internal/wholefile"
	"gemu/probe"
	"gemu/ptx"
)

type fuzzCmd struct {
	Out      string `required:"" help:"Directory to write to; it is created if it does not exist." placeholder:"DIR"`
	Programs int    `short:"n" default:"10" help:"Number of programs." placeholder:"N"`
	Seed     uint64 `default:"1" help:"Seed of the first program; each further program has the next seed." placeholder:"N"`

	Semantics string `default:"manual" enum:"manual,hardware" help:"Instructions whose results on GPUs are known to differ from the manual (list in docs/fuzz.md): manual avoids them, hardware uses them and expects the results of GPUs." placeholder:"manual|hardware"`

	Features string `default:"all" help:"Features of the programs: some of ${features}; or none; or all,-NAME,… to leave some out." placeholder:"NAME,…"`
	PTX      string `name:"ptx" help:"PTX version of the programs." unset:"7.0, and 8.8 for --sm above 80" placeholder:"X.Y"`
	SM       int    `name:"sm" default:"80" help:"Compute capability of the programs: 80 for 8.0." placeholder:"NN"`
	Grid     int    `short:"g" default:"2" help:"Size of the grid of each launch, in CTAs." placeholder:"N"`
	Block    string `short:"b" default:"64" help:"Size of each CTA, in threads: X[,Y[,Z]]; a missing Y or Z is 1." placeholder:"X[,Y[,Z]]"`
	Length   int    `default:"60" help:"Approximate number of statements in a program." placeholder:"N"`

	TimeLimit notation.Span `env:"GEMU_TIME_LIMIT" help:"Time limit of each launch on gemu." unset:"no limit" placeholder:"TIME"`

	rivalFlags `group:"against"`

	skip  []*regexp.Regexp  // compiled regular expressions of Skip
	known []knownFailureKey // reduced failures
}

// rivalFlags are for the test of another implementation.
type rivalFlags struct {
	Against string        `help:"Run programs on another implementation until one fails, and reduce that program. COMMAND is a shell command; in it, {ptx}, {in} and {json} are the files of a program, {grid} and {block} its extents, {bytes} the size of its result, {n} and {m} the values of its last two arguments (a .u32 and a .u64), and {out} the file for the result; see docs/fuzz.md." placeholder:"COMMAND"`
	Timeout notation.Span `default:"10s" help:"Time limit of the --against command for each program." placeholder:"TIME"`
	Refusal int           `name:"refusal-status" default:"3" help:"Exit status by which the --against command refuses a program." placeholder:"N"`
	Refuses string        `name:"refusal-regex" help:"The --against command also refuses a program, with any exit status, if its standard error matches REGEX; ^ and $ match at line ends." placeholder:"REGEX"`
	Ignore  []string      `enum:"difference,crash,timeout,refusal" help:"Count failures of these kinds, and continue: ${enum}." unset:"none" placeholder:"KIND"`
	Skip    []string      `sep:"none" help:"Count failures whose report matches REGEX, and continue: for known bugs. A report has the kind of failure, the first wrong word of memory, the culprit, and standard error; ^ and $ match at line ends. May be given several times." placeholder:"REGEX"`
	Keep    bool          `name:"keep-going" help:"Continue after a failure, and reduce the first failure of each culprit."`
	Reduce  notation.Span `name:"reduce-time" default:"5m" help:"Time limit of the reduction of a program." placeholder:"TIME"`
}

// knownFailureKey identifies a reduced failure.
type knownFailureKey struct {
	seed    uint64
	outcome *fuzz.Outcome
}

// options returns the options of the generator.
func (c *fuzzCmd) options() (fuzz.Options, error) {
	features, err := fuzz.ParseFeatures(c.Features)
	if err != nil {
		return fuzz.Options{}, fmt.Errorf("--features: %w", err)
	}
	semantics, err := fuzz.ParseSemantics(c.Semantics)
	if err != nil {
		return fuzz.Options{}, fmt.Errorf("--semantics: %w", err)
	}
	block, err := parseDim("-b", "the size of each CTA, in threads", c.Block)
	if err != nil {
		return fuzz.Options{}, err
	}
	version := ptx.Version{Major: 7}
	if c.SM > 80 {
		version = ptx.Version{Major: 8, Minor: 8}
	}
	if c.PTX != "" {
		var rest string
		if n, _ := fmt.Sscanf(c.PTX+" .", "%d.%d %s", &version.Major, &version.Minor, &rest); n < 3 || rest != "." {
			return fuzz.Options{}, fmt.Errorf("--ptx %s: want a version such as 7.0", c.PTX)
		}
	}
	return fuzz.Options{Features: features, Version: version, SM: c.SM, Grid: c.Grid, Block: block, Length: c.Length, Semantics: semantics, TimeLimit: time.Duration(c.TimeLimit)}, nil
}

// rival returns the implementation under test; nil if there is none.
func (c *fuzzCmd) rival(line *kong.Context) (*fuzz.Rival, error) {
	if c.Against == "" {
		if flags := givenFlags(line, "against"); len(flags) > 0 {
			return nil, fmt.Errorf("--%s needs --against", flags[0])
		}
		return nil, nil
	}
	r := &fuzz.Rival{Command: c.Against, Timeout: time.Duration(c.Timeout), RefusalStatus: c.Refusal}
	if c.Refuses != "" {
		var err error
		if r.RefusalText, err = regexp.Compile("(?m)" + c.Refuses); err != nil {
			return nil, fmt.Errorf("--refusal-regex: %w", err)
		}
	}
	for _, text := range c.Skip {
		re, err := regexp.Compile("(?m)" + text)
		if err != nil {
			return nil, fmt.Errorf("--skip: %w", err)
		}
		c.skip = append(c.skip, re)
	}
	switch err := r.Check(); {
	case err != nil:
		return nil, fmt.Errorf("--against: %w", err)
	case r.RefusalStatus < 1 || r.RefusalStatus > 255:
		return nil, fmt.Errorf("--refusal-status %d: want 1 to 255", r.RefusalStatus)
	case c.Reduce <= 0:
		return nil, fmt.Errorf("--reduce-time %v: want a time above 0", time.Duration(c.Reduce))
	}
	return r, nil
}

func (c *fuzzCmd) Run(a *app, line *kong.Context) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	rival, err := c.rival(line)
	if err != nil {
		return err
	}
	if c.Programs < 1 {
		return fmt.Errorf("-n %d: want at least one program", c.Programs)
	}
	if last := c.Seed + uint64(c.Programs-1); last < c.Seed {
		return fmt.Errorf("--seed %d: %d programs from it on go beyond the last seed, %d", c.Seed, c.Programs, uint64(math.MaxUint64))
	}
	g, err := fuzz.New(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return err
	}
	work, remove, err := cleanup.Dir("", "gemu-fuzz-*")
	if err != nil {
		return err
	}
	defer remove()

	var done atomic.Int64
	show := func() func() {
		return a.progress("programs", func() (int64, int64) { return done.Load(), int64(c.Programs) })
	}
	stop := show()
	defer func() { stop() }()
	counts, skipped, failures := map[fuzz.Kind]int{}, 0, 0
	for i := range uint64(c.Programs) {
		p := g.Program(c.Seed + i)
		want, err := p.Verify(a.ctx)
		if err == nil && rival == nil {
			err = p.Write(a.ctx, c.Out, fmt.Sprint(p.Seed), want)
		}
		var outcome *fuzz.Outcome
		if err == nil && rival != nil {
			outcome, err = rival.Find(a.ctx, p, want, -1, work)
		}
		if errors.Is(err, fuzz.ErrUndefined) {
			err = fmt.Errorf("a program does not have a defined result, please report it: %w", err)
		}
		if err != nil {
			err = fmt.Errorf("seed %d: %w", p.Seed, err)
			if trap := new(probe.Trap); errors.Is(err, probe.ErrTimeLimit) && !errors.As(err, &trap) {
				err = &failure{fmt.Errorf("%w; --time-limit and GEMU_TIME_LIMIT set the limit", err), exitFailed}
			}
			return err
		}
		done.Add(1)
		if outcome == nil {
			continue
		}
		counts[outcome.Kind]++
		switch {
		case outcome.Kind == fuzz.Same || slices.Contains(c.Ignore, string(outcome.Kind)):
			continue
		case slices.ContainsFunc(c.skip, func(re *regexp.Regexp) bool { return re.MatchString(outcome.Text()) }):
			skipped++
			continue
		}
		failures++
		stop()
		stop = func() {}
		if i := slices.IndexFunc(c.known, func(k knownFailureKey) bool { return outcome.SameFault(k.outcome) }); i >= 0 {
			fmt.Fprintf(a.stdout, "seed %d: %s: %s; as in seed %d: %s\n", p.Seed, outcome.Kind, outcome.Reason, c.known[i].seed, c.known[i].outcome.Fault())
		} else if err := c.found(a, rival, p, want, outcome, work); !c.Keep || !isFailure(err) {
			return err
		}
		stop = show()
	}
	stop()
	stop = func() {}
	if rival == nil {
		fmt.Fprintf(a.stdout, "%s, each with its input, result, log and description, in %s\n", counted(c.Programs, "program"), c.Out)
		return nil
	}
	text := []string{fmt.Sprintf("%s: %d same", counted(c.Programs, "program"), counts[fuzz.Same])}
	for _, k := range fuzz.Failures {
		if counts[k] > 0 {
			text = append(text, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	if skipped > 0 {
		text = append(text, fmt.Sprintf("%d of them skipped", skipped))
	}
	fmt.Fprintln(a.stdout, strings.Join(text, ", "))
	if failures > 0 {
		return &failure{fmt.Errorf("--against: %s failed", counted(failures, "program")), exitFailed}
	}
	return nil
}

// isFailure reports whether an error is a failure of the rival, as opposed to a failure of the
// search.
func isFailure(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.status == exitFailed
}

// reducedName returns the name of the files of a reduced program.
func (c *fuzzCmd) reducedName(p *fuzz.Program) string {
	if c.Keep {
		return fmt.Sprintf("reduced-%d", p.Seed)
	}
	return "reduced"
}

// progress shows the progress of work if standard error is a terminal, until stop is called.
func (a *app) progress(noun string, poll func() (done, total int64)) (stop func()) {
	if f, ok := terminal(a.stderr); ok {
		return showProgress(f, noun, poll)
	}
	return func() {}
}

// found writes a failing program, reduces it, and reports the reduced program. The error has the
// exit status.
func (c *fuzzCmd) found(a *app, rival *fuzz.Rival, p *fuzz.Program, want []byte, outcome *fuzz.Outcome, work string) error {
	if err := p.Write(a.ctx, c.Out, fmt.Sprint(p.Seed), want); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "seed %d: %s: %s\n", p.Seed, outcome.Kind, outcome.Reason)
	if outcome.Kind == fuzz.Difference {
		fmt.Fprintln(a.stdout, outcome.Culprit)
	}
	c.known = append(c.known, knownFailureKey{p.Seed, outcome})
	for range repeats {
		o, err := rival.Run(a.ctx, p, want, work)
		if err != nil {
			return err
		}
		if !outcome.Merge(o) {
			return c.flaky(a, p, outcome, o, "the same program")
		}
	}

	all := strings.Count(p.Source, "\n")
	var left atomic.Int64
	left.Store(int64(all))
	stop := a.progress("reducing", func() (int64, int64) { return int64(all) - left.Load(), int64(all) })
	ctx, cancel := context.WithTimeout(a.ctx, time.Duration(c.Reduce))
	small, err := fuzz.Reduce(ctx, p, rival.KnowsExtents(), rival.StillFails(ctx, outcome, work), func(lines int) { left.Store(int64(lines)) })
	cancel()
	stop()
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	stopped := errors.Is(err, context.DeadlineExceeded)
	if err != nil && !stopped {
		return err
	}
	if want, err = small.Verify(a.ctx); err != nil {
		return err
	}
	name := c.reducedName(p)
	if err := small.Write(a.ctx, c.Out, name, want); err != nil {
		return err
	}
	again, err := rival.Find(a.ctx, small, want, outcome.Offset, work)
	switch {
	case err != nil:
		return err
	case !again.Matches(outcome):
		return c.flaky(a, p, outcome, again, "the reduced program in "+filepath.Join(c.Out, name+".ptx"))
	}
	outcome = again
	c.known = append(c.known, knownFailureKey{p.Seed, outcome})
	text := c.describe(small, outcome, all, stopped)
	fmt.Fprint(a.stdout, text)
	if err := wholefile.Write(a.ctx, filepath.Join(c.Out, name+".txt"), []byte(text)); err != nil {
		return err
	}
	return &failure{fmt.Errorf("--against: %s in the program of seed %d", outcome.Kind, p.Seed), exitFailed}
}

// repeats is the number of times that a failure must recur before its program is reduced.
const repeats = 2

// flaky reports a failure that does not recur. The error has the exit status.
func (c *fuzzCmd) flaky(a *app, p *fuzz.Program, first, again *fuzz.Outcome, noun string) error {
	describe := func(o *fuzz.Outcome) string {
		if o.Reason == "" {
			return string(o.Kind)
		}
		return fmt.Sprintf("%s, %s", o.Kind, o.Reason)
	}
	fmt.Fprintf(a.stdout, "flaky: %s had another outcome when it ran again: first %s; then %s\nthe program has --seed %d and is in %s; the command: %s\n",
		noun, describe(first), describe(again), p.Seed, filepath.Join(c.Out, fmt.Sprint(p.Seed)+".ptx"), c.Against)
	return &failure{fmt.Errorf("--against: a flaky %s in the program of seed %d", first.Kind, p.Seed), exitFailed}
}

// describe returns the report about a reduced program.
func (c *fuzzCmd) describe(p *fuzz.Program, o *fuzz.Outcome, all int, stopped bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reduced from %d lines to %d, grid %s of blocks %s: %s\n", all, strings.Count(p.Source, "\n"), p.Grid, p.Block, filepath.Join(c.Out, c.reducedName(p)+".ptx"))
	if stopped {
		fmt.Fprintf(&b, "the reduction was stopped after %v; --reduce-time raises the limit\n", time.Duration(c.Reduce))
	}
	fmt.Fprintf(&b, "%s: %s\n", o.Kind, o.Reason)
	if o.Kind == fuzz.Difference {
		fmt.Fprintln(&b, o.Culprit)
	}
	if s := strings.TrimSpace(o.Stderr); s != "" {
		fmt.Fprintf(&b, "standard error:\n%s\n", s)
	}
	fmt.Fprintf(&b, "the command: %s\n", c.Against)
	return b.String()
}
