package oracle

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
)

// cornerValues are integers at which widths and signs matter.
var cornerValues = []uint64{
	0, 1, 2, 7, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0x123456,
	0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x1_00000000, 0x0123456789abcdef,
	0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff,
}

// TestIntExamplesOfManual has the manual's own examples (9.7.1), and values computed by hand from its pseudo-code.
func TestIntExamplesOfManual(t *testing.T) {
	checkAll(t, []want{
		{"fns.b32", u(0xaaaaaaaa, 3, 1), u(3)},
		{"fns.b32", u(0xaaaaaaaa, 3, 0xffffffff), u(3)},
		{"fns.b32", u(0xaaaaaaaa, 2, 1), u(3)},
		{"fns.b32", u(0xaaaaaaaa, 2, 0xffffffff), u(1)},
		{"fns.b32", u(0xaaaaaaaa, 2, 0), u(0xffffffff)},
		{"fns.b32", u(0xaaaaaaaa, 0, 16), u(31)},
		{"fns.b32", u(0xaaaaaaaa, 0, 17), u(0xffffffff)},
		{"szext.wrap.u32", u(0xffffffff, 0), u(0)},
		{"szext.clamp.s32", u(0x80, 8), u(0xffffff80)},
		{"szext.clamp.u32", u(0xfff80, 8), u(0x80)},
		{"szext.clamp.s32", u(0x8000beef, 40), u(0x8000beef)},
		{"szext.wrap.s32", u(0x80, 40), u(0xffffff80)},
		{"bmsk.wrap.b32", u(1, 2), u(6)},
		{"bmsk.clamp.b32", u(32, 4), u(0)},
		{"bmsk.clamp.b32", u(4, 0), u(0)},
		{"bmsk.clamp.b32", u(4, 32), u(0xfffffff0)},
		{"bmsk.wrap.b32", u(36, 33), u(0x10)},
		{"bmsk.wrap.b32", u(28, 31), u(0xf0000000)},

		{"add.sat.s32", u(0x7fffffff, 1), u(0x7fffffff)},
		{"add.sat.s32", u(0x80000000, 0xffffffff), u(0x80000000)},
		{"sub.sat.s32", u(0x80000000, 1), u(0x80000000)},
		{"sub.sat.s32", u(0, 0x80000000), u(0x7fffffff)},
		{"add.u16x2", u(0xffff_0001, 0x0001_ffff), u(0)},
		{"add.s16x2", u(0x7fff_0001, 0x0001_0001), u(0x8000_0002)},
		{"min.s16x2", u(0xffff_0001, 0x0001_ffff), u(0xffff_ffff)},
		{"min.u16x2", u(0xffff_0001, 0x0001_ffff), u(0x0001_0001)},
		{"max.relu.s16x2", u(0xffff_0001, 0xfffe_ffff), u(0x0000_0001)},
		{"min.relu.s32", u(0xffffffff, 5), u(0)},
		{"max.relu.s32", u(0xffffffff, 5), u(5)},
		{"mad.hi.sat.s32", u(0x7fffffff, 0x7fffffff, 0x7fffffff), u(0x7fffffff)},
		{"mad24.hi.sat.s32", u(0x800000, 0x800000, 0x7fffffff), u(0x7fffffff)},
		{"mul24.hi.s32", u(0xff800000, 0x2), u(0xffffff00)}, // -2^23 · 2 = -2^24, bits 47..16
		{"mul24.lo.u32", u(0x12ffffff, 0x34ffffff), u(0xfe000001)},
		{"mul24.hi.u32", u(0xffffff, 0xffffff), u(0xfffffe00)},
		{"sad.s32", u(0xffffffff, 5, 10), u(16)},
		{"sad.u32", u(0xffffffff, 5, 10), u(4)},

		// Towards zero; the sign of the remainder is the dividend's.
		{"div.s32", u(0xfffffff9, 2), u(0xfffffffd)},
		{"rem.s32", u(0xfffffff9, 2), u(0xffffffff)},
		{"rem.s32", u(7, 0xfffffffe), u(1)},
		{"div.s32", u(0x80000000, 0xffffffff), u(0x80000000)},
		{"rem.s32", u(0x80000000, 0xffffffff), u(0)},
		{"abs.s16", u(0x8000), u(0x8000)},
		{"abs.s64", u(0xffffffffffffffff), u(1)},
		{"neg.s32", u(0x80000000), u(0x80000000)},

		{"bfind.u32", u(0), u(0xffffffff)},
		{"bfind.s32", u(0xffffffff), u(0xffffffff)},
		{"bfind.s32", u(0xfffffffe), u(0)},
		{"bfind.shiftamt.u32", u(1), u(31)},
		{"bfind.shiftamt.s64", u(0x8000000000000000), u(1)},
		{"bfind.u64", u(1 << 40), u(40)},
		{"bfe.u32", u(0x12345678, 8, 8), u(0x56)},
		{"bfe.s32", u(0x12345678, 4, 4), u(7)},
		{"bfe.s32", u(0x12345698, 4, 4), u(0xfffffff9)},
		{"bfe.s32", u(0x80000000, 40, 4), u(0xffffffff)}, // beyond the msb: the sign
		{"bfe.s32", u(0x80000000, 28, 8), u(0xfffffff8)},
		{"bfe.u32", u(0x80000000, 40, 4), u(0)},
		{"bfe.s64", u(1<<63, 300, 0), u(0)},
		{"bfe.u64", u(0xabcd, 0x104, 8), u(0)}, // 64 bits: all of the position and length count
		{"bfe.u64", u(0xabcd, 4, 0x108), u(0xabc)},
		{"bfe.s64", u(1<<63, 0x100, 1), u(math.MaxUint64)},
		{"bfi.b64", u(0xff, 0, 0x104, 8), u(0)},
		{"bfi.b64", u(math.MaxUint64, 0, 60, 0x100), u(0xf000000000000000)},
		{"bfi.b32", u(0xff, 0, 4, 8), u(0xff0)},
		{"bfi.b32", u(0, 0xffffffff, 28, 255), u(0x0fffffff)},
		{"bfi.b32", u(0xff, 0x1234, 32, 8), u(0x1234)},
		{"bfi.b64", u(0xff, 0, 60, 8), u(0xf000000000000000)},
		{"dp4a.u32.u32", u(0x01020304, 0x01010101, 5), u(15)},
		{"dp4a.u32.s32", u(0xff, 0xff, 0), u(0xffffff01)}, // 255 · -1
		{"dp4a.s32.s32", u(0xff80ff80, 0x80ff80ff, 0), u(512)},
		{"dp2a.lo.u32.u32", u(0x00020003, 0x01020304, 0), u(2*3 + 3*4)},
		{"dp2a.hi.u32.u32", u(0x00020003, 0x01020304, 0), u(2*1 + 3*2)},
		{"dp2a.lo.s32.s32", u(0xffff8000, 0x0000ff80, 1), u(0x400002)}, // 2^22 + 1 + 1
	})
}

