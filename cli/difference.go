package cli

import (
	"math"

	"gemu/argument"
)

// difference is an element that differs between two arrays.
type difference struct {
	index     int
	got, want string
}

// compareArrays returns the first differences, at most 10, and the number n of all differences. It compares the elements that
// both arrays have. Floats may differ by atol + rtol·|want|; NaN equals NaN.
func compareArrays(got, want *argument.Array, rtol, atol float64) (first []difference, n int) {
	for i := range min(got.Len(), want.Len()) {
		same := false
		if got.Type.IsFloat() || want.Type.IsFloat() {
			g, w := got.Float(i), want.Float(i)
			same = g == w || g != g && w != w || math.Abs(g-w) <= atol+rtol*math.Abs(w)
		} else if got.Type == want.Type {
			same = got.Bits(i) == want.Bits(i)
		} else {
			same = got.Format(i) == want.Format(i)
		}
		if same {
			continue
		}
		if n++; len(first) < 10 {
			first = append(first, difference{i, got.Format(i), want.Format(i)})
		}
	}
	return first, n
}
