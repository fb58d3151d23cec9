package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gemu/models"
)

// TestWideValuesStayApart: columns of a table are as wide as their values.
func TestWideValuesStayApart(t *testing.T) {
	var b bytes.Buffer
	printModel(newScreen(&b), &models.Report{Model: "m", Title: "t", Tables: []models.Table{{
		Title: "accesses", Columns: []string{"banks", "arrays"}, Rows: []models.Row{{Name: "r", Values: []float64{26477682, 203943130}}},
	}}})
	if got := strings.Fields(b.String()); !slices.Contains(got, "26477682") || !slices.Contains(got, "203943130") {
		t.Errorf("%s", b.String())
	}
}