// TestIntCornerValues compares the common operations with Go's arithmetic for all pairs of cornerValues.
func TestIntCornerValues(t *testing.T) {
	// f gets values extended to 64 bits; its result is cut.
	type binary struct {
		op string
		s  func(a, b int64) int64
		u  func(a, b uint64) uint64
	}
	same := func(f func(a, b uint64) uint64) (func(a, b int64) int64, func(a, b uint64) uint64) {
		return func(a, b int64) int64 { return int64(f(uint64(a), uint64(b))) }, f
	}
	addS, addU := same(func(a, b uint64) uint64 { return a + b })
	subS, subU := same(func(a, b uint64) uint64 { return a - b })
	mulS, mulU := same(func(a, b uint64) uint64 { return a * b })
	for _, c := range []binary{
		{"add", addS, addU},
		{"sub", subS, subU},
		{"mul.lo", mulS, mulU},
		{"min", func(a, b int64) int64 { return min(a, b) }, func(a, b uint64) uint64 { return min(a, b) }},
		{"max", func(a, b int64) int64 { return max(a, b) }, func(a, b uint64) uint64 { return max(a, b) }},
		{"div", func(a, b int64) int64 {
			if b == 0 {
				return -1
			}
			return a / b
		}, func(a, b uint64) uint64 {
			if b == 0 {
				return math.MaxUint64
			}
			return a / b
		}},
		{"rem", func(a, b int64) int64 {
			if b == 0 {
				return -1
			}
			return a % b
		}, func(a, b uint64) uint64 {
			if b == 0 {
				return math.MaxUint64
			}
			return a % b
		}},
	} {
		for _, n := range []int{16, 32, 64} {
			checkFunc(t, fmt.Sprintf("%s.s%d", c.op, n), combine(2, cornerValues), func(x []uint64) uint64 {
				return low(uint64(c.s(int64(signExtend(low(x[0], n), n)), int64(signExtend(low(x[1], n), n)))), n)
			})
			checkFunc(t, fmt.Sprintf("%s.u%d", c.op, n), combine(2, cornerValues), func(x []uint64) uint64 {
				return low(c.u(low(x[0], n), low(x[1], n)), n)
			})
		}
	}
}

