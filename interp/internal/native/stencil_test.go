package native_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/native"
	"gemu/interp/internal/native/harness"
)

// TestStencils compares each stencil with Go: on rows of corner and random values, for all lanes and some, on registers and
// constants, and on memory in bounds and out of bounds. A stencil must change nothing else. It also tests the stencils of this host's
// lower levels. Without GEMU_TEST it tries a third of the suites, an eighth on the lower levels; with GEMU_TEST=ci all of them,
// and then it fails if a stencil is not tested.
func TestStencils(t *testing.T) {
	if !native.Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	levels := native.Levels()
	for i, level := range levels {
		share := part.Count(8, 1, 1)
		if i == len(levels)-1 {
			share = part.Count(3, 1, 1)
		}
		t.Run(level.Name, func(t *testing.T) { tryStencils(t, level.Library(), share) })
	}
}

// tryStencils compares one of share suites, and with share 1 also checks that no stencil is without a test.
func tryStencils(t *testing.T, l *native.Library, share int) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 2))
	has, compared, tried := 0, 0, map[string]bool{}
	skipped := rng.IntN(share)
	for s := range harness.Suites() {
		if skipped++; skipped%share > 0 {
			continue
		}
		r := s.Run(l, rng, part.Count(1, 1, 50))
		if r.Differs != "" {
			t.Error(r.Differs)
		}
		if r.Compared > 0 {
			has++
		}
		compared += r.Compared
		for _, name := range r.Stencils {
			tried[name] = true
		}
	}
	t.Logf("%d subjects, %d programs, %d stencils", has, compared, len(tried))
	if share > 1 {
		return
	}
	var untried []string
	for name := range l.Names() {
		if _, ok := harness.TestsOf(name); !ok && !tried[name] {
			untried = append(untried, name)
		}
	}
	if slices.Sort(untried); len(untried) > 0 {
		t.Errorf("nothing tries %d stencils: %q", len(untried), untried)
	}
}
