package kernels

// This file checks the value structure of launches of workloads.

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/structure"
)

// counts returns the counts of a session's launches, by kernel and instruction.
func counts(s *Session) (list [][]affinetrack.Counts, lanes [][]int64) {
	for _, r := range s.Results {
		var c []affinetrack.Counts
		for i := range r.Structure.Instrs {
			c = append(c, r.Structure.Instrs[i].Counts)
		}
		list, lanes = append(list, c), append(lanes, r.Structure.Lanes)
	}
	return list, lanes
}

// TestStructureAgrees checks that under a policy all modes count the same value structure, with one worker and with three.
// It tries a ninth of the policies on each workload, with GEMU_TEST=ci a third, and with GEMU_TEST=all all of them.
func TestStructureAgrees(t *testing.T) {
	part.SkipShort(t)
	n, isTried := part.Count(33, 33, 300), part.Share(t, 9, 3, 1)
	for i, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			for k, p := range affinetrack.Policies {
				if !isTried(i + k) {
					continue
				}
				find := func(mode interp.Mode, workers int) (list [][]affinetrack.Counts, lanes [][]int64) {
					s := start(t, w.Name, interp.Config{Workers: workers}, min(n, 1+w.N/16))
					s.Prepare = func(l *interp.Launch) { l.Mode, l.Policy, l.Structure = mode, p, true }
					if err := w.Run(s); err != nil {
						t.Fatalf("policy %s, mode %s, %d workers: %v", p.Name, mode, workers, err)
					}
					return counts(s)
				}
				want, wantLanes := find(interp.Check, 1)
				for _, mode := range interp.Modes() {
					got, lanes := find(mode, 3)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("policy %s, check mode with one worker and %s mode with three (-one +three):\n%s", p.Name, mode, diff)
					}
					if diff := cmp.Diff(wantLanes, lanes); diff != "" {
						t.Errorf("policy %s, %s mode: active lanes (-one +three):\n%s", p.Name, mode, diff)
					}
				}
			}
		})
	}
}

// TestIdealPolicyIsCompactMost checks, instruction by instruction, that no policy has more compact values than the ideal
// policy. It detects an ideal policy that compares results modulo a power of two other than their width. Package interp
// has further tests: TestIdealPolicyByType, for types of results that no workload has, and
// TestIdealPolicyOnRandomPrograms.
func TestIdealPolicyIsCompactMost(t *testing.T) {
	n := part.Count(9, 17, 33)
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			s := start(t, w.Name, interp.Config{}, min(n, 1+w.N/16))
			var probes []*structure.Probe // the probes of the previous launch
			check := func() {
				for _, ideal := range probes {
					if !ideal.Ideal {
						continue
					}
					bound := ideal.Structure()
					for _, p := range probes {
						for i, got := range p.Structure().Instrs {
							if count := got.Exceeds(&bound.Instrs[i].Counts); count != "" {
								t.Errorf("launch %d, line %d: policy %s has more compact %s than the ideal policy:\n%+v\n%+v", len(s.Results), got.Pos.Line, p.Name, count, got.Counts, bound.Instrs[i].Counts)
							}
						}
					}
				}
				probes = nil
			}
			s.Prepare = func(l *interp.Launch) {
				check()
				l.Mode = interp.Vector
				for _, p := range affinetrack.Policies {
					observer := structure.NewProbe(p)
					probes, l.Probes = append(probes, observer), append(l.Probes, observer)
				}
			}
			if err := w.Run(s); err != nil {
				t.Fatal(err)
			}
			check()
		})
	}
}
