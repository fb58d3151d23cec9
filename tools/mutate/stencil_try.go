package main

// This file runs mutants of stencils, each in a process of its own, on the suites or tests of its stencil.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// stencilPackage is the package of the tables, and stencilProgram is the program that tries them.
const (
	stencilPackage = "interp/internal/native"
	stencilProgram = "./interp/internal/native/harness/mutants"
)

// stencilTimeFactor is the limit of the time of a stencil's suites or tests with a mutant, as a multiple of their time
// without.
const stencilTimeFactor = 10

// maxSubjects is the largest number of suites that try a stencil. Comparisons, for instance, are in very many suites.
const maxSubjects = 6

// stencilTester is the suites of the program that try a stencil, or else tests of a package.
type stencilTester struct {
	Suites       []string
	Package, Run string
}

// hasSubjects reports whether anything tries the stencil.
func (t *stencilTester) hasSubjects() bool { return t != nil && (len(t.Suites) > 0 || t.Package != "") }

// stencilTesters are the testers of stencils, by mark of their processor level and by name.
type stencilTesters map[string]map[string]*stencilTester

// mark returns the mark of the processor level in the name of a table's file: see package native.
func mark(file string) string { return marks.FindString(strings.TrimSuffix(file, ".txt")) }

var marks = regexp.MustCompile(`_v\d+$`)

// names returns the names of all stencils.
func (t stencilTesters) names() (list []string) {
	for _, byName := range t {
		for name := range byName {
			list = append(list, name)
		}
	}
	return list
}

// find returns the tester of a stencil.
func (t stencilTesters) find(file, name string) *stencilTester { return t[mark(file)][name] }

// load asks the program for the testers of a level, once.
func (t stencilTesters) load(binary, mark string) error {
	if t[mark] != nil {
		return nil
	}
	out, err := exec.Command(binary, "stencils", mark).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return fmt.Errorf("without a mutant: %w", err)
	}
	var testers map[string]*stencilTester
	if err := json.Unmarshal(out, &testers); err != nil {
		return err
	}
	t[mark] = testers
	return nil
}

// runStencils runs the command for mutants of tables, of all stencils with a tester.
func (c *config) runStencils(w io.Writer) (good bool, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	binary, err := build(c.root, stencilProgram, dir, nil, nil)
	if err != nil {
		return false, err
	}
	lines, err := c.stencilLines()
	if err != nil {
		return false, err
	}
	testers := stencilTesters{}
	for _, s := range lines {
		if err := testers.load(binary, mark(s.file)); err != nil {
			return false, err
		}
	}
	argued, arguedList, arguedText, err := c.arguedStencils(lines)
	if err != nil {
		return false, err
	}
	if c.scope != "" {
		families, err := readFamilies(c.scope)
		if err != nil {
			return false, err
		}
		if lines, err = assignFamilies(families, lines, testers.names()); err != nil {
			return false, fmt.Errorf("%s: %w", c.scope, err)
		}
	}
	lines = slices.DeleteFunc(lines, func(s *stencilLine) bool {
		t := testers.find(s.file, s.name)
		return !t.hasSubjects() || c.subjectsOnly && len(t.Suites) == 0 || !matches(c.only, s.name)
	})
	if len(lines) == 0 {
		return false, errors.New("no stencil with a suite or test matches -stencils, -scope and -only")
	}
	var list []*Mutant
	var text map[*Mutant]string
	var sample *sample
	if c.checkEquivalent {
		list = slices.DeleteFunc(arguedList, func(m *Mutant) bool {
			return !slices.ContainsFunc(lines, func(s *stencilLine) bool { return s.id() == m.stencil() })
		})
		text = arguedText
	} else if list, text, sample, err = c.chooseStencils(lines); err != nil {
		return false, err
	}
	verdicts := map[*Mutant]Verdict{}
	if !c.list {
		p := &stencilPrograms{root: c.root, binary: binary, testers: testers, tests: map[string]string{}}
		if err := p.build(list, dir); err != nil {
			return false, err
		}
		usual, err := c.tryUnchanged(p, lines, list)
		if err != nil {
			return false, err
		}
		if verdicts, err = c.tryStencils(p, list, text, usual); err != nil {
			return false, err
		}
	}
	c.exitIsKill = true
	c.print(w, list, verdicts)
	if c.list {
		return true, nil
	}
	byOp := slices.Clone(list)
	slices.SortStableFunc(byOp, func(a, b *Mutant) int { return strings.Compare(a.Op, b.Op) })
	if c.rewrite {
		byOp = list // the order of the file
	}
	if c.scope == "" || c.rewrite {
		return c.report(w, byOp, verdicts, argued, sample, func(m *Mutant) string { return "stencils, " + m.Op })
	}
	families := map[stencilID]string{}
	for _, l := range lines {
		families[l.id()] = l.family
	}
	family := func(m *Mutant) string { return families[m.stencil()] }
	slices.SortStableFunc(byOp, func(a, b *Mutant) int { return strings.Compare(family(a), family(b)) })
	return c.report(w, byOp, verdicts, argued, sample, family)
}

