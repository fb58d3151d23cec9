// This file holds the conversions of cvt: between float formats, from and to integers, and to integral values.

package fp

import (
	"math"
	"math/bits"
)

// F32ToF64 widens x, exactly. A NaN keeps its sign and its payload, and is made quiet.
func F32ToF64(x float32) float64 {
	if x != x {
		u := uint64(math.Float32bits(x))
		return math.Float64frombits(u>>31<<63 | 0x7ff<<52 | quiet64 | u<<41>>12)
	}
	return float64(x)
}

// F64ToF32 returns x rounded to f32 in mode r (IEEE 754 convertFormat), and [NaN32] for every NaN.
func F64ToF32(x float64, r Rounding) (y float32) {
	if y = float32(x); r != RN || y != y {
		return narrow32(x, r)
	}
	return y
}

// NarrowF64 is cvt.rn.f32.f64: [F64ToF32] in mode RN, but a NaN keeps its sign and the upper bits of its payload, and
// is made quiet ([Format.NarrowNaN]).
func NarrowF64(x float64) float32 {
	if x != x {
		return math.Float32frombits(uint32(F32.NarrowNaN(x)))
	}
	return float32(x)
}

// F64ToF32FTZ is [F64ToF32] with .ftz for the result. Whether the result is flushed is decided as if the exponent had no
// lower bound (tininess after rounding, IEEE 754, 7.5): x is rounded to 24 bits, and the result is zero if the rounded
// number is below 0x1p-126. So some x that F64ToF32 rounds up to 0x1p-126 become zero. The machine code that ptxas
// generates for cvt.ftz.f32.f64, div.ftz and rcp.ftz does the same, and so does ptxas when it evaluates a mul.ftz of
// constants.
func F64ToF32FTZ(x float64, r Rounding) float32 {
	if math.Abs(x) < 0x1p-126 {
		const scale = 0x1p64 // makes subnormal results normal, so that they are rounded to 24 bits
		y := F64ToF32(x*scale, r)
		if math.Abs(float64(y)) < 0x1p-126*scale {
			return float32(math.Copysign(0, x))
		}
	}
	return F64ToF32(x, r)
}

// narrow32 rounds x to f32 in mode r: it rounds to nearest, and returns the neighbour of the result if the mode requires
// it. Inf and zero need no special case, because their bits are next to the bits of the largest and of the least finite
// number.
func narrow32(x float64, r Rounding) float32 {
	if x != x {
		return math.Float32frombits(NaN32)
	}
	y := float32(x)
	u := math.Float32bits(y)
	negative := u>>31 == 1
	var away bool // from zero
	switch d := float64(y); {
	case r == RZ && math.Abs(d) > math.Abs(x):
	case r == RM && d > x:
		away = negative
	case r == RP && d < x:
		away = !negative
	default:
		return y
	}
	if away {
		return math.Float32frombits(u + 1)
	}
	return math.Float32frombits(u - 1)
}

// narrow16 returns the bits of x rounded to the 16-bit format f in mode r. Both 16-bit formats have the same NaN.
func narrow16(f format, x float64, r Rounding) uint16 {
	switch {
	case x != x:
		return NaN16
	case x == 0 || math.IsInf(x, 0):
		var u uint64
		if x != 0 {
			u = f.inf
		}
		if math.Signbit(x) {
			u |= f.sign()
		}
		return uint16(u)
	}
	exp, m := unpack64(x)
	return uint16(f.pack(math.Signbit(x), exp, m, r))
}

// F16ToF32 widens the f16 number with bits h, exactly.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	switch e, frac := h>>10&0x1f, uint32(h&0x3ff); {
	case e == 0x1f && frac != 0:
		return math.Float32frombits(NaN32)
	case e == 0x1f:
		return math.Float32frombits(sign | 0x7f800000)
	case e == 0:
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	}
	return math.Float32frombits(sign | uint32(h&0x7fff)<<13 + (127-15)<<23)
}

