package simt

// This file is rows of registers, wherever their values are kept.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
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

// differing is the lanes i of m where a row does not hold base + i·stride.
func differing[T mem.Slot](row *[regfile.Lanes]T, base, stride T, m uint32) (bad uint32) {
	if m == regfile.Full {
		diff, want := T(0), base
		if stride == 0 {
			for i := 0; i < len(row); i += 4 {
				diff |= (row[i] ^ base) | (row[i+1] ^ base) | (row[i+2] ^ base) | (row[i+3] ^ base)
			}
			if diff == 0 {
				return 0
			}
		}
		for i := 0; i < len(row); i += 4 { // four at a time: most of check mode's time is here
			diff |= (row[i] ^ want) | (row[i+1] ^ (want + stride)) | (row[i+2] ^ (want + 2*stride)) | (row[i+3] ^ (want + 3*stride))
			want += 4 * stride
		}
		if diff == 0 {
			return 0
		}
	}
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		if row[i] != base+T(i)*stride {
			bad |= 1 << i
		}
	}
	return bad
}
