// Command mutate tests checks: it makes mutants of the code, each with a small fault, and runs them on inputs.
//
//	go run -C tools ./mutate                        all mutants of tools/mutate/scope.txt
//	go run -C tools ./mutate -seed 7 -sample 100    a sample
//	go run -C tools ./mutate -list -only 'interp.*' list without running
//	go run -C tools ./mutate -expect tools/mutate/samples/compact.tsv
//	                                                a fixed sample, with the outcomes that it must have
//
// It prints a line for each mutant, in the order of the code: place, function, operator, the code and its replacement,
// the ordinal among equal mutants, the outcome, and the deciding input. A mutant is killed if a run in check mode
// reports a mismatch. Unnoticed wrong results, crashes and hangs are outcomes of their own and count as not killed. A
// mutant has the outcome "slower" if all inputs have the same results, and only the engine's own counts are worse
// (probe.EngineCounts: fewer claimed or compact instructions, or more materialised values); a test of internal/corpus
// pins these counts. If the counts differ in another way, the outcome is "counted", which is not killed either. Mutants
// of functions with a tilde in the scope are "slower" in this case, too, because these functions affect costs only.
//
// A summary by function follows. If fewer than -at-least percent of the mutants are killed, it lists the survivors
// without an argument, and the exit status is 1. Slower and argued mutants are left out of the percentage.
//
// The operators: negate a condition or a part of it (negate), exchange && and || (logic), remove a part of a condition
// (part); change the right side of an ordered comparison or a constant by 1 (bound, const); exchange addition and
// subtraction (sign); exchange operands that do not commute, or neighbouring arguments of the same type (swap); make a
// mask all lanes, or no lanes where it removes lanes (widen); remove a statement, an early return, a break or continue
// (drop, return, control).
//
// An argued mutant is an equivalent mutant: a survivor that no check can notice.
// tools/mutate/argued.txt has a line for each: the columns from function to ordinal, and the reason. An argued mutant
// that is killed or no longer exists is an error; -arguments tries the argued mutants alone. Tables of stencils
// (-stencils) have a file for each level of processors, such as tools/mutate/stencils_amd64-argued.txt.
//
// A sample (-expect) is a list of mutants: the columns from function to ordinal, the outcome, the input or test that
// kills the mutant, which is tried first, and the reason of each survivor without an argument. The run fails if a
// mutant no longer exists or has another outcome. -update writes the outcomes, replaces mutants that no longer exist by
// random mutants, and adds mutants up to the number of -sample. The first lines of a sample have its command.
//
// Mutants of the Go code for machine code (native.txt) run on inputs of their own, in machine code and in Go, and then on the
// tests that reach the mutant. For them a crash or a hang counts as noticed, as in a test. The first lines of
// tools/mutate/native.txt have the command. The same holds for mutants of the tables of stencils (stencils.go). Suites
// of package harness try each of them, or tests if no suite reaches the stencil:
//
//	go run -C tools ./mutate -stencils 'interp/internal/native/*_amd64.txt'
//
// With -scope only stencils of the families in this file are mutated, and all families have the same number of mutants, but
// for chance. Each stencil is tried without a mutant first: this must end without a difference, and the limits of time and
// memory follow from it.
//
// All mutants are compiled into a single program (mutant schemata, Untch et al. 1993), by "go build -overlay"; an
// environment variable selects a mutant. A first run without a mutant finds the inputs that reach each mutant.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/tabwriter"

	"gemu/tools/internal/repository"
)

