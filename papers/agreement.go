package papers

// This file has the statistics of a comparison: the correlation between the orders of two columns, and the probability that
// the correlation is due to chance.

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Agreement compares our values of a column with the paper's.
type Agreement struct {
	Rows     int      `json:"rows"`             // rows with both values
	Rho      *float64 `json:"rank_correlation"` // Spearman's rank correlation; null if it is undefined
	P        *float64 `json:"p"`                // probability of a correlation at least as far from 0 by chance alone; null for fewer than 6 rows
	Holm     *float64 `json:"p_corrected"`      // p corrected by Holm's method for the number of the table's columns that have a p; null for another interpretation of a column
	Distance *float64 `json:"mean_distance"`    // mean of the absolute differences; null without rows
}

// ChanceLevel is the probability of chance below which an agreement is significant.
const ChanceLevel = 0.05

// minTested is the minimum number of rows for which a probability is computed. In an order of fewer rows, even a perfect
// agreement says little.
const minTested = 6

// newAgreement compares two columns.
func newAgreement(measured, printed []float64) *Agreement {
	a := &Agreement{Rows: len(measured)}
	if len(measured) == 0 {
		return a
	}
	distance := 0.0
	for i := range measured {
		distance += math.Abs(measured[i]-printed[i]) / float64(len(measured))
	}
	a.Distance = &distance
	if rho := spearman(measured, printed); !math.IsNaN(rho) {
		a.Rho = &rho
		if len(measured) >= minTested {
			p := chance(measured, printed)
			a.P = &p
		}
	}
	return a
}

// spearman returns Spearman's rank correlation coefficient, the correlation of the ranks; NaN if all values of x or all
// values of y are equal.
func spearman(x, y []float64) float64 {
	rx, ry := ranks(x), ranks(y)
	mean := float64(len(x)+1) / 2
	var xy, xx, yy float64
	for i := range rx {
		dx, dy := rx[i]-mean, ry[i]-mean
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks returns the ranks of values from 1 on; equal values share the mean of their ranks.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return x[order[i]] < x[order[j]] })
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			r[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return r
}

// Columns of up to exactRows rows are tested in all orders, longer columns in draws random orders.
const (
	exactRows = 8
	draws     = 100_000
)

// chance returns the probability that the rank correlation of x and y in a random order is as far from 0 as in the
// given order, or farther. It is a two-sided permutation test that keeps ties. It is exact for up to exactRows rows. For
// more rows it counts the given order and random orders from a fixed seed.
func chance(x, y []float64) float64 {
	// Doubled ranks are integers, so the sums of their products are exact. A correlation is such a sum minus the
	// product of the means.
	rx, ry := ranks(x), ranks(y)
	n := len(x)
	a, b := make([]int, n), make([]int, n)
	for i := range n {
		a[i], b[i] = int(2*rx[i])-(n+1), int(2*ry[i])-(n+1)
	}
	sum := func() (s int) {
		for i := range a {
			s += a[i] * b[i]
		}
		return max(s, -s)
	}
	given := sum()
	reached, all := 0, 0
	count := func() {
		all++
		if sum() >= given {
			reached++
		}
	}
	if n <= exactRows {
		permute(b, n, count)
	} else {
		count()
		r := rand.New(rand.NewPCG(1, uint64(n)))
		for range draws {
			r.Shuffle(n, func(i, j int) { b[i], b[j] = b[j], b[i] })
			count()
		}
	}
	return float64(reached) / float64(all)
}

// permute calls visit for each order of the first n elements of b (Heap's algorithm).
func permute(b []int, n int, visit func()) {
	if n <= 1 {
		visit()
		return
	}
	for i := range n {
		permute(b, n-1, visit)
		j := 0
		if n%2 == 0 {
			j = i
		}
		b[j], b[n-1] = b[n-1], b[j]
	}
}

// holm corrects the probabilities of several tests for the number of tests (Holm, A simple sequentially rejective multiple
// test procedure, 1979). In ascending order, the first probability is multiplied by the number of tests, and each next
// probability by 1 less. A product below the previous result is replaced by that result.
func holm(tests []*Agreement) {
	order := slices.Clone(tests)
	slices.SortStableFunc(order, func(a, b *Agreement) int {
		switch {
		case *a.P < *b.P:
			return -1
		case *a.P > *b.P:
			return 1
		}
		return 0
	})
	minimum := 0.0
	for i, a := range order {
		p := min(1, max(minimum, *a.P*float64(len(order)-i)))
		minimum, a.Holm = p, &p
	}
}
