package main

// This file makes the inputs that test mutants of the Go code of the native engine.

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

// One in sampleEvery programs of a corpus file is an input, and every second program of control/. A warp traps after maxSteps
// instructions, on both engines; most programs end sooner.
const (
	sampleEvery = 10
	maxSteps    = 1 << 12
)

// runGoMutants runs the inputs for tools/mutate, by the protocol of package trial, and does not return.
func runGoMutants() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	trial.Main(&trial.Corpus{Groups: append([]string{stencilGroup}, files...), Load: inputs})
}

// stencilGroup names the group that holds the suites of package harness.
const stencilGroup = "stencils"

// inputs returns the inputs of a group.
func inputs(group string) (list []trial.Input, err error) {
	if group == stencilGroup {
		for s := range harness.Suites() {
			list = append(list, trial.Input{Name: "stencils: " + s.Name, Kind: trial.Check, Run: func() trial.Result {
				r := trySuite(&s, native.HostLibrary(), 1)
				return trial.Result{Mismatch: r.Differs != "", Cost: int64(r.Compared), Saved: []int64{int64(r.Compared)}} // a mutant that compares less has generated less machine code, so it is slower
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
			if (i+k)%3 == 0 { // two in three runs use the first policy, for which most instructions have machine code
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

// portableOutcomes has the outcomes of the portable engine, by program and configuration. Mutants do not change the portable
// engine, so each is computed once.
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
	used := native.HostLibrary().TakeUsed()     // fewer stencils used means that more executes in Go
	entered := exchange.Entered.Load() - before // each exit to Go needs a further entry
	return trial.Result{Mismatch: got != portableOutcomes[key], Digest: got, Cost: cost, Saved: []int64{int64(len(used))}, Spent: []int64{entered}}
}
