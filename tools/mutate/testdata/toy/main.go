// Command toy tries mutants of package engine.
package main

import (
	"fmt"

	"gemu/internal/trial"
	"gemu/tools/mutate/testdata/toy/engine"
)

var list = []int{3, 5, 7}

func main() {
	trial.Main(&trial.Corpus{Groups: []string{"sum", "at"}, Load: load})
}

func load(group string) ([]trial.Input, error) {
	if group == "sum" {
		return []trial.Input{
			{Name: "sum is 17", Kind: trial.Check, Run: func() trial.Result {
				sum, ok := engine.Sum(3, 15, []uint32{7, 4, 0xff, 1})
				return trial.Result{Mismatch: sum != 17 || !ok, Cost: 4}
			}},
			{Name: "no sum", Kind: trial.Check, Run: func() trial.Result {
				_, ok := engine.Sum(1, 0, nil)
				return trial.Result{Mismatch: ok, Cost: 1}
			}},
			{Name: "steps", Kind: trial.Check, Run: func() trial.Result {
				engine.Steps = 0
				engine.Sum(1, 1, []uint32{1, 2})
				return trial.Result{Spent: []int64{int64(engine.Steps)}}
			}},
		}, nil
	}
	return []trial.Input{
		{Name: "at 4", Kind: trial.Output, Run: func() trial.Result {
			return trial.Result{Digest: fmt.Sprint(engine.At(list, 4))}
		}},
		{Name: "odd 3", Kind: trial.Output, Run: func() trial.Result {
			return trial.Result{Digest: fmt.Sprint(engine.Odd(3))}
		}},
		{Name: "quick", Kind: trial.Check, Run: func() trial.Result {
			return trial.Result{Mismatch: engine.Quick(list, 0) != 3 || engine.Quick(list, 1) != 5}
		}},
		{Name: "quick ways", Kind: trial.Check, Run: func() trial.Result {
			engine.Ways = 0
			engine.Quick(list, 0)
			return trial.Result{Saved: []int64{int64(engine.Ways)}}
		}},
	}, nil
}
