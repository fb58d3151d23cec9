package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
)

const toy = "tools/mutate/testdata/toy"

// toyConfig is a run on the toy, whose scope and arguments are these.
func toyConfig(t *testing.T, scope, argued string) *config {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return &config{
		root: "../..", scope: write("scope", scope), equivalentFile: write("argued", argued), program: "./" + toy, only: "*", workers: 2,
		limits: limits{inputs: 10, others: 10, cost: 1000},
	}
}

// TestToy: the mutants of a small package, and what becomes of each. The list was checked
// by hand, mutant by mutant.
func TestToy(t *testing.T) {
	want, err := os.ReadFile("testdata/toy.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if good, err := toyConfig(t, toy+"/engine/*.go -Left", "").run(&got); !good || err != nil {
		t.Fatalf("%v, %v", good, err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(strings.ReplaceAll(got.String(), toy+"/", ""), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRecorded: outcomes are taken from a list, without those that are tried again.
func TestRecorded(t *testing.T) {
	c := toyConfig(t, toy+"/engine/*.go Sum", "")
	var want bytes.Buffer
	if _, err := c.run(&want); err != nil {
		t.Fatal(err)
	}
	// Recorded as killed: it is not tried again. Recorded as survived: it is.
	spoilt := strings.Replace(want.String(), "\tunreached\t", "\tkilled\t", 1)
	spoilt = strings.Replace(spoilt, "\tkilled\tsum is 17", "\tsurvived\t", 1)
	c.recorded = filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(c.recorded, []byte(spoilt), 0o666); err != nil {
		t.Fatal(err)
	}
	lines := func(again bool) string {
		c.retry = again
		var got bytes.Buffer
		if _, err := c.run(&got); err != nil {
			t.Fatal(err)
		}
		list, _, _ := strings.Cut(got.String(), "\n\n")
		return list
	}
	if list, _, _ := strings.Cut(spoilt, "\n\n"); lines(false) != list {
		t.Errorf("the list is not the recorded one:\n%s", lines(false))
	}
	again, _, _ := strings.Cut(strings.Replace(want.String(), "\tunreached\t", "\tkilled\t", 1), "\n\n")
	if got := lines(true); got != again {
		t.Errorf("tried again:\n%s", got)
	}
	c.scope = toyConfig(t, toy+"/engine/*.go Odd", "").scope
	c.retry = false
	if _, err := c.run(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "does not have engine.Odd") {
		t.Errorf("another function: %v", err)
	}
}

// TestThreshold: too few killed mutants are a failure, and arguments take survivors out of
// the count.
func TestThreshold(t *testing.T) {
	const (
		scope  = toy + "/engine/*.go Sum"
		first  = "engine.Sum\tpart\tm == 0 || x >= 40: x >= 40 → nothing\t1"
		second = "engine.Sum\tconst\tx >= 40: 40 → 40 + 1\t1"
		third  = "engine.Sum\tconst\tx >= 40: 40 → 40 - 1\t1"
	)
	c := toyConfig(t, scope, "# comment\n"+first+"\tno x is so large\n"+second+"\tnor so\n")
	c.atLeast = 91 // 21 of 23
	var out bytes.Buffer
	if good, err := c.run(&out); !good || err != nil {
		t.Fatalf("%v, %v\n%s", good, err, out.String())
	}
	c.atLeast = 92
	out.Reset()
	if good, err := c.run(&out); good || err != nil {
		t.Fatalf("%v, %v", good, err)
	}
	_, tail, _ := strings.Cut(out.String(), "These are not:\n")
	if want := toy + "/engine/engine.go:10\t" + third + "\tsurvived\n"; !strings.Contains(tail, want) || strings.Contains(tail, second) || strings.Contains(tail, "killed") {
		t.Errorf("survivors:\n%s", tail)
	}
}

// TestArguments: with -arguments the argued mutants are tried and no others, and each of which the argument does not hold is named.
func TestArguments(t *testing.T) {
	const holds, refuted = "engine.Sum\tpart\tm == 0 || x >= 40: x >= 40 → nothing\t1", "engine.minus\tswap\ta - b → b - a\t1"
	c := toyConfig(t, toy+"/engine/*.go", holds+"\tno x is so large\n")
	c.checkEquivalent = true
	var out bytes.Buffer
	if good, err := c.run(&out); !good || err != nil {
		t.Fatalf("%v, %v", good, err)
	}
	list, _, _ := strings.Cut(out.String(), "\n\n")
	if lines := strings.Split(strings.TrimSpace(list), "\n"); !strings.Contains(lines[len(lines)-1], holds) || strings.Count(list, "\tengine.") != 1 {
		t.Errorf("tried:\n%s", list)
	}
	c = toyConfig(t, toy+"/engine/*.go", holds+"\tno x is so large\n"+refuted+"\twhy\nengine.Sum\tnegate\tm == 0 → !(m == 0)\t1\tso\n")
	c.checkEquivalent = true
	_, err := c.run(&bytes.Buffer{})
	if err == nil || strings.Count(err.Error(), "but killed by") != 2 || !strings.Contains(err.Error(), refuted) || strings.Contains(err.Error(), holds) {
		t.Errorf("refuted: %v", err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ scope, argued, want string }{
		{toy + "/engine/none.go", "", "scope, line 1: no file is " + toy + "/engine/none.go"},
		{"\n" + toy + "/engine/*.go Nobody", "", "scope, line 2: no function of " + toy + "/engine/*.go is Nobody"},
		{toy + "/engine/*.go [", "", "scope:1: [: syntax error in pattern"},
		{toy + "/engine/*.go", "engine.Sum\tdrop\tSteps++ → nothing\t1\n", "argued:1: want function, operator, code, number and reason"},
		{toy + "/engine/*.go", "engine.Sum\tdrop\tSteps++ → nothing\t2\twhy\n", "argued, but there is no such mutant: engine.Sum\tdrop\tSteps++ → nothing\t2"},
		{toy + "/engine/*.go minus", "engine.minus\tswap\ta - b → b - a\t1\twhy\n", "argued (why), but killed by sum is 17"},
	} {
		if _, err := toyConfig(t, c.scope, c.argued).run(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.scope, err, c.want)
		}
	}
}

// TestSample: a seed always picks the same mutants.
func TestSample(t *testing.T) {
	list := func(seed uint64) string {
		c := toyConfig(t, toy+"/engine/*.go", "")
		c.list, c.seed, c.sample = true, seed, 10
		var out bytes.Buffer
		if _, err := c.run(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	one := list(1)
	if one != list(1) || one == list(2) || strings.Count(one, "\n") != 10 {
		t.Errorf("seeds 1 and 2:\n%s\n%s", one, list(2))
	}
}

// TestScope: what the scope of this module names is there, and, with GEMU_TEST=ci, all of its mutants compile.
func TestScope(t *testing.T) {
	scope, err := readScope("scope.txt")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := find(root, scope)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" { // where there is machine code
		scope, err := readScope("native.txt")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := find(root, scope); err != nil {
			t.Error(err)
		}
	}
	if !part.TrySample() {
		return // each build takes half a minute
	}
	// Two builds, so that each has mutants whose neighbours are left alone.
	for half := range 2 {
		some := map[*Mutant]bool{}
		for _, f := range files {
			for _, m := range f.mutants {
				if m.ID%2 == half {
					some[m] = true
				}
			}
		}
		if _, err := build(root, "./tools/mutate/try", t.TempDir(), files, some); err != nil {
			t.Error(err)
		}
	}
}
