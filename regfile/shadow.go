package regfile

// This file implements the affine shadow register file (Kim et al., ISCA 2013, section 4.1): each row has an entry that
// can hold the register compactly, as a base and a stride. An entry is called the row's shadow.

import "math/bits"

// Compact is the shadow of a row. In lane i of Mask the value is Base + i·Stride, modulo 2^w. w is the width of the row's
// slots: 32 or 64 bits, even if the register is narrower and zero-extended. The values of all other lanes are in the row.
// In the lanes of Mask the register is uniform if Stride is 0, and affine otherwise; outside Mask it is generic. Base and
// Stride are truncated to w bits.
type Compact struct {
	Base, Stride uint64 // value of lane 0, and difference from lane to lane
	Mask         uint32 // lanes whose value is in the shadow
	Materialised uint32 // lanes of Mask whose value is also in the row
}

// Holds reports whether the shadow has the values of all lanes of m.
func (c *Compact) Holds(m uint32) bool { return c.Mask&m == m }

// At returns the value of lane i, not truncated to the slot's width.
func (c *Compact) At(i int) uint64 { return c.Base + uint64(i)*c.Stride }

// ClearShadows makes all registers of the window generic.
func (f *File) ClearShadows() {
	clear(f.sr)
	clear(f.sq)
}

// Shadow32 returns the shadow of the row of a 32-bit operand. The shadow of a constant must not be written.
func (f *File) Shadow32(i int32) *Compact {
	if i < 0 {
		return &f.constants.sr[^i]
	}
	return &f.sr[i]
}

// Shadow64 returns the shadow of the row of a 64-bit operand. The shadow of a constant must not be written.
func (f *File) Shadow64(i int32) *Compact {
	if i < 0 {
		return &f.constants.sq[^i]
	}
	return &f.sq[i]
}

// Materialise32 writes the shadow's values of the lanes of m to the row of a 32-bit operand, where the row does not have
// them yet. The shadow keeps the values.
func (f *File) Materialise32(i int32, m uint32) {
	c := f.Shadow32(i)
	missing := c.Mask & m &^ c.Materialised
	if missing == 0 {
		return
	}
	c.Materialised |= missing
	Fill32(&f.r[i], uint32(c.Base), uint32(c.Stride), missing)
	if f.OnMaterialise != nil {
		f.OnMaterialise(32, i, missing)
	}
}

// Materialise64 is Materialise32 for a row of 64-bit slots.
func (f *File) Materialise64(i int32, m uint32) {
	c := f.Shadow64(i)
	missing := c.Mask & m &^ c.Materialised
	if missing == 0 {
		return
	}
	c.Materialised |= missing
	Fill64(&f.q[i], c.Base, c.Stride, missing)
	if f.OnMaterialise != nil {
		f.OnMaterialise(64, i, missing)
	}
}

// Fill32 writes base + i·stride to the lanes i of m.
func Fill32(d *Row32, base, stride uint32, m uint32) {
	if m == Full {
		for i := range d {
			d[i] = base
			base += stride
		}
		return
	}
	for range bits.OnesCount32(m) {
		i := bits.TrailingZeros32(m) & 31
		m &= m - 1
		d[i] = base + uint32(i)*stride
	}
}

// Fill64 is Fill32 for a row of 64-bit slots.
func Fill64(d *Row64, base, stride uint64, m uint32) {
	if m == Full {
		for i := range d {
			d[i] = base
			base += stride
		}
		return
	}
	for range bits.OnesCount32(m) {
		i := bits.TrailingZeros32(m) & 31
		m &= m - 1
		d[i] = base + uint64(i)*stride
	}
}
