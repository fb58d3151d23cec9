package main

import (
	"fmt"
	"math"
	"testing"
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

// TestChance: of five rows 2 of 120 orders have a correlation of 1 or -1, of which
// Zar, Significance testing of the Spearman rank correlation coefficient (1972), has the
// half; of 14 rows 0.538 is what 5 % of orders exceed on either side. With ties: three zeros
// and a one have four places of the one, in two of which (first and last of 1, 2, 2, 4) it
// is as far off.
func TestChance(t *testing.T) {
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

// TestHolm: the largest of three probabilities stays, the least is taken three times, and the
// order is kept.
func TestHolm(t *testing.T) {
	var tests []*agreement
	for _, p := range []float64{0.04, 0.01, 0.03} {
		tests = append(tests, &agreement{P: &p})
	}
	holm(tests)
	for i, want := range []float64{0.06, 0.03, 0.06} {
		if got := *tests[i].Holm; math.Abs(got-want) > 1e-15 {
			t.Errorf("of %v: %v, want %v", *tests[i].P, got, want)
		}
	}
}
