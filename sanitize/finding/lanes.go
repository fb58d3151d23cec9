package finding

import (
	"fmt"
	"math/bits"
	"strings"
)

// Lanes writes a set of lanes as Place.Lanes has it: "0-3,7"; "" if it is one lane or none.
func Lanes(m uint64) string {
	if bits.OnesCount64(m) < 2 {
		return ""
	}
	var parts []string
	for m != 0 {
		first := bits.TrailingZeros64(m)
		n := bits.TrailingZeros64(^(m >> first))
		if n == 1 {
			parts = append(parts, fmt.Sprint(first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, first+n-1))
		}
		if first+n >= 64 {
			break
		}
		m = m >> (first + n) << (first + n)
	}
	return strings.Join(parts, ",")
}
