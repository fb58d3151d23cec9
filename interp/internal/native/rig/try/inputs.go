package main

// This file has the inputs for mutants of Go code.

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"gemu/internal/corpus"
	"gemu/internal/mutate/trial"
	"gemu/interp"
	"gemu/interp/internal/native"
	"gemu/interp/internal/native/rig"
	"gemu/interp/internal/simt"
)

const testdata = "testdata"

// share is the part of the cases that are inputs: one of so many of a file. A warp may execute so many steps, after which it
// is stopped on either engine: most programs come to their end.
const (
	share = 10
	steps = 1 << 12
)

// goMutants is the process that tries them.
func goMutants() {
	files, err := corpus.Files(testdata)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	trial.Main(&trial.Corpus{Groups: append([]string{stencils}, files...), Load: inputs})
}

// stencils is the group of what package rig tries.
const stencils = "stencils"

// inputs makes the inputs of a group.
func inputs(group string) (list []trial.Input, err error) {
	if group == stencils {
		for s := range rig.Subjects() {
			list = append(list, trial.Input{Name: "stencils: " + s.Name, Kind: trial.Judge, Run: func() trial.Result {
				r := try(&s, native.Shipped(), 1)
				return trial.Result{Mismatch: r.Differs != "", Cost: int64(r.Compared), Saved: []int64{int64(r.Compared)}} // what has no machine code is slower
			}})
		}
		return list, nil
	}
	programs, err := corpus.Of(testdata, group)
	if err != nil {
		return nil, err
	}
	for i, p := range programs {
		if i%share != 0 && !(strings.HasPrefix(p.File, "control/") && i%2 == 0) {
			continue
		}
		for k, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
			as := how{mode, interp.Reconvergers[0]}
			if (i+k)%3 == 0 { // the first has most to do with machine code
				as.policy = interp.Reconvergers[(i+k)/3%len(interp.Reconvergers)]
			}
			list = append(list, trial.Input{Name: fmt.Sprintf("%s, %v, %s", p, mode, as.policy.Name), Kind: trial.Judge, Run: func() trial.Result { return compared(p, as) }})
		}
	}
	return list, nil
}

// how is how a program runs.
type how struct {
	mode   interp.Mode
	policy *interp.Reconverger
}

// portably are outcomes in Go, which mutants do not reach, by the program and how it runs.
var portably = map[string]string{}

// compared is the run of a program in both ways.
func compared(p *corpus.Program, as how) trial.Result {
	cost := int64(0)
	run := func(b interp.Backend) string {
		o := p.Run(func(l *interp.Launch) { l.Mode, l.Reconverge, l.Backend, l.MaxSteps = as.mode, as.policy, b, steps })
		h := fnv.New64a()
		o.Describe(h)
		for _, r := range o.Results {
			cost += r.WarpInstructions
			fmt.Fprintf(h, "%+v", r.Counts)
		}
		return fmt.Sprintf("%x %v", h.Sum64(), o.Err)
	}
	key := fmt.Sprint(p, as.mode, as.policy.Name)
	if portably[key] == "" {
		portably[key] = run(interp.Portable)
	}
	native.Shipped().Take()
	before := simt.Entered.Load()
	got := run(interp.Native)
	wanted := native.Shipped().Take()       // what wants fewer stencils has more in Go
	entered := simt.Entered.Load() - before // … or comes back to it more often
	return trial.Result{Mismatch: got != portably[key], Digest: got, Cost: cost, Saved: []int64{int64(len(wanted))}, Spent: []int64{entered}}
}