func main() {
	c := &config{command: strings.Join(append([]string{"go run -C tools ./mutate"}, os.Args[1:]...), " ")}
	flag.StringVar(&c.root, "root", "", "`folder` of the repository; all other paths are relative to it (default: the repository around the working directory)")
	flag.StringVar(&c.scope, "scope", "", "`file` with the names of the functions to mutate (default tools/mutate/scope.txt); with -stencils, the families of stencils to mutate (default: all stencils)")
	flag.StringVar(&c.equivalentFile, "argued", "", "`file` with the argued mutants and their reasons (default tools/mutate/argued.txt; with -stencils, tools/mutate/stencils_HOST-argued.txt)")
	flag.StringVar(&c.program, "program", "./tools/mutate/try", "`package` that runs the inputs")
	flag.StringVar(&c.only, "only", "*", "try only mutants of functions whose names match this `pattern`")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the random sample")
	flag.IntVar(&c.sample, "sample", 0, "number of mutants in the sample; 0: all mutants")
	flag.BoolVar(&c.checkEquivalent, "arguments", false, "try only the argued mutants, to check that they survive")
	flag.BoolVar(&c.list, "list", false, "list the mutants, and run nothing")
	flag.StringVar(&c.expect, "expect", "", "try the mutants of the sample in `file`, which must have the outcomes recorded there")
	flag.BoolVar(&c.rewrite, "update", false, "write the outcomes to the file of -expect, replace mutants that no longer exist, and add mutants up to the number of -sample")
	flag.IntVar(&c.workers, "j", runtime.GOMAXPROCS(0), "number of concurrent processes")
	flag.IntVar(&c.limits.inputs, "inputs", 500, "maximum number of inputs in check mode for a mutant, not counting the inputs made for a certain fault")
	flag.IntVar(&c.limits.others, "others", 40, "maximum number of inputs of each other kind: with statistics, and in affine mode")
	flag.Int64Var(&c.limits.cost, "cost", 600_000, "maximum number of warp instructions of these inputs, summed for each kind")
	flag.StringVar(&c.stencils, "stencils", "", "mutate tables of stencils (the files of this `pattern`) instead of Go code; 1000 mutants unless -sample is given")
	flag.BoolVar(&c.subjectsOnly, "alone", false, "with -stencils, mutate only stencils with a suite in package harness, and not those that only tests reach")
	flag.StringVar(&c.tests, "tests", "", "`tests` for mutants that survive the inputs, as PACKAGE:PATTERN,…, such as ./interp:Random,./regfile:.")
	flag.BoolVar(&c.exitIsKill, "ends", false, "count a crash or a hang as noticed, as for inputs from tests")
	flag.Float64Var(&c.atLeast, "at-least", 0, "`percent` of the mutants that must be killed, not counting slower and argued mutants")
	flag.Parse()
	good, err := c.runInRoot(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// config is the command's flags.
type config struct {
	command                                    string // first line of lists; "" for none
	expect                                     string
	rewrite                                    bool
	root, scope, equivalentFile, program, only string
	seed                                       uint64
	sample, workers                            int
	subjectsOnly                               bool
	stencils, tests                            string
	exitIsKill                                 bool
	list, checkEquivalent                      bool
	limits                                     limits
	atLeast                                    float64
}

// runInRoot runs everything in the repository's folder.
func (c *config) runInRoot(w io.Writer) (good bool, err error) {
	if c.root == "" {
		if c.root, err = repository.Root(); err != nil {
			return false, err
		}
	}
	if err := os.Chdir(c.root); err != nil {
		return false, err
	}
	c.root = "."
	if c.rewrite && c.expect == "" {
		return false, errors.New("-update needs -expect, the sample to update")
	}
	return c.run(w)
}

// run executes the command; good is false if the exit status must be 1.
func (c *config) run(w io.Writer) (good bool, err error) {
	if c.root, err = filepath.Abs(c.root); err != nil {
		return false, err
	}
	if c.stencils != "" {
		return c.runStencils(w)
	}
	scope, err := readScope(cmp.Or(c.scope, "tools/mutate/scope.txt"))
	if err != nil {
		return false, err
	}
	files, err := find(c.root, scope)
	if err != nil {
		return false, err
	}
	var all []*Mutant
	for _, f := range files {
		all = append(all, f.mutants...)
	}
	argued, err := readEquivalent(cmp.Or(c.equivalentFile, "tools/mutate/argued.txt"))
	if err != nil {
		return false, err
	}
	if err := argued.checkExist(all); err != nil {
		return false, err
	}
	if c.checkEquivalent {
		all = slices.DeleteFunc(all, func(m *Mutant) bool { return argued[m.row()] == "" })
	}
	chosen, sample, err := c.choose(all)
	if err != nil {
		return false, err
	}
	if c.list {
		for _, m := range chosen {
			fmt.Fprintf(w, "%s:%d\t%s\n", m.File, m.Line, m.row())
		}
		return true, nil
	}
	verdicts, err := c.try(files, chosen, sample)
	if err != nil {
		return false, err
	}
	c.print(w, chosen, verdicts)
	return c.report(w, chosen, verdicts, argued, sample, func(m *Mutant) string { return m.Func })
}

// report prints a summary by group, and compares outcomes with a sample, if any, or with -at-least.
func (c *config) report(w io.Writer, list []*Mutant, verdicts map[*Mutant]Verdict, argued equivalentMutants, s *sample, group func(*Mutant) string) (good bool, err error) {
	good, err = c.summary(w, list, verdicts, argued, group)
	switch {
	case err != nil || s == nil:
		return good, err
	case c.rewrite:
		return c.update(w, s, list, verdicts, argued)
	}
	return c.compare(w, s, list, verdicts, argued), nil
}

// print prints the mutants with their outcomes.
func (c *config) print(w io.Writer, list []*Mutant, verdicts map[*Mutant]Verdict) {
	if c.command != "" {
		fmt.Fprintf(w, "# %s\n", c.command)
	}
	for _, m := range list {
		v := verdicts[m]
		fmt.Fprintf(w, "%s:%d\t%s\t%s\t%s\n", m.File, m.Line, m.row(), v.Outcome, v.text())
	}
}

// try tries mutants. The inputs and tests that killed them when the sample was recorded come first.
func (c *config) try(files []*instrumented, list []*Mutant, s *sample) (map[*Mutant]Verdict, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	chosen := map[*Mutant]bool{}
	for _, m := range list {
		chosen[m] = true
	}
	binary, err := build(c.root, c.program, dir, files, chosen)
	if err != nil {
		return nil, err
	}
	t := &runner{root: c.root, binary: binary, exitIsKill: c.exitIsKill, limits: c.limits, killer: s.killer}
	if c.tests != "" {
		if t.tests, err = findTests(c.root, c.tests, dir); err != nil {
			return nil, err
		}
	}
	if err := t.cover(c.workers); err != nil {
		return nil, err
	}
	return t.tryAll(list, c.workers)
}

// row returns the mutant as it stands in lists and arguments.
func (m *Mutant) row() string { return fmt.Sprintf("%s\t%d", m.key(), m.Ordinal) }

// choose selects the mutants to try, and returns the sample of -expect, if any.
func (c *config) choose(all []*Mutant) ([]*Mutant, *sample, error) {
	var list []*Mutant
	for _, m := range all {
		ok, err := path.Match(c.only, m.Func)
		if err != nil {
			return nil, nil, fmt.Errorf("-only %s: %w", c.only, err)
		}
		if ok {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, nil, errors.New("no function in the scope matches -only")
	}
	if c.expect != "" {
		s, err := readSample(c.expect, c.rewrite)
		if err != nil {
			return nil, nil, err
		}
		list, err = s.pick(list, c.rewrite, c.sample, c.seed)
		return list, s, err
	}
	if c.sample <= 0 || c.sample >= len(list) {
		return list, nil, nil
	}
	picked := rand.New(rand.NewPCG(c.seed, 0)).Perm(len(list))[:c.sample]
	sort.Ints(picked)
	var chosen []*Mutant
	for _, i := range picked {
		chosen = append(chosen, list[i])
	}
	return chosen, nil, nil
}

// tryAll tries mutants. Mutants of different functions run concurrently.
func (t *runner) tryAll(list []*Mutant, workers int) (map[*Mutant]Verdict, error) {
	byFunc := map[string][]*Mutant{}
	var order []string
	for _, m := range list {
		if byFunc[m.Func] == nil {
			order = append(order, m.Func)
		}
		byFunc[m.Func] = append(byFunc[m.Func], m)
	}
	// the longest functions first, so that none remains for the end
	slices.SortStableFunc(order, func(a, b string) int { return len(byFunc[b]) - len(byFunc[a]) })
	verdicts := map[*Mutant]Verdict{}
	var mu sync.Mutex
	var firstErr error
	work := make(chan []*Mutant)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for f := range work {
				err := t.tryFunction(f, func(m *Mutant, v Verdict) {
					mu.Lock()
					defer mu.Unlock()
					verdicts[m] = v
					if len(verdicts)%250 == 0 {
						fmt.Fprintf(os.Stderr, "mutate: %d of %d\n", len(verdicts), len(list))
					}
				})
				mu.Lock()
				if firstErr == nil {
					firstErr = err
				}
				mu.Unlock()
			}
		})
	}
	for _, f := range order {
		work <- byFunc[f]
	}
	close(work)
	wait.Wait()
	return verdicts, firstErr
}

