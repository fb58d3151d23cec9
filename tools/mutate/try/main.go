// Command try runs inputs for package mutate: the programs of package corpus, and kernels of its
// own. They run in check mode, which must notice mutants of the compact engine: with the usual
// choice of compact instructions, and eagerly, with all possible instructions. They also run with
// statistics under a policy with rules of its own (kim), and in affine mode, which shows the effect
// of mutants that check mode does not notice. The counts of compact execution show mutants that
// only make gemu slower.
package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"gemu/affinetrack"
	"gemu/internal/corpus"
	"gemu/internal/trial"
	"gemu/interp"
	"gemu/probe"
)

const testdata = "testdata"

func main() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	groups := append(files, bodies...)
	for _, s := range spaces {
		groups = append(groups, s.name)
	}
	trial.Main(&trial.Corpus{Groups: append(groups, flows, threads, pathGroup, registers), Load: inputs})
}

var kim = affinetrack.PolicyByName("kim")

// inputs returns the inputs of a group.
func inputs(file string) ([]trial.Input, error) {
	for _, s := range spaces {
		if s.name == file {
			return accessInputs(s.name, s.space, s.bits)
		}
	}
	switch {
	case slices.Contains(bodies, file):
		return operationInputs(file)
	case file == flows:
		return flowInputs()
	case file == threads:
		return threadInputs()
	case file == pathGroup:
		return pathInputs()
	case file == registers:
		return registerInputs()
	}
	programs, err := corpus.ProgramsOf(testdata, file)
	if err != nil {
		return nil, err
	}
	var list []trial.Input
	for _, p := range programs {
		if !isUsed(p) {
			continue
		}
		add := func(name string, kind trial.Kind, prepare func(l *interp.Launch)) {
			list = append(list, trial.Input{Name: fmt.Sprintf("%s, %s", p, name), Kind: kind, Run: func() trial.Result {
				o := p.Run(prepare)
				return result(o.Err, o.Results, o)
			}})
		}
		add("check", trial.Check, func(l *interp.Launch) {})
		add("check eagerly", trial.Check, func(l *interp.Launch) { l.CompileEagerly = true })
		add("check under kim", trial.Fallback, func(l *interp.Launch) { l.Structure, l.Policy = true, kim })
		add("affine", trial.Output, func(l *interp.Launch) { l.Mode = interp.Affine })
	}
	return list, nil
}

// isUsed reports whether a program is an input: all programs without a case, and the cases with
// warps of at least 32 lanes and blocks of several threads in x.
func isUsed(p *corpus.Program) bool {
	return p.Line == 0 || p.Width >= 32 && p.Block[0] > 1
}

// result returns the trial's result from the results of launches and their outcome, which
// may be nil.
func result(err error, results []*interp.Result, o *corpus.Outcome) trial.Result {
	h := fnv.New64a()
	for _, one := range results {
		if one != nil {
			one.Structure = nil // statistics of a policy do not come from the engine
		}
	}
	if o != nil {
		o.Describe(h)
	}
	r := trial.Result{Mismatch: errors.Is(err, probe.ErrMismatch), Digest: fmt.Sprintf("%x", h.Sum64())}
	var n probe.Counts
	for _, one := range results {
		if one != nil {
			n.Add(&one.Counts)
		}
	}
	r.Cost = n.WarpInstructions
	// A plan that claims less is slower. The remaining numbers are cumulative, because an
	// instruction that is no longer proved may still execute compactly: each adds up a kind of
	// execution and all better kinds.
	e := &n.Engine
	proved := e.Fixed + e.Proved
	r.Saved = []int64{e.Claims, e.Fixed, proved, proved + e.FastForm, proved + e.Compact}
	// Shadows of dead registers depend on the registers that share a row. Only the difference
	// of both counts is comparable.
	r.Spent = []int64{e.VectorExecuted, e.MaterialisedLanes - e.ShadowLanes}
	return r
}
