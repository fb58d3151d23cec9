package alu

// This file holds integer arithmetic: manual sections 9.7.1 and 9.7.2.

import (
	"math"
	"math/bits"
	"unsafe"

	"golang.org/x/exp/constraints"
)

// signed reports whether T is a signed type.
func signed[T constraints.Integer]() bool { return ^T(0) < 0 }

// width returns the number of bits of a T; it is a constant for the compiler.
func width[T constraints.Integer]() int { return 8 * int(unsafe.Sizeof(T(0))) }

// Manual 9.7.1.1.
//
//gemu:kernel add.$T; T = u16|s16 u32|s32 u64|s64
func add[T constraints.Integer](a, b T) T { return a + b }

//gemu:kernel add.sat.s32
func addSat(a, b int32) int32 { return clampS32(int64(a) + int64(b)) }

//gemu:kernel add.sat.u32
func addSatU32(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), math.MaxUint32)) }

//gemu:kernel add.$T; T = u16x2|s16x2 slow
func add2(a, b uint32) uint32 { return (a+b)&0xffff | (a>>16+b>>16)<<16 }

// Manual 9.7.1.2.
//
//gemu:kernel sub.$T; T = u16|s16 u32|s32 u64|s64
func sub[T constraints.Integer](a, b T) T { return a - b }

//gemu:kernel sub.sat.s32
func subSat(a, b int32) int32 { return clampS32(int64(a) - int64(b)) }

// clampS32 clamps v to the range of .s32.
func clampS32(v int64) int32 { return int32(max(-1<<31, min(v, 1<<31-1))) }

// Manual 9.7.1.3.
//
//gemu:kernel mul.lo.$T; T = u16|s16 u32|s32 u64|s64
func mulLo[T constraints.Integer](a, b T) T { return a * b }

//gemu:kernel mul.wide.$T; T:W = u16:u32 s16:s32 u32:u64 s32:s64
func mulWide[T, W constraints.Integer](a, b T) W { return W(a) * W(b) }

//gemu:kernel mul.hi.$T; T:W = u16:u32 s16:s32 u32:u64 s32:s64
func mulHi[T, W constraints.Integer](a, b T) T { return T(W(a) * W(b) >> width[T]()) }

//gemu:kernel mul.hi.u64; takes = 7
func mulHiU64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

//gemu:kernel mul.hi.s64; takes = 7
func mulHiS64(a, b int64) int64 {
	hi, _ := bits.Mul64(uint64(a), uint64(b))
	return int64(hi) - a>>63&b - b>>63&a
}

// Manual 9.7.1.4.
//
//gemu:kernel mad.lo.$T; T = u16|s16 u32|s32 u64|s64
func madLo[T constraints.Integer](a, b, c T) T { return a*b + c }

//gemu:kernel mad.wide.$T; T:W = u16:u32 s16:s32 u32:u64 s32:s64
func madWide[T, W constraints.Integer](a, b T, c W) W { return W(a)*W(b) + c }

//gemu:kernel mad.hi.$T; T:W = u16:u32 s16:s32 u32:u64 s32:s64 slow
func madHi[T, W constraints.Integer](a, b, c T) T { return T(W(a)*W(b)>>width[T]()) + c }

//gemu:kernel mad.hi.u64; takes = 7 slow
func madHiU64(a, b, c uint64) uint64 { return mulHiU64(a, b) + c }

//gemu:kernel mad.hi.s64; takes = 7 slow
func madHiS64(a, b, c int64) int64 { return mulHiS64(a, b) + c }

//gemu:kernel mad.hi.sat.s32 slow
func madHiSat(a, b, c int32) int32 { return clampS32(int64(a)*int64(b)>>32 + int64(c)) }

// Manual 9.7.1.5 and 9.7.1.6: the factors are the low 24 bits of the operands.
//
//gemu:kernel mul24.lo.u32
func mul24LoU(a, b uint32) uint32 { return (a & 0xffffff) * (b & 0xffffff) }

//gemu:kernel mul24.lo.s32
func mul24LoS(a, b int32) int32 { return (a << 8 >> 8) * (b << 8 >> 8) }

//gemu:kernel mul24.hi.u32 slow
func mul24HiU(a, b uint32) uint32 { return uint32(uint64(a&0xffffff) * uint64(b&0xffffff) >> 16) }

