package main

// This file finds the inputs that reach each mutant, and runs them with the mutant.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"gemu/internal/trial"
	"gemu/internal/trial/mutant"
)

// Outcome is the result of trying a mutant.
type Outcome uint8

// The outcomes. Only Killed counts: checks must notice the mutant.
const (
	Unreached    Outcome = iota // no input executes the place
	Survived                    // all inputs have the same results
	Slower                      // the same results; the first different count shows less saving or more spending in every run
	CountsDiffer                // the same results, but counts differ in another way
	Hang                        // a run does not end, or takes all memory
	Crash                       // a run ends in a panic of the program
	Wrong                       // a run has different results, and no check reports it
	Killed                      // a check reports a fault
)

func (o Outcome) String() string { return outcomeNames[o] }

var outcomeNames = [...]string{"unreached", "survived", "slower", "counted", "hang", "crash", "wrong", "killed"}

// Verdict is the outcome of a mutant.
type Verdict struct {
	Outcome Outcome
	Input   string // the input or test that decided
	Detail  string // the text of a crash or a mismatch, or the different counts
}

// text returns the deciding input with the detail.
func (v Verdict) text() string {
	if v.Input == "" || v.Detail == "" {
		return v.Input + v.Detail
	}
	return v.Input + ": " + v.Detail
}

// runner runs mutants.
type runner struct {
	root         string
	binary       string
	tests        []*test // tests for mutants that survive the inputs, the fastest first
	exitIsKill   bool    // a crash or a hang counts as noticed and ends the trial
	limits       limits
	inputs       []trial.Baseline
	reachedEarly []byte               // mutants that are reached before any input
	killer       func(*Mutant) string // the input or test to try first, if it has the mutant
}

// limits bound the trials of a mutant.
type limits struct {
	inputs int   // inputs of kind Check
	others int   // inputs of each other kind
	cost   int64 // total cost of the inputs of a kind; the cheapest few always run
}

// classifyCounts returns the outcome from the counts with and without a mutant. The first difference decides, savings
// before spending. With costOnly, any difference counts as slower.
func classifyCounts(r *trial.Report, b *trial.Baseline, costOnly bool) Outcome {
	cheaper := slices.Compare(r.Saved, b.Saved)
	if cheaper == 0 {
		cheaper = slices.Compare(b.Spent, r.Spent)
	}
	switch {
	case cheaper == 0:
		return Survived
	case costOnly || cheaper < 0:
		return Slower
	}
	return CountsDiffer
}

// maxFailures is the number of crashes or hangs after which the remaining inputs of a mutant are skipped.
const maxFailures = 3