// TestMulHiWide compares the high half and the wide form of products with math/bits and math/big.
func TestMulHiWide(t *testing.T) {
	pairs := combine(2, cornerValues)
	hiS := func(a, b uint64) uint64 { // Hacker's Delight, from the unsigned product
		hi, _ := bits.Mul64(a, b)
		if int64(a) < 0 {
			hi -= b
		}
		if int64(b) < 0 {
			hi -= a
		}
		return hi
	}
	checkFunc(t, "mul.hi.u64", pairs, func(x []uint64) uint64 { hi, _ := bits.Mul64(x[0], x[1]); return hi })
	checkFunc(t, "mul.hi.s64", pairs, func(x []uint64) uint64 { return hiS(x[0], x[1]) })
	checkFunc(t, "mul.hi.u32", pairs, func(x []uint64) uint64 { return low(x[0], 32) * low(x[1], 32) >> 32 })
	checkFunc(t, "mul.hi.s32", pairs, func(x []uint64) uint64 {
		return low(uint64(int64(int32(x[0]))*int64(int32(x[1]))>>32), 32)
	})
	checkFunc(t, "mul.hi.s16", pairs, func(x []uint64) uint64 {
		return low(uint64(int32(int16(x[0]))*int32(int16(x[1]))>>16), 16)
	})
	checkFunc(t, "mul.wide.u32", pairs, func(x []uint64) uint64 { return low(x[0], 32) * low(x[1], 32) })
	checkFunc(t, "mul.wide.s32", pairs, func(x []uint64) uint64 { return uint64(int64(int32(x[0])) * int64(int32(x[1]))) })
	checkFunc(t, "mul.wide.u16", pairs, func(x []uint64) uint64 { return low(x[0], 16) * low(x[1], 16) })
	checkFunc(t, "mul.wide.s16", pairs, func(x []uint64) uint64 {
		return low(uint64(int32(int16(x[0]))*int32(int16(x[1]))), 32)
	})
	triples := combine(3, cornerValues[8:18])
	checkFunc(t, "mad.lo.s32", triples, func(x []uint64) uint64 { return low(x[0]*x[1]+x[2], 32) })
	checkFunc(t, "mad.wide.s32", triples, func(x []uint64) uint64 {
		return uint64(int64(int32(x[0]))*int64(int32(x[1]))) + x[2]
	})
	checkFunc(t, "mad.wide.u16", triples, func(x []uint64) uint64 {
		return low(low(x[0], 16)*low(x[1], 16)+x[2], 32)
	})
	checkFunc(t, "mad.hi.u32", triples, func(x []uint64) uint64 {
		return low(low(x[0], 32)*low(x[1], 32)>>32+x[2], 32)
	})
}

