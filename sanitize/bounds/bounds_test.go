package bounds

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlantedOverruns runs kernels with planted accesses out of bounds, and correct kernels.
func TestPlantedOverruns(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/bounds/*.ptx", New)
}
