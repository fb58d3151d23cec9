package alu

// This file holds the conversions of cvt between f32 and formats of at most 19 bits, and from packed numbers of f16 and bf16
// (manual section 9.7.9.21), and of pairs of powers of two. They compute on bits, without branches. slow.go has the forms with a
// scale and with fixed-point numbers.

import (
	"math"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// Fields of the Imm of the conversions in this file, and their first bits. The format is the narrower of the two.
const (
	narrowFraction  = 0  // 4 bits: fraction bits of the format
	narrowBias      = 4  // 8 bits: exponent bias
	narrowMagnitude = 12 // 5 bits: bits without the sign
	narrowKind      = 17 // 2 bits: fp.Kind
	narrowUnsigned  = 19
	narrowRounding  = 20 // 3 bits: fp.Rounding
	narrowRelu      = 23 // negative results become zero
	narrowSatFinite = 24 // a result that is too large becomes the largest finite number
	narrowPlusZero  = 25 // zero results are positive
	narrowSat       = 26 // clamp to [0, 1]
	narrowFTZ       = 27 // subnormal sources become zero
	narrowShift     = 28 // the result of a conversion to .tf32 is in the upper bits
	narrowBrain     = 29 // the 16-bit numbers are of bf16, not f16
)

// The directives below give a loop of their own to conversions to nearest without other modifiers than narrowSatFinite. The
// mask 0x1ef80000 has the bits from narrowUnsigned to narrowShift without this one; 0x20000000 is narrowBrain.

// NarrowImm returns the Imm of a conversion from .f32, .f16 or .bf16 to a narrower format, or from a narrower format to .f16 or
// .bf16; ok is false if this file has no such conversion. The Imm of a conversion in mode fp.RS is one of [narrowRandomF32].
func NarrowImm(s ConvertSpec) (imm uint64, ok bool) {
	format, wide := s.Dst, s.Src
	if s.Dst == ptx.F16 || s.Dst == ptx.BF16 {
		if s.Src != ptx.F32 {
			format, wide = s.Src, s.Dst
		}
	}
	f := fp.FormatOf(format)
	if f == nil || wide != ptx.F32 && wide != ptx.F16 && wide != ptx.BF16 || format == wide || s.Integral || s.HasSecond || s.Rnd == fp.RS && wide != ptx.F32 {
		return 0, false
	}
	l, ok := f.Layout()
	widens := format == s.Src
	if !ok || widens && (s.Rnd != fp.RN || s.SatFinite || s.Sat || s.PlusZero || l.Magnitude > 8) || !widens && wide != ptx.F32 && l.Magnitude > 8 {
		return 0, false
	}
	imm = uint64(l.Fraction)<<narrowFraction | uint64(l.Bias)<<narrowBias | uint64(l.Magnitude)<<narrowMagnitude | uint64(l.Kind)<<narrowKind
	if !widens {
		imm |= uint64(s.Rnd) << narrowRounding
	}
	for _, b := range []struct {
		set bool
		at  int
	}{
		{l.Unsigned, narrowUnsigned}, {s.Relu, narrowRelu}, {s.SatFinite, narrowSatFinite}, {s.PlusZero, narrowPlusZero}, {s.Sat, narrowSat},
		{s.FTZ && s.Src == ptx.F32 && s.Dst != ptx.F16, narrowFTZ}, {s.Dst == ptx.TF32, narrowShift}, {wide == ptx.BF16, narrowBrain},
	} {
		if b.set {
			imm |= 1 << b.at
		}
	}
	return imm, true
}

// narrowF32 converts a to the format of imm.
//
//gemu:kernel narrow.f32; own loop = 0/0x1ef80000 slow
func narrowF32(a float32, imm uint64) uint32 { return narrowed(math.Float32bits(a), imm) }

// The most frequent conversions are operations of their own, with the result of [narrowPairF32].
//
//gemu:kernel cvt.rn.f16x2.f32 slow
func cvtF16x2F32(a, b float32) uint32 {
	return pack2(uint32(fp.F32ToF16(b, fp.RN)), uint32(fp.F32ToF16(a, fp.RN)))
}

//gemu:kernel cvt.rn.bf16x2.f32 slow
func cvtBF16x2F32(a, b float32) uint32 {
	return pack2(uint32(fp.F32ToBF16(b, fp.RN)), uint32(fp.F32ToBF16(a, fp.RN)))
}

//gemu:kernel cvt.rn.bf16.f32
func cvtBF16F32(a float32) uint16 { return fp.F32ToBF16(a, fp.RN) }

// narrowPairF32 converts a and b to the format of imm; a becomes the upper number of the result.
//
//gemu:kernel narrow.pair.f32; own loop = 0/0x1ef80000; takes = 3 slow
func narrowPairF32(a, b float32, imm uint64) uint32 {
	return narrowed(math.Float32bits(a), imm)<<pairWidth(imm) | narrowed(math.Float32bits(b), imm)
}

// narrowRandomF32 converts a to the format of imm in mode fp.RS, with the random bits in the low bits of b; the other bits of b are zero.
//
//gemu:kernel narrow.random.f32 slow
func narrowRandomF32(a float32, b uint32, imm uint64) uint32 {
	return narrowedBy(math.Float32bits(a), b, imm)
}

// Fields of the Imm of powersF32 and powersB32.
const (
	PowersUp        = 1 << 0 // the rounding is .rp, not .rz
	PowersSatFinite = 1 << 1
)

// powersF32 converts a and b to .ue8m0; a becomes the upper number of the result.
//
//gemu:kernel powers.pair.f32 slow
func powersF32(a, b float32, imm uint64) uint32 {
	return powerOf(math.Float32bits(a), imm)<<8 | powerOf(math.Float32bits(b), imm)
}

// powersB32 converts both halves of a, numbers of bf16, to .ue8m0.
//
//gemu:kernel powers.pair.b32 slow
func powersB32(a uint32, imm uint64) uint32 {
	return powerOf(a&0xffff0000, imm)<<8 | powerOf(a<<16, imm)
}

// powerOf returns the power of two, in .ue8m0, to which the magnitude of an f32 with bits u is rounded. Numbers below the least power,
// 2 to the power -127, become this power.
func powerOf(u uint32, imm uint64) uint32 {
	const inf, half = 0x7f800000, 0x00400000 // half is the least power: a subnormal number of f32
	m := u &^ (1 << 31)
	d, lost := m>>23, m&0x7fffff != 0
	if d == 0 {
		lost = m > half
	}
	if imm&PowersUp != 0 && lost {
		d++
	}
	if d == 255 && imm&PowersSatFinite != 0 {
		d = 254
	}
	if m > inf {
		d = 255
	}
	return d
}

// widenPowers converts two numbers of .ue8m0 to bf16.
//
//gemu:kernel widen.powers.b32
func widenPowers(a uint32) uint32 { return widenPower(a>>8&255)<<16 | widenPower(a&255) }

// widenPower converts a number of .ue8m0 to bf16. The least power is a subnormal number of bf16.
func widenPower(a uint32) uint32 {
	d := a << 7
	if a == 0 {
		d = 0x40
	}
	if a == 255 {
		d = uint32(fp.NaNBF16)
	}
	return d
}

// narrowPairB32 converts both halves of a, numbers of f16 or bf16, to the format of imm.
//
//gemu:kernel narrow.pair.b32; own loop = 0/0x3ef80000 0x20000000/0x3ef80000; takes = 3 slow
func narrowPairB32(a uint32, imm uint64) uint32 {
	lo, hi := fp.WidenF16(uint16(a)), fp.WidenF16(uint16(a>>16))
	if imm>>narrowBrain&1 != 0 {
		lo, hi = fp.BF16ToF32(uint16(a)), fp.BF16ToF32(uint16(a>>16))
	}
	return narrowed(math.Float32bits(hi), imm)<<pairWidth(imm) | narrowed(math.Float32bits(lo), imm)
}

// widenPairB32 converts two numbers of the format of imm, in the low bits of a, to f16 or bf16.
//
//gemu:kernel widen.pair.b32; takes = 1 slow
func widenPairB32(a uint32, imm uint64) uint32 {
	lo, hi := math.Float32frombits(widened(a, imm)), math.Float32frombits(widened(a>>pairWidth(imm), imm))
	if imm>>narrowBrain&1 != 0 {
		return pack2(uint32(fp.F32ToBF16(lo, fp.RN)), uint32(fp.F32ToBF16(hi, fp.RN)))
	}
	return pack2(uint32(fp.F32ToF16(lo, fp.RN)), uint32(fp.F32ToF16(hi, fp.RN)))
}

// pairWidth returns the distance of two packed numbers: numbers of 6 bits and numbers without a sign have 8 bits.
func pairWidth(imm uint64) uint32 {
	n := uint32(imm >> narrowMagnitude & 31)
	if n == 3 {
		return 4
	}
	return (n + 7) &^ 7
}

// nearest returns the bits of a number with frac bits of fraction, rounded to nearest from an f32 with bits m. The sign is positive,
// and the exponent has no upper bound.
func nearest(m, frac uint32, bias int32) uint32 {
	if m < uint32(128-bias)<<23 { // a multiple of the least subnormal number; the sum has no other bits
		least := uint32(151-bias-int32(frac)) << 23
		return math.Float32bits(math.Float32frombits(m)+math.Float32frombits(least)) - least
	}
	shift := 23 - frac
	return (m+uint32(1)<<(shift-1)-1+m>>shift&1)>>shift - uint32(127-bias)<<frac
}

// directed is [nearest] for the other rounding modes. sign is 1 for negative numbers.
func directed(m, sign, frac uint32, bias int32, mode fp.Rounding) uint32 {
	// sig is the significand, of which shift bits are lost. Of more than 25 lost bits all results are the same.
	exp := int32(max(m>>23, 1))
	sig := m&0x7fffff | min(m>>23, 1)<<23
	biased := exp - 127 + bias
	shift := min(23-frac+uint32(max(1-biased, 0)), 25)
	up := uint32(0)
	switch mode {
	case fp.RNA:
		up = uint32(1) << ((shift - 1) & 31)
	case fp.RM:
		up = (uint32(1)<<(shift&31) - 1) * sign
	case fp.RP:
		up = (uint32(1)<<(shift&31) - 1) * (1 - sign)
	}
	return uint32(max(biased-1, 0))<<frac + (sig+up)>>(shift&31)
}

// stochastic is [nearest] for the mode fp.RS: the random bits are added to as many of the lost bits, the upper ones, and a carry makes the
// result larger. Conversions to f16 have 13 random bits, all others 16: no more than lost bits (see RandomBits).
func stochastic(m, random, frac uint32, bias int32) uint32 {
	n := uint32(16)
	if frac == 10 {
		n = 13
	}
	exp := int32(max(m>>23, 1))
	sig := m&0x7fffff | min(m>>23, 1)<<23
	biased := exp - 127 + bias
	shift := 23 - frac + uint32(max(1-biased, 0))
	return uint32(max(biased-1, 0))<<frac + (sig>>min(shift-n, 31)+random)>>n
}

// narrowed returns the bits of an f32 with bits u, rounded once to the format of imm. See fp.Format.Convert for the results of
// numbers that are too large.
func narrowed(u uint32, imm uint64) uint32 { return narrowedBy(u, 0, imm) }

// narrowedBy is narrowed with random bits for the mode fp.RS.
func narrowedBy(u, random uint32, imm uint64) uint32 {
	frac, bias, width := uint32(imm>>narrowFraction&15), int32(imm>>narrowBias&255), uint32(imm>>narrowMagnitude&31)
	kind, mode := fp.Kind(imm>>narrowKind&3), fp.Rounding(imm>>narrowRounding&7)
	const inf = 0x7f800000
	sign, m := u>>31, u&^(1<<31)
	isNaN := m > inf
	if imm>>narrowFTZ&1 != 0 && m < 0x00800000 {
		m = 0
	}
	if imm>>narrowSat&1 != 0 {
		m = min(m, 0x3f800000)
		if sign != 0 || isNaN {
			m = 0
		}
		sign, isNaN = 0, false
	}
	if imm>>narrowRelu&1 != 0 && sign != 0 && !isNaN {
		sign, m = 0, 0
	}
	if imm>>narrowUnsigned&1 != 0 {
		sign = 0
	}

	var d uint32
	switch mode {
	case fp.RN:
		d = nearest(m, frac, bias)
	case fp.RS:
		d = stochastic(m, random, frac, bias)
	default:
		d = directed(m, sign, frac, bias, mode)
	}

	ones := uint32(1)<<width - 1
	largest, beyond := ones, ones
	towardZero := mode == fp.RZ || kind == fp.IEEE && (mode == fp.RM && sign == 0 || mode == fp.RP && sign != 0)
	switch kind {
	case fp.IEEE:
		beyond = ones >> frac << frac
		largest = beyond - 1
	case fp.OnlyNaN:
		largest = ones - 1
	}
	if imm>>narrowSatFinite&1 != 0 || towardZero && m != inf {
		beyond = largest
	}
	if d > largest {
		d = beyond
	}
	if isNaN {
		d, sign = ones, 0
	}
	if kind == fp.OnlyNaN && d == ones || imm>>narrowPlusZero&1 != 0 && d == 0 {
		sign = 0
	}
	d |= sign << width
	if imm>>narrowShift&1 != 0 {
		d <<= 13
	}
	return d
}

// widened returns the bits of f32 of a number of the format of imm.
func widened(code uint32, imm uint64) uint32 {
	frac, bias, width := uint32(imm>>narrowFraction&15), uint32(imm>>narrowBias&255), uint32(imm>>narrowMagnitude&31)
	kind := fp.Kind(imm >> narrowKind & 3)
	ones := uint32(1)<<width - 1
	m := code & ones
	d := m<<(23-frac) + (127-bias)<<23
	if m>>frac == 0 { // the exact product is a normal number of f32
		d = math.Float32bits(float32(float32(int32(m)) * math.Float32frombits((128-bias-frac)<<23)))
	}
	isNaN := kind == fp.OnlyNaN && m == ones
	if exponent := ones >> frac << frac; kind == fp.IEEE && m >= exponent {
		d = 0x7f800000
		isNaN = m != exponent
	}
	if code>>width&1 != 0 && imm>>narrowUnsigned&1 == 0 {
		if imm>>narrowRelu&1 != 0 {
			d = 0
		} else {
			d |= 1 << 31
		}
	}
	if isNaN {
		d = fp.NaN32
	}
	return d
}
