package papers

import (
	"math"
	"testing"
)

// TestPortingLoss: times of three specifications on two machines, worked out by hand. The first two are within 5 % of the best on the first machine; the second
// takes 15 instead of 10 on the other. The third, best there, takes twice the best time of the first.
func TestPortingLoss(t *testing.T) {
	times := [][]float64{{100, 104, 200}, {12, 15, 10}}
	for isShare, want := range map[bool]float64{false: 100, true: 50} {
		if got := portingLoss(times, isShare); math.Abs(got-want) > 1e-9 {
			t.Errorf("a loss of %g %%, want %g", got, want)
		}
	}
	if got := portingLoss([][]float64{{100, 104, 106}, {12, 15, 10}}, false); math.Abs(got-50) > 1e-9 {
		t.Errorf("a loss of %g %%, want that of the second specification, 50", got)
	}
	if got := spread(times[1]); math.Abs(got-50) > 1e-9 {
		t.Errorf("a range of %g %%, want 50", got)
	}
}