//gemu:kernel mul24.hi.s32 slow
func mul24HiS(a, b int32) int32 { return int32(int64(a<<8>>8) * int64(b<<8>>8) >> 16) }

//gemu:kernel mad24.lo.u32
func mad24LoU(a, b, c uint32) uint32 { return mul24LoU(a, b) + c }

//gemu:kernel mad24.lo.s32
func mad24LoS(a, b, c int32) int32 { return mul24LoS(a, b) + c }

//gemu:kernel mad24.hi.u32 slow
func mad24HiU(a, b, c uint32) uint32 { return mul24HiU(a, b) + c }

//gemu:kernel mad24.hi.s32 slow
func mad24HiS(a, b, c int32) int32 { return mul24HiS(a, b) + c }

//gemu:kernel mad24.hi.sat.s32 slow
func mad24HiSat(a, b, c int32) int32 { return clampS32(int64(mul24HiS(a, b)) + int64(c)) }

// Manual 9.7.1.7.
//
//gemu:kernel sad.$T; T = u16 u32 u64 s16 s32 s64
func sad[T constraints.Integer](a, b, c T) T {
	if a < b {
		return c + (b - a)
	}
	return c + (a - b)
}

// Manual 9.7.1.8 and 9.7.1.9. The manual does not define a division by zero. On GPUs its quotient and remainder have all
// bits set: see docs/design/arithmetic.md.
//
//gemu:kernel div.$T; T = u16 u32 s16 s32; takes = 7
//gemu:kernel div.$T; T = u64 s64; common = divSmall areSmall; takes = 7
func div[T constraints.Integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

//gemu:kernel rem.$T; T = u16 u32 s16 s32; takes = 7
//gemu:kernel rem.$T; T = u64 s64; common = remSmall areSmall; takes = 7
func rem[T constraints.Integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a % b
}

// areSmall reports whether f64 has the magnitudes of a and b, with room for a fraction.
func areSmall[T uint64 | int64](a, b T) bool { return (magnitude(a)|magnitude(b))>>52 == 0 }

// magnitude returns the absolute value of a.
func magnitude[T uint64 | int64](a T) uint64 {
	if a < 0 {
		a = -a
	}
	return uint64(a)
}

// divSmall is div for small operands. f64 divides them: the rounded quotient is less than the next integer above the true
// quotient, which is at least 1/b away.
func divSmall[T uint64 | int64](a, b T) T {
	q := T(smallInteger(math.Trunc(smallFloat(magnitude(a)) / smallFloat(magnitude(b)))))
	if a^b < 0 {
		q = -q
	}
	if b == 0 {
		return ^T(0)
	}
	return q
}

// remSmall is rem for small operands.
func remSmall[T uint64 | int64](a, b T) T {
	x, y := smallFloat(magnitude(a)), smallFloat(magnitude(b))
	r := T(smallInteger(x - float64(math.Trunc(x/y)*y)))
	if a < 0 {
		r = -r
	}
	if b == 0 {
		return ^T(0)
	}
	return r
}

// smallFloat converts an integer below 2 to the power 52, by its bits: vectors of AVX2 have no such conversion.
func smallFloat(a uint64) float64 { return math.Float64frombits(a|0x433<<52) - 0x1p52 }

// smallInteger converts back a number without fraction.
func smallInteger(x float64) uint64 { return math.Float64bits(x+0x1p52) &^ (0x433 << 52) }

// Manual 9.7.1.10.
//
//gemu:kernel abs.$T; T = s16 s32 s64
func abs[T constraints.Integer](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

// Manual 9.7.1.11.
//
//gemu:kernel neg.$T; T = s16 s32 s64
func neg[T constraints.Integer](a T) T { return -a }

// Manual 9.7.1.12.
//
//gemu:kernel min.$T; T = u16 u32 u64 s16 s32 s64
func minimum[T constraints.Integer](a, b T) T { return min(a, b) }

//gemu:kernel min.relu.s32 slow
func minRelu(a, b int32) int32 { return max(min(a, b), 0) }

//gemu:kernel min.u16x2 slow
func minU2(a, b uint32) uint32 { return pack2(min(a&0xffff, b&0xffff), min(a>>16, b>>16)) }

//gemu:kernel min.s16x2 slow
func minS2(a, b uint32) uint32 {
	return pack2(uint32(min(int16(a), int16(b))), uint32(min(int16(a>>16), int16(b>>16))))
}

//gemu:kernel min.relu.s16x2 slow
func minReluS2(a, b uint32) uint32 {
	return pack2(uint32(max(min(int16(a), int16(b)), 0)), uint32(max(min(int16(a>>16), int16(b>>16)), 0)))
}

// Manual 9.7.1.13.
//
//gemu:kernel max.$T; T = u16 u32 u64 s16 s32 s64
func maximum[T constraints.Integer](a, b T) T { return max(a, b) }

//gemu:kernel max.relu.s32 slow
func maxRelu(a, b int32) int32 { return max(a, b, 0) }

//gemu:kernel max.u16x2 slow
func maxU2(a, b uint32) uint32 { return pack2(max(a&0xffff, b&0xffff), max(a>>16, b>>16)) }

//gemu:kernel max.s16x2 slow
func maxS2(a, b uint32) uint32 {
	return pack2(uint32(max(int16(a), int16(b))), uint32(max(int16(a>>16), int16(b>>16))))
}

//gemu:kernel max.relu.s16x2 slow
func maxReluS2(a, b uint32) uint32 {
	return pack2(uint32(max(int16(a), int16(b), 0)), uint32(max(int16(a>>16), int16(b>>16), 0)))
}

// The following operations compute on packed bytes, and with saturation on packed 16-bit integers.
//
//gemu:kernel $OP.u8x4; OP = add sub min max slow
func packedU8(op floatOp, a, b uint32) uint32 { return inParts[uint8](op, false, false, a, b) }

//gemu:kernel $OP.s8x4; OP = add sub min max slow
func packedS8(op floatOp, a, b uint32) uint32 { return inParts[int8](op, false, false, a, b) }

//gemu:kernel neg.s8x4 slow
func negS8(a uint32) uint32 { return inParts[int8](opSub, false, false, 0, a) }

//gemu:kernel $OP.relu.s8x4; OP = min max slow
func packedReluS8(op floatOp, a, b uint32) uint32 { return inParts[int8](op, false, true, a, b) }

//gemu:kernel $OP.sat.u8x4; OP = add sub slow
func packedSatU8(op floatOp, a, b uint32) uint32 { return inParts[uint8](op, true, false, a, b) }

//gemu:kernel $OP.sat.s8x4; OP = add sub slow
func packedSatS8(op floatOp, a, b uint32) uint32 { return inParts[int8](op, true, false, a, b) }

//gemu:kernel $OP.sat.u16x2; OP = add slow
func packedSatU16(op floatOp, a, b uint32) uint32 { return inParts[uint16](op, true, false, a, b) }

//gemu:kernel $OP.sat.s16x2; OP = add slow
func packedSatS16(op floatOp, a, b uint32) uint32 { return inParts[int16](op, true, false, a, b) }

// inParts computes the operation on each of the integers of type T packed in a and b.
func inParts[T constraints.Integer](op floatOp, sat, relu bool, a, b uint32) uint32 {
	n := width[T]()
	lower, upper := int32(0), int32(1)<<n-1
	if ^T(0) < 0 {
		lower, upper = -1<<(n-1), 1<<(n-1)-1
	}
	var d uint32
	for i := 0; i < 32; i += n {
		x, y := int32(T(a>>i)), int32(T(b>>i))
		switch op {
		case opAdd:
			x += y
		case opSub:
			x -= y
		case opMin:
			x = min(x, y)
		case opMax:
			x = max(x, y)
		default:
			panic("BUG: no such operation of packed integers")
		}
		if sat {
			x = max(lower, min(x, upper))
		}
		if relu {
			x = max(x, 0)
		}
		d |= uint32(x) & (1<<n - 1) << i
	}
	return d
}

// clmad.lo and clmad.hi (PTX ISA 9.3): the lower or upper half of a carry-less product, xor c.
//
//gemu:kernel clmad.lo.u64; takes = 31 slow
func clmadLo(a, b, c uint64) uint64 {
	lo, _ := carryless(a, b)
	return lo ^ c
}

//gemu:kernel clmad.hi.u64; takes = 31 slow
func clmadHi(a, b, c uint64) uint64 {
	_, hi := carryless(a, b)
	return hi ^ c
}

// carryless returns the carry-less product of a and b.
func carryless(a, b uint64) (lo, hi uint64) {
	for ; a != 0; a &= a - 1 {
		i := bits.TrailingZeros64(a)
		lo ^= b << i
		hi ^= b >> (64 - i)
	}
	return lo, hi
}

// pack2 packs the low 16 bits of lo and of hi.
func pack2(lo, hi uint32) uint32 { return lo&0xffff | hi<<16 }

// Manual 9.7.1.14.
//
//gemu:kernel popc.b32
func popc32(a uint32) uint32 { return uint32(bits.OnesCount32(a)) }

//gemu:kernel popc.b64
func popc64(a uint64) uint32 { return uint32(bits.OnesCount64(a)) }

// Manual 9.7.13.15.17: the pending arrivals in the state of an mbarrier (docs/async.md describes the bits of the state).
//
//gemu:kernel mbarrier.pending_count.b64
func pendingCount(a uint64) uint32 { return uint32(a & (1<<20 - 1)) }

// Manual 9.7.1.15.
//
//gemu:kernel clz.b32
func clz32(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) }

//gemu:kernel clz.b64
func clz64(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) }

