package papers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
)

// TestSpearman has the example of Wikipedia's "Spearman's rank correlation
// coefficient", and ties as scipy.stats.spearmanr has them.
func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{106, 100, 86, 101, 99, 103, 97, 113, 112, 110}, []float64{7, 27, 2, 50, 28, 29, 20, 12, 6, 17}, -29.0 / 165},
		{[]float64{1, 2, 3}, []float64{10, 20, 1000}, 1},
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, -1},
		{[]float64{1, 2, 2, 3, 5, 5, 5, 8}, []float64{3, 1, 4, 4, 6, 5, 9, 9}, 0.9007775105401477},
		{[]float64{0, 0, 0, 1}, []float64{1, 2, 2, 4}, 0.8164965809277261},
	} {
		if got := spearman(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("spearman(%v, %v) = %v, want %v", c.x, c.y, got, c.want)
		}
	}
	if got := spearman([]float64{1, 1}, []float64{1, 2}); !math.IsNaN(got) {
		t.Errorf("against a constant: %v, want NaN", got)
	}
}

// TestProbabilityOfRanks: with five rows 2 of 120 orders have a correlation of 1 or -1 (Zar, Significance testing of
// the Spearman rank correlation coefficient, 1972, has half of this); with 14 rows 5 % of orders exceed 0.538 on
// either side. With ties: a 1 among three zeros has four places, of which two (first and last of 1, 2, 2, 4) are as
// extreme.
func TestProbabilityOfRanks(t *testing.T) {
	up := make([]float64, 14)
	for i := range up {
		up[i] = float64(i)
	}
	for _, c := range []struct {
		x, y      []float64
		want, tol float64
	}{
		{up[:5], []float64{5, 4, 3, 2, 1}, 2. / 120, 0},
		{[]float64{0, 0, 0, 1}, []float64{1, 2, 2, 4}, 1. / 2, 0},
		// Σd² = 210: rho = 1 - 6·210/(14·195) = 0.538.
		{up, []float64{1, 0, 9, 3, 2, 13, 8, 6, 10, 5, 4, 12, 7, 11}, 0.05, 0.002},
	} {
		if got := chance(c.x, c.y); math.Abs(got-c.want) > c.tol {
			t.Errorf("chance(%v, %v) = %v, want %v", c.x, c.y, got, c.want)
		}
	}
	seen := map[string]bool{}
	b := []int{0, 1, 2, 3, 4, 5}
	permute(b, len(b), func() { seen[fmt.Sprint(b)] = true })
	if len(seen) != 720 {
		t.Errorf("%d orders of six, want 720", len(seen))
	}
}

// TestHolmCorrection: the largest of three probabilities stays, the least is multiplied by three, and the order is
// kept.
func TestHolmCorrection(t *testing.T) {
	var tests []*Agreement
	for _, p := range []float64{0.04, 0.01, 0.03} {
		tests = append(tests, &Agreement{P: &p})
	}
	holm(tests)
	for i, want := range []float64{0.06, 0.03, 0.06} {
		if got := *tests[i].Holm; math.Abs(got-want) > 1e-15 {
			t.Errorf("of %v: %v, want %v", *tests[i].P, got, want)
		}
	}
}

// TestAgreementByDefinition compares random columns, with ties, with the definitions: ranks by counting smaller and
// equal values, all orders, Holm's method test by test.
func TestAgreementByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(part.Seed(t), 3))
	rank := func(x []float64, i int) float64 {
		less, same := 0, 0
		for _, v := range x {
			if v < x[i] {
				less++
			} else if v == x[i] {
				same++
			}
		}
		return float64(less) + float64(same+1)/2
	}
	rho := func(x, y []float64) float64 {
		var sx, sy, sxx, syy, sxy float64
		n := float64(len(x))
		for i := range x {
			a, b := rank(x, i), rank(y, i)
			sx, sy, sxx, syy, sxy = sx+a, sy+b, sxx+a*a, syy+b*b, sxy+a*b
		}
		return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
	}
	orders := func(y []float64) (list [][]float64) {
		list = [][]float64{nil}
		for range y {
			var longer [][]float64
			for _, order := range list { // of places
				for i := range y {
					if !slices.Contains(order, float64(i)) {
						longer = append(longer, append(slices.Clone(order), float64(i)))
					}
				}
			}
			list = longer
		}
		for _, order := range list {
			for i := range order {
				order[i] = y[int(order[i])]
			}
		}
		return list
	}
	var tests []*Agreement
	for range part.Count(20, 60, 1000) {
		n := 2 + r.IntN(6)
		x, y := make([]float64, n), make([]float64, n)
		distance := 0.0
		for i := range x {
			x[i], y[i] = float64(r.IntN(6))/2, float64(r.IntN(9))
			distance += math.Abs(x[i] - y[i])
		}
		a := newAgreement(x, y)
		if a.Rows != n || math.Abs(*a.Distance-distance/float64(n)) > 1e-12 {
			t.Errorf("%v and %v: %d rows, distance %v, want %v", x, y, a.Rows, *a.Distance, distance/float64(n))
		}
		want := rho(x, y)
		if math.IsNaN(want) != (a.Rho == nil) {
			t.Fatalf("%v and %v: rho %v, want %v", x, y, a.Rho, want)
		}
		if a.Rho == nil {
			continue
		}
		if (a.P == nil) != (n < 6) {
			t.Errorf("%d rows: p %v", n, a.P)
		}
		if a.P == nil {
			continue
		}
		reached, all := 0, orders(y)
		for _, order := range all {
			if math.Abs(rho(x, order)) > math.Abs(want)-1e-9 {
				reached++
			}
		}
		if p := float64(reached) / float64(len(all)); math.Abs(*a.Rho-want) > 1e-9 || math.Abs(*a.P-p) > 1e-12 {
			t.Errorf("%v and %v: rho %v, p %v; want %v, %v", x, y, *a.Rho, *a.P, want, p)
		}
		tests = append(tests, a)
	}
	lists := [][]*Agreement{tests}
	for range 50 {
		var list []*Agreement
		for range 2 + r.IntN(6) {
			p := float64(r.IntN(200)) / 1000
			list = append(list, &Agreement{P: &p})
		}
		lists = append(lists, list)
	}
	for _, tests := range lists {
		holm(tests)
		for _, a := range tests {
			// The maximum of its own and all earlier products.
			want := 0.0
			for _, o := range tests {
				if *o.P > *a.P {
					continue
				}
				left := 0 // number of tests that are not smaller
				for _, other := range tests {
					if *other.P >= *o.P {
						left++
					}
				}
				want = max(want, min(1, *o.P*float64(left)))
			}
			if math.Abs(*a.Holm-want) > 1e-12 {
				t.Errorf("Holm of %v: %v, want %v", *a.P, *a.Holm, want)
			}
		}
	}
}
