package corpus

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
)

// TestMemoryUnderPolicies runs a ninth of all programs (GEMU_TEST=all: all) under every reconvergence policy. The final memory is the same
// whenever they finish, and auto has the counts of stack whenever stack finishes.
func TestMemoryUnderPolicies(t *testing.T) {
	part.SkipLong(t)
	programs, err := Programs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan *Program)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for p := range next {
				comparePolicies(t, p)
			}
		})
	}
	isTried := part.Share(t, 9, 9, 1)
	for i, p := range programs {
		if isTried(i) {
			next <- p
		}
	}
	close(next)
	wait.Wait()
}

// isStepLimit reports whether a launch was stopped by the step limit.
func isStepLimit(err error) bool {
	return errors.Is(err, probe.ErrDeadlock) || errors.Is(err, probe.ErrStepLimit)
}

// policies returns all reconvergence policies, and its with short time slices.
func policies() []*interp.Reconverger {
	list := interp.Reconvergers()
	for _, name := range []string{"its:1", "its:3", "its:8"} {
		list = append(list, interp.ReconvergerNamed(name))
	}
	return list
}

func comparePolicies(t *testing.T, p *Program) {
	runUnder := func(name string, mode interp.Mode) *Outcome {
		return p.Run(func(l *interp.Launch) { l.Mode, l.Reconverge = mode, interp.ReconvergerNamed(name) })
	}
	describe := func(o *Outcome) string {
		var b strings.Builder
		o.Describe(&b)
		return b.String()
	}
	auto := runUnder("auto", interp.Vector)
	if stack := runUnder("stack", interp.Vector); !isStepLimit(stack.Err) {
		if got, want := describe(auto), describe(stack); got != want {
			t.Errorf("%v: under auto\n%sunder stack\n%s", p, got, want)
		}
	}
	if auto.Err != nil {
		return
	}
	for _, policy := range policies() {
		name := policy.Name()
		if name == "auto" || name == "stack" {
			continue
		}
		vector := runUnder(name, interp.Vector)
		switch {
		case isStepLimit(vector.Err) && !strings.HasPrefix(name, "its"):
			continue
		case vector.Err != nil:
			t.Errorf("%v under %s: %v", p, name, vector.Err)
		case vector.Memory != auto.Memory:
			t.Errorf("%v: another memory under %s than under auto; %v", p, name, vector.WrongResult)
		}
		if affine := runUnder(name, interp.Affine); affine.Err != nil || affine.Memory != vector.Memory {
			t.Errorf("%v under %s: in affine mode another memory than in vector mode; %v", p, name, affine.Err)
		}
	}
}