// Manual 9.7.1.16.
//
//gemu:kernel bfind.$T; T = u32 u64 s32 s64 slow
func bfind[T constraints.Integer](a T) uint32 {
	if a < 0 {
		a = ^a
	}
	return uint32(bits.Len64(uint64(a)) - 1) // -1 is the manual's 0xffffffff
}

//gemu:kernel bfind.shiftamt.$T; T = u32 u64 s32 s64 slow
func bfindShift[T constraints.Integer](a T) uint32 {
	pos := bfind(a)
	if pos == 0xffffffff {
		return pos
	}
	return uint32(width[T]()-1) - pos
}

// Manual 9.7.1.17.
//
//gemu:kernel fns.b32 slow
func fns(mask, base uint32, offset int32) uint32 {
	if base > 31 { // undefined
		return 0xffffffff
	}
	if offset == 0 {
		if mask>>base&1 != 0 {
			return base
		}
		return 0xffffffff
	}
	count, step := offset, 1
	if offset < 0 {
		count, step = -offset, -1
	}
	for pos := int(base); pos >= 0 && pos < 32; pos += step {
		if mask>>pos&1 != 0 {
			if count--; count == 0 {
				return uint32(pos)
			}
		}
	}
	return 0xffffffff
}

// Manual 9.7.1.18.
//
//gemu:kernel brev.b32
func brev32(a uint32) uint32 { return bits.Reverse32(a) }

