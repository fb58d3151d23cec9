package alu

// This file holds video instructions (manual 9.7.18). They have very many forms, so Instr.Imm describes the form, and each
// lane of the warp decodes it. In this file a lane is one of the pairs of elements on which an instruction computes.

import "math/bits"

// VideoOp is the operation of a video instruction on each pair of elements.
type VideoOp uint8

// Operations. Comparisons give 1 or 0.
const (
	VideoAdd VideoOp = iota
	VideoSub
	VideoAbsDiff
	VideoMin
	VideoMax
	VideoAvrg
	VideoShl
	VideoShr
	VideoEq
	VideoNe
	VideoLt
	VideoLe
	VideoGt
	VideoGe
)

// VideoSecond is the second operation: it combines the results with the third operand.
type VideoSecond uint8

// Second operations.
const (
	VideoMerge VideoSecond = iota // results replace elements of the third operand, or the whole operand
	VideoAccumulate
	VideoSecondMin
	VideoSecondMax
)

// VideoElems selects the elements of a source operand. An element has 1 << Log bytes. The element of lane i has index At[i]
// in the pair of operands a and b, where a is the lower half.
type VideoElems struct {
	Log    int
	At     [4]int
	Signed bool
	Neg    bool // elements are negated
}

// Video describes a video instruction.
type Video struct {
	Op     VideoOp
	Second VideoSecond
	Lanes  int // 1, 2 or 4
	A, B   VideoElems
	Log    int  // results have 1 << Log bytes
	At     int  // index, in the destination, of the result of lane 0
	Mask   int  // bit i: the result of lane i is used
	Signed bool // results are signed
	Sat    bool // results are clamped
	Wrap   bool // shifts take the amount modulo 32

	// Only for vmad.
	NegC    bool // the third operand is negated
	PlusOne bool // 1 is added: .po
	Shift   int  // the result is shifted right by 0, 7 or 15 bits
}

// immFields reads or writes the fields of an Imm one after the other, from the lowest bit on.
type immFields struct {
	imm     uint64
	shift   int  // position of the next field
	reading bool // false: writing
}

// intField reads or writes a field of n bits.
func (p *immFields) intField(v *int, n int) {
	if p.reading {
		*v = int(p.imm >> p.shift & (1<<n - 1))
	} else {
		p.imm |= uint64(*v) << p.shift
	}
	p.shift += n
}

// boolField reads or writes a field of one bit.
func (p *immFields) boolField(v *bool) {
	if p.reading {
		*v = p.imm>>p.shift&1 != 0
	} else if *v {
		p.imm |= 1 << p.shift
	}
	p.shift++
}

// visitFields reads or writes all fields, 60 bits, in their order.
func (v *Video) visitFields(p *immFields) {
	op, second := int(v.Op), int(v.Second)
	p.intField(&op, 4)
	p.intField(&second, 2)
	v.Op, v.Second = VideoOp(op), VideoSecond(second)
	p.intField(&v.Lanes, 3)
	for _, e := range []*VideoElems{&v.A, &v.B} {
		p.intField(&e.Log, 2)
		for i := range e.At {
			p.intField(&e.At[i], 3)
		}
		p.boolField(&e.Signed)
		p.boolField(&e.Neg)
	}
	p.intField(&v.Log, 2)
	p.intField(&v.At, 2)
	p.intField(&v.Mask, 4)
	for _, b := range []*bool{&v.Signed, &v.Sat, &v.Wrap, &v.NegC, &v.PlusOne} {
		p.boolField(b)
	}
	p.intField(&v.Shift, 4)
}

// Imm encodes the description for Instr.Imm.
func (v Video) Imm() uint64 {
	var p immFields
	v.visitFields(&p)
	return p.imm
}

func videoFromImm(imm uint64) (v Video) {
	v.visitFields(&immFields{imm: imm, reading: true})
	return v
}

// extend returns the integer in the low n bits of v.
func extend(v uint64, n int, signed bool) int64 {
	v <<= 64 - n
	if signed {
		return int64(v) >> (64 - n)
	}
	return int64(v >> (64 - n))
}

