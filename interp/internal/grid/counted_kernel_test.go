package grid_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/interp/internal/grid"
	"gemu/probe"
)

// modes are the modes of launches, in the order of a countedKernel's counts.
var modes = []interp.Mode{interp.Vector, interp.Affine, interp.Check}

// countedKernel is a kernel, given by its body, with the expected number of entries into machine code.
type countedKernel struct {
	body  string
	traps bool

	// Counts on a single host thread, by mode. They were recorded from gemu and have no second source. They pin the cost: an
	// additional exit changes no result. The results are compared with the portable engine's.
	runs    [3]int // calls of the backend's Run
	entries [3]int // entries into machine code in these calls
}

// compareCounts compares the counts of calls and entries in a mode, given by its index in modes.
func (k *countedKernel) compareCounts(t *testing.T, name string, mode int) {
	t.Helper()
	if a := grid.Counting; a.Runs != k.runs[mode] || a.Entries != k.entries[mode] {
		t.Errorf("%s: Go runs a warp %d times and enters machine code %d times, not %d and %d", name, a.Runs, a.Entries, k.runs[mode], k.entries[mode])
	}
}

// ran launches the kernel of a source the given number of times, with the address of memory of the given number of words,
// on a device with the given number of workers. It returns errors, counts and printed output as text, and the words.
func ran(t *testing.T, source string, l interp.Launch, words, times, workers int) (text string, out []uint32) {
	t.Helper()
	return ranUntil(t.Context(), t, source, l, words, times, workers)
}

// ranUntil is ran with a context, which may be cancelled.
func ranUntil(ctx context.Context, t *testing.T, source string, l interp.Launch, words, times, workers int) (text string, out []uint32) {
	t.Helper()
	printed := new(strings.Builder)
	dev := interp.NewDevice(interp.Config{Workers: workers, Stdout: printed})
	m, err := dev.Load("k.ptx", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := interp.NewBuffer(dev, make([]uint32, words))
	if err != nil {
		t.Fatal(err)
	}
	l.Args, l.CompileEagerly = []any{memory}, true
	var ended func() (done, total int64)
	l.Progress = func(poll func() (done, total int64)) (stop func()) {
		ended = poll
		return func() {}
	}
	for range times {
		r, err := m.Run(ctx, &l)
		text += fmt.Sprint(err)
		if trap := new(probe.Trap); errors.As(err, &trap) {
			text += trap.Report()
		}
		if r != nil {
			text += fmt.Sprintf(" %+v\n", r.Counts)
		}
		if done, total := ended(); err == nil && done != total {
			t.Errorf("%d CTAs of %d have ended", done, total)
		}
	}
	return text + printed.String(), interp.Slice[uint32](memory)
}
