package oracle

import (
	"fmt"
	"math"
	"testing"

	"gemu/internal/part"
)

// TestCvtInt converts integers between widths: to the low bits, or with .sat to the nearest value.
func TestCvtInt(t *testing.T) {
	var ones [][]uint64
	for _, c := range cornerValues {
		ones = append(ones, u(c))
	}
	checkFunc(t, "cvt.s64.s32", ones, func(x []uint64) uint64 { return uint64(int64(int32(x[0]))) })
	checkFunc(t, "cvt.u64.u16", ones, func(x []uint64) uint64 { return uint64(uint16(x[0])) })
	checkFunc(t, "cvt.u32.s16", ones, func(x []uint64) uint64 { return uint64(uint32(int32(int16(x[0])))) })
	checkFunc(t, "cvt.s32.u64", ones, func(x []uint64) uint64 { return uint64(uint32(x[0])) })
	checkFunc(t, "cvt.sat.u8.s32", ones, func(x []uint64) uint64 { return uint64(max(0, min(255, int32(x[0])))) })
	checkFunc(t, "cvt.sat.s32.u64", ones, func(x []uint64) uint64 { return min(x[0], math.MaxInt32) })
	checkFunc(t, "cvt.sat.u32.s64", ones, func(x []uint64) uint64 {
		return uint64(max(0, min(math.MaxUint32, int64(x[0]))))
	})
	checkAll(t, []want{
		// The register is wider than the type, which decides the extension (9.4.1).
		{"cvt.s8.s32", u(0x1ff), u(0xffff)},
		{"cvt.u8.s32", u(0x1ff), u(0x00ff)},
		{"cvt.s16.s8", u(0x80), u(0xff80)},
		{"cvt.sat.s8.s32", u(0x80), u(0x7f)},
		{"cvt.sat.s8.s64", u(1 << 63), u(0xff80)},
	})
}

// TestCvtIntToFloat compares with the host, whose conversions round to nearest even, and with the neighbouring number
// for the other rounding modes.
func TestCvtIntToFloat(t *testing.T) {
	var ones [][]uint64
	for _, c := range cornerValues {
		ones = append(ones, u(c))
	}
	checkFunc(t, "cvt.rn.f32.s32", ones, func(x []uint64) uint64 { return uint64(math.Float32bits(float32(int32(x[0])))) })
	checkFunc(t, "cvt.rn.f32.u64", ones, func(x []uint64) uint64 { return uint64(math.Float32bits(float32(x[0]))) })
	checkFunc(t, "cvt.rn.f64.s64", ones, func(x []uint64) uint64 { return math.Float64bits(float64(int64(x[0]))) })
	checkFunc(t, "cvt.rn.f64.u64", ones, func(x []uint64) uint64 { return math.Float64bits(float64(x[0])) })
	checkFunc(t, "cvt.rn.f64.u8", ones, func(x []uint64) uint64 { return math.Float64bits(float64(uint8(x[0]))) })
	checkAll(t, []want{
		{"cvt.rn.f32.u32", u(0x01000001), u(0x4b800000)}, // 2^24+1, to even
		{"cvt.rn.f32.u32", u(0x01000003), u(0x4b800002)},
		{"cvt.rz.f32.u32", u(0x01000003), u(0x4b800001)},
		{"cvt.rp.f32.u32", u(0x01000001), u(0x4b800001)},
		{"cvt.rm.f32.s32", u(0xfeffffff), u(0xcb800001)}, // -(2^24+1)
		{"cvt.rz.f32.s32", u(0xfeffffff), u(0xcb800000)},
		{"cvt.rn.f32.s32", u(0), u(0)},
		{"cvt.rm.f32.s32", u(0), u(0)},
		{"cvt.rn.f16.u32", u(65519), u(0x7bff)},
		{"cvt.rn.f16.u32", u(65520), u(0x7c00)}, // half a unit above the largest
		{"cvt.rz.f16.u32", u(1 << 31), u(0x7bff)},
		{"cvt.rn.f16.s16", u(0xffff), u(0xbc00)},
		{"cvt.rn.bf16.u64", u(math.MaxUint64), u(0x5f80)},
		{"cvt.rz.bf16.u64", u(math.MaxUint64), u(0x5f7f)},
		{"cvt.rn.sat.f32.s32", u(5), u(fOne)},
		{"cvt.rn.sat.f32.s32", u(0xffffffff), u(0)},
	})
}

