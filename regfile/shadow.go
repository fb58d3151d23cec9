package regfile

// This file is the shadow affine register file (Kim et al., ISCA 2013, section
// 4.1): beside each row an entry that can hold the register compactly, as a base
// and a stride.

import "math/bits"

// Compact is the shadow of a row. For the lanes of Mask the slot's value is
// Base + i·Stride, i the lane's number in the row, modulo two to the slot's width
// (32 or 64 bits, also where the register is narrower and zero-extended); for the
// other lanes it is in the row. The register is uniform for lanes of Mask if
// Stride is 0, affine otherwise; for lanes out of Mask it is generic. Base and
// Stride are kept reduced.
type Compact struct {
	Base, Stride uint64
	Mask         uint32 // lanes whose value is here
	Clean        uint32 // lanes of Mask whose slot of the row holds it, too
}

// Holds reports whether the value is here for all lanes of m.
func (c *Compact) Holds(m uint32) bool { return c.Mask&m == m }

// At is the value of lane i, not reduced to the slot's width.
func (c *Compact) At(i int) uint64 { return c.Base + uint64(i)*c.Stride }

// CompactPred is the shadow of a predicate: for the lanes of Mask it is known to
// be Value in all of them. The bits themselves are always in the predicate.
type CompactPred struct {
	Mask  uint32
	Value bool
}

// Shadow is the shadow of a File: an entry per row and predicate.
type Shadow struct {
	R, Q []Compact
	P    []CompactPred

	allR, allQ []Compact
	allP       []CompactPred
}

func (s *Shadow) open(base, n Size) {
	s.allR = grow(s.allR, base.R+n.R)
	s.allQ = grow(s.allQ, base.Q+n.Q)
	s.allP = grow(s.allP, base.P+n.P)
	s.R = s.allR[base.R : base.R+n.R]
	s.Q = s.allQ[base.Q : base.Q+n.Q]
	s.P = s.allP[base.P : base.P+n.P]
}

// ShadowRows is the shadow of the first rows of each kind, like Rows.
func (f *File) ShadowRows(n Size) (r, q []Compact) { return f.S.allR[:n.R], f.S.allQ[:n.Q] }

// Shadow makes the shadows of the constant rows: uniform, and in their rows.
func (k *Constants) Shadow() {
	k.SR = make([]Compact, len(k.R))
	for i := range k.R {
		k.SR[i] = Compact{Base: uint64(k.R[i][0]), Mask: Full, Clean: Full}
	}
	k.SQ = make([]Compact, len(k.Q))
	for i := range k.Q {
		k.SQ[i] = Compact{Base: k.Q[i][0], Mask: Full, Clean: Full}
	}
	k.SP = make([]CompactPred, len(k.P))
	for i := range k.P {
		k.SP[i] = CompactPred{Mask: Full, Value: k.P[i] != 0}
	}
}

// Set gives the constant row i, of 64-bit slots if wide, another value.
func (k *Constants) Set(wide bool, i int32, v uint64) {
	if wide {
		Fill64(&k.Q[^i], v, 0, Full)
		k.SQ[^i].Base = v
		return
	}
	Fill32(&k.R[^i], uint32(v), 0, Full)
	k.SR[^i].Base = uint64(uint32(v))
}

// Shadow32 is the shadow of the row of a 32-bit operand. That of a constant must
// not be written.
func (f *File) Shadow32(i int32) *Compact {
	if i < 0 {
		return &f.K.SR[^i]
	}
	return &f.S.R[i]
}

// Shadow64 is the shadow of the row of a 64-bit operand.
func (f *File) Shadow64(i int32) *Compact {
	if i < 0 {
		return &f.K.SQ[^i]
	}
	return &f.S.Q[i]
}

// ShadowP is the shadow of a predicate operand.
func (f *File) ShadowP(i int32) *CompactPred {
	if i < 0 {
		return &f.K.SP[^i]
	}
	return &f.S.P[i]
}

// Expand32 writes what the shadow holds for lanes of m to the row. The shadow
// keeps it.
func (f *File) Expand32(i int32, m uint32) {
	c := f.Shadow32(i)
	need := c.Mask & m &^ c.Clean
	if need == 0 {
		return
	}
	c.Clean |= need
	Fill32(&f.R[i], uint32(c.Base), uint32(c.Stride), need)
}

// Expand64 is Expand32 for a row of 64-bit slots.
func (f *File) Expand64(i int32, m uint32) {
	c := f.Shadow64(i)
	need := c.Mask & m &^ c.Clean
	if need == 0 {
		return
	}
	c.Clean |= need
	Fill64(&f.Q[i], c.Base, c.Stride, need)
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
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
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
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = base + uint64(i)*stride
	}
}
