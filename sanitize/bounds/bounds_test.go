package bounds

import (
	"testing"

	"gemu/sanitize/internal/planted"
)

// TestPlanted: what is outside a variable is found, and nothing else.
func TestPlanted(t *testing.T) { planted.Files(t, "../../testdata/sanitize/bounds/*.ptx", New) }
