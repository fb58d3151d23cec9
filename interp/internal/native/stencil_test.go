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
		few := 8
		if i == len(levels)-1 {
			few = 3
		}
		t.Run(level.Name, func(t *testing.T) { tryStencils(t, level.Library(), few) })
	}
}

// tryStencils runs one of few suites. With GEMU_TEST it runs all of them, and fails if a stencil has no test.
func tryStencils(t *testing.T, l *native.Library, few int) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 2))
	has, compared, tried := 0, 0, map[string]bool{}
	i, isTried := 0, part.Share(t, few, 1, 1)
	for s := range harness.Suites() {
		if i++; !isTried(i) {
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
	if !part.TrySample() {
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
