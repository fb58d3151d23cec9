package bounds

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlanted runs kernels with planted accesses out of bounds, and correct kernels.
func TestPlanted(t *testing.T) { planted.Files(t, "../../testdata/sanitize/bounds/*.ptx", New) }