// isNoticed reports whether an outcome counts as killed; exitIsKill says that a crash or a hang does.
func isNoticed(o Outcome, exitIsKill bool) bool {
	return o == Killed || exitIsKill && (o == Crash || o == Hang)
}

// summary prints the number of killed mutants of each group, and the survivors if too few are killed.
func (c *config) summary(w io.Writer, list []*Mutant, verdicts map[*Mutant]Verdict, argued equivalentMutants, group func(*Mutant) string) (good bool, err error) {
	const isArgued = Killed + 1
	tally := map[string]*[isArgued + 1]int{}
	var total [isArgued + 1]int
	var order []string
	var wrong []error
	for _, m := range list {
		name := group(m)
		if tally[name] == nil {
			tally[name] = &[isArgued + 1]int{}
			order = append(order, name)
		}
		o := verdicts[m].Outcome
		if reason, ok := argued[m.row()]; ok {
			if isNoticed(o, c.exitIsKill) {
				wrong = append(wrong, fmt.Errorf("%s: argued (%s), but killed by %s", m.row(), reason, verdicts[m].text()))
			}
			o = isArgued
		}
		tally[name][o]++
		total[o]++
	}
	if len(wrong) > 0 {
		return false, errors.Join(wrong...)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\nmutants\tkilled\tslower\targued\twrong\tcrash\thang\tcounted\tsurvived\tunreached\tkilled %\t  function\t")
	line := func(name string, n *[isArgued + 1]int) float64 {
		all := 0
		for _, k := range n {
			all += k
		}
		percent := 100.0
		if total := all - n[Slower] - n[isArgued]; total > 0 {
			killed := 0
			for o, k := range n {
				if isNoticed(Outcome(o), c.exitIsKill) {
					killed += k
				}
			}
			percent = 100 * float64(killed) / float64(total)
		}
		fmt.Fprintf(tw, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t  %s\t\n", all, n[Killed], n[Slower], n[isArgued], n[Wrong], n[Crash], n[Hang], n[CountsDiffer], n[Survived], n[Unreached], percent, name)
		return percent
	}
	for _, name := range order {
		line(name, tally[name])
	}
	percent := line("all", &total)
	tw.Flush()
	if percent >= c.atLeast {
		return true, nil
	}
	fmt.Fprintf(w, "\n%.1f %% of the mutants that are neither slower nor argued are killed, at least %.1f %% should be. These are not:\n", percent, c.atLeast)
	for _, m := range list {
		o := verdicts[m].Outcome
		if argued[m.row()] == "" && o != Slower && !isNoticed(o, c.exitIsKill) {
			fmt.Fprintf(w, "%s:%d\t%s\t%s\n", m.File, m.Line, m.row(), o)
		}
	}
	return false, nil
}

// equivalentMutants are the reasons of argued survivors, by row.
type equivalentMutants map[string]string

// readEquivalent reads argued survivors. Lines that begin with # are comments.
func readEquivalent(name string) (equivalentMutants, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a := equivalentMutants{}
	s := bufio.NewScanner(file)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndexByte(line, '\t')
		if i < 0 || strings.Count(line, "\t") != 4 || strings.TrimSpace(line[i:]) == "" {
			return nil, fmt.Errorf("%s:%d: an argued mutant must have function, operator, code, ordinal and reason, with tabs between them", name, n)
		}
		a[line[:i]] = line[i+1:]
	}
	return a, s.Err()
}

// checkExist checks that the mutants exist.
func (a equivalentMutants) checkExist(all []*Mutant) error {
	rows := map[string]bool{}
	for _, m := range all {
		rows[m.row()] = true
	}
	for row := range a {
		if !rows[row] {
			return fmt.Errorf("argued, but this mutant no longer exists: %s", row)
		}
	}
	return nil
}
