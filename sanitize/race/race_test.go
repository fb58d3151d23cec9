package race

import (
	"testing"

	"gemu/probe"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

func TestPlanted(t *testing.T) {
	planted.Files(t, "../../testdata/sanitize/race/*.ptx", func(log *finding.Log) probe.Probe { return New(log, 0) })
}
