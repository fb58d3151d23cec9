package mem

// This file has the accesses of a row of lanes to a block of memory: at an address of its own for each lane, or at a
// constant stride, which may be the element's size.
//
// Functions that touch guest memory are marked go:norace: races between CTAs belong to the guest, and Go's race
// detector must not report them.

import (
	"math/bits"
	"unsafe"
)

// Lanes is the number of lanes in a row; fullMask is the mask of all lanes.
const (
	Lanes    = 32
	fullMask = 1<<Lanes - 1
)

// Elem is the type of an element in memory. Its signedness decides how it is extended to its register.
type Elem interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64
}

// Slot is the type of a lane in a register row.
type Slot interface{ uint32 | uint64 }

// Gather loads an element from p + a[i] + offset for each lane i of m. The sum a[i] + offset must be a multiple of the
// element's size in the range from 0 to last times the size. Gather stops at the first lane for which this is false, and
// returns the mask of this lane and the following lanes of m. A rotation moves the bits that must be zero to the top, so
// that a single comparison checks range and alignment.
//
//go:norace
func Gather[E Elem, A, D Slot](d *[Lanes]D, a *[Lanes]A, offset uint64, p unsafe.Pointer, last uint64, m uint32) uint32 {
	shift := -bits.TrailingZeros(uint(unsafe.Sizeof(*new(E))))
	_, _ = *d, *a // bounds check here instead of in each iteration
	if m == fullMask {
		for i := range d {
			offset := uint64(a[i]) + offset
			if bits.RotateLeft64(offset, shift) > last {
				return m << i
			}
			d[i] = D(*(*E)(unsafe.Add(p, offset)))
		}
		return 0
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		offset := uint64(a[i]) + offset
		if bits.RotateLeft64(offset, shift) > last {
			return m
		}
		d[i] = D(*(*E)(unsafe.Add(p, offset)))
	}
	return 0
}

// Scatter stores the elements of d; its other arguments and its result are the same as for Gather.
//
//go:norace
func Scatter[E Elem, A, D Slot](d *[Lanes]D, a *[Lanes]A, offset uint64, p unsafe.Pointer, last uint64, m uint32) uint32 {
	shift := -bits.TrailingZeros(uint(unsafe.Sizeof(*new(E))))
	_, _ = *d, *a // bounds check here instead of in each iteration
	if m == fullMask {
		for i := range d {
			offset := uint64(a[i]) + offset
			if bits.RotateLeft64(offset, shift) > last {
				return m << i
			}
			*(*E)(unsafe.Add(p, offset)) = E(d[i])
		}
		return 0
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		offset := uint64(a[i]) + offset
		if bits.RotateLeft64(offset, shift) > last {
			return m
		}
		*(*E)(unsafe.Add(p, offset)) = E(d[i])
	}
	return 0
}

// LanesInRange splits the lanes of m at the first lane whose address is not base plus a multiple of bytes in the range from
// 0 to last times bytes. good has the lanes before it, rest has this lane and the following lanes.
func LanesInRange(addr *[Lanes]uint64, base, last uint64, bytes int, m uint32) (good, rest uint32) {
	shift := -bits.TrailingZeros(uint(bytes))
	for rest = m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		if bits.RotateLeft64(addr[i]-base, shift) > last {
			break
		}
	}
	return m &^ rest, rest
}

// Strided holds the functions that copy between a row and memory for an element type, for the lanes of m. The element of
// lane i is at p + (i − first)·step, in bytes. If m has all lanes, first must be 0.
type Strided struct {
	Load32, Store32 func(row *[Lanes]uint32, p unsafe.Pointer, first, step int, m uint32)
	Load64, Store64 func(row *[Lanes]uint64, p unsafe.Pointer, first, step int, m uint32)
}

// unsigned and signed have the functions for elements of 1, 2, 4 and 8 bytes.
var unsigned = [...]*Strided{stridedOf[uint8](), stridedOf[uint16](), stridedOf[uint32](), stridedOf[uint64]()}
var signed = [...]*Strided{stridedOf[int8](), stridedOf[int16](), stridedOf[int32](), stridedOf[uint64]()}

// StridedOf returns the functions for elements of size bytes (1, 2, 4 or 8), sign-extended to the slot if sign is set;
// nil for all other sizes.
func StridedOf(size int, sign bool) *Strided {
	i := bits.TrailingZeros(uint(size))
	if i >= len(unsigned) {
		return nil
	}
	if sign {
		return signed[i]
	}
	return unsigned[i]
}

// stridedOf returns the functions for an element type.
func stridedOf[E Elem]() *Strided {
	return &Strided{loadStride[E, uint32], storeStride[E, uint32], loadStride[E, uint64], storeStride[E, uint64]}
}

//go:norace
func loadStride[E Elem, D Slot](row *[Lanes]D, p unsafe.Pointer, first, step int, m uint32) {
	if m == fullMask {
		if size := int(unsafe.Sizeof(*new(E))); step == size && size == int(unsafe.Sizeof(*new(D))) {
			*row = *(*[Lanes]D)(p)
			return
		}
		for i := range row {
			row[i] = D(*(*E)(unsafe.Add(p, i*step)))
		}
		return
	}
	for range bits.OnesCount32(m) {
		i := bits.TrailingZeros32(m) & 31
		m &= m - 1
		row[i] = D(*(*E)(unsafe.Add(p, (i-first)*step)))
	}
}

//go:norace
func storeStride[E Elem, D Slot](row *[Lanes]D, p unsafe.Pointer, first, step int, m uint32) {
	if m == fullMask {
		if size := int(unsafe.Sizeof(*new(E))); step == size && size == int(unsafe.Sizeof(*new(D))) {
			*(*[Lanes]D)(p) = *row
			return
		}
		for i := range row {
			*(*E)(unsafe.Add(p, i*step)) = E(row[i])
		}
		return
	}
	for range bits.OnesCount32(m) {
		i := bits.TrailingZeros32(m) & 31
		m &= m - 1
		*(*E)(unsafe.Add(p, (i-first)*step)) = E(row[i])
	}
}

// HoldsRow reports whether the element at p + (i − first)·step equals the low bits of lane i of the row, for all lanes of m.
//
//go:norace
func HoldsRow[E Elem, D Slot](row *[Lanes]D, p unsafe.Pointer, first, step int, m uint32) bool {
	if size := int(unsafe.Sizeof(*new(E))); m == fullMask && step == size && size == int(unsafe.Sizeof(*new(D))) {
		return *(*[Lanes]D)(p) == *row
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if *(*E)(unsafe.Add(p, (i-first)*step)) != E(row[i]) {
			return false
		}
	}
	return true
}

// LoadBits reads size bytes (1, 2, 4 or 8) as an unsigned number.
//
//go:norace
func LoadBits(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// StoreBits writes the low size bytes (1, 2, 4 or 8) of v.
//
//go:norace
func StoreBits(p unsafe.Pointer, size int, v uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

// CopyRow copies the lanes of m from row s to row d.
func CopyRow[D Slot](d, s *[Lanes]D, m uint32) {
	if m == fullMask {
		*d = *s
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = s[i]
	}
}

// FillRow writes the value v to the lanes of m.
func FillRow[D Slot](d *[Lanes]D, v D, m uint32) {
	if m == fullMask {
		for i := 0; i < len(d); i += 4 {
			d[i], d[i+1], d[i+2], d[i+3] = v, v, v, v
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)&31] = v
	}
}
