package interp

// This file runs random programs with few registers: after package spill has rewritten them, they
// have the same final memory.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gemu/internal/cases"
	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/ptx"
	"gemu/spill"
)

// straight returns the output of a program of random.StraightLine.
func straight(src string, in []byte, threads int, mode Mode) ([]byte, error) {
	m, err := ptx.ParseString("random.ptx", src)
	if err != nil {
		return nil, err
	}
	dev := NewDevice(Config{Workers: 1})
	mod, err := dev.LoadModule(m)
	if err != nil {
		return nil, err
	}
	bin, err1 := NewBuffer(dev, in)
	bout, err2 := dev.Alloc(len(in))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	_, err = mod.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(threads), Args: []any{bin, bout}, Mode: mode, MaxSteps: 1 << 20})
	return bout.Bytes(), err
}

// TestSpilledCases runs the cases of testdata with the fewest registers that their instructions
// need. A refusal has its place.
func TestSpilledCases(t *testing.T) {
	var files []string
	for _, dir := range []string{"insn", "control", "nvcc"} {
		list, err := filepath.Glob("../testdata/" + dir + "/*.ptx")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	refused := map[string]bool{}
	modes := []engine{inMode("vector", Launch{Mode: Vector}), inMode("check", Launch{Mode: Check})}
	spilled, stores := 0, 0
	for i, file := range files {
		if every := part.Count(8, 2, 1); i%every != 0 {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(filepath.Base(file), src)
		if err != nil {
			t.Fatal(err)
		}
		least, err := leastRegs(m)
		var bad *spill.Error
		if errors.As(err, &bad) {
			refused[bad.Msg] = true
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		out, funcs, err := spill.Module(t.Context(), m, least)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		spilled++
		for _, f := range funcs {
			stores += f.Stores
		}
		small, err := ptx.ParseString(filepath.Base(file), out)
		if err != nil {
			t.Fatal(err)
		}
		list, err := cases.Read(string(src))
		if err != nil {
			t.Fatal(err)
		}
		loaded := loads(t, small)
		for k, c := range list {
			n, every := i+k, part.Count(16, 8, 1)
			if c.EarlyOnly || c.Trap != "" || c.Sanitize || n%every != 0 {
				continue
			}
			e := modes[n/every%2]
			s := c.Shapes(false)[0]
			name := fmt.Sprintf("%s with %d registers: line %d %s on %s", filepath.Base(file), least, c.Line, c.Kernel, e.name)
			if err := tryCase(t, loaded(c.SM, e), &c, e, s, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	t.Logf("%d files, %d stores; refused: %v", spilled, stores, slices.Sorted(maps.Keys(refused)))
}

// leastRegs returns the minimum number of registers for all functions of a module.
func leastRegs(m *ptx.Module) (least int, err error) {
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Func); ok && f.Defined {
			n, err := spill.MinRegs(context.Background(), f)
			if err != nil {
				return 0, err
			}
			least = max(least, n)
		}
	}
	return max(least, 1), nil
}

// TestSpilledPrograms shows that random programs rewritten to few registers leave the same memory.
func TestSpilledPrograms(t *testing.T) {
	first := part.Seed(t)
	for i := range part.Count(6, 20, 500) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			seed, block := first+uint64(i), structuredBlocks[i/2%len(structuredBlocks)]
			var src string
			var leaves func(src string, mode Mode) ([]byte, error)
			if i%2 == 0 {
				made, in := random.StraightLine(randomVariants(), seed, 40)
				src, leaves = made, func(src string, mode Mode) ([]byte, error) { return straight(src, in, 40, mode) }
			} else {
				made, in := random.Structured(randomVariants(), seed, structuredGrid*block.Count(), true)
				src, leaves = made, func(src string, mode Mode) ([]byte, error) {
					m, err := ptx.ParseString("random.ptx", src)
					if err != nil {
						return nil, err
					}
					r, err := runStructured(m, in, block, inMode(mode.String(), Launch{Mode: mode}), 32, nil)
					if err != nil {
						return nil, err
					}
					return r.memory, nil
				}
			}
			m, err := ptx.ParseString("random.ptx", src)
			if err != nil {
				t.Fatal(err)
			}
			want, err := leaves(src, Vector)
			if err != nil {
				t.Fatal(err)
			}
			kernel, _ := m.Lookup("k").(*ptx.Func)
			r, err := spill.RangeOf(t.Context(), kernel)
			if err != nil {
				t.Fatal(err)
			}
			for k, regs := range []int{r.Min, (r.Min + r.Base) / 2, r.Base} {
				out, funcs, err := spill.Module(t.Context(), m, regs, "k")
				if err != nil {
					t.Fatal(err)
				}
				got, err := leaves(out, []Mode{Check, Vector}[k%2])
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("seed %#x: %d registers: %v, or another result\n%+v\n%s\n%s", seed, regs, err, funcs, src, out)
				}
			}
		})
	}
}
