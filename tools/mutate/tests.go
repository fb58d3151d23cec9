package main

// This file tries mutants on the tests that reach them, each in a process of its own.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gemu/internal/trial/mutant"
)

// test is a test function, in a program with all mutants.
type test struct {
	binary, dir, name string
	usual             usage  // without a mutant
	reached           []byte // set of reached mutants: see containsID
}

// findTests builds and runs the tests of a list of packages and patterns, as in the flag -tests.
func findTests(root, list, dir string) (tests []*test, err error) {
	for pkgPath := range strings.SplitSeq(list, ",") {
		pkg, pattern, ok := strings.Cut(pkgPath, ":")
		if !ok {
			return nil, fmt.Errorf("-tests %s: an entry must be a package, a colon and a pattern, such as ./interp:Random", pkgPath)
		}
		binary, err := buildTest(root, pkg, dir)
		if err != nil {
			return nil, err
		}
		workDir := filepath.Join(root, filepath.FromSlash(pkg))
		cmd := exec.Command(binary, "-test.list", pattern)
		cmd.Dir = workDir
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("-tests %s: %w", pkgPath, err)
		}
		names := strings.Fields(string(out))
		if len(names) == 0 {
			return nil, fmt.Errorf("-tests %s: no test of the package matches the pattern", pkgPath)
		}
		for _, name := range names {
			t := &test{binary: binary, dir: workDir, name: name}
			if err := t.cover(filepath.Join(dir, "reached")); err != nil {
				return nil, err
			}
			tests = append(tests, t)
		}
	}
	slices.SortStableFunc(tests, func(a, b *test) int { return cmp.Compare(a.usual.time, b.usual.time) })
	return tests, nil
}

// command returns the command that runs the test, always with the same seed and with the sample of CI.
func (t *test) command(ctx context.Context, env string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.binary, "-test.failfast", "-test.run", "^"+t.name+"$")
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), env, "GEMU_SEED=1", "GEMU_TEST=ci")
	return cmd
}

// cover runs the test without a mutant and records the mutants that it reaches.
func (t *test) cover(file string) error {
	os.Remove(file)
	stdout, stderr, used, err := output(usage{time: maxTime}, func(ctx context.Context) *exec.Cmd {
		return t.command(ctx, mutant.ReachedVariable+"="+file)
	})
	if err != nil {
		return fmt.Errorf("without a mutant: %s: %w\n%s%s", t.name, err, stdout, stderr)
	}
	t.usual = used
	ids, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) { // a test that reaches no mutant makes no file
		return err
	}
	t.reached = make([]byte, mutant.Max/8)
	for line := range strings.Lines(string(ids)) {
		var id int
		if _, err := fmt.Sscanln(line, &id); err != nil {
			return fmt.Errorf("%s: %q: %w", file, line, err)
		}
		t.reached[id/8] |= 1 << (id % 8)
	}
	return nil
}

// tryOnTests runs the tests that reach a mutant, up to the first that notices it; with a name, this test alone.
func (t *runner) tryOnTests(m *Mutant, name string) Verdict {
	v := Verdict{Outcome: Unreached}
	for _, test := range t.tests {
		if name != "" && name != test.name || !containsID(test.reached, m.ID) {
			continue
		}
		if v = test.try(m); v.Outcome != Survived {
			break
		}
	}
	return v
}

// testTimeFactor is the limit of a test's time with a mutant, as a multiple of its time without.
const testTimeFactor = 5

// try runs the test with a mutant.
func (t *test) try(m *Mutant) Verdict {
	_, err := runBounded(t.usual.limit(testTimeFactor), func(ctx context.Context) *exec.Cmd {
		return t.command(ctx, fmt.Sprintf("%s=%d", mutant.Variable, m.ID))
	})
	switch {
	case err == nil:
		return Verdict{Outcome: Survived}
	case errors.Is(err, errTime), errors.Is(err, errMemory):
		return Verdict{Hang, t.name, err.Error()}
	}
	return Verdict{Killed, t.name, ""}
}
