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

// toyConfig returns a run on the toy, with the given scope and arguments.
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

// TestOutcomesOfToy: the mutants of a small package, and their outcomes. The list was checked by hand, mutant by
// mutant.
func TestOutcomesOfToy(t *testing.T) {
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

// TestSampleIsExact shows that -update records outcomes, that -expect then passes, and that each different outcome,
// each mutant that no longer exists and each survivor without a reason is an error. The outcomes of Sum are the
// outcomes of testdata/toy.txt, which was checked by hand.
func TestSampleIsExact(t *testing.T) {
	c := toyConfig(t, toy+"/engine/*.go Sum", "engine.Sum\tpart\tm == 0 || x >= 40: x >= 40 → nothing\t1\tno x is so large\n")
	c.expect = filepath.Join(t.TempDir(), "sample.tsv")
	const comment = "# The command.\n"
	run := func(rewrite bool) (out string, good bool, err error) {
		c.rewrite = rewrite
		var w bytes.Buffer
		good, err = c.run(&w)
		return w.String(), good, err
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(c.expect, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(c.expect)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const (
		killed   = "engine.Sum\tcontrol\tcontinue → nothing\t1\tkilled\tsum is 17\t\n"
		survived = "engine.Sum\tconst\tx >= 40: 40 → 40 + 1\t1\tsurvived\t\t"
	)
	write(comment + "engine.Sum\tcontrol\tbreak → nothing\t1\tkilled\tsum is 17\t\n")
	c.sample = 24
	if out, good, err := run(true); good || err != nil || !strings.Contains(out, "40 + 1\t1\tsurvived: no reason in ") {
		t.Fatalf("recorded without reasons: %v, %v\n%s", good, err, out)
	}
	recorded := read()
	if !strings.HasPrefix(recorded, comment) || strings.Contains(recorded, "break") || !strings.Contains(recorded, killed) || !strings.Contains(recorded, survived+"\n") {
		t.Fatalf("recorded:\n%s", recorded)
	}
	if _, _, err := run(false); err == nil || !strings.Contains(err.Error(), "must have a reason") {
		t.Errorf("survivors without a reason: %v", err)
	}
	for _, line := range strings.Split(recorded, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 7 && needsReason(f[4]) {
			recorded = strings.Replace(recorded, line, line+"no x is so large", 1)
		}
	}
	write(recorded)
	if out, good, err := run(false); !good || err != nil {
		t.Errorf("as recorded: %v, %v\n%s", good, err, out)
	}
	if _, good, err := run(true); !good || err != nil || read() != recorded {
		t.Errorf("recorded again: %v, %v\n%s", good, err, read())
	}
	write(strings.Replace(recorded, killed, "engine.Sum\tcontrol\tcontinue → nothing\t1\tsurvived\t\tno reason holds\n", 1))
	if out, good, err := run(false); good || err != nil || !strings.Contains(out, "killed, recorded as survived\tsum is 17\n") {
		t.Errorf("another outcome: %v, %v\n%s", good, err, out)
	}
	write(strings.Replace(recorded, "continue → nothing", "goto → nothing", 1))
	if _, _, err := run(false); err == nil || !strings.Contains(err.Error(), "no longer mutants (-update replaces them by others):\nengine.Sum\tcontrol\tgoto → nothing\t1") {
		t.Errorf("a missing mutant: %v", err)
	}
	write(strings.Replace(recorded, "sum is 17", "a removed input", -1))
	if out, good, err := run(false); !good || err != nil {
		t.Errorf("with killers that no longer exist: %v, %v\n%s", good, err, out)
	}
	for text, want := range map[string]string{
		"a\tb\tc\t1\tkilled\n":                             ":1: 5 columns",
		"#\na\tb\tc\t1\tdead\t\t\n":                        `:2: no outcome is "dead"`,
		"a\tb\tc\t1\tkilled\t\ta reason\n":                 ":1: a survivor, and no other mutant, must have a reason",
		"a\tb\tc\t1\tkilled\t\t\na\tb\tc\t1\tkilled\t\t\n": ":2: the mutant is listed twice",
	} {
		write(text)
		if _, _, err := run(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestTooFewKilled: too few killed mutants are a failure, and argued mutants are not counted.
func TestTooFewKilled(t *testing.T) {
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

// TestArgumentsAreTried: with -arguments only the argued mutants are tried, and each mutant with a wrong argument is
// named.
func TestArgumentsAreTried(t *testing.T) {
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

// TestBadScopeAndArguments shows the message for each error in a scope or in the arguments.
func TestBadScopeAndArguments(t *testing.T) {
	for _, c := range []struct{ scope, argued, want string }{
		{toy + "/engine/none.go", "", "scope, line 1: no file is " + toy + "/engine/none.go"},
		{"\n" + toy + "/engine/*.go Nobody", "", "scope, line 2: no function of " + toy + "/engine/*.go is Nobody"},
		{toy + "/engine/*.go [", "", "scope:1: [: syntax error in pattern"},
		{toy + "/engine/*.go", "engine.Sum\tdrop\tSteps++ → nothing\t1\n", "argued:1: an argued mutant must have function, operator, code, ordinal and reason"},
		{toy + "/engine/*.go", "engine.Sum\tdrop\tSteps++ → nothing\t2\twhy\n", "argued, but this mutant no longer exists: engine.Sum\tdrop\tSteps++ → nothing\t2"},
		{toy + "/engine/*.go minus", "engine.minus\tswap\ta - b → b - a\t1\twhy\n", "argued (why), but killed by sum is 17"},
	} {
		if _, err := toyConfig(t, c.scope, c.argued).run(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.scope, err, c.want)
		}
	}
}

// TestSeedChoosesSample: a seed always picks the same mutants.
func TestSeedChoosesSample(t *testing.T) {
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

// TestScopeExists: the names in the scope of this module exist, and, with GEMU_TEST=ci, all of its mutants compile.
func TestScopeExists(t *testing.T) {
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
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" { // on hosts with machine code
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
	// Two builds: in each, mutants have unchanged neighbours.
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
