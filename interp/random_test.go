package interp

// This file runs random programs on every engine and compares the final memory.

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/ptx"
)

// randomVariants are the opcodes of random programs.
var randomVariants = sync.OnceValue(func() []*ptx.Variant {
	return random.Variants(func(v *ptx.Variant) bool {
		_, runs := SupportsVariant(v)
		return runs
	})
})

// agree runs a program on every engine and reports the first difference.
func agree(src string, in []byte, threads int, widths []int) error {
	m, err := ptx.Parse("random.ptx", []byte(src))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, err.(ptx.ErrorList)[0].Snippet())
	}
	var want []byte
	wantName := ""
	for _, e := range engines() {
		for _, width := range widths {
			mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
			if err != nil {
				return err
			}
			bin, err1 := NewBuffer(mod.dev, in)
			bout, err2 := mod.dev.Alloc(len(in))
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if err := e.run(mod, &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(threads), Args: []any{bin, bout}, WarpSize: width, MaxSteps: 1 << 20}); err != nil {
				return fmt.Errorf("%s, warp %d: %w", e.name, width, err)
			}
			name := fmt.Sprintf("%s, warp %d", e.name, width)
			if want == nil {
				want, wantName = bout.Bytes(), name
				continue
			}
			if got := bout.Bytes(); !bytes.Equal(got, want) {
				i := 0
				for got[i] == want[i] {
					i++
				}
				i &^= 3
				return fmt.Errorf("%w: thread %d offset %d: %s gives %x, %s %x", errDisagree, i/random.Stride, i%random.Stride, name, got[i:i+4], wantName, want[i:i+4])
			}
		}
	}
	return nil
}

// errDisagree is the error of agree when engines differ.
var errDisagree = errors.New("engines disagree")

// shrink leaves out instructions as long as the engines still disagree.
func shrink(src string, in []byte, threads int, widths []int) string {
	lines := strings.Split(src, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.HasPrefix(lines[i], "\t") || strings.Contains(lines[i], ".reg") || strings.Contains(lines[i], "%in") || strings.Contains(lines[i], "%out") {
			continue
		}
		without := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
		if errors.Is(agree(without, in, threads, widths), errDisagree) {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return strings.Join(lines, "\n")
}

// TestRandomPrograms compares the engines and the oracle on random straight-line programs.
func TestRandomPrograms(t *testing.T) {
	part.SkipShort(t)
	first := part.Seed(t)
	for i := range part.Count(25, 40, 1000) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			seed := first + uint64(i)
			src, in := random.StraightLine(randomVariants(), seed, 40)
			if err := agree(src, in, 40, []int{32, 8, 64}); err != nil {
				src = shrink(src, in, 40, []int{32, 8, 64})
				t.Fatalf("seed %#x: %v\nshrunk:\n%s%v", seed, err, src, agree(src, in, 40, []int{32, 8, 64}))
			}
		})
	}
}

// FuzzEngines: all engines compute the same on programs made of the input.
func FuzzEngines(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i)
	}
	variants := randomVariants() // a second: an input that takes ten is a failure
	f.Fuzz(func(t *testing.T, seed uint64) {
		src, in := random.StraightLine(variants, seed, 20)
		if err := agree(src, in, 20, []int{32}); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}
