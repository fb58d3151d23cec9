package machine

import (
	"cmp"
	"math/bits"
	"slices"

	"gemu/machine/stream"
)

// sectors returns the number of sectors in a set.
func sectors(set uint8) int64 { return int64(bits.OnesCount8(set)) }

// sortBuffers orders buffers by address. Local memory comes first.
func sortBuffers(list []Buffer) {
	slices.SortFunc(list, func(a, b Buffer) int { return compareBuffers(&a.Buffer, &b.Buffer) })
}

func compareBuffers(a, b *stream.Buffer) int {
	return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Name, b.Name))
}
