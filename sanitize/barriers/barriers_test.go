package barriers

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlantedMisuses runs kernels with planted misuses of synchronisation, and correct kernels.
func TestPlantedMisuses(t *testing.T) { planted.Files(t, "../../testdata/sanitize/sync/*.ptx", New) }
