package race

import (
	"testing"

	"gemu/probe"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

// TestPlantedRaces runs kernels with planted races, and correct kernels.
func TestPlantedRaces(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/race/*.ptx", func(log *finding.Log) probe.Probe { return New(log, 0) })
}