// cover runs all inputs without a mutant.
func (t *runner) cover(workers int) error {
	parts := make([][]trial.Baseline, workers)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for i := range workers {
		wait.Go(func() {
			cmd := exec.Command(t.binary, "cover", fmt.Sprintf("%d/%d", i, workers))
			cmd.Dir, cmd.Stderr = t.root, os.Stderr
			out, err := cmd.Output()
			for d := json.NewDecoder(bytes.NewReader(out)); err == nil; {
				var b trial.Baseline
				if err = d.Decode(&b); err == nil {
					parts[i] = append(parts[i], b)
				}
			}
			if err != io.EOF {
				errs[i] = fmt.Errorf("without a mutant: %w", err)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	t.reachedEarly = parts[0][0].Reached
	for _, p := range parts {
		t.inputs = append(t.inputs, p[1:]...)
	}
	// The order must not depend on the number of workers: outcomes may depend on the choice of inputs.
	slices.SortFunc(t.inputs, func(a, b trial.Baseline) int { return cmp.Or(cmp.Compare(a.Group, b.Group), a.Index-b.Index) })
	return nil
}

// containsID reports whether a mutant is in a set.
func containsID(set []byte, id int) bool { return id/8 < len(set) && set[id/8]>>(id%8)&1 != 0 }

// choose selects inputs that reach a mutant: first inputs that killed mutants of the same function, then some of
// every group in turn.
func (t *runner) choose(id int, kind trial.Kind, killers []int) []int {
	limit := t.limits.others
	switch kind {
	case trial.Check:
		limit = t.limits.inputs
	case trial.Targeted:
		limit = len(t.inputs)
	}
	var list []int
	var cost int64
	chosen := map[int]bool{}
	add := func(i int) {
		if !chosen[i] && len(list) < limit && (len(list) < 5 || cost+t.inputs[i].Cost <= t.limits.cost) {
			chosen[i] = true
			cost += t.inputs[i].Cost
			list = append(list, i)
		}
	}
	groups := map[string][]int{}
	for i := range t.inputs {
		if input := &t.inputs[i]; input.Kind == kind && (containsID(input.Reached, id) || containsID(t.reachedEarly, id)) {
			groups[input.Group] = append(groups[input.Group], i)
		}
	}
	for _, k := range killers {
		if slices.Contains(groups[t.inputs[k].Group], k) {
			add(k)
		}
	}
	var order [][]int
	for _, g := range groups {
		order = append(order, spread(g))
	}
	// Large groups come first and with more inputs: they were made to find faults.
	quota := func(g []int) int { return 1 + len(g)/50 }
	slices.SortFunc(order, func(a, b []int) int {
		return cmp.Or(quota(b)-quota(a), cmp.Compare(t.inputs[a[0]].Cost, t.inputs[b[0]].Cost), a[0]-b[0])
	})
	for n := 0; len(order) > 0; n++ {
		for _, g := range order {
			for i := n * quota(g); i < min((n+1)*quota(g), len(g)); i++ {
				add(g[i])
			}
		}
		order = slices.DeleteFunc(order, func(g []int) bool { return len(g) <= (n+1)*quota(g) })
	}
	return list
}

// spread reorders a list so that each beginning samples the whole list, because neighbours in a group are often
// alike. It takes the indices in bit-reversed order.
func spread(list []int) []int {
	var out []int
	n := bits.Len(uint(len(list)))
	for i := range 1 << n {
		if at := int(bits.Reverse(uint(i)) >> (bits.UintSize - n)); at < len(list) {
			out = append(out, list[at])
		}
	}
	return out
}

// tryFunction tries the mutants of a function.
func (t *runner) tryFunction(list []*Mutant, done func(*Mutant, Verdict)) error {
	var killers []int
	for _, m := range list {
		var inputs []int
		for kind := range trial.KindCount {
			inputs = append(inputs, t.choose(m.ID, kind, killers)...)
		}
		killer := t.killer(m)
		if i := slices.IndexFunc(t.inputs, func(b trial.Baseline) bool { return b.Name == killer }); i >= 0 {
			inputs = append([]int{i}, slices.DeleteFunc(inputs, func(k int) bool { return k == i })...)
		} else if killer != "" {
			if v := t.tryOnTests(m, killer); isNoticed(v.Outcome, t.exitIsKill) {
				done(m, v)
				continue
			}
		}
		v, inputIndex, err := t.tryMutant(m, inputs)
		if err != nil {
			return err
		}
		if v.Outcome == Killed {
			killers = slices.DeleteFunc(killers, func(k int) bool { return k == inputIndex })
			killers = slices.Insert(killers, 0, inputIndex)
		}
		if len(t.tests) > 0 && v.Outcome != Killed && v.Outcome != Crash && v.Outcome != Hang {
			if w := t.tryOnTests(m, ""); w.Outcome > v.Outcome {
				v = w
			}
		}
		done(m, v)
	}
	return nil
}

// tryMutant runs a mutant on inputs, in sequence. inputIndex is the input that kills it.
func (t *runner) tryMutant(m *Mutant, inputs []int) (v Verdict, inputIndex int, err error) {
	worse := func(o Outcome, input, detail string) {
		if o > v.Outcome {
			v = Verdict{o, input, detail}
		}
	}
	for failed := 0; len(inputs) > 0 && failed < maxFailures && (!t.exitIsKill || v.Outcome != Crash && v.Outcome != Hang); failed++ {
		worse(Survived, "", "")
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, t.binary, "try")
		cmd.Dir = t.root
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", mutant.Variable, m.ID))
		var orders bytes.Buffer
		limit := 10 * time.Second // time to load inputs
		for _, i := range inputs {
			input := &t.inputs[i]
			json.NewEncoder(&orders).Encode(trial.Order{Input: i, Group: input.Group, Index: input.Index, Millis: input.Millis})
			limit = max(limit, 2*trial.Limit(input.Millis))
		}
		var stderr bytes.Buffer
		out := &idleWatcher{limit: limit, timer: time.AfterFunc(limit, cancel)}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = &orders, out, &stderr
		runErr := cmd.Run()
		stuck := ctx.Err() != nil
		out.timer.Stop()
		cancel()
		var exit *exec.ExitError
		if runErr != nil && !errors.As(runErr, &exit) {
			return v, 0, runErr
		}
		input := -1 // the input in progress
		d := json.NewDecoder(&out.Buffer)
		for {
			var r trial.Report
			if err := d.Decode(&r); err != nil {
				break
			}
			name := t.inputs[r.Input].Name
			switch {
			case r.Started:
				input = r.Input
				inputs = inputs[1:]
				continue
			case r.Mismatch:
				return Verdict{Killed, name, ""}, r.Input, nil
			case r.Hang:
				worse(Hang, name, "")
			case r.Memory:
				worse(Hang, name, "takes all memory")
			case r.Digest != t.inputs[r.Input].Digest:
				worse(Wrong, name, "")
			default:
				b := &t.inputs[r.Input]
				o := classifyCounts(&r, b, m.CostOnly)
				detail := ""
				if o == CountsDiffer {
					detail = fmt.Sprintf("saved %d, not %d; spent %d, not %d", r.Saved, b.Saved, r.Spent, b.Spent)
				}
				worse(o, name, detail)
			}
			input = -1
		}
		switch {
		case stuck && input >= 0:
			worse(Hang, t.inputs[input].Name, "")
		case runErr != nil && input >= 0:
			worse(Crash, t.inputs[input].Name, reason(stderr.String()))
		case runErr != nil && exit.ExitCode() != trial.ExitLimit:
			return v, 0, fmt.Errorf("mutant %d: %w: %s", m.ID, runErr, stderr.String())
		case runErr == nil:
			inputs = nil
		}
	}
	return v, 0, nil
}

// idleWatcher collects the output of a process, and kills the process if it writes nothing for the time limit. If an input
// takes too long, the process ends itself after half of this time, unless it is stuck in machine code, which Go cannot
// stop.
type idleWatcher struct {
	bytes.Buffer
	limit time.Duration
	timer *time.Timer
}

func (l *idleWatcher) Write(b []byte) (int, error) {
	l.timer.Reset(l.limit)
	return l.Buffer.Write(b)
}

// reason returns the line of stderr that explains a crash.
func reason(stderr string) string {
	for _, line := range strings.Split(stderr, "\n") {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "unexpected fault") {
			return snippet(line)
		}
	}
	return snippet(stderr)
}