//gemu:kernel brev.b64
func brev64(a uint64) uint64 { return bits.Reverse64(a) }

// Manual 9.7.1.19. The manual defines position and length as the low 8 bits of b and c. On GPUs this is so for 32-bit types
// only; for 64-bit types they use all bits of b and c.
//
//gemu:kernel bfe.$T; T = u32 u64
func bfeU[T constraints.Integer](a T, b, c uint32) T {
	pos, n := fieldOf[T](b, c)
	return a >> pos & (1<<n - 1)
}

//gemu:kernel bfe.$T; T = s32 s64
func bfeS[T constraints.Integer](a T, b, c uint32) T {
	pos, n := fieldOf[T](b, c)
	w := uint32(width[T]())
	if n == 0 {
		return 0
	}
	a >>= pos // shifts in the sign if the field reaches beyond the most significant bit
	if n >= w {
		return a
	}
	return a << (w - n) >> (w - n)
}

// Manual 9.7.1.20. Position and length are as in bfe.
//
//gemu:kernel bfi.$T; T = b32 b64; takes = 7
func bfi[T constraints.Integer](a, b T, c, e uint32) T {
	pos, n := fieldOf[T](c, e)
	mask := (T(1)<<n - 1) << pos
	return b&^mask | a<<pos&mask
}

// fieldOf returns the position and the length of a bit field of T, from the operands of the instruction.
func fieldOf[T constraints.Integer](pos, n uint32) (uint32, uint32) {
	if width[T]() == 32 {
		return pos & 0xff, n & 0xff
	}
	return pos, n
}

// Manual 9.7.1.21.
//
//gemu:kernel szext.$M.$T; M = clamp wrap; T = u32 s32 slow
func szext[T constraints.Integer](a T, b uint32, m string) T {
	n := b & 31
	if b >= 32 && m == "clamp" {
		return a
	}
	if n == 0 {
		return 0
	}
	return a << (32 - n) >> (32 - n)
}

