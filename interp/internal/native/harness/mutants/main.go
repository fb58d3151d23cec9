// Command mutants runs the test inputs of tools/mutate on a mutant of the native engine: the suites of package harness and the
// programs of package corpus. Each input runs as machine code and in Go, and the results must be equal.
//
// With arguments it serves mutants of stencils. "stencils MARK" writes, in JSON, for each stencil of the instruction-set level
// with this mark (native.Level) the suites of package harness that cover it, or the tests if no suite does. "stencil MARK SUITE…"
// reads a changed line of the stencil table from standard input and runs the suites with it in place of the stencil's own line.
// Its exit status is 1 if a result differs, and 0 if none does.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"gemu/interp/internal/native"
	"gemu/interp/internal/native/harness"
)

func main() {
	var err error
	switch {
	case !native.Supported():
		err = fmt.Errorf("this host executes no machine code of ours")
	case len(os.Args) == 3 && os.Args[1] == "stencils", len(os.Args) > 3 && os.Args[1] == "stencil":
		err = runStencilCommand(os.Args[1], os.Args[2], os.Args[3:])
	default:
		runGoMutants()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// runStencilCommand runs the command stencils or stencil for the level with a mark.
func runStencilCommand(command, mark string, suites []string) error {
	level := native.LevelByMark(mark)
	switch {
	case level == nil:
		return fmt.Errorf("the processor of this host cannot execute stencils of level %s", mark)
	case command == "stencils":
		return json.NewEncoder(os.Stdout).Encode(testsByStencil(level))
	}
	return tryStencil(os.Stdin, level, suites)
}

// trySuite runs a suite with a fixed seed.
func trySuite(s *harness.Suite, l *native.Library, rounds int) *harness.Result {
	return s.Run(l, rand.New(rand.NewPCG(1, uint64(len(s.Name)))), rounds)
}

// stencilTests has the suites covering a stencil, or else the tests.
type stencilTests struct {
	Suites []string
	harness.Tests
}

// testsByStencil returns the suites and tests of a level's stencils, by the stencil's name.
func testsByStencil(level *native.Level) map[string]*stencilTests {
	l := level.Library()
	by := map[string]*stencilTests{}
	for name := range l.Names() {
		if by[name] = new(stencilTests); !harness.IsUnused(name) {
			by[name].Tests, _ = harness.TestsOf(name)
		}
	}
	for s := range harness.Suites() {
		for _, name := range trySuite(&s, l, 1).Stencils {
			by[name].Suites = append(by[name].Suites, s.Name)
		}
	}
	return by
}

// rounds is the number of rounds after which a suite has shown the faults of a stencil. A round of control flow has more programs.
const rounds, controlRounds = 60, 12

// tryStencil runs suites with a changed line of a stencil, and ends the process with status 1 at the first difference.
func tryStencil(in io.Reader, level *native.Level, names []string) error {
	line, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(string(line), "\t")
	l := level.Library(string(line))
	for s := range harness.Suites() {
		if !slices.Contains(names, s.Name) {
			continue
		}
		n := rounds
		if s.Name == "control" {
			n = controlRounds
		}
		if r := trySuite(&s, l, n); r.Differs != "" {
			fmt.Println(r.Differs)
			os.Exit(1)
		} else if !slices.Contains(r.Stencils, name) {
			return fmt.Errorf("%s does not try %s", s.Name, name)
		}
	}
	return nil
}
