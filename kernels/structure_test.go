package kernels

// This file checks the value structure that launches of workloads find.

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp"
)

// counts are the counts of a session's launches, by kernel and instruction.
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

// TestStructureAgrees: under every policy all modes find the same structure, whatever the
// number of workers.
func TestStructureAgrees(t *testing.T) {
	n := part.Of(33, 100, 300)
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			for _, p := range affinetrack.Policies {
				find := func(mode interp.Mode, workers int) (list [][]affinetrack.Counts, lanes [][]int64) {
					s := start(t, w.Name, interp.Config{Workers: workers}, min(n, 1+w.N/16))
					s.Prepare = func(l *interp.Launch) { l.Mode, l.Policy, l.Stats = mode, p, true }
					if err := w.Run(s); err != nil {
						t.Fatalf("policy %s, mode %s, %d workers: %v", p.Name, mode, workers, err)
					}
					return counts(s)
				}
				want, wantLanes := find(interp.Check, 1)
				for _, mode := range interp.Modes {
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

// TestIdealBounds: what any policy has compact, instruction by instruction, the ideal one has. It sees
// when that judges results modulo another power of two than that of their width; the types of results,
// which no workload shows, are TestIdealTypes of interp.
func TestIdealBounds(t *testing.T) {
	n := part.Of(9, 17, 33)
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			find := func(p *affinetrack.Policy) [][]affinetrack.Counts {
				s := start(t, w.Name, interp.Config{}, min(n, 1+w.N/16))
				s.Prepare = func(l *interp.Launch) { l.Mode, l.Policy, l.Stats = interp.Vector, p, true }
				if err := w.Run(s); err != nil {
					t.Fatal(err)
				}
				list, _ := counts(s)
				return list
			}
			ideal := find(affinetrack.PolicyByName("ideal"))
			for _, p := range affinetrack.Policies {
				for i, launch := range find(p) {
					for k := range launch {
						got, most := &launch[k], &ideal[i][k]
						if got.Reads.Compact() > most.Reads.Compact() || got.Writes.Compact() > most.Writes.Compact() || got.Addresses.Compact() > most.Addresses.Compact() ||
							got.Compact+got.Suppressed > most.Compact+most.Suppressed || got.Decided > most.Decided {
							t.Errorf("launch %d, instruction %d: policy %s has %+v, the ideal one %+v", i, k, p.Name, *got, *most)
						}
					}
				}
			}
		})
	}
}
