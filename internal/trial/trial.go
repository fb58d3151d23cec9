// Package trial is the process that tries mutants: a program with inputs, linked with
// mutated code. Package mutate builds and drives it.
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

// Corpus has the inputs, in groups that are loaded when they are wanted. Inputs of
// different groups are likely to find different things.
type Corpus struct {
	Groups []string
	Load   func(group string) ([]Input, error)
}

// Input is something that mutated code can be run on.
type Input struct {
	Name string
	Kind Kind
	Run  func() Result
}

// Kind is what a run of an input can tell.
type Kind uint8

// The kinds.
const (
	Check    Kind = iota // it compares, and may report a mismatch
	Targeted             // it judges, too, and was made for a certain fault: all that reach a mutant are tried
	Fallback             // … for what others let pass
	Output               // it has results, which a mutant may change
	KindCount
)

// Result is what a run came to.
type Result struct {
	Mismatch bool   // the run has noticed that something is wrong: the mutant is killed
	Digest   string // of all that a run leaves
	Cost     int64  // of the run, the same on every host

	// What the run has counted of how it came to its results: the more is saved, and the
	// less is spent, the better; what counts most comes first.
	Saved, Spent []int64
}

// Baseline is an input, as it runs without a mutant.
type Baseline struct {
	Group   string
	Index   int // in the group
	Name    string
	Kind    Kind
	Digest  string
	Cost    int64
	Saved   []int64
	Spent   []int64
	Millis  int64  // that it took
	Reached []byte // mutants: see mutant.Reached
}

// Order asks for the run of an input.
type Order struct {
	Input  int // by which the Report calls it
	Group  string
	Index  int
	Millis int64 // that it takes without a mutant
}

// Report is what becomes of an input under a mutant.
type Report struct {
	Input    int
	Started  bool // the run begins; another report follows, if it ends
	Mismatch bool
	Digest   string
	Saved    []int64
	Spent    []int64
	Hang     bool // it took too long; the process has ended
	Memory   bool // … took too much memory
}

// ExitLimit is the exit status of a process that has ended itself, after a report.
const ExitLimit = 3

const (
	memoryLimit = 2 << 30
	timeFactor  = 20 // how many times longer than without a mutant a run may take
	minWait     = 4 * time.Second
)

// Main is the process. Its arguments are "cover I/N", which runs the inputs of each Nth
// group from the Ith on without a mutant and writes Baselines, after one of what was
// reached before any input; or "try", which reads Orders and writes Reports, up to the
// first mismatch.
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

// Limit is how long an input may take with a mutant that takes so many milliseconds without.
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
