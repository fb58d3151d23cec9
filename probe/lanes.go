package probe

import (
	"math/bits"
	"strconv"
	"strings"
)

// LaneList returns a set of lanes as ranges of lane numbers, lowest first: "0-3,7". It returns "" for the empty set.
func LaneList(lanes uint64) string {
	var parts []string
	for lanes != 0 {
		first := bits.TrailingZeros64(lanes)
		n := bits.TrailingZeros64(^(lanes >> first))
		text := strconv.Itoa(first)
		if n > 1 {
			text += "-" + strconv.Itoa(first+n-1)
		}
		parts = append(parts, text)
		lanes &^= (1<<n - 1) << first
	}
	return strings.Join(parts, ",")
}

// LaneText returns a set of lanes as all messages write it: "lane 7", "lanes 0-3,7" or "no lanes".
func LaneText(lanes uint64) string {
	switch bits.OnesCount64(lanes) {
	case 0:
		return "no lanes"
	case 1:
		return "lane " + LaneList(lanes)
	}
	return "lanes " + LaneList(lanes)
}
