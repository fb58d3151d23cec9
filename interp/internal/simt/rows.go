package simt

// This file is rows of registers, wherever their values are kept.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// expand writes a compact register to the lanes of m.
func expand(f *regfile.File, o code.Row, m uint32) {
	switch {
	case o.Row < 0:
	case o.Slot == code.R:
		f.Expand32(o.Row, m)
	case o.Slot == code.Q:
		f.Expand64(o.Row, m)
	}
}

func firstLane(f *regfile.File, o code.Row, m uint32) affinetrack.Value {
	i := bits.TrailingZeros32(m) & 31
	if o.Slot == code.Q {
		return affinetrack.Value{Base: f.Row64(o.Row)[i]}
	}
	return affinetrack.Value{Base: uint64(f.Row32(o.Row)[i])}
}

func shadowOf(f *regfile.File, o code.Row) *regfile.Compact {
	if o.Slot == code.Q {
		return f.Shadow64(o.Row)
	}
	return f.Shadow32(o.Row)
}
