package kernels

// This file checks the value structure that launches of workloads find.

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
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

// TestStructureAgrees: under every policy check mode and affine mode find the same
// structure, whatever the number of workers.
func TestStructureAgrees(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 33
	}
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
				modes := []interp.Mode{interp.Check, interp.Affine}
				if p.Ideal {
					modes = modes[:1]
				}
				for _, mode := range modes {
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

// TestFigure1 compares the labels of the value-structure paper's example with those
// printed there, figure 1(c): u uniform, a affine, g generic. What comes after the
// branch is labelled for warps that all take it, or do not: "it is not clear that we
// can exploit the value structure" otherwise (2.3).
func TestFigure1(t *testing.T) {
	const want = `
u ld.param.u32
u ld.param.u32
u cvta.to.global.u32
u mov.u32
u mov.u32
a mov.u32
a mad.lo.s32
a shl.b32
a add.s32
a ld.global.u32
g mul.lo.s32
a st.global.u32
g setp.gt.s32
u bra
u ret
u mov.u32
a st.global.u32
u ret
`
	const block = 256
	for _, policy := range []string{"kim", "gemu", "ideal"} {
		w := Lookup("threshold")
		s := start(t, w.Name, interp.Config{}, 0)
		// Every other warp is above the threshold, and no values are in progression.
		y := make([]int32, 2*block)
		for i := range y {
			y[i] = int32(i * i % 37)
			if i/32%2 == 0 {
				y[i] += 1000
			}
		}
		b, err := interp.NewBuffer(s.Module.Device(), y)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Module.Run(t.Context(), &interp.Launch{
			Grid: interp.Dim(len(y) / block), Block: interp.Dim(block), Args: []any{b, 3}, Stats: true, Policy: affinetrack.PolicyByName(policy),
		})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		got.WriteByte('\n')
		for _, in := range r.Structure.Instrs {
			label := "mixed"
			switch n := in.Label.Total(); {
			case n == 0:
				label = "-"
			case in.Label.Uniform == n:
				label = "u"
			case in.Label.Affine == n:
				label = "a"
			case in.Label.Generic == n:
				label = "g"
			}
			got.WriteString(label + " " + in.Text + "\n")
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("policy %s (-figure +got):\n%s", policy, diff)
		}
	}
}
