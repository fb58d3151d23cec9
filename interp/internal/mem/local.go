package mem

import "math/bits"

// Local is the local memory of 32 lanes. Row i holds word i (4 bytes) of each lane, so that an access to the same word in
// all lanes is an access to a row.
type Local []([Lanes]uint32)

// Load reads size bytes (1, 2, 4 or 8) of a lane at a byte offset, which must be a multiple of size.
func (l Local) Load(offset, lane, size int) uint64 {
	i, lane := uint(offset)/4, lane&(Lanes-1)
	v := uint64(l[i][lane])
	switch size {
	case 4:
		return v
	case 8:
		return v | uint64(l[i+1][lane])<<32
	}
	return v >> (8 * (offset & 3)) & (1<<(8*size) - 1)
}

// Store writes the low size bytes of v for a lane, under the conditions of Load.
func (l Local) Store(offset, lane, size int, v uint64) {
	i, lane := uint(offset)/4, lane&(Lanes-1)
	switch size {
	case 4:
		l[i][lane] = uint32(v)
	case 8:
		l[i][lane], l[i+1][lane] = uint32(v), uint32(v>>32)
	default:
		shift := 8 * (offset & 3)
		mask := uint32(1<<(8*size)-1) << shift
		l[i][lane] = l[i][lane]&^mask | uint32(v)<<shift&mask
	}
}

// LoadRow64 reads 8 bytes at a byte offset, which must be a multiple of 4, for the lanes of m.
func (l Local) LoadRow64(d *[Lanes]uint64, offset int, m uint32) {
	lo, hi := &l[offset/4], &l[offset/4+1]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(lo[i]) | uint64(hi[i])<<32
	}
}

// StoreRow64 writes 8 bytes at a byte offset, which must be a multiple of 4, for the lanes of m.
func (l Local) StoreRow64(s *[Lanes]uint64, offset int, m uint32) {
	lo, hi := &l[offset/4], &l[offset/4+1]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		lo[i], hi[i] = uint32(s[i]), uint32(s[i]>>32)
	}
}
