package main

// This file has the inputs for mutants of Go code.

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"gemu/internal/corpus"
	"gemu/internal/trial"
	"gemu/interp"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/native"
	"gemu/interp/internal/native/harness"
)

const testdata = "testdata"

// share is the part of the cases that are inputs: one of so many of a file. A warp may execute so many steps, after which it
// is stopped on either engine: most programs come to their end.
const (
	sampleEvery = 10
	maxSteps    = 1 << 12
)

// runGoMutants is the process that tries them.
func runGoMutants() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	trial.Main(&trial.Corpus{Groups: append([]string{stencilGroup}, files...), Load: inputs})
}

// stencilGroup is the group of what package harness tries.
const stencilGroup = "stencils"

// inputs makes the inputs of a group.
func inputs(group string) (list []trial.Input, err error) {
	if group == stencilGroup {
		for s := range harness.Suites() {
			list = append(list, trial.Input{Name: "stencils: " + s.Name, Kind: trial.Check, Run: func() trial.Result {
				r := trySuite(&s, native.HostLibrary(), 1)
				return trial.Result{Mismatch: r.Differs != "", Cost: int64(r.Compared), Saved: []int64{int64(r.Compared)}} // what has no machine code is slower
			}})
		}
		return list, nil
	}
	programs, err := corpus.ProgramsOf(testdata, group)
	if err != nil {
		return nil, err
	}
	for i, p := range programs {
		if i%sampleEvery != 0 && !(strings.HasPrefix(p.File, "control/") && i%2 == 0) {
			continue
		}
		for k, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
			config := runConfig{mode, interp.Reconvergers[0]}
			if (i+k)%3 == 0 { // the first has most to do with machine code
				config.policy = interp.Reconvergers[(i+k)/3%len(interp.Reconvergers)]
			}
			list = append(list, trial.Input{Name: fmt.Sprintf("%s, %v, %s", p, mode, config.policy.Name), Kind: trial.Check, Run: func() trial.Result { return compareEngines(p, config) }})
		}
	}
	return list, nil
}

// runConfig is how a program runs.
type runConfig struct {
	mode   interp.Mode
	policy *interp.Reconverger
}

// portableOutcomes are outcomes in Go, which mutants do not reach, by the program and how it runs.
var portableOutcomes = map[string]string{}

// compareEngines is the run of a program in both ways.
func compareEngines(p *corpus.Program, config runConfig) trial.Result {
	cost := int64(0)
	run := func(b interp.Backend) string {
		o := p.Run(func(l *interp.Launch) {
			l.Mode, l.Reconverge, l.Backend, l.MaxSteps = config.mode, config.policy, b, maxSteps
		})
		h := fnv.New64a()
		o.Describe(h)
		for _, r := range o.Results {
			cost += r.WarpInstructions
			fmt.Fprintf(h, "%+v", r.Counts)
		}
		return fmt.Sprintf("%x %v", h.Sum64(), o.Err)
	}
	key := fmt.Sprint(p, config.mode, config.policy.Name)
	if portableOutcomes[key] == "" {
		portableOutcomes[key] = run(interp.Portable)
	}
	native.HostLibrary().TakeUsed()
	before := exchange.Entered.Load()
	got := run(interp.Native)
	used := native.HostLibrary().TakeUsed()     // what wants fewer stencils has more in Go
	entered := exchange.Entered.Load() - before // … or comes back to it more often
	return trial.Result{Mismatch: got != portableOutcomes[key], Digest: got, Cost: cost, Saved: []int64{int64(len(used))}, Spent: []int64{entered}}
}