// stencilID identifies a stencil: the file of its table, and its name.
type stencilID struct{ file, name string }

func (s *stencilLine) id() stencilID { return stencilID{s.file, s.name} }

// stencil identifies the stencil of a mutant.
func (m *Mutant) stencil() stencilID { return stencilID{m.File, m.Func} }

// tryUnchanged tries the stencils of mutants without a mutant, and returns what their processes take. A stencil that
// fails is an error, because then all its mutants would count as noticed.
func (c *config) tryUnchanged(p *stencilPrograms, lines []*stencilLine, list []*Mutant) (usual map[stencilID]usage, err error) {
	usual = map[stencilID]usage{}
	for _, m := range list {
		usual[m.stencil()] = usage{}
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(s *stencilLine) bool { _, ok := usual[s.id()]; return !ok })
	var mu sync.Mutex
	err = inParallel(c.workers, lines, func(s *stencilLine) error {
		v, used, err := p.try(s.id(), s.String(), usage{time: maxTime})
		if err == nil && v.Outcome != Survived {
			err = fmt.Errorf("%s:%d: without a mutant %s: %v %s", s.file, s.number, s.name, v.Outcome, v.text())
		}
		mu.Lock()
		defer mu.Unlock()
		usual[s.id()] = used
		return err
	})
	return usual, err
}

// inParallel calls f for each element of a list, up to workers calls at a time, and returns the first error.
func inParallel[T any](workers int, list []T, f func(T) error) (first error) {
	var mu sync.Mutex
	work := make(chan T)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for t := range work {
				err := f(t)
				mu.Lock()
				first = cmp.Or(first, err)
				mu.Unlock()
			}
		})
	}
	for _, t := range list {
		work <- t
	}
	close(work)
	wait.Wait()
	return first
}

// stencilLines reads the stencils of the tables.
func (c *config) stencilLines() (list []*stencilLine, err error) {
	files, err := filepath.Glob(filepath.Join(c.root, c.stencils))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		table, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(c.root, file)
		if err != nil {
			return nil, err
		}
		lines, err := readStencils(filepath.ToSlash(name), string(table))
		if err != nil {
			return nil, err
		}
		list = append(list, lines...)
	}
	return list, nil
}

// tryStencils tries mutants of stencils, and reports its progress to standard error. usual has what the processes of their stencils take without a mutant.
func (c *config) tryStencils(p *stencilPrograms, list []*Mutant, text map[*Mutant]string, usual map[stencilID]usage) (map[*Mutant]Verdict, error) {
	verdicts := map[*Mutant]Verdict{}
	var mu sync.Mutex
	err := inParallel(c.workers, list, func(m *Mutant) error {
		v, _, err := p.try(m.stencil(), text[m], usual[m.stencil()].limit(stencilTimeFactor))
		mu.Lock()
		defer mu.Unlock()
		verdicts[m] = v
		if v.Outcome == Survived || len(verdicts)%50 == 0 {
			fmt.Fprintf(os.Stderr, "mutate: %d of %d: %s\t%s\n", len(verdicts), len(list), m.row(), v.Outcome)
		}
		return err
	})
	return verdicts, err
}

