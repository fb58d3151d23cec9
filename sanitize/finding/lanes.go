package finding

import (
	"math/bits"

	"gemu/probe"
)

// Lanes writes a set of lanes as Place.Lanes has it: "0-3,7"; "" if it is one lane or none.
func Lanes(m uint64) string {
	if bits.OnesCount64(m) < 2 {
		return ""
	}
	return probe.LaneList(m)
}