// TestBitOperations compares bit operations with math/bits, and with shifts written out.
func TestBitOperations(t *testing.T) {
	var ones [][]uint64
	for _, c := range cornerValues {
		ones = append(ones, u(c))
	}
	checkFunc(t, "popc.b64", ones, func(x []uint64) uint64 { return uint64(bits.OnesCount64(x[0])) })
	checkFunc(t, "popc.b32", ones, func(x []uint64) uint64 { return uint64(bits.OnesCount32(uint32(x[0]))) })
	checkFunc(t, "clz.b64", ones, func(x []uint64) uint64 { return uint64(bits.LeadingZeros64(x[0])) })
	checkFunc(t, "clz.b32", ones, func(x []uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(x[0]))) })
	checkFunc(t, "brev.b64", ones, func(x []uint64) uint64 { return bits.Reverse64(x[0]) })
	checkFunc(t, "brev.b32", ones, func(x []uint64) uint64 { return uint64(bits.Reverse32(uint32(x[0]))) })
	checkFunc(t, "not.b16", ones, func(x []uint64) uint64 { return low(^x[0], 16) })
	checkFunc(t, "cnot.b16", ones, func(x []uint64) uint64 { return bit(low(x[0], 16) == 0) })
	pairs := combine(2, cornerValues)
	checkFunc(t, "and.b64", pairs, func(x []uint64) uint64 { return x[0] & x[1] })
	checkFunc(t, "or.b32", pairs, func(x []uint64) uint64 { return low(x[0]|x[1], 32) })
	checkFunc(t, "xor.b16", pairs, func(x []uint64) uint64 { return low(x[0]^x[1], 16) })
	checkAll(t, []want{
		{"and.pred", u(1, 0), u(0)},
		{"or.pred", u(1, 0), u(1)},
		{"xor.pred", u(1, 1), u(0)},
		{"not.pred", u(1), u(0)},
		{"not.pred", u(0), u(1)},
	})
}

// TestShifts: amounts beyond the width are clamped to it (9.7.8.8, 9.7.8.9).
func TestShifts(t *testing.T) {
	checkAll(t, []want{
		{"shl.b32", u(1, 31), u(0x80000000)},
		{"shl.b32", u(1, 32), u(0)},
		{"shl.b32", u(1, 0xffffffff), u(0)},
		{"shl.b16", u(0xffff, 4), u(0xfff0)},
		{"shl.b64", u(1, 64), u(0)},
		{"shr.s32", u(0x80000000, 4), u(0xf8000000)},
		{"shr.s32", u(0x80000000, 100), u(0xffffffff)},
		{"shr.u32", u(0x80000000, 100), u(0)},
		{"shr.b64", u(1<<63, 63), u(1)},
		{"shr.s16", u(0x8000, 3), u(0xf000)},
		{"shf.l.clamp.b32", u(0x89abcdef, 0x01234567, 8), u(0x23456789)},
		{"shf.r.clamp.b32", u(0x89abcdef, 0x01234567, 8), u(0x6789abcd)},
		{"shf.l.clamp.b32", u(0x89abcdef, 0x01234567, 40), u(0x89abcdef)},
		{"shf.r.clamp.b32", u(0x89abcdef, 0x01234567, 40), u(0x01234567)},
		{"shf.l.wrap.b32", u(0x89abcdef, 0x01234567, 40), u(0x23456789)},
		{"shf.r.wrap.b32", u(0x89abcdef, 0x01234567, 32), u(0x89abcdef)},
	})
}

// TestLop3: immLut is the function applied to 0xf0, 0xcc, 0xaa (9.7.8.6).
func TestLop3(t *testing.T) {
	for _, f := range []func(a, b, c uint64) uint64{
		func(a, b, c uint64) uint64 { return a & b & c },
		func(a, b, c uint64) uint64 { return a | b | c },
		func(a, b, c uint64) uint64 { return a & b &^ c },
		func(a, b, c uint64) uint64 { return (a&b | c) ^ a },
		func(a, b, c uint64) uint64 { return a ^ b ^ c },
		func(a, b, c uint64) uint64 { return a&b | a&c | b&c },
	} {
		lut := f(0xf0, 0xcc, 0xaa) & 0xff
		a, b, c := uint64(0x12345678), uint64(0xdeadbeef), uint64(0x0f1e2d3c)
		d := low(f(a, b, c), 32)
		checkAll(t, []want{
			{"lop3.b32", u(a, b, c, lut), u(d)},
			{"lop3.or.b32", u(a, b, c, lut, 0), u(d, bit(d != 0))},
			{"lop3.and.b32", u(a, b, c, lut, 0), u(d, 0)},
		})
	}
	checkAll(t, []want{{"lop3.or.b32", u(0, 0, 0, 0x80, 1), u(0, 1)}, {"lop3.and.b32", u(1, 1, 1, 0x80, 1), u(1, 1)}})
}

