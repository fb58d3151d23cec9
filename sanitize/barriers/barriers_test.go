package barriers

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlantedMisuses checks that the sanitizer finds exactly the misuses of synchronisation that notes (//!) in the test kernels
// state. Correct kernels have no notes.
func TestPlantedMisuses(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/sync/*.ptx", New)
}