// WidenF16 is [F16ToF32], but a NaN may become any NaN: the payload is the host's.
func WidenF16(h uint16) float32 { return F16ToF32(h) }

// F16ToF64 widens the f16 number with bits h, exactly. A NaN keeps its sign and its payload, and is made
// quiet.
func F16ToF64(h uint16) float64 {
	if h&0x7fff > 0x7c00 {
		return math.Float64frombits(uint64(h>>15)<<63 | 0x7ff<<52 | quiet64 | uint64(h&0x3ff)<<42)
	}
	return float64(F16ToF32(h))
}

// F32ToF16 returns the bits of x rounded to f16 in mode r.
func F32ToF16(x float32, r Rounding) uint16 {
	// The common case is RN with 2^-14 <= |x| < 2^16: change the bias of the exponent, add half an ulp of f16 (1 less if
	// the last kept bit is 0), and truncate. From 65520 on, the carry gives Inf.
	u := math.Float32bits(x)
	if m := u &^ (1 << 31); r == RN && m-(127-14)<<23 < (14+16)<<23 {
		return uint16(u>>16&0x8000 | (m-(127-15)<<23+0xfff+m>>13&1)>>13)
	}
	return narrow16(f16, float64(x), r)
}

// F64ToF16 returns the bits of x rounded to f16 in mode r. It rounds once, not to f32 first.
func F64ToF16(x float64, r Rounding) uint16 {
	return narrow16(f16, x, r)
}

// BF16ToF32 widens the bf16 number with bits h, exactly: h is the upper half of the result, also for a NaN.
func BF16ToF32(h uint16) float32 {
	return math.Float32frombits(uint32(h) << 16)
}

// BF16ToF64 widens the bf16 number with bits h, exactly.
func BF16ToF64(h uint16) float64 {
	return F32ToF64(BF16ToF32(h))
}

// F32ToBF16 returns the bits of x rounded to bf16 in mode r. A carry out of the largest finite number gives Inf.
func F32ToBF16(x float32, r Rounding) uint16 {
	u := math.Float32bits(x)
	var up uint32 // added to the lower half, which is lost
	switch r {
	case RN:
		up = 0x7fff + u>>16&1
	case RM:
		up = u >> 31 * 0xffff
	case RP:
		up = (1 - u>>31) * 0xffff
	}
	if u&^(1<<31) > 0x7f800000 {
		return NaNBF16
	}
	return uint16((u + up) >> 16)
}

// F64ToBF16 returns the bits of x rounded to bf16 in mode r. It rounds once, not to f32 first.
func F64ToBF16(x float64, r Rounding) uint16 {
	return narrow16(bf16, x, r)
}

// oddU64 returns x rounded to odd in the 53 bits of a float64: a further rounding to a narrower format is correct. It
// replaces Go's float32(x), which rounds twice on 32-bit hosts.
func oddU64(x uint64) float64 {
	if x >= 1<<53 {
		x = (x>>11 | nonzero(x<<53)) << 11
	}
	return float64(x)
}

// oddI64 is [oddU64] for signed numbers.
func oddI64(x int64) float64 {
	if x < 0 {
		return -oddU64(-uint64(x))
	}
	return oddU64(uint64(x))
}

// I64ToF32 returns x rounded once to f32 in mode r (cvt.rnd.f32.s64, and cvt from narrower integers). A zero gives +0 in
// every mode, here and in all conversions from integers.
func I64ToF32(x int64, r Rounding) float32 { return F64ToF32(oddI64(x), r) }

// U64ToF32 returns x rounded once to f32 in mode r.
func U64ToF32(x uint64, r Rounding) float32 { return F64ToF32(oddU64(x), r) }

// I64ToF16 returns the bits of x rounded once to f16 in mode r.
func I64ToF16(x int64, r Rounding) uint16 { return F64ToF16(oddI64(x), r) }