// TestCvtFloatToInt: values out of range saturate; NaN is zero, or 1<<(n-1) if one side has 64 bits.
func TestCvtFloatToInt(t *testing.T) {
	f := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	d := math.Float64bits
	checkAll(t, []want{
		{"cvt.rni.s32.f32", u(f(2.5)), u(2)},
		{"cvt.rni.s32.f32", u(f(3.5)), u(4)},
		{"cvt.rni.s32.f32", u(f(-2.5)), u(0xfffffffe)},
		{"cvt.rzi.s32.f32", u(f(-2.9)), u(0xfffffffe)},
		{"cvt.rmi.s32.f32", u(f(-2.1)), u(0xfffffffd)},
		{"cvt.rpi.s32.f32", u(f(2.1)), u(3)},
		{"cvt.rpi.s32.f32", u(fSub), u(1)},
		{"cvt.rpi.ftz.s32.f32", u(fSub), u(0)},
		{"cvt.rmi.s32.f32", u(fSub | fNeg), u(0xffffffff)},
		{"cvt.rzi.s32.f32", u(fInf), u(0x7fffffff)},
		{"cvt.rzi.s32.f32", u(fNInf), u(0x80000000)},
		{"cvt.rzi.u32.f32", u(fNInf), u(0)},
		{"cvt.rzi.u32.f32", u(f(-5)), u(0)},
		{"cvt.rzi.u32.f32", u(f(5e9)), u(0xffffffff)},
		{"cvt.rzi.s32.f32", u(fQNaN), u(0)},
		{"cvt.rzi.u32.f32", u(fQNaN), u(0)},
		{"cvt.rzi.s64.f32", u(fQNaN), u(1 << 63)},
		{"cvt.rzi.u64.f32", u(fQNaN), u(1 << 63)},
		{"cvt.rzi.s32.f64", u(dQNaN), u(0x80000000)},
		{"cvt.rzi.s64.f64", u(dQNaN), u(1 << 63)},
		{"cvt.rzi.s16.f32", u(f(40000)), u(0x7fff)},
		{"cvt.rzi.s8.f32", u(f(-1000)), u(0xff80)},
		{"cvt.rzi.u8.f32", u(f(300)), u(0xff)},
		{"cvt.rni.s64.f64", u(d(-0x1p63)), u(1 << 63)},
		{"cvt.rni.s64.f64", u(d(0x1p63)), u(math.MaxInt64)},
		{"cvt.rni.u64.f64", u(d(0x1p64)), u(math.MaxUint64)},
		{"cvt.rni.u64.f64", u(d(0x1p63)), u(1 << 63)},
		{"cvt.rzi.s32.f16", u(0xfbff), u(0xffff0020)}, // -65504
		{"cvt.rzi.u16.f16", u(0x7bff), u(65504)},
		{"cvt.rpi.s16.bf16", u(0x3f81), u(2)},
	})
}

