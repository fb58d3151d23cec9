package trace

// This file describes the values of a warp's lanes by their structure.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/affinetrack"
)

// Structure is the regularity of a value over the lanes.
type Structure uint64

// The structures.
const (
	Uniform Structure = iota // all lanes have Base
	Affine                   // lane i has Base + i·Stride, modulo 2^Bits
	Generic                  // List has the lanes' values; for predicates, its only element is the mask of lanes with true
	NoValue                  // an element of a vector that is not stored
	structures
)

var structureLetters = [structures]string{"u", "a", "g", "_"}

// Value has the values of a register, an address or a stored element for the lanes of a warp. Its structure follows from the
// lanes' values alone, not from a machine's representation. affinetrack.Describe chooses, of several possible descriptions, the
// description with the stride nearest to zero. Lanes 0 to 31 and lanes 32 to 63 are described separately; a value is affine
// only if both descriptions agree.
type Value struct {
	Name string // name of the register
	Bits uint64 // width; 1 for predicates
	Structure
	Base, High uint64   // of a Uniform or Affine value; High has bits 64 to 127 of a .b128
	Stride     int64    // of an Affine value: distance from lane to lane; else 0
	List       []uint64 // of a Generic value: bits 0 to 63 for each lane of the mask, the lowest lane first
	ListHigh   []uint64 // bits 64 to 127 for each element of List, for a .b128; else nil
}

// width returns the lowest n bits of v.
func width(v uint64, n uint64) uint64 {
	if n >= 64 {
		return v
	}
	return v & (1<<n - 1)
}

// NewValue describes the values of lanes. lanes must not be empty. high is nil except for 128 bits. name is the
// name of a register, or "".
func NewValue(name string, bits, lanes uint64, low, high []uint64) Value {
	v := Value{Name: name, Bits: bits}
	v.Describe(lanes, low, high)
	return v
}

// Describe sets v to the description of the lanes' values. high is nil except for 128 bits. It reuses the lists
// of v.
func (v *Value) Describe(lanes uint64, low, high []uint64) {
	v.Structure, v.Base, v.High, v.Stride, v.List, v.ListHigh = Uniform, 0, 0, 0, v.List[:0], v.ListHigh[:0]
	if lanes == 0 {
		return
	}
	first := bits.TrailingZeros64(lanes)
	mask := width(^uint64(0), v.Bits)
	v.Base = low[first] & mask
	if high != nil {
		v.High = high[first]
	}
	same := true
	for m := lanes & (lanes - 1); m != 0 && same; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		same = low[i]&mask == v.Base && (high == nil || high[i] == v.High)
	}
	if same {
		return
	}
	if v.Bits == 1 {
		set := uint64(0)
		for m := lanes; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			set |= (low[i] & 1) << i
		}
		v.Structure, v.Base, v.List = Generic, 0, append(v.List, set)
		return
	}
	if high == nil {
		if d, ok := described(lanes, int(v.Bits), low); ok {
			v.Structure, v.Base, v.Stride = Affine, d.Base, int64(d.Stride<<(64-v.Bits))>>(64-v.Bits)
			return
		}
	}
	v.Structure, v.Base, v.High = Generic, 0, 0
	n := bits.OnesCount64(lanes)
	v.List = slices.Grow(v.List, n)
	if high == nil && isRun(lanes) {
		v.List = v.List[:n]
		for i, value := range low[first : first+n] {
			v.List[i] = value & mask
		}
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if v.List = append(v.List, low[i]&mask); high != nil {
			v.ListHigh = append(v.ListHigh, high[i])
		}
	}
}

// isRun reports whether the lanes of a mask, which is not 0, are neighbours.
func isRun(lanes uint64) bool {
	lanes >>= bits.TrailingZeros64(lanes) & 63
	return lanes&(lanes+1) == 0
}

// described returns the affine description of both halves of a warp; ok is false if there is none.
func described(lanes uint64, bits int, low []uint64) (d affinetrack.Value, ok bool) {
	if lanes < 1<<32 && isRun(lanes) {
		return describedRun(lanes, bits, low)
	}
	for h := 0; h < 64; h += 32 {
		m := uint32(lanes >> h)
		if m == 0 {
			continue
		}
		half, compact := affinetrack.Describe(m, bits, func(i int) uint64 { return low[h+i] })
		if half.Base = width(half.Base-uint64(h)*half.Stride, uint64(bits)); !compact || ok && half != d {
			return d, false
		}
		d, ok = half, true
	}
	return d, ok
}

// describedRun is described for at least two neighbouring lanes of the first half. Their first two values determine the stride.
func describedRun(lanes uint64, n int, low []uint64) (d affinetrack.Value, ok bool) {
	first := bits.TrailingZeros64(lanes)
	list, mask := low[first:first+bits.OnesCount64(lanes)], width(^uint64(0), uint64(n))
	stride := list[1] - list[0]
	value := list[0]
	for _, v := range list {
		if (v^value)&mask != 0 {
			return affinetrack.Value{}, false
		}
		value += stride
	}
	return affinetrack.Value{Base: (list[0] - uint64(first)*stride) & mask, Stride: stride & mask}, true
}

// At returns the value of a lane. lanes must be the mask that v describes.
func (v *Value) At(lanes uint64, lane int) (low, high uint64) {
	switch {
	case v.Structure == Uniform || v.Structure == NoValue:
		return v.Base, v.High
	case v.Structure == Affine:
		return width(v.Base+uint64(lane)*uint64(v.Stride), v.Bits), 0
	case v.Bits == 1:
		return v.List[0] >> lane & 1, 0
	}
	if lanes>>lane&1 == 0 {
		return 0, 0 // the lane has no value
	}
	i := rank(lanes, lane)
	if len(v.ListHigh) > 0 {
		high = v.ListHigh[i]
	}
	return v.List[i], high
}

// check returns the error in a value that was read from a log, or "".
func (v *Value) check(lanes uint64) string {
	n := bits.OnesCount64(lanes)
	switch {
	case v.Bits == 0 || v.Bits > 64 && v.Bits != 128:
		return "unknown or unsupported width"
	case v.Structure >= structures:
		return "unknown structure; want u, a, g or _"
	case v.Structure == Affine && v.Bits > 64:
		return "a value of 128 bits cannot be affine"
	case v.Structure != Generic:
		return ""
	case v.Bits == 1:
		n = 1
	}
	if len(v.List) != n || len(v.ListHigh) != 0 && len(v.ListHigh) != n {
		return fmt.Sprintf("%d values instead of %d", len(v.List), n)
	}
	return ""
}