// TestExtendedMultiply is the manual's example of madc: a 64 by 64 bit product.
func TestExtendedMultiply(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b64 p, q, o;
	.reg .u32 t, r0, r1, r2, r3, r4, r5, r6, r7;
	mov.u32 t, %tid.x;
	mul.wide.u32 o, t, 16;
	ld.param.u64 p, [in];
	add.u64 p, p, o;
	ld.param.u64 q, [out];
	add.u64 q, q, o;
	ld.global.v4.u32 {r4, r5, r6, r7}, [p];
	mul.lo.u32     r0,r4,r6;
	mul.hi.u32     r1,r4,r6;
	mad.lo.cc.u32  r1,r5,r6,r1;
	madc.hi.u32    r2,r5,r6,0;
	mad.lo.cc.u32   r1,r4,r7,r1;
	madc.hi.cc.u32  r2,r4,r7,r2;
	addc.u32        r3,0,0;
	mad.lo.cc.u32   r2,r5,r7,r2;
	madc.hi.u32     r3,r5,r7,r3;
	st.global.v4.u32 [q], {r0, r1, r2, r3};
	ret;
}`)
	pairs := combine(2, cornerValues)
	in, out := r.alloc(16*len(pairs)), r.alloc(16*len(pairs))
	for i, p := range pairs {
		r.write(in+uint64(16*i), bytesOf(value{p[0], p[1]}, 16))
	}
	r.mustRun("k", 1, len(pairs), in, out)
	for i, p := range pairs {
		hi, lo := bits.Mul64(p[0], p[1])
		b := r.read(out+uint64(16*i), 16)
		if got := valueOf(b); got != (value{lo, hi}) {
			t.Errorf("%#x · %#x = %#x, want %#x", p[0], p[1], got, value{lo, hi})
		}
	}
}

// TestCarry adds and subtracts 128-bit numbers in words of 32 bits, as the examples of addc and subc do.
func TestCarry(t *testing.T) {
	src := func(first, next string) string {
		return `
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b64 p, q, o;
	.reg .u32 t, x<4>, y<4>, z<4>;
	mov.u32 t, %tid.x;
	mul.wide.u32 o, t, 32;
	ld.param.u64 p, [in];
	add.u64 p, p, o;
	ld.param.u64 q, [out];
	add.u64 q, q, o;
	ld.global.v4.u32 {y0, y1, y2, y3}, [p];
	ld.global.v4.u32 {z0, z1, z2, z3}, [p+16];
	` + first + `.cc.u32 x0, y0, z0;
	` + next + `.cc.u32 x1, y1, z1;
	` + next + `.cc.u32 x2, y2, z2;
	` + next + `.cc.u32 x3, y3, z3;
	st.global.v4.u32 [q], {x0, x1, x2, x3};
	` + next + `.u32 x0, 0, 0;
	st.global.u32 [q+16], x0;
	ret;
}`
	}
	values := []value{{0, 0}, {1, 0}, {math.MaxUint64, 0}, {math.MaxUint64, math.MaxUint64}, {0xffffffff, 1 << 63}, {1 << 32, 5}}
	for _, c := range []struct {
		first, next string
		f           func(a, b, c uint64) (uint64, uint64)
		last        func(c uint64) uint32
	}{
		{"add", "addc", bits.Add64, func(c uint64) uint32 { return uint32(c) }},
		{"sub", "subc", bits.Sub64, func(c uint64) uint32 { return -uint32(c) }},
	} {
		r := newHarness(t, src(c.first, c.next))
		n := len(values) * len(values)
		in, out := r.alloc(32*n), r.alloc(32*n)
		for i := range n {
			r.write(in+uint64(32*i), bytesOf(values[i/len(values)], 16))
			r.write(in+uint64(32*i+16), bytesOf(values[i%len(values)], 16))
		}
		r.mustRun("k", 1, n, in, out)
		for i := range n {
			a, b := values[i/len(values)], values[i%len(values)]
			lo, carry := c.f(a.lo, b.lo, 0)
			hi, carry := c.f(a.hi, b.hi, carry)
			p := r.read(out+uint64(32*i), 16)
			if got := valueOf(p); got != (value{lo, hi}) {
				t.Errorf("%s %#x, %#x = %#x, want %#x", c.first, a, b, got, value{lo, hi})
			}
			if got := r.words(out+uint64(32*i+16), 1)[0]; got != c.last(carry) {
				t.Errorf("%s %#x, %#x: flag gives %#x, want %#x", c.first, a, b, got, c.last(carry))
			}
		}
	}
}