// TestCvtFloat converts between floating-point formats.
func TestCvtFloat(t *testing.T) {
	checkAll(t, []want{
		{"cvt.rn.f32.f64", u(math.Float64bits(0.1)), u(uint64(math.Float32bits(0.1)))},
		{"cvt.rz.f32.f64", u(dMax), u(fMax)},
		{"cvt.rn.f32.f64", u(dMax), u(fInf)},
		{"cvt.rn.f32.f64", u(0x36a0000000000000), u(fSub)}, // 2^-149
		{"cvt.rn.f32.f64", u(0x3690000000000000), u(0)},    // half of it, to even
		{"cvt.rp.f32.f64", u(0x3690000000000000), u(fSub)},
		{"cvt.rn.ftz.f32.f64", u(0x36a0000000000000), u(0)},
		{"cvt.rn.f32.f64", u(dQNaN), u(0xffc00000)},
		{"cvt.rz.f32.f64", u(0x7ff0000000000002), u(0x7fc00000)},
		{"cvt.rn.sat.f32.f64", u(dQNaN), u(0)},
		{"cvt.rn.f16.f64", u(0xfff0000000000004), u(0xfe00)},
		{"cvt.rni.f64.f64", u(0xfff0000000000004), u(0xfff8000000000004)},
		{"cvt.f64.f64", u(0xfff0000000000004), u(0xfff0000000000004)},
		{"cvt.f64.f32", u(fSub), u(0x36a0000000000000)},
		{"cvt.ftz.f64.f32", u(fSub | fNeg), u(dNeg0)},
		{"cvt.f64.f32", u(0x7f800002), u(0x7ff8000040000000)},
		{"cvt.f64.f32", u(0xffc00003), u(0xfff8000060000000)},
		{"cvt.ftz.f64.f32", u(0xffc00003), u(0x7fffffffe0000000)},
		{"cvt.f64.f16", u(0xfc04), u(0xfff8100000000000)},
		{"cvt.f32.f32", u(0xff800004), u(0xff800004)},
		{"cvt.ftz.f32.f32", u(0xff800004), u(fNaN)},
		{"cvt.f32.bf16", u(0xffbf), u(0xffbf0000)},
		{"cvt.rz.f32.bf16", u(0xff82), u(0xff820000)},
		{"cvt.ftz.f32.bf16", u(0xffc4), u(fNaN)},
		{"cvt.f32.f16", u(0xfc04), u(fNaN)},
		{"cvt.f64.f32", u(fNInf), u(dInf | dNeg)},
		{"cvt.rn.f16.f32", u(0x477fefff), u(0x7bff)}, // just below 65520
		{"cvt.rn.f16.f32", u(0x477ff000), u(0x7c00)},
		{"cvt.rz.f16.f32", u(fMax), u(0x7bff)},
		{"cvt.rn.f16.f32", u(0x33000000), u(0)},      // 2^-25, half the smallest
		{"cvt.rn.f16.f32", u(0x33000001), u(0x0001)}, // just above it
		{"cvt.rn.f16.f32", u(fQNaN), u(0x7fff)},
		{"cvt.f32.f16", u(0x7e01), u(fNaN)},
		{"cvt.f32.f16", u(0x0001), u(0x33800000)}, // 2^-24
		{"cvt.rn.bf16.f32", u(0x3f808000), u(0x3f80)},
		{"cvt.rn.bf16.f32", u(0x3f818000), u(0x3f82)},
		{"cvt.rz.bf16.f32", u(0x3f81ffff), u(0x3f81)},
		{"cvt.rn.bf16.f32", u(0x7f7fffff), u(0x7f80)},
		{"cvt.rn.bf16.f32", u(fQNaN), u(0x7fff)},
		{"cvt.f32.bf16", u(0xc049), u(0xc0490000)},
		{"cvt.f64.f16", u(0x3c00), u(dOne)},
		{"cvt.rz.f16.bf16", u(0x3f81), u(0x3c08)},

		// To the same type: an integer, or only .ftz and .sat.
		{"cvt.rni.f32.f32", u(0x40200000), u(fTwo)},  // 2.5
		{"cvt.rni.f32.f32", u(0xbf000000), u(fNeg0)}, // -0.5
		{"cvt.rpi.f32.f32", u(0xbf000000), u(fNeg0)}, // -0.5
		{"cvt.rmi.f64.f64", u(dSub | dNeg), u(dOne | dNeg)},
		{"cvt.rzi.f32.f32", u(fMax), u(fMax)},
		{"cvt.rni.f32.f32", u(fNInf), u(fNInf)},
		{"cvt.rpi.f16.f16", u(0x0001), u(0x3c00)},
		{"cvt.ftz.f32.f32", u(fSub | fNeg), u(fNeg0)},
		{"cvt.sat.f32.f32", u(fTwo), u(fOne)},
		{"cvt.sat.f32.f32", u(fQNaN), u(0)},
		{"cvt.sat.f32.f32", u(fThird), u(fThird)},
		{"cvt.rn.sat.f16.f32", u(0xc0000000), u(0)},
		{"cvt.sat.f64.f64", u(dInf), u(dOne)},

		{"cvt.rn.f16x2.f32", u(fOne, fTwo), u(0x3c004000)},
		{"cvt.rn.relu.f16x2.f32", u(0xbf800000, fTwo), u(0x4000)},
		{"cvt.rz.bf16x2.f32", u(0x3f81ffff, fQNaN), u(0x3f817fff)},
		{"cvt.rn.satfinite.f16.f32", u(fNInf), u(0xfbff)},
		{"cvt.rn.relu.bf16.f32", u(0xbf800000), u(0)},
		{"cvt.rn.relu.bf16.f32", u(fQNaN), u(0x7fff)},
	})
}

