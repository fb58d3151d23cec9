package main

// This file makes the inputs for mutants of Go code.

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

// One in sampleEvery programs of a corpus file is an input. A warp traps after maxSteps instructions, on both engines; most
// programs end before.
const (
	sampleEvery = 10
	maxSteps    = 1 << 12
)

// runGoMutants runs the inputs for package mutate and does not return.
func runGoMutants() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	trial.Main(&trial.Corpus{Groups: append([]string{stencilGroup}, files...), Load: inputs})
}

// stencilGroup is the name of the group of package harness's suites.
const stencilGroup = "stencils"

// inputs returns the inputs of a group.
func inputs(group string) (list []trial.Input, err error) {
	if group == stencilGroup {
		for s := range harness.Suites() {
			list = append(list, trial.Input{Name: "stencils: " + s.Name, Kind: trial.Check, Run: func() trial.Result {
				r := trySuite(&s, native.HostLibrary(), 1)
				return trial.Result{Mismatch: r.Differs != "", Cost: int64(r.Compared), Saved: []int64{int64(r.Compared)}} // less machine code is slower: Compared counts as saved
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
			config := runConfig{mode, interp.Reconvergers()[0]}
			if (i+k)%3 == 0 { // machine code supports most of the first policy
				config.policy = interp.Reconvergers()[(i+k)/3%len(interp.Reconvergers())]
			}
			list = append(list, trial.Input{Name: fmt.Sprintf("%s, %v, %s", p, mode, config.policy.Name()), Kind: trial.Check, Run: func() trial.Result { return compareEngines(p, config) }})
		}
	}
	return list, nil
}

// runConfig is the configuration of a run.
type runConfig struct {
	mode   interp.Mode
	policy *interp.Reconverger
}

// portableOutcomes has the outcomes of runs with the portable engine, which mutants do not change, by program and configuration.
var portableOutcomes = map[string]string{}

// compareEngines runs a program with both engines and compares the outcomes.
func compareEngines(p *corpus.Program, config runConfig) trial.Result {
	cost := int64(0)
	run := func(b interp.Engine) string {
		o := p.Run(func(l *interp.Launch) {
			l.Mode, l.Reconverge, l.Engine, l.MaxSteps = config.mode, config.policy, b, maxSteps
		})
		h := fnv.New64a()
		o.Describe(h)
		for _, r := range o.Results {
			cost += r.WarpInstructions
			fmt.Fprintf(h, "%+v", r.Counts)
		}
		return fmt.Sprintf("%x %v", h.Sum64(), o.Err)
	}
	key := fmt.Sprint(p, config.mode, config.policy.Name())
	if portableOutcomes[key] == "" {
		portableOutcomes[key] = run(interp.Portable)
	}
	native.HostLibrary().TakeUsed()
	before := exchange.Entered.Load()
	got := run(interp.Native)
	used := native.HostLibrary().TakeUsed()     // fewer used stencils: more runs in Go
	entered := exchange.Entered.Load() - before // more entries: more exits to Go
	return trial.Result{Mismatch: got != portableOutcomes[key], Digest: got, Cost: cost, Saved: []int64{int64(len(used))}, Spent: []int64{entered}}
}
