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
// constants, and on memory in bounds and out of bounds. A stencil must change nothing else. The test fails if a stencil is not
// tested. It also tests the stencils of this host's lower levels.
func TestStencils(t *testing.T) {
	if !native.Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	for _, level := range native.Levels() {
		t.Run(level.Name, func(t *testing.T) { tryStencils(t, level.Library()) })
	}
}

func tryStencils(t *testing.T, l *native.Library) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 2))
	has, compared, tried := 0, 0, map[string]bool{}
	for s := range harness.Suites() {
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
