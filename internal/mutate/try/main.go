// Command try runs the programs of package corpus for package mutate: in check mode, which
// has to notice mutants of the compact engine; in affine mode, which shows what they do
// where it does not; and with statistics, which shows what is compact no more.
package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"gemu/internal/corpus"
	"gemu/internal/mutate/trial"
	"gemu/interp"
)

const testdata = "testdata"

func main() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	trial.Main(&trial.Corpus{Groups: files, Load: load})
}

func load(file string) ([]trial.Input, error) {
	programs, err := corpus.Of(testdata, file)
	if err != nil {
		return nil, err
	}
	var list []trial.Input
	for _, p := range programs {
		if !wanted(p) {
			continue
		}
		add := func(name string, kind trial.Kind, mode interp.Mode, stats bool) {
			list = append(list, trial.Input{Name: fmt.Sprintf("%s, %s", p, name), Kind: kind, Run: func() trial.Result { return run(p, mode, stats) }})
		}
		add("check", trial.Judge, interp.Check, false)
		add("affine", trial.Output, interp.Affine, false)
		add("counted", trial.Count, interp.Check, true)
	}
	return list, nil
}

// wanted picks extents of cases: warps that are full, half empty, and of two halves.
func wanted(p *corpus.Program) bool {
	return p.Line == 0 || p.Width >= 32 && p.Block[0] > 1
}

func run(p *corpus.Program, mode interp.Mode, stats bool) trial.Result {
	o := p.Run(func(l *interp.Launch) { l.Mode, l.Stats = mode, stats })
	h := fnv.New64a()
	o.Describe(h)
	r := trial.Result{Mismatch: errors.Is(o.Err, interp.ErrMismatch), Digest: fmt.Sprintf("%x", h.Sum64())}
	for _, n := range o.Results {
		r.Cost += n.WarpInstructions
	}
	return r
}
