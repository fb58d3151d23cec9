package main

import (
	"math"
	"slices"
	"testing"

	"gemu/kernels"
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

// TestPapers checks that the rows of the papers' tables are workloads that say
// so, and that the level of significance is for as many rows.
func TestPapers(t *testing.T) {
	for _, p := range papers {
		if kernels.Studies[p.name] == "" {
			t.Errorf("%s: no study of the library", p.name)
		}
		rows := p.rows()
		if len(rows) != 14 || p.significant != 0.538 {
			t.Errorf("%s: %d rows and a level of %v; Zar's table has 0.538 for 14", p.name, len(rows), p.significant)
		}
		for _, row := range rows {
			if w := kernels.Lookup(row.Name); w == nil || !slices.Contains(w.Papers, p.name) {
				t.Errorf("%s: %s is no workload of that paper", p.name, row.Name)
			}
			for _, col := range p.columns {
				if v := row.Paper[col.key]; !col.input && (v < 0 || v > 100) {
					t.Errorf("%s: %s of %s is %v", p.name, col.key, row.Name, v)
				}
			}
		}
	}
}
