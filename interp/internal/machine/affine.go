package machine

import (
	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// ShadowAt returns the shadow of a source operand.
func ShadowAt(f *regfile.File, s code.Slot, row int32) *regfile.Compact {
	if s == code.Q {
		return f.Shadow64(row)
	}
	return f.Shadow32(row)
}

// MarkGeneric records that the row of a register, not its shadow, holds the values of the lanes of m. The file
// must have shadows; row may be no register.
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

// ValueOfShadow returns the base and stride of a shadow.
func ValueOfShadow(c *regfile.Compact) affinetrack.Value {
	return affinetrack.Value{Base: c.Base, Stride: c.Stride}
}
