package access

// This file reads registers whose values may be compact.

import (
	"encoding/binary"
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// ExpandElems materialises the registers of elements for the lanes of m. The upper halves of 128-bit elements are never
// compact.
func ExpandElems(f *regfile.File, elems []code.Elem, m uint32) {
	for _, e := range elems {
		machine.MaterialiseRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
	}
}

// ReadRow copies the values of a register of half h to dst, from the row or its shadow.
func ReadRow(w *machine.Warp, dst *regfile.Row64, h int, row code.Row) {
	f := &w.Files[h]
	switch row.Slot {
	case code.P:
		p := f.SrcP(row.Row)
		for i := range dst {
			dst[i] = uint64(p >> i & 1)
		}
	case code.R:
		for i, v := range f.Src32(row.Row) {
			dst[i] = uint64(v)
		}
		if f.Tracked() && row.Row >= 0 {
			c := f.Shadow32(row.Row)
			for m := c.Mask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				dst[i] = c.At(i) & 0xffff_ffff
			}
		}
	case code.Q:
		*dst = *f.Src64(row.Row)
		if f.Tracked() && row.Row >= 0 {
			c := f.Shadow64(row.Row)
			regfile.Fill64(dst, c.Base, c.Stride, c.Mask)
		}
	default:
		*dst = regfile.Row64{}
	}
}

// AppendElem appends a lane's element of an access, of size bytes, to p. If the access has no register for the element, it
// appends zeros.
func AppendElem(p []byte, f *regfile.File, e code.Elem, lane, size int) []byte {
	var b [16]byte
	if e.Slot != code.NoSlot {
		binary.LittleEndian.PutUint64(b[:], machine.LaneValue(f, code.Row{Slot: e.Slot, Row: e.Row}, lane))
		if size == 16 {
			binary.LittleEndian.PutUint64(b[8:], machine.LaneValue(f, code.Row{Slot: e.Slot, Row: e.High}, lane))
		}
	}
	return append(p, b[:size]...)
}

// MatrixRowsOf returns the rows that a store of matrices writes, computed from the registers of half h. The index is the
// lane that provides the address of the row.
func MatrixRowsOf(w *machine.Warp, h int, a *code.Access) (rows [matrix.Lanes][]byte) {
	n := a.Tile.Addresses()
	all := make([]byte, n*a.Bytes)
	for i := range n {
		rows[i] = all[i*a.Bytes:][:a.Bytes]
	}
	a.Tile.Store(&rows, func(register, lane int) uint64 {
		e := a.Elems[register]
		return machine.LaneValue(&w.Files[h], code.Row{Slot: e.Slot, Row: e.Row}, lane)
	})
	return rows
}