// Manual 9.7.1.22.
//
//gemu:kernel bmsk.clamp.b32 slow
func bmskClamp(a, b uint32) uint32 {
	if a >= 32 {
		return 0
	}
	if b >= 32 {
		return ^uint32(0) << a
	}
	return (1<<b - 1) << a
}

//gemu:kernel bmsk.wrap.b32 slow
func bmskWrap(a, b uint32) uint32 { return (1<<(b&31) - 1) << (a & 31) }

// Manual 9.7.1.23: the bytes of a and of b are signed or unsigned independently.
//
//gemu:kernel dp4a.$A.$B; A = u32 s32; B = u32 s32 slow
func dp4a[A, B constraints.Integer](a A, b B, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		c += field[A](uint32(a), i, 8) * field[B](uint32(b), i, 8)
	}
	return c
}

// Manual 9.7.1.24.
//
//gemu:kernel dp2a.lo.$A.$B; A = u32 s32; B = u32 s32 slow
func dp2aLo[A, B constraints.Integer](a A, b B, c uint32) uint32 {
	return c + field[A](uint32(a), 0, 16)*field[B](uint32(b), 0, 8) + field[A](uint32(a), 16, 16)*field[B](uint32(b), 8, 8)
}

//gemu:kernel dp2a.hi.$A.$B; A = u32 s32; B = u32 s32 slow
func dp2aHi[A, B constraints.Integer](a A, b B, c uint32) uint32 {
	return c + field[A](uint32(a), 0, 16)*field[B](uint32(b), 16, 8) + field[A](uint32(a), 16, 16)*field[B](uint32(b), 24, 8)
}

// field returns the n bits at pos, sign-extended if T is signed.
func field[T constraints.Integer](v uint32, pos, n int) uint32 {
	v = v << (32 - n - pos)
	if signed[T]() {
		return uint32(int32(v) >> (32 - n))
	}
	return v >> (32 - n)
}

// Manual 9.7.2: arithmetic with the carry flag CC.CF. GPUs compute a difference as a sum, a - b = a + ^b + 1. The flag is
// the carry of this sum: it is 1 if there is no borrow. subc adds the flag instead of the 1.
//
//gemu:kernel add.cc.$T; T = u32|s32
func addCC32(a, b uint32) (uint32, bool) {
	s := a + b
	return s, s < a
}

//gemu:kernel add.cc.$T; T = u64|s64
func addCC64(a, b uint64) (uint64, bool) {
	s, c := bits.Add64(a, b, 0)
	return s, c != 0
}

//gemu:kernel addc.$T; T = u16|s16
func addc16(a, b uint16, cf bool) uint16 { return a + b + uint16(bit(cf)) }

//gemu:kernel addc.$T; T = u32|s32
func addc32(a, b uint32, cf bool) uint32 { return a + b + bit(cf) }

//gemu:kernel addc.$T; T = u64|s64
func addc64(a, b uint64, cf bool) uint64 { return a + b + uint64(bit(cf)) }

//gemu:kernel addc.cc.$T; T = u32|s32
func addcCC32(a, b uint32, cf bool) (uint32, bool) {
	s := a + b + bit(cf)
	return s, int32(a&b|(a|b)&^s) < 0 // as in bits.Add32, whose sum of 64 bits takes longer in machine code
}

//gemu:kernel addc.cc.$T; T = u64|s64
func addcCC64(a, b uint64, cf bool) (uint64, bool) {
	s, c := bits.Add64(a, b, uint64(bit(cf)))
	return s, c != 0
}

//gemu:kernel sub.cc.$T; T = u32|s32
func subCC32(a, b uint32) (uint32, bool) { return subcCC32(a, b, true) }

//gemu:kernel sub.cc.$T; T = u64|s64
func subCC64(a, b uint64) (uint64, bool) { return subcCC64(a, b, true) }

//gemu:kernel subc.$T; T = u16|s16
func subc16(a, b uint16, cf bool) uint16 { return addc16(a, ^b, cf) }

//gemu:kernel subc.$T; T = u32|s32
func subc32(a, b uint32, cf bool) uint32 { return addc32(a, ^b, cf) }

//gemu:kernel subc.$T; T = u64|s64
func subc64(a, b uint64, cf bool) uint64 { return addc64(a, ^b, cf) }