// TestHalfExhaustive converts every .f16 and .bf16 to .f32, as the formats define it, and back. The middle of two
// neighbours is rounded to the even neighbour, all other numbers to the nearest.
func TestHalfExhaustive(t *testing.T) {
	part.SkipShort(t)
	for _, c := range []struct {
		name      string
		frac, max uint64
		value     func(h uint64) float32
	}{
		{"f16", 10, 0x7c00, func(h uint64) float32 {
			if h>>10 == 0 {
				return float32(math.Ldexp(float64(h), -24))
			}
			return float32(math.Ldexp(float64(h&0x3ff|0x400), int(h>>10)-25))
		}},
		{"bf16", 7, 0x7f80, func(h uint64) float32 { return math.Float32frombits(uint32(h) << 16) }},
	} {
		var wide, narrow [][]uint64
		for h := uint64(0); h < c.max; h++ {
			wide = append(wide, u(h))
		}
		for len(wide) > 0 {
			n := min(len(wide), 1024)
			checkFunc(t, "cvt.f32."+c.name, wide[:n], func(x []uint64) uint64 { return uint64(math.Float32bits(c.value(x[0]))) })
			wide = wide[n:]
		}
		nearest := map[uint64]uint64{}
		add := func(x float32, h uint64) {
			b := uint64(math.Float32bits(x))
			narrow = append(narrow, u(b))
			nearest[b] = h
		}
		for h := uint64(0); h+1 < c.max; h += 37 {
			lo, hi := c.value(h), c.value(h+1)
			mid := float32((float64(lo) + float64(hi)) / 2)
			add(lo, h)
			add(mid, h+h&1)
			if c.name == "f16" || h > 0x80 { // .f32 has numbers in between
				add(math.Nextafter32(mid, 0), h)
				add(math.Nextafter32(mid, hi), h+1)
			}
		}
		for len(narrow) > 0 {
			n := min(len(narrow), 1024)
			checkFunc(t, "cvt.rn."+c.name+".f32", narrow[:n], func(x []uint64) uint64 { return nearest[x[0]] })
			narrow = narrow[n:]
		}
	}
}

// TestCvtPack: b lowest, a above it, then c (9.7.9.22).
func TestCvtPack(t *testing.T) {
	checkAll(t, []want{
		{"cvt.pack.sat.u16.s32", u(0x12345, 0xffffffff), u(0xffff0000)},
		{"cvt.pack.sat.s16.s32", u(0x12345, 0x80000000), u(0x7fff8000)},
		{"cvt.pack.sat.s8.s32.b32", u(300, 0xffffff00, 0x1234abcd), u(0xabcd7f80)},
		{"cvt.pack.sat.u4.s32.b32", u(20, 3, 0xabcdef), u(0xabcdeff3)},
		{"cvt.pack.sat.s2.s32.b32", u(5, 0xfffffff0, 0), u(6)},
	})
}

// TestWideRegisters: ld, st and cvt with registers wider than the type (9.4.1).
func TestWideRegisters(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 p) {
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	ld.param.u64 %rd0, [p];
	ld.global.s8  %rd1, [%rd0];
	st.global.b64 [%rd0+8], %rd1;
	ld.global.u8  %rd1, [%rd0];
	st.global.b64 [%rd0+16], %rd1;
	ld.global.b16 %r1, [%rd0];
	st.global.b32 [%rd0+24], %r1;
	ld.global.s16 %r1, [%rd0];
	st.global.b32 [%rd0+28], %r1;
	ld.global.u64 %rd2, [%rd0];
	cvt.s8.u64 %r2, %rd2;
	st.global.b32 [%rd0+32], %r2;
	cvt.u16.u64 %r2, %rd2;
	st.global.b32 [%rd0+36], %r2;
	st.global.b8 [%rd0+40], %rd2;
	cvt.f32.f16 %r3, %r1;   // low half of a wider register
	st.global.b32 [%rd0+44], %r3;
	ret;
}`)
	p := r.buffer(0x7788bc85, 0x11223344, 0, 0, 0, 0, 0, 0, 0, 0, 0xffffffff, 0)
	r.mustRun("k", 1, 1, p)
	got := fmt.Sprintf("%#x", r.words(p+8, 10))
	want := fmt.Sprintf("%#x", []uint32{
		0xffffff85, 0xffffffff, 0x85, 0, 0xbc85, 0xffffbc85, 0xffffff85, 0xbc85, 0xffffff85, 0xbf90a000})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
