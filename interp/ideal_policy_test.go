package interp

// This file tests that the ideal policy is an upper bound: every count of compact values of an instruction of a
// random program is at least as high as under any policy.

import (
	"fmt"
	"slices"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/ptx"
	"gemu/structure"
)

// underPolicies runs a launch once, with a probe for every policy, and reports counts of the ideal policy below
// the counts of another policy.
func underPolicies(t *testing.T, mod *Module, l *Launch) {
	t.Helper()
	var probes []*structure.Probe
	var ideal *structure.Probe
	for _, p := range slices.Concat(affinetrack.Policies, affinetrack.Variants) {
		probe := structure.NewProbe(p)
		probes, l.Probes = append(probes, probe), append(l.Probes, probe)
		if p.Ideal {
			ideal = probe
		}
	}
	l.Mode = Vector
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	most := ideal.Structure()
	for _, probe := range probes {
		for i, got := range probe.Structure().Instrs {
			if what := got.Exceeds(&most.Instrs[i].Counts); what != "" {
				t.Errorf("%s, warps of %d: %s has more %s than the ideal policy:\n%+v\n%+v", got.Format(got.Func), l.WarpSize, probe.Name, what, got.Counts, most.Instrs[i].Counts)
			}
		}
	}
}

// TestIdealPolicyOnRandomPrograms: straight programs on values of all kinds, programs with branches and calls on
// values with structure, and every instruction on affine operands.
func TestIdealPolicyOnRandomPrograms(t *testing.T) {
	part.SkipShort(t)
	first := part.Seed(t)
	load := func(t *testing.T, src string) *Module {
		t.Helper()
		m, err := ptx.Parse("random.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
		if err != nil {
			t.Fatal(err)
		}
		return mod
	}
	buffers := func(t *testing.T, mod *Module, in []byte) (from, to *Buffer) {
		t.Helper()
		from, err := NewBuffer(mod.dev, in)
		if err != nil {
			t.Fatal(err)
		}
		if to, err = mod.dev.Alloc(len(in)); err != nil {
			t.Fatal(err)
		}
		return from, to
	}
	for i := range part.Count(4, 40, 1000) {
		seed, width := first+uint64(i), []int{32, 8, 64}[i%3]
		t.Run(fmt.Sprintf("straight %#x", seed), func(t *testing.T) {
			t.Parallel()
			src, in := random.StraightLine(randomVariants(), seed, 40)
			mod := load(t, src)
			from, to := buffers(t, mod, in)
			underPolicies(t, mod, &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(40), Args: []any{from, to}, WarpSize: width, MaxSteps: 1 << 20})
		})
		t.Run(fmt.Sprintf("structured %#x", seed), func(t *testing.T) {
			t.Parallel()
			block := structuredBlocks[i%len(structuredBlocks)]
			src, in := random.Structured(randomVariants(), seed, structuredGrid*block.Count(), false)
			mod := load(t, src)
			from, to := buffers(t, mod, in)
			underPolicies(t, mod, &Launch{Kernel: "k", Grid: ptx.Dim(structuredGrid), Block: block, Args: []any{from, to, uint32(12), uint64(1) << 40}, WarpSize: width, MaxSteps: 1 << 20})
		})
	}
	const threads = 32
	share := uint64(part.Count(120, 15, 1))
	for i, variants := range slices.Collect(slices.Chunk(randomVariants(), 24)) {
		if (uint64(i)+first)%share > 0 {
			continue
		}
		t.Run(fmt.Sprintf("every %d", i), func(t *testing.T) {
			t.Parallel()
			src, kernels := random.EveryOpcode(variants, first+uint64(i))
			mod := load(t, src)
			_, to := buffers(t, mod, make([]byte, threads*random.Stride))
			for k := range kernels {
				underPolicies(t, mod, &Launch{Kernel: fmt.Sprint("k", k), Grid: ptx.Dim(1), Block: ptx.Dim(threads), Args: []any{to}})
			}
		})
	}
}
