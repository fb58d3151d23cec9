package finding

import (
	"math/bits"

	"gemu/probe"
)

// Lanes formats a set of lanes for Place.Lanes: "0-3,7"; "" for fewer than two lanes.
func Lanes(m uint64) string {
	if bits.OnesCount64(m) < 2 {
		return ""
	}
	return probe.LaneList(m)
}
