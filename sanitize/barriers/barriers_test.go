package barriers

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlanted runs kernels with planted misuses of synchronisation, and correct kernels.
func TestPlanted(t *testing.T) { planted.Files(t, "../../testdata/sanitize/sync/*.ptx", New) }
