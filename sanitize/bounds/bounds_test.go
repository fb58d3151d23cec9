package bounds

import (
	"testing"

	"gemu/ptx"
	"gemu/sanitize/internal/planted"
)

// TestResultRules: each affine rule has a rule of origins.
func TestResultRules(t *testing.T) {
	for affine, r := range resultRules {
		if r == noRule {
			t.Errorf("resultRules lacks the affine rule %v", ptx.Affine(affine))
		}
	}
}

// TestPlantedOverruns runs kernels with planted accesses out of bounds, and correct kernels.
func TestPlantedOverruns(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/bounds/*.ptx", New)
}
