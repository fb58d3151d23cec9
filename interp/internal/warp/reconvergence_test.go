package warp

import (
	"math/rand/v2"
	"testing"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// TestReconvergenceOnRandomPaths lets lanes diverge at random under policy stack. At each reconvergence point all lanes that
// diverged must be together, except ended lanes. Warp splits must be disjoint and not empty.
func TestReconvergenceOnRandomPaths(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		const exit = 1000
		fr := &machine.Frame{Func: &code.Func{}}
		grid := &machine.Grid{Execution: machine.Execution{Reconverge: &machine.Policy{TimeSlice: machine.DefaultTimeSlice}}}
		w := &machine.Warp{CTA: &machine.CTA{Grid: grid}, Reconverger: new(Stack), WarpProgress: machine.WarpProgress{Live: 0xffffffff}, ShownFrame: fr}
		ResumeSplit(w, machine.WarpSplit{Mask: w.Live, Frame: fr})
		expected := map[int32]uint64{} // lanes at each reconvergence point
		next := int32(1)
		for step := 0; w.PC != exit; step++ {
			all := uint64(0)
			for _, c := range w.Splits() {
				if c.Mask == 0 || c.Mask&all != 0 {
					t.Fatalf("seed %d: warp split with lanes %#x next to %#x", seed, c.Mask, all)
				}
				all |= c.Mask
			}
			if want, ok := expected[w.PC]; ok && w.Mask != want&w.Live {
				t.Fatalf("seed %d: lanes %#x reconverge at block %d, want %#x", seed, w.Mask, w.PC, want&w.Live)
			}
			takenLanes := r.Uint64() & w.Mask
			if step < 20 && takenLanes != 0 && takenLanes != w.Mask && r.IntN(3) > 0 {
				point := next + 500
				if w.Reconvergence != nil && r.IntN(3) == 0 {
					point = w.Reconvergence.PC // the reconvergence point of the outer branch
				} else {
					expected[point] = w.Mask
				}
				divergeLanes(w, []machine.BranchGroup{{PC: next + 1, Mask: w.Mask &^ takenLanes}, {PC: next, Mask: takenLanes}}, point)
				next += 2
				continue
			}
			if r.IntN(8) == 0 && w.Mask&(w.Mask-1) != 0 {
				endLanes(w, nil, w.Mask&-w.Mask)
			}
			if w.Reconvergence == nil {
				jumpTo(w, exit)
			} else {
				jumpTo(w, w.Reconvergence.PC)
			}
		}
		if w.Mask != w.Live || len(w.WaitingSplits) != 0 {
			t.Fatalf("seed %d: lanes %#x of %#x reach the end, with %d other warp splits", seed, w.Mask, w.Live, len(w.WaitingSplits))
		}
	}
}
