package machine

import (
	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// ShadowAt is ShadowOf for row number row of slot s.
func ShadowAt(f *regfile.File, s code.Slot, row int32) *regfile.Compact {
	if s == code.Q {
		return f.Shadow64(row)
	}
	return f.Shadow32(row)
}

// MarkGeneric records that the row of a register, not its shadow, holds the values of the lanes of m. The file must have
// shadows. If row is a predicate or no operand, MarkGeneric does nothing.
func MarkGeneric(f *regfile.File, row code.Row, m uint32) {
	switch row.Slot {
	case code.R, code.Q:
		UncompactRow(f, row, m)
	}
}

// UncompactRow is MarkGeneric for a row of slot R or Q.
func UncompactRow(f *regfile.File, row code.Row, m uint32) {
	c := ShadowOf(f, row)
	c.Mask &^= m
	c.Materialised &^= m
}

// ValueOfShadow returns the base and stride of a shadow.
func ValueOfShadow(c *regfile.Compact) affinetrack.Value {
	return affinetrack.Value{Base: c.Base, Stride: c.Stride}
}
