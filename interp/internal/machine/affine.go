package machine

import (
	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// ShadowAt is the shadow of a source operand.
func ShadowAt(f *regfile.File, s code.Slot, row int32) *regfile.Compact {
	if s == code.Q {
		return f.Shadow64(row)
	}
	return f.Shadow32(row)
}

// MarkGeneric records that the lanes of m have got a register's value in its row, in a file
// with shadows; o may be no row at all.
func MarkGeneric(f *regfile.File, row code.Row, m uint32) {
	switch row.Slot {
	case code.R, code.Q:
		UncompactRow(f, row, m)
	}
}

func UncompactRow(f *regfile.File, row code.Row, m uint32) {
	c := ShadowOf(f, row)
	c.Mask &^= m
	c.Materialised &^= m
}

// ValueOfShadow is what a shadow holds.
func ValueOfShadow(c *regfile.Compact) affinetrack.Value {
	return affinetrack.Value{Base: c.Base, Stride: c.Stride}
}
