package validity

import (
	"testing"

	"gemu/interp"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

// TestPlanted: what is found in kernels with uses of what nothing has written, and nothing in
// correct ones that look like them.
func TestPlanted(t *testing.T) {
	planted.Files(t, "../../testdata/sanitize/init/*.ptx", func(log *finding.Log) interp.Probe { return New(log) })
}
