// Package trial is the process that runs mutants: a program with inputs, linked with mutated code. tools/mutate
// builds and drives it.
package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"gemu/internal/trial/mutant"
)

// Corpus is the inputs, in groups that are loaded when needed. Inputs of different groups are likely to find
// different faults.
type Corpus struct {
	Groups []string
	Load   func(group string) ([]Input, error)
}

// Input is a run of the mutated code.
type Input struct {
	Name string
	Kind Kind
	Run  func() Result
}

// Kind is the kind of result of an input.
type Kind uint8

// The kinds.
const (
	Check    Kind = iota // the run compares, and may report a mismatch
	Targeted             // like Check, and made for a certain fault: it runs for all mutants that it reaches
	Fallback             // like Check, for mutants that survive all other inputs
	Output               // the run has results, which a mutant may change
	KindCount
)

// Result is the result of a run.
type Result struct {
	Mismatch bool   // the run noticed a fault: the mutant is killed
	Digest   string // digest of all results
	Cost     int64  // the same on every host

	// Saved and Spent are counts of the engine's work, the most important first. More saved and less spent is better.
	Saved, Spent []int64
}

// Baseline is an input's run without a mutant.
type Baseline struct {
	Group   string
	Index   int // in the group
	Name    string
	Kind    Kind
	Digest  string
	Cost    int64
	Saved   []int64
	Spent   []int64
	Millis  int64  // duration
	Reached []byte // set of mutants: see mutant.Reached
}

// Order requests the run of an input.
type Order struct {
	Input  int // number of the input in the Report
	Group  string
	Index  int
	Millis int64 // duration without a mutant
}

// Report is the result of an input with a mutant.
type Report struct {
	Input    int
	Started  bool // the run begins; another report follows if it ends
	Mismatch bool
	Digest   string
	Saved    []int64
	Spent    []int64
	Hang     bool // the run took too long; the process has ended
	Memory   bool // the run took too much memory; the process has ended
}

// ExitLimit is the exit status of a process that ended itself after a report.
const ExitLimit = 3

const (
	memoryLimit = 2 << 30
	timeFactor  = 20 // limit of a run, as a multiple of its time without a mutant
	minWait     = 10 * time.Second
)

// Main is the process. With the arguments "cover I/N" it runs the inputs of each Nth group from the Ith on without a
// mutant and writes Baselines; the first has the mutants reached before any input. With "try" it reads Orders and
// writes Reports, up to the first mismatch.
func Main(c *Corpus) {
	out := json.NewEncoder(os.Stdout)
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "cover":
		err = c.cover(os.Args[2], out)
	case len(os.Args) == 2 && os.Args[1] == "try":
		err = c.try(json.NewDecoder(os.Stdin), out)
	default:
		err = fmt.Errorf("usage: cover I/N, or try")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func (c *Corpus) cover(group string, out *json.Encoder) error {
	var i, n int
	if _, err := fmt.Sscanf(group, "%d/%d", &i, &n); err != nil || n < 1 {
		return fmt.Errorf("cover %s: want I/N", group)
	}
	out.Encode(Baseline{Reached: mutant.Reached()})
	for ; i < len(c.Groups); i += n {
		inputs, err := c.Load(c.Groups[i])
		if err != nil {
			return err
		}
		for j, input := range inputs {
			start := time.Now()
			r := input.Run()
			if r.Mismatch {
				return fmt.Errorf("%s fails without a mutant", input.Name)
			}
			out.Encode(Baseline{
				Group: c.Groups[i], Index: j, Name: input.Name, Kind: input.Kind, Digest: r.Digest, Cost: r.Cost, Saved: r.Saved, Spent: r.Spent,
				Millis: time.Since(start).Milliseconds(), Reached: mutant.Reached(),
			})
		}
	}
	return nil
}

func (c *Corpus) try(orders *json.Decoder, out *json.Encoder) error {
	loaded := map[string][]Input{}
	for {
		var o Order
		if err := orders.Decode(&o); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		out.Encode(Report{Input: o.Input, Started: true})
		if loaded[o.Group] == nil {
			inputs, err := c.Load(o.Group)
			if err != nil {
				return err
			}
			loaded[o.Group] = inputs
		}
		stop := watch(o.Input, Limit(o.Millis), out)
		r := loaded[o.Group][o.Index].Run()
		stop()
		out.Encode(Report{Input: o.Input, Mismatch: r.Mismatch, Digest: r.Digest, Saved: r.Saved, Spent: r.Spent})
		if r.Mismatch {
			return nil
		}
	}
}

// Limit returns the time limit of an input that takes millis without a mutant.
func Limit(millis int64) time.Duration {
	return max(minWait, timeFactor*time.Duration(millis)*time.Millisecond)
}

// watch ends the process if an input is not stopped in time, or takes too much memory.
func watch(input int, limit time.Duration, out *json.Encoder) (stop func()) {
	var done atomic.Bool
	go func() {
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for end := time.Now().Add(limit); !done.Load(); time.Sleep(20 * time.Millisecond) {
			metrics.Read(heap)
			r := Report{Input: input, Hang: time.Now().After(end), Memory: heap[0].Value.Uint64() > memoryLimit}
			if (r.Hang || r.Memory) && done.CompareAndSwap(false, true) {
				out.Encode(r)
				os.Exit(ExitLimit)
			}
		}
	}()
	return func() {
		if !done.CompareAndSwap(false, true) {
			runtime.Goexit() // the process is ending
		}
	}
}