//gemu:kernel subc.cc.$T; T = u32|s32
func subcCC32(a, b uint32, cf bool) (uint32, bool) { return addcCC32(a, ^b, cf) }

//gemu:kernel subc.cc.$T; T = u64|s64
func subcCC64(a, b uint64, cf bool) (uint64, bool) { return addcCC64(a, ^b, cf) }

//gemu:kernel mad.lo.cc.$T; T = u32|s32
func madLoCC32(a, b, c uint32) (uint32, bool) { return addCC32(a*b, c) }

//gemu:kernel mad.lo.cc.$T; T = u64|s64
func madLoCC64(a, b, c uint64) (uint64, bool) { return addCC64(a*b, c) }

//gemu:kernel mad.hi.cc.u32
func madHiCCU32(a, b, c uint32) (uint32, bool) { return addCC32(mulHi[uint32, uint64](a, b), c) }

//gemu:kernel mad.hi.cc.s32
func madHiCCS32(a, b int32, c uint32) (uint32, bool) {
	return addCC32(uint32(mulHi[int32, int64](a, b)), c)
}

//gemu:kernel mad.hi.cc.u64
func madHiCCU64(a, b, c uint64) (uint64, bool) { return addCC64(mulHiU64(a, b), c) }

//gemu:kernel mad.hi.cc.s64
func madHiCCS64(a, b int64, c uint64) (uint64, bool) { return addCC64(uint64(mulHiS64(a, b)), c) }

//gemu:kernel madc.lo.$T; T = u16|s16
func madcLo16(a, b, c uint16, cf bool) uint16 { return addc16(a*b, c, cf) }

//gemu:kernel madc.lo.$T; T = u32|s32
func madcLo32(a, b, c uint32, cf bool) uint32 { return addc32(a*b, c, cf) }

//gemu:kernel madc.lo.$T; T = u64|s64
func madcLo64(a, b, c uint64, cf bool) uint64 { return addc64(a*b, c, cf) }

//gemu:kernel madc.hi.u16
func madcHiU16(a, b, c uint16, cf bool) uint16 { return addc16(mulHi[uint16, uint32](a, b), c, cf) }

//gemu:kernel madc.hi.s16
func madcHiS16(a, b int16, c uint16, cf bool) uint16 {
	return addc16(uint16(mulHi[int16, int32](a, b)), c, cf)
}

//gemu:kernel madc.hi.u32
func madcHiU32(a, b, c uint32, cf bool) uint32 { return addc32(mulHi[uint32, uint64](a, b), c, cf) }

//gemu:kernel madc.hi.s32
func madcHiS32(a, b int32, c uint32, cf bool) uint32 {
	return addc32(uint32(mulHi[int32, int64](a, b)), c, cf)
}

//gemu:kernel madc.hi.u64
func madcHiU64(a, b, c uint64, cf bool) uint64 { return addc64(mulHiU64(a, b), c, cf) }

//gemu:kernel madc.hi.s64
func madcHiS64(a, b int64, c uint64, cf bool) uint64 {
	return addc64(uint64(mulHiS64(a, b)), c, cf)
}

//gemu:kernel madc.lo.cc.$T; T = u32|s32
func madcLoCC32(a, b, c uint32, cf bool) (uint32, bool) { return addcCC32(a*b, c, cf) }

//gemu:kernel madc.lo.cc.$T; T = u64|s64
func madcLoCC64(a, b, c uint64, cf bool) (uint64, bool) { return addcCC64(a*b, c, cf) }

//gemu:kernel madc.hi.cc.u32
func madcHiCCU32(a, b, c uint32, cf bool) (uint32, bool) {
	return addcCC32(mulHi[uint32, uint64](a, b), c, cf)
}

//gemu:kernel madc.hi.cc.s32
func madcHiCCS32(a, b int32, c uint32, cf bool) (uint32, bool) {
	return addcCC32(uint32(mulHi[int32, int64](a, b)), c, cf)
}

//gemu:kernel madc.hi.cc.u64
func madcHiCCU64(a, b, c uint64, cf bool) (uint64, bool) { return addcCC64(mulHiU64(a, b), c, cf) }

//gemu:kernel madc.hi.cc.s64
func madcHiCCS64(a, b int64, c uint64, cf bool) (uint64, bool) {
	return addcCC64(uint64(mulHiS64(a, b)), c, cf)
}

// bit returns 1 for true and 0 for false.
func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
