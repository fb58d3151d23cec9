package alu

// This file holds arithmetic on two or four packed numbers, whose types may differ (manual of PTX 9.4, sections 9.7.5 and
// 9.7.6). All numbers, and the products of two numbers, are numbers of f64. A result is rounded once.

import (
	"math"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// MixedSpec describes an operation on packed numbers: A + B, A - B, A * B or A * B + C.
type MixedSpec struct {
	Op           string // add, sub, mul or fma
	Dst, A, B, C ptx.Type
	Rnd          fp.Rounding
	FTZ          bool // flush subnormal operands and results
	SatFinite    bool // a result that is too large becomes the largest finite number
}

// mixedOps has the names of the operations, by number in Instr.Imm.
var mixedOps = []string{opAdd: "add", opSub: "sub", opMul: "mul", opFma: "fma"}

// Imm encodes the description for Instr.Imm.
func (s MixedSpec) Imm() uint64 {
	v := uint64(s.Dst) | uint64(s.A)<<8 | uint64(s.B)<<16 | uint64(s.C)<<24 | uint64(s.Rnd)<<32
	for i, name := range mixedOps {
		if name == s.Op {
			v |= uint64(i) << 40
		}
	}
	if s.FTZ {
		v |= 1 << 48
	}
	if s.SatFinite {
		v |= 1 << 49
	}
	return v
}

//gemu:kernel mixed.b32.b32 slow
func mixed3232(a, b, c uint32, imm uint64) uint32 {
	return uint32(mixed(uint64(a), uint64(b), uint64(c), imm))
}

//gemu:kernel mixed.b64.b32 slow
func mixed6432(a uint32, b, c uint64, imm uint64) uint64 { return mixed(uint64(a), b, c, imm) }

//gemu:kernel mixed.b32.b64 slow
func mixed3264(a, b uint64, imm uint64) uint32 { return uint32(mixed(a, b, 0, imm)) }

// mixed executes the operation that imm describes.
func mixed(a, b, c, imm uint64) (d uint64) {
	op, r := floatOp(imm>>40), fp.Rounding(imm>>32)
	ftz, satFinite := imm>>48&1 != 0, imm>>49&1 != 0
	types := [3]ptx.Type{ptx.Type(imm >> 8), ptx.Type(imm >> 16), ptx.Type(imm >> 24)}
	elem, count := ptx.Type(imm).Elements()
	format, width := packedFormat(elem), ptx.Type(imm).Bits()/count
	for i := range count {
		var x [3]float64
		for j, bits := range [...]uint64{a, b, c} {
			if types[j] != ptx.NoType {
				x[j] = element(bits, types[j], i, ftz)
			}
		}
		var v float64
		switch op {
		case opAdd:
			v = fp.Sum(x[0], x[1], r)
		case opSub:
			v = fp.Sum(x[0], -x[1], r)
		case opMul:
			if elem.Bits() == 16 && types[1].Bits() == 32 { // the second factor is converted to the format of the result first
				x[1] = format.Value(format.Convert(x[1], fp.RN, 0, false))
			}
			v = x[0] * x[1]
		case opFma:
			v = fp.Sum(float64(x[0]*x[1]), x[2], r)
		}
		if ftz && math.Abs(v) < leastNormalOf(elem) { // the mode is .rz
			v = math.Copysign(0, v)
		}
		d |= format.Convert(v, r, 0, satFinite) << (i * width)
	}
	return d
}

// element returns the i-th of the numbers of type t packed in bits.
func element(bits uint64, t ptx.Type, i int, ftz bool) float64 {
	elem, count := t.Elements()
	v := packedFormat(elem).Value(bits >> (i * t.Bits() / count))
	if ftz && math.Abs(v) < leastNormalOf(elem) {
		return math.Copysign(0, v)
	}
	return v
}

// packedFormat returns the format of an element of at most 32 bits.
func packedFormat(t ptx.Type) *fp.Format {
	if t == ptx.F32 {
		return &fp.F32
	}
	return fp.FormatOf(t)
}

// Comparisons of set on packed integers, in Instr.Imm. Bits 0 to 7 of Instr.Imm are the width of an integer in bits; bit 8
// is set for signed integers.
const (
	PackedEq = iota << 16
	PackedNe
	PackedLt
	PackedLe
	PackedGt
	PackedGe
)

// comparePacked makes the comparison with the given number.
func comparePacked(comparison uint64, x, y uint32) bool {
	switch comparison << 16 {
	case PackedEq:
		return x == y
	case PackedNe:
		return x != y
	case PackedLt:
		return x < y
	case PackedLe:
		return x <= y
	case PackedGt:
		return x > y
	}
	return x >= y
}

// setPacked is set on packed integers (manual of PTX 9.4, section 9.7.7.1): if the comparison is true, the integer of
// the result has all bits set.
//
//gemu:kernel set.packed slow
func setPacked(a, b uint32, imm uint64) uint32 {
	// The last two numbers of 16 bits are the first two again.
	return setElement(a, b, imm, 0) | setElement(a, b, imm, 1) | setElement(a, b, imm, 2) | setElement(a, b, imm, 3)
}

// setElement returns the integer with index i of the result of setPacked, in its place; modulo the number of integers.
func setElement(a, b uint32, imm uint64, i uint32) uint32 {
	width := uint32(imm & 0xff)
	at := i * width & 31
	x, y := a>>at<<(32-width), b>>at<<(32-width)
	if imm>>8&1 != 0 { // unsigned integers in the same order
		x, y = x^1<<31, y^1<<31
	}
	if !comparePacked(imm>>16&0xff, x, y) {
		return 0
	}
	return (1<<width - 1) << at
}
