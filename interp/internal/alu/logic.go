package alu

// This file holds logic, shifts, moves and selection: manual sections 9.7.6.3, 9.7.6.4, 9.7.8 and 9.7.9.

import "golang.org/x/exp/constraints"

//gemu:kernel and.$T; T = b16 b32 b64
func and[T constraints.Integer](a, b T) T { return a & b }

//gemu:kernel or.$T; T = b16 b32 b64
func or[T constraints.Integer](a, b T) T { return a | b }

//gemu:kernel xor.$T; T = b16 b32 b64
func xor[T constraints.Integer](a, b T) T { return a ^ b }

//gemu:kernel not.$T; T = b16 b32 b64
func not[T constraints.Integer](a T) T { return ^a }

//gemu:kernel cnot.$T; T = b16 b32 b64
func cnot[T constraints.Integer](a T) T {
	if a == 0 {
		return 1
	}
	return 0
}

// lop3 evaluates the table by its variable a: where a is 1 the upper four entries decide, where a is 0 the lower four.
//
//gemu:kernel lop3.b32; takes = 7
func lop3(a, b, c uint32, imm uint64) uint32 {
	return a&lop2(uint32(imm>>4), b, c) | ^a&lop2(uint32(imm), b, c)
}

// lop2 returns the function of two variables with the four-entry table lut.
func lop2(lut, b, c uint32) uint32 {
	return b&(c&-(lut>>3&1)|^c&-(lut>>2&1)) | ^b&(c&-(lut>>1&1)|^c&-(lut&1))
}

//gemu:kernel shf.l.clamp.b32
func shfLClamp(a, b, c uint32) uint32 {
	c = min(c, 32)
	return b<<c | a>>(32-c)
}

//gemu:kernel shf.l.wrap.b32
func shfLWrap(a, b, c uint32) uint32 { return shfLClamp(a, b, c&31) }

//gemu:kernel shf.r.clamp.b32
func shfRClamp(a, b, c uint32) uint32 {
	c = min(c, 32)
	return b<<(32-c) | a>>c
}

//gemu:kernel shf.r.wrap.b32
func shfRWrap(a, b, c uint32) uint32 { return shfRClamp(a, b, c&31) }

// A shift amount above the width counts as the width, in PTX as in Go.
//
//gemu:kernel shl.$T; T = b16 b32 b64
func shl[T constraints.Integer](a T, b uint32) T { return a << b }

//gemu:kernel shr.$T; T = b16|u16 b32|u32 b64|u64 s16 s32 s64
func shr[T constraints.Integer](a T, b uint32) T { return a >> b }

//gemu:kernel mov.$T; T = b32 b64
func mov[T constraints.Integer](a T) T { return a }

//gemu:kernel mov.pred
func movPred(a bool) bool { return a }

//gemu:kernel and.pred
func andPred(a, b bool) bool { return a && b }

//gemu:kernel or.pred
func orPred(a, b bool) bool { return a || b }

//gemu:kernel xor.pred
func xorPred(a, b bool) bool { return a != b }

//gemu:kernel not.pred
func notPred(a bool) bool { return !a }

// maskU32 and maskF32 convert a predicate to a result of set.
//
//gemu:kernel mask.u32
func maskU32(a bool) uint32 { return -bit(a) }

//gemu:kernel mask.f32
func maskF32(a bool) float32 {
	if a {
		return 1
	}
	return 0
}

//gemu:kernel nonzero.b32
func nonzero(a uint32) bool { return a != 0 }

//gemu:kernel selp.$X; X:T = b16|u16|s16|b32|u32|s32|f32:b32 b64|u64|s64|f64:b64
func selp[T constraints.Integer](a, b T, c bool) T {
	if c {
		return a
	}
	return b
}

//gemu:kernel slct.$T.s32; T = b32 b64 slow
func slctS[T constraints.Integer](a, b T, c int32) T { return selp(a, b, c >= 0) }

// slctF selects a if c >= 0. So it selects b if c is NaN, and a if c is -0.
//
//gemu:kernel slct.$T.f32; T = b32 b64 slow
func slctF[T constraints.Integer](a, b T, c float32) T { return selp(a, b, c >= 0) }

// prmt executes prmt without a mode: four selectors of four bits each (manual 9.7.9.7).
//
//gemu:kernel prmt.b32; takes = 7
func prmt(a, b, c uint32) uint32 {
	v := uint64(b)<<32 | uint64(a)
	return prmtByte(v, c) | prmtByte(v, c>>4)<<8 | prmtByte(v, c>>8)<<16 | prmtByte(v, c>>12)<<24
}

// prmtByte returns the byte of v that a selector names; if bit 3 of the selector is set, eight copies of the byte's sign
// bit.
func prmtByte(v uint64, sel uint32) uint32 {
	x := uint32(uint8(v >> (sel & 7 * 8)))
	if sel&8 != 0 {
		x = uint32(int32(x<<24)>>31) & 0xff
	}
	return x
}

//gemu:kernel prmt.b32.f4e; takes = 7 slow
func prmtF4E(a, b, c uint32) uint32 {
	return prmt(a, b, [4]uint32{0x3210, 0x4321, 0x5432, 0x6543}[c&3])
}

//gemu:kernel prmt.b32.b4e; takes = 7 slow
func prmtB4E(a, b, c uint32) uint32 {
	return prmt(a, b, [4]uint32{0x5670, 0x6701, 0x7012, 0x0123}[c&3])
}

//gemu:kernel prmt.b32.rc8; takes = 7 slow
func prmtRC8(a, b, c uint32) uint32 {
	return prmt(a, b, [4]uint32{0x0000, 0x1111, 0x2222, 0x3333}[c&3])
}

//gemu:kernel prmt.b32.ecl; takes = 7 slow
func prmtECL(a, b, c uint32) uint32 {
	return prmt(a, b, [4]uint32{0x3210, 0x3211, 0x3222, 0x3333}[c&3])
}

//gemu:kernel prmt.b32.ecr; takes = 7 slow
func prmtECR(a, b, c uint32) uint32 {
	return prmt(a, b, [4]uint32{0x0000, 0x1110, 0x2210, 0x3210}[c&3])
}

//gemu:kernel prmt.b32.rc16; takes = 7 slow
func prmtRC16(a, b, c uint32) uint32 {
	return prmt(a, b, [4]uint32{0x1010, 0x3232, 0x1010, 0x3232}[c&3])
}

// insert and extract are steps of the vector forms of mov, which pack elements into a register (the first element in the
// lowest bits) and unpack them. For insert imm is the position of the element; for extract it is the position, plus the
// size of the element in bits 8 and above.
//
//gemu:kernel insert.$T; T = b32 b64
func insert[T constraints.Integer](a T, b uint32, imm uint64) T { return a | T(b)<<imm }

//gemu:kernel extract.$T; T = b32 b64
func extract[T constraints.Integer](a T, imm uint64) uint32 {
	return uint32(a >> (imm & 63) & (1<<(imm>>8) - 1))
}

//gemu:kernel zext.b64; rule = convert
func zext64(a uint32) uint64 { return uint64(a) }

//gemu:kernel pack.b64
func pack64(a, b uint32) uint64 { return uint64(a) | uint64(b)<<32 }

//gemu:kernel pack.b32
func pack32(a, b uint32) uint32 { return a | b<<16 }
