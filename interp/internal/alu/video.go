package alu

// This file holds video instructions (manual 9.7.18). They have very many forms, so Instr.Imm describes the form. In this
// file a lane is one of the pairs of elements on which an instruction computes.

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

// VideoElems describes the elements of a source operand. An element has 1 << Log bytes. The element of lane i has index At + i.
type VideoElems struct {
	Log, At int
	Signed  bool
	Neg     bool // elements are negated
}

// Video describes a video instruction.
type Video struct {
	Op     VideoOp
	Second VideoSecond
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

// Fields of Imm, and their first bits.
const (
	videoOp     = 0  // 4 bits
	videoSecond = 4  // 2 bits
	videoA      = 6  // 6 bits: see videoElement
	videoB      = 12 // 6 bits
	videoLog    = 18 // 2 bits
	videoAt     = 20 // 2 bits
	videoMask   = 22 // 4 bits
	videoSigned = 26
	videoWrap   = 27
	videoSat    = 28

	// Of vmad, instead of the fields from videoLog to videoWrap.
	vmadShift   = 18 // 4 bits
	vmadNegC    = 22
	vmadPlusOne = 23
)

// elems encodes the fields of A and B.
func (v *Video) elems() uint64 {
	fields := func(e *VideoElems) uint64 {
		return uint64(e.Log) | uint64(e.At)<<2 | uint64(bit(e.Signed))<<4 | uint64(bit(e.Neg))<<5
	}
	return fields(&v.A)<<videoA | fields(&v.B)<<videoB
}

// Imm encodes the description for Instr.Imm.
func (v Video) Imm() uint64 {
	return v.elems() | uint64(v.Op)<<videoOp | uint64(v.Second)<<videoSecond | uint64(v.Log)<<videoLog | uint64(v.At)<<videoAt |
		uint64(v.Mask)<<videoMask | uint64(bit(v.Signed))<<videoSigned | uint64(bit(v.Wrap))<<videoWrap | uint64(bit(v.Sat))<<videoSat
}

// VmadImm encodes the description of vmad for Instr.Imm.
func (v Video) VmadImm() uint64 {
	return v.elems() | uint64(v.Shift)<<vmadShift | uint64(bit(v.NegC))<<vmadNegC | uint64(bit(v.PlusOne))<<vmadPlusOne | uint64(bit(v.Sat))<<videoSat
}

// extend returns the integer in the low n bits of v.
func extend(v uint64, n uint32, signed bool) int64 {
	v <<= 64 - n
	if signed {
		return int64(v) >> (64 - n)
	}
	return int64(v >> (64 - n))
}

// videoElement returns the element of lane i of operand a. The fields of the operand's VideoElems are in the low bits of e. The
// result has at most 33 bits.
func videoElement(a uint32, e uint64, i uint32) int64 {
	n := uint32(8) << (e & 3)
	v := extend(uint64(a>>((uint32(e>>2&3)+i)*n)), n, e>>4&1 != 0)
	if e>>5&1 != 0 {
		v = -v
	}
	return v
}

// videoResult computes the operation on two elements. The result has at most 34 bits.
func videoResult(op VideoOp, a, b int64, wrap bool) int64 {
	if wrap {
		b &= 31
	}
	amount := min(uint64(b), 32)
	switch op {
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
		round := int64(1)
		if a+b < 0 {
			round = 0
		}
		return (a + b + round) >> 1
	case VideoShl:
		return extend(uint64(a<<amount), 34, true)
	case VideoShr:
		return a >> amount
	}
	return int64(bit(op == VideoEq && a == b || op == VideoNe && a != b || op == VideoLt && a < b || op == VideoLe && a <= b ||
		op == VideoGt && a > b || op == VideoGe && a >= b))
}

// videoLane executes lane i. It returns the destination d with the result.
func videoLane(d, a, b, c uint32, imm uint64, i uint32) uint32 {
	t := videoResult(VideoOp(imm&15), videoElement(a, imm>>videoA, i), videoElement(b, imm>>videoB, i), imm>>videoWrap&1 != 0)
	n := uint32(8) << (imm >> videoLog & 3)
	signed := imm>>videoSigned&1 != 0
	if imm>>videoSat&1 != 0 {
		lo, hi := int64(0), int64(1)<<n-1
		if signed {
			lo, hi = -(int64(1) << (n - 1)), hi>>1
		}
		t = min(max(t, lo), hi)
	}
	// The second operation takes 33 bits of the result.
	t = extend(uint64(t), 33, true)
	third := extend(uint64(c), 32, signed)
	at := (uint32(imm>>videoAt&3) + i) * n
	mask := uint32(uint64(1)<<n-1) << at
	was := d
	switch VideoSecond(imm >> videoSecond & 3) {
	case VideoMerge:
		d = d&^mask | uint32(t)<<at&mask
	case VideoAccumulate:
		d += uint32(t)
	case VideoSecondMin:
		d = uint32(min(t, third))
	case VideoSecondMax:
		d = uint32(max(t, third))
	}
	if imm>>(videoMask+i)&1 == 0 {
		return was
	}
	return d
}

//gemu:kernel video.b32; takes = 3 slow
func video(a, b, c uint32, imm uint64) uint32 { return videoLane(c, a, b, c, imm, 0) }

//gemu:kernel video.x2.b32; takes = 7 slow
func video2(a, b, c uint32, imm uint64) uint32 {
	return videoLane(videoLane(c, a, b, c, imm, 0), a, b, c, imm, 1)
}

//gemu:kernel video.x4.b32; takes = 15 slow
func video4(a, b, c uint32, imm uint64) uint32 {
	d := videoLane(videoLane(c, a, b, c, imm, 0), a, b, c, imm, 1)
	return videoLane(videoLane(d, a, b, c, imm, 2), a, b, c, imm, 3)
}

// vmad computes (a*b) + c in 128 bits (manual 9.7.18.1.3). The sum has at most 66 bits.
//
//gemu:kernel vmad.b32; takes = 7 slow
func vmad(a, b, c uint32, imm uint64) uint32 {
	const neg = uint64(1) << 5
	ea, eb := imm>>videoA&63, imm>>videoB&63
	po, negC := imm>>vmadPlusOne&1 != 0, imm>>vmadNegC&1 != 0
	negate := (ea^eb)&neg != 0
	signed := (ea|eb)>>4&1 != 0 || negate || negC
	x, y := videoElement(a, ea&^neg, 0), videoElement(b, eb&^neg, 0)
	lo, hi := uint64(x)*uint64(y), uint64(0) // the product has 65 bits
	if (x < 0) != (y < 0) && lo != 0 {
		hi = ^uint64(0)
	}
	if negate && !po {
		lo, hi = ^lo, ^hi
	}
	if negC && !po && !negate {
		c = ^c
	}
	third := extend(uint64(c), 32, signed)
	sum, carry := bits.Add64(lo, uint64(third), uint64(bit(po || negate || negC)))
	hi += uint64(third>>63) + carry
	shift := uint32(imm >> vmadShift & 15)
	sum = sum>>shift | hi<<(64-shift)
	hi = uint64(int64(hi) >> shift)
	if imm>>videoSat&1 != 0 {
		negative := int64(hi) < 0
		least, most := ^(uint64(1)<<31 - 1), uint64(1)<<31-1
		if !signed {
			negative, most = false, uint64(1)<<32-1
		}
		if negative && (hi != ^uint64(0) || sum < least) {
			return uint32(least)
		}
		if !negative && (hi != 0 || sum > most) {
			return uint32(most)
		}
	}
	return uint32(sum)
}