// spreadNames returns a sample of a list, spread evenly.
func spreadNames(list []string) (sample []string) {
	for i := range min(maxSubjects, len(list)) {
		sample = append(sample, list[i*len(list)/min(maxSubjects, len(list))])
	}
	return sample
}

// stencilPrograms are the programs that try stencils: the program of the suites, and the tests by package.
type stencilPrograms struct {
	root, binary string
	testers      stencilTesters
	tests        map[string]string
}

// stencilVariable is the environment variable with the line that tests add to the table; stencilMark has the mark of
// the level that they use. stencilHook is a file of package native that reads both.
const (
	stencilVariable = "MUTANT_STENCIL"
	stencilMark     = "MUTANT_MARK"
	stencilHook     = `package native

import "os"

func init() {
	level := LevelByMark(os.Getenv("MUTANT_MARK"))
	levels = []*Level{level}
	level.Tables = append(level.Tables, os.Getenv("MUTANT_STENCIL"))
}
`
)

// build builds the tests for mutants in a folder.
func (p *stencilPrograms) build(list []*Mutant, dir string) error {
	hook := filepath.Join(dir, "hook.go")
	if err := os.WriteFile(hook, []byte(stencilHook), 0o666); err != nil {
		return err
	}
	if err := writeOverlay(dir, map[string]string{filepath.Join(p.root, filepath.FromSlash(stencilPackage), "zhook.go"): hook}); err != nil {
		return err
	}
	for _, m := range list {
		t := p.testers.find(m.File, m.Func)
		pkg := t.Package
		if len(t.Suites) > 0 || p.tests[pkg] != "" {
			continue
		}
		binary, err := buildTest(p.root, "./"+pkg, dir)
		if err != nil {
			return err
		}
		p.tests[pkg] = binary
	}
	return nil
}

// suites is the deciding input of a mutant that suites of package harness try; the detail has the rest.
const suites = "suites"

// try runs the suites of a stencil, or else its tests with a seed, with a line of the table in place of the stencil's own.
func (p *stencilPrograms) try(id stencilID, line string, limit usage) (Verdict, usage, error) {
	t := p.testers.find(id.file, id.name)
	input := suites
	if len(t.Suites) == 0 {
		input = t.Run
	}
	stdout, stderr, used, err := output(limit, func(ctx context.Context) *exec.Cmd {
		if len(t.Suites) > 0 {
			cmd := exec.CommandContext(ctx, p.binary, append([]string{"stencil", mark(id.file)}, spreadNames(t.Suites)...)...)
			cmd.Stdin = strings.NewReader(line)
			return cmd
		}
		cmd := exec.CommandContext(ctx, p.tests[t.Package], "-test.short", "-test.failfast", "-test.run", t.Run)
		cmd.Dir = filepath.Join(p.root, filepath.FromSlash(t.Package))
		cmd.Env = append(os.Environ(), "GEMU_SEED=1", "GEMU_TEST=", "GEMU_STENCIL="+id.name, stencilVariable+"="+line, stencilMark+"="+mark(id.file))
		return cmd
	})
	var exit *exec.ExitError
	switch {
	case err == nil && strings.Contains(stdout+stderr, "no tests to run"):
		return Verdict{}, used, fmt.Errorf("%s: no test of %s matches %s", id.name, t.Package, t.Run)
	case err == nil:
		return Verdict{Outcome: Survived}, used, nil
	case errors.Is(err, errTime), errors.Is(err, errMemory):
		return Verdict{Hang, input, err.Error()}, used, nil
	case !errors.As(err, &exit):
		return Verdict{}, used, err
	case exit.ExitCode() != 1:
		return Verdict{Crash, input, reason(stderr)}, used, nil
	case input == suites:
		return Verdict{Killed, input, snippet(stdout)}, used, nil
	}
	return Verdict{Killed, input, ""}, used, nil
}
