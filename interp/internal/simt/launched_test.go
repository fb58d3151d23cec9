package simt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gemu/interp"
)

// modes are those of launches, in the order in which launched has them.
var modes = []interp.Mode{interp.Vector, interp.Affine, interp.Check}

// launched is a kernel of which there is the body.
type launched struct {
	body  string
	traps bool
	asked [3]int // how often Go has a warp run, on one thread, by mode
}

// ran launches the kernel of a source so many times, with the address of so many words of memory, on so many threads: what
// comes of it as text, errors and counts, and the words.
func ran(t *testing.T, source string, l interp.Launch, words, times, workers int) (text string, out []uint32) {
	t.Helper()
	return ranUntil(t.Context(), t, source, l, words, times, workers)
}

// ranUntil is ran of launches that a context may cancel.
func ranUntil(ctx context.Context, t *testing.T, source string, l interp.Launch, words, times, workers int) (text string, out []uint32) {
	t.Helper()
	dev := interp.NewDevice(interp.Config{Workers: workers})
	m, err := dev.Load("k.ptx", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := interp.NewBuffer(dev, make([]uint32, words))
	if err != nil {
		t.Fatal(err)
	}
	l.Args, l.Eager = []any{memory}, true
	for range times {
		r, err := m.Run(ctx, &l)
		text += fmt.Sprint(err)
		if trap := new(interp.Trap); errors.As(err, &trap) {
			text += trap.Report()
		}
		if r != nil {
			text += fmt.Sprintf(" %+v\n", r.Counts)
		}
	}
	return text, interp.Slice[uint32](memory)
}
