package harness

// This file generates random values as operands of tested operations.

import (
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/interp/internal/code"
)

// Values generates operand values for an operation.
type Values struct {
	*rand.Rand
	format string // key of corners: the number format of the operation
	last   uint64 // the last value

	moderate signs // if not anyValue, all values are of moderate size
}

// signs are the signs of values of moderate size.
type signs int

const (
	anyValue signs = iota
	positive
	both
)

// SetModerate chooses whether the following values are of moderate size: one time in four.
func (v *Values) SetModerate() { v.moderate = signs(max(0, v.IntN(8)-5)) }

// corners has values with a special treatment in some operations: integers under "", and numbers of each format.
var corners = map[string][]uint64{
	"": {
		0, 1, 2, 3, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
		1 << 63, 1<<63 - 1, 1<<64 - 1, 1 << 32, 0x80008000, 0x7fff8000, 0x80808080, 0x7f7f7f7f,
	},
	"f32": {
		0, 1 << 31, 1, 0x007fffff, 0x00800000, 0x80000001, 0x807fffff, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
		0x7fc00000, 0x7f800001, 0xffc12345, 0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x3effffff, 0x3f000000, 0x42fe0000, 0xc3160000,
	},
	"f64": {
		0, 1 << 63, 1, 0x000fffffffffffff, 0x0010000000000000, 0x800fffffffffffff, 0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0x7ff0000000000001, 0xfff8000000001234, 0x7ffdeadbeef12345, 0xfff7fedcba987654, 0x7ff5aaaaaaaaaaaa, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000, 0x43e0000000000000, 0x3fe0000000000000,
		0x47efffffe0000000, 0x47effffff0000000, 0x3690000000000000, 0x380fffffffffffff, // converted to f32, these are at a bound of its range
	},
	"f16": {0, 0x8000, 1, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3c003c00, 0x7c00fc00, 0x7e007c01, 0x04000001, 0x3f803f80, 0x7f80ff80, 0x7fc07f81},
}

// SetOperation selects the corners for an operation.
func (v *Values) SetOperation(op code.Op) { v.format = formatOf(op) }

// HasFormat reports whether the operation has a number format with corners of its own.
func (v *Values) HasFormat() bool { return v.format != "" }

// formatOf returns the key of corners for an operation: the last format in its name, or "".
func formatOf(op code.Op) string {
	for _, part := range slices.Backward(strings.Split(op.String(), ".")) {
		part = strings.TrimPrefix(strings.TrimSuffix(part, "x2"), "b")
		if _, ok := corners[part]; ok {
			return part
		}
	}
	return ""
}

// ones has, for each format, the bits of 1.0 and the distance, in bits of the encoding, up to which most functions have finite,
// nonzero results.
var ones = map[string]struct{ bits, binades uint64 }{"f32": {0x3f800000, 8 << 23}, "f64": {0x3ff0000000000000, 10 << 52}, "f16": {0x3c003c00, 4<<26 | 4<<10}}

// Value returns a corner, a neighbour of a corner, the previous value again, random bits, or a number of moderate size.
func (v *Values) Value() uint64 {
	if v.moderate != anyValue {
		return v.moderateValue()
	}
	list := corners[v.format]
	if v.IntN(4) == 0 {
		list = corners[""]
	}
	switch v.IntN(8) {
	case 0, 1, 2:
		v.last = list[v.IntN(len(list))]
	case 3, 4:
		v.last = list[v.IntN(len(list))] + uint64(v.IntN(3)) - 1
	case 5, 6:
		v.last = v.Uint64()
		if one, ok := ones[v.format]; ok && v.IntN(2) == 0 {
			v.last = one.bits - one.binades + v.Uint64N(2*one.binades)
			if v.IntN(2) == 0 {
				v.last ^= 1<<63 | 1<<31 | 1<<15
			}
		}
	}
	return v.last
}

// moderateValue returns a number for which the operations of a format have no special treatment. For integers it is below 2 to
// the power 52.
func (v *Values) moderateValue() uint64 {
	one, ok := ones[v.format]
	x := v.Uint64() >> (12 + v.IntN(53))
	if ok {
		x = one.bits - one.binades + v.Uint64N(2*one.binades)
	}
	if v.moderate == both && v.IntN(2) == 0 {
		if !ok {
			return -x
		}
		x ^= 1<<63 | 1<<31 | 1<<15
	}
	return x
}
