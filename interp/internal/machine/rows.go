package machine

// This file has operations on rows of registers, with values in the row or in its shadow.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// MaterialiseRow writes a compact register to the lanes of m.
func MaterialiseRow(f *regfile.File, row code.Row, m uint32) {
	switch {
	case row.Row < 0:
	case row.Slot == code.R:
		f.Materialise32(row.Row, m)
	case row.Slot == code.Q:
		f.Materialise64(row.Row, m)
	}
}

func FirstLaneValue(f *regfile.File, row code.Row, m uint32) affinetrack.Value {
	i := bits.TrailingZeros32(m) & 31
	if row.Slot == code.Q {
		return affinetrack.Value{Base: f.Row64(row.Row)[i]}
	}
	return affinetrack.Value{Base: uint64(f.Row32(row.Row)[i])}
}

func ShadowOf(f *regfile.File, row code.Row) *regfile.Compact {
	if row.Slot == code.Q {
		return f.Shadow64(row.Row)
	}
	return f.Shadow32(row.Row)
}
