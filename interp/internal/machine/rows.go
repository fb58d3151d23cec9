package machine

// This file has operations on registers whose values are in the row or in its shadow.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// MaterialiseRow writes the compact values of a register to its row, for the lanes of m that the shadow covers.
func MaterialiseRow(f *regfile.File, row code.Row, m uint32) {
	switch {
	case row.Row < 0:
	case row.Slot == code.R:
		f.Materialise32(row.Row, m)
	case row.Slot == code.Q:
		f.Materialise64(row.Row, m)
	}
}

// FirstLaneValue returns the value of a row in the lowest lane of m, as a uniform value.
func FirstLaneValue(f *regfile.File, row code.Row, m uint32) affinetrack.Value {
	i := bits.TrailingZeros32(m) & 31
	if row.Slot == code.Q {
		return affinetrack.Value{Base: f.Row64(row.Row)[i]}
	}
	return affinetrack.Value{Base: uint64(f.Row32(row.Row)[i])}
}

// ShadowOf returns the shadow of a register of slot R or Q, or the compact copy of a constant.
func ShadowOf(f *regfile.File, row code.Row) *regfile.Compact {
	if row.Slot == code.Q {
		return f.Shadow64(row.Row)
	}
	return f.Shadow32(row.Row)
}