// element returns the element of a lane. The result has at most 33 bits.
func (e *VideoElems) element(pair uint64, lane int) int64 {
	n := 8 << e.Log
	v := extend(pair>>(e.At[lane]*n), n, e.Signed)
	if e.Neg {
		v = -v
	}
	return v
}

// apply computes the operation on two elements. The result has at most 34 bits.
func (v *Video) apply(a, b int64) int64 {
	truth := func(t bool) int64 {
		if t {
			return 1
		}
		return 0
	}
	if v.Wrap {
		b &= 31
	}
	switch v.Op {
	case VideoAdd:
		return a + b
	case VideoSub:
		return a - b
	case VideoAbsDiff:
		return max(a-b, b-a)
	case VideoMin:
		return min(a, b)
	case VideoMax:
		return max(a, b)
	case VideoAvrg:
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	case VideoShl:
		return extend(uint64(a<<min(b, 32)), 34, true)
	case VideoShr:
		return a >> min(b, 32)
	case VideoEq:
		return truth(a == b)
	case VideoNe:
		return truth(a != b)
	case VideoLt:
		return truth(a < b)
	case VideoLe:
		return truth(a <= b)
	case VideoGt:
		return truth(a > b)
	case VideoGe:
		return truth(a >= b)
	}
	panic("BUG: no such video operation")
}

//gemu:kernel video.b32 slow
func video(a, b, c uint32, imm uint64) uint32 {
	v := videoFromImm(imm)
	pair := uint64(a) | uint64(b)<<32
	n := 8 << v.Log
	d := c
	for i := range v.Lanes {
		if v.Mask>>i&1 == 0 {
			continue
		}
		t := v.apply(v.A.element(pair, i), v.B.element(pair, i))
		if v.Sat {
			lo, hi := int64(0), int64(1)<<n-1
			if v.Signed {
				lo, hi = -1<<(n-1), hi>>1
			}
			t = min(max(t, lo), hi)
		}
		// The second operation takes 33 bits of the result.
		t = extend(uint64(t), 33, true)
		third := extend(uint64(c), 32, v.Signed)
		switch v.Second {
		case VideoMerge:
			at := (v.At + i) * n
			mask := uint32(1<<n-1) << at
			d = d&^mask | uint32(t)<<at&mask
		case VideoAccumulate:
			d += uint32(t)
		case VideoSecondMin:
			d = uint32(min(t, third))
		case VideoSecondMax:
			d = uint32(max(t, third))
		}
	}
	return d
}

// vmad computes (a*b) + c in 128 bits (manual 9.7.18.1.3). The sum has at most 66 bits.
//
//gemu:kernel vmad.b32 slow
func vmad(a, b, c uint32, imm uint64) uint32 {
	v := videoFromImm(imm)
	pair := uint64(a) | uint64(b)<<32
	negate := v.A.Neg != v.B.Neg
	signed := v.A.Signed || v.B.Signed || negate || v.NegC
	v.A.Neg, v.B.Neg = false, false
	x, y := v.A.element(pair, 0), v.B.element(pair, 0)
	// The product of the magnitudes fits 64 bits.
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	complement := func() { hi, lo = ^hi, ^lo }
	add := func(h, l uint64) {
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	if (x < 0) != (y < 0) {
		complement()
		add(0, 1)
	}
	one := v.PlusOne
	switch {
	case v.PlusOne:
	case negate:
		complement()
		one = true
	case v.NegC:
		c = ^c
		one = true
	}
	third := extend(uint64(c), 32, signed)
	add(uint64(third>>63), uint64(third))
	if one {
		add(0, 1)
	}
	if v.Shift > 0 {
		lo = lo>>v.Shift | hi<<(64-v.Shift)
		hi = uint64(int64(hi) >> v.Shift)
	}
	if !v.Sat {
		return uint32(lo)
	}
	switch negative := int64(hi) < 0; {
	case signed && negative && (hi != 1<<64-1 || lo < 1<<64-1<<31):
		return 1 << 31
	case signed && !negative && (hi != 0 || lo > 1<<31-1):
		return 1<<31 - 1
	case !signed && (hi != 0 || lo > 1<<32-1):
		return 1<<32 - 1
	}
	return uint32(lo)
}