// U64ToF16 returns the bits of x rounded once to f16 in mode r.
func U64ToF16(x uint64, r Rounding) uint16 { return F64ToF16(oddU64(x), r) }

// I64ToBF16 returns the bits of x rounded once to bf16 in mode r.
func I64ToBF16(x int64, r Rounding) uint16 { return F64ToBF16(oddI64(x), r) }

// U64ToBF16 returns the bits of x rounded once to bf16 in mode r.
func U64ToBF16(x uint64, r Rounding) uint16 { return F64ToBF16(oddU64(x), r) }

// I64ToF64 returns x rounded once to f64 in mode r.
func I64ToF64(x int64, r Rounding) float64 {
	if x < 0 {
		return -U64ToF64(-uint64(x), r.opposite())
	}
	return U64ToF64(uint64(x), r)
}

// U64ToF64 returns x rounded once to f64 in mode r.
func U64ToF64(x uint64, r Rounding) float64 {
	if x == 0 {
		return 0
	}
	n := bits.LeadingZeros64(x)
	return math.Float64frombits(f64.pack(false, 63-n, x<<n, r))
}

// RoundIntegral32 returns x rounded to an integral value in mode r (cvt.rni.f32.f32 and its variants, IEEE 754
// roundToIntegral; in mode RN ties go to even). A result of zero has the sign of x.
func RoundIntegral32(x float32, r Rounding) float32 {
	return Canon32(float32(roundIntegral(float64(x), r))) // exact: the integers nearest to a float32 are themselves float32
}

// RoundIntegral64 is [RoundIntegral32] for f64.
func RoundIntegral64(x float64, r Rounding) float64 {
	return Quiet64(roundIntegral(x, r))
}

// roundIntegral returns x rounded to an integral value in mode r. A NaN stays a NaN.
func roundIntegral(x float64, r Rounding) float64 {
	switch r {
	case RN:
		return math.RoundToEven(x)
	case RM:
		return math.Floor(x)
	case RP:
		return math.Ceil(x)
	}
	return math.Trunc(x)
}

// ToInt returns x rounded to an integral value in mode r and clamped to the range of an integer type. bits is the width of
// the type (8, 16, 32 or 64). The result is in two's complement in its low bits; the upper bits are zero. PTX clamps in
// every cvt from float to integer, with or without .sat.
//
// In PTX the result for a NaN depends on the type of x. ToInt returns 0: use [F32ToInt] or [F64ToInt] if x may be NaN.
func ToInt(x float64, r Rounding, bits int, signed bool) uint64 {
	x = roundIntegral(x, r)
	mask := ^uint64(0) >> (64 - bits)
	if signed {
		limit := math.Float64frombits(uint64(1023+bits-1) << 52) // 2^(bits-1)
		switch {
		case x >= limit:
			return mask >> 1
		case x < -limit:
			return mask>>1 + 1
		case x == x:
			return uint64(int64(x)) & mask
		}
		return 0
	}
	limit := math.Float64frombits(uint64(1023+bits) << 52)
	switch {
	case x >= limit:
		return mask
	case x > 0:
		return uint64(x)
	}
	return 0
}

// F32ToInt is [ToInt] for a source of .f32, .f16 or .bf16: NaN becomes 0, or 1<<63 if bits is 64 (PTX ISA, cvt, integer
// notes).
func F32ToInt(x float32, r Rounding, bits int, signed bool) uint64 {
	if x != x && bits == 64 {
		return 1 << 63
	}
	return ToInt(float64(x), r, bits, signed)
}

// F64ToInt is [ToInt] for a source of .f64: NaN becomes 1<<(bits-1), the least signed number (PTX ISA,
// cvt, integer notes).
func F64ToInt(x float64, r Rounding, bits int, signed bool) uint64 {
	if x != x {
		return 1 << (bits - 1)
	}
	return ToInt(x, r, bits, signed)
}
