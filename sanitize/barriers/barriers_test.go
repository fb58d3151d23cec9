package barriers

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlanted: wrong uses are found, and nothing else.
func TestPlanted(t *testing.T) { planted.Files(t, "../../testdata/sanitize/sync/*.ptx", New) }
