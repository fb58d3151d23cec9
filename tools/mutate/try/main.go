// Command try is the program of the mutants of tools/mutate/scope.txt. Command mutate builds it with
// the mutants and runs it. Its inputs are the programs of package corpus, and kernels of its own.
//
// Each program of the corpus is four inputs:
//   - in check mode, which must notice the mutants;
//   - in check mode with all possible instructions compact (eagerly);
//   - in check mode with statistics under the policy kim, which has rules of its own;
//   - in affine mode, which shows wrong results that check mode does not notice.
//
// The engine's counts (see result) show mutants that only make gemu slower.
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

// testdata is the folder of the corpus, relative to the root of the repository, where mutate runs this program.
const testdata = "testdata"

func main() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	groups := append(files, operationGroups...)
	for _, s := range spaces {
		groups = append(groups, s.name)
	}
	trial.Main(&trial.Corpus{Groups: append(groups, flows, threads, pathGroup, registers), Load: inputs})
}

// kim is the value policy of the inputs with statistics.
var kim = affinetrack.PolicyByName("kim")

// inputs returns the inputs of a group: a file of the corpus, or a group of kernels of this package.
func inputs(group string) ([]trial.Input, error) {
	for _, s := range spaces {
		if s.name == group {
			return accessInputs(s.name, s.space, s.bits)
		}
	}
	switch {
	case slices.Contains(operationGroups, group):
		return operationInputs(group)
	case group == flows:
		return flowInputs()
	case group == threads:
		return threadInputs()
	case group == pathGroup:
		return pathInputs()
	case group == registers:
		return registerInputs()
	}
	programs, err := corpus.ProgramsOf(testdata, group)
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

// result returns the result of an input: the error and the results of its launches, and their outcome,
// whose digest mutate compares. Without an outcome (nil) only the mismatch and the counts are compared.
func result(err error, launches []*interp.Result, outcome *corpus.Outcome) trial.Result {
	digest := fnv.New64a()
	for _, launch := range launches {
		if launch != nil {
			launch.Structure = nil // statistics of a policy do not come from the engine
		}
	}
	if outcome != nil {
		outcome.Describe(digest)
	}
	r := trial.Result{Mismatch: errors.Is(err, probe.ErrMismatch), Digest: fmt.Sprintf("%x", digest.Sum64())}
	var counts probe.Counts
	for _, launch := range launches {
		if launch != nil {
			counts.Add(&launch.Counts)
		}
	}
	r.Cost = counts.WarpInstructions
	// A plan with fewer claims is slower. The numbers after it are cumulative: each counts a kind of execution
	// and all faster kinds, because an instruction without a proof may still execute compactly.
	e := &counts.Engine
	proved := e.Fixed + e.Proved
	r.Saved = []int64{e.Claims, e.Fixed, proved, proved + e.FastForm, proved + e.Compact}
	// MaterialisedLanes and ShadowLanes both count shadows of dead registers, whose number depends on the
	// allocation of rows. So only their difference is compared.
	r.Spent = []int64{e.VectorExecuted, e.MaterialisedLanes - e.ShadowLanes}
	return r
}
