package interp

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"gemu/internal/cases"
	"gemu/internal/part"
	"gemu/ptx"
)

// TestTensorCoresOfGenerations: engine and oracle add as the same generation of tensor cores, and
// generations differ.
func TestTensorCoresOfGenerations(t *testing.T) {
	part.SkipShort(t)
	for _, name := range []string{"mma_half", "mma_narrow", "wmma", "mma_sparse", "mma_scale"} {
		src, err := os.ReadFile("../testdata/insn/" + name + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(name, src)
		if err != nil {
			t.Fatal(err)
		}
		list, err := cases.Read(string(src))
		if err != nil {
			t.Fatal(err)
		}
		var before [][]byte
		for _, sm := range []int{70, 75, 80, 86, 89, 90, 100, 120} {
			var all [][]byte
			for i := range list {
				c := &list[i]
				run := func(e engine, config Config) []byte {
					mod, err := NewDevice(config).LoadModule(m)
					if err != nil {
						t.Fatal(err)
					}
					k, err := mod.Kernel(c.Kernel)
					if err != nil {
						t.Fatal(err)
					}
					args, result, err := c.Arguments(k.Params, func(data []byte) (any, error) { return NewBuffer(mod.dev, data) }, mod.object)
					if err != nil {
						t.Fatal(err)
					}
					if err := e.run(mod, &Launch{Kernel: c.Kernel, Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: args}); err != nil {
						t.Fatal(err)
					}
					return bytes.Clone(result.(interface{ Bytes() []byte }).Bytes())
				}
				got, want := run(inMode("vector", Launch{Mode: Vector}), Config{SM: sm}), run(engine{run: runOracle}, Config{SM: sm})
				if !bytes.Equal(got, want) {
					t.Errorf("line %d, sm_%d: the engine has %x, the oracle %x", c.Line, sm, got, want)
				}
				if got := run(inMode("vector", Launch{Mode: Vector, SM: sm}), Config{SM: 61}); !bytes.Equal(got, want) {
					t.Errorf("line %d, a launch for sm_%d: the engine has %x, the oracle %x", c.Line, sm, got, want)
				}
				all = append(all, got)
			}
			if before != nil && slices.Contains([]int{75, 80, 90}, sm) && name == "mma_half" && slices.EqualFunc(all, before, bytes.Equal) {
				t.Errorf("sm_%d adds as the generation before", sm)
			}
			before = all
		}
	}
}
