// Command try runs inputs for package mutate: the programs of package corpus, and kernels
// of its own. They run in check mode, which has to notice mutants of the compact engine, as
// it pays and wherever it may be, and counts what it does; with statistics under a policy
// that has rules of its own; and in affine mode, which shows what mutants do that check
// mode does not notice.
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

// inputs makes the inputs of a group.
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

// isUsed picks extents of cases: warps that are full, half empty, and of two halves.
func isUsed(p *corpus.Program) bool {
	return p.Line == 0 || p.Width >= 32 && p.Block[0] > 1
}

// result is what launches came to, and their outcome, if there is one.
func result(err error, results []*interp.Result, o *corpus.Outcome) trial.Result {
	h := fnv.New64a()
	for _, one := range results {
		if one != nil {
			one.Structure = nil // what a policy makes of it is not what the engine does
		}
	}
	if o != nil {
		o.Describe(h)
	}
	r := trial.Result{Mismatch: errors.Is(err, probe.ErrMismatch), Digest: fmt.Sprintf("%x", h.Sum64())}
	var n interp.Counts
	for _, one := range results {
		if one != nil {
			n.Add(&one.Counts)
		}
	}
	r.Cost = n.WarpInstructions
	// What claims less is slower, whatever else comes of it. What is not proved is compact at
	// best, and so on: the more there is of all that is as good or better, the better.
	e := &n.Engine
	proved := e.Fixed + e.Proved
	r.Saved = []int64{e.Claims, e.Fixed, proved, proved + e.FastForm, proved + e.Compact}
	// What is in shadows of registers that nobody reads any more depends on which of them
	// share a row, and so do the rows.
	r.Spent = []int64{e.VectorExecuted, e.MaterialisedLanes - e.ShadowLanes}
	return r
}
