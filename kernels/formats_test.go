package kernels

import (
	"math"
	"testing"
)

// TestFormats compares codes with those of the definitions of the formats: IEEE 754 for f16, and the manual's section
// 5.2.3 for the others.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		f    format
		x    float64
		code uint16
	}{
		{f16, 0, 0}, {f16, 1, 0x3c00}, {f16, -2, 0xc000}, {f16, 65504, 0x7bff}, {f16, 1e6, 0x7bff},
		{f16, 0x1p-24, 1}, {f16, 0x1p-14, 0x0400}, {f16, 0x1.ff8p-15, 0x03ff},
		{f16, 1 + 0x1p-11, 0x3c00}, {f16, 1 + 0x3p-11, 0x3c02}, {f16, 0x1.fffp0, 0x4000}, // ties to even, with a carry
		{f16, 1 + 0x1.8p-11, 0x3c01}, {f16, 0x1p-26, 0},
		{bf16, 1, 0x3f80}, {bf16, -3.140625, 0xc049}, {bf16, 1 + 0x1p-8, 0x3f80}, {bf16, 1 + 0x3p-8, 0x3f82},
		{e4m3, 1, 0x38}, {e4m3, 448, 0x7e}, {e4m3, 1000, 0x7e}, {e4m3, -448, 0xfe}, {e4m3, 0x1p-9, 1}, {e4m3, 0x1p-6, 8}, {e4m3, 1.0625, 0x38}, {e4m3, 1.1875, 0x3a},
	} {
		if got := c.f.encode(float32(c.x)); got != c.code {
			t.Errorf("%+v: code of %v is %#x, want %#x", c.f, c.x, got, c.code)
		}
	}
	for _, f := range []format{f16, bf16, e4m3} {
		last := float32(-1)
		for code := range f.greatest + 1 {
			x := f.decode(code)
			if x <= last || f.encode(x) != code || f.encode(-x) != code|1<<(f.exponent+f.fraction) || f.decode(f.encode(-x)) != -x {
				t.Fatalf("%+v: code %#x is %v, which follows %v and has the code %#x", f, code, x, last, f.encode(x))
			}
			last = x
		}
	}
	if got := f16.decode(f16.encode(0.1)); math.Abs(float64(got)-0.1) > 0x1p-15 {
		t.Errorf("0.1 as f16 is %v", got)
	}
}
