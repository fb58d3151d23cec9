// This file tests narrow formats: it compares each code with its value in the manual, and each rounding with a search of
// all codes.

package fp

import (
	"math"
	"testing"
)

// narrowFormat describes a format as the manual does.
type narrowFormat struct {
	name  string
	f     *Format
	width int
	frac  int
	min   float64 // the least number above zero
	max   float64
	nans  []uint64
	infs  []uint64
}

var narrowFormats = []narrowFormat{
	{"e5m2", &E5M2, 8, 2, 0x1p-16, 57344, []uint64{0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}, []uint64{0x7c, 0xfc}},
	{"e4m3", &E4M3, 8, 3, 0x1p-9, 448, []uint64{0x7f, 0xff}, nil},
	{"e3m2", &E3M2, 6, 2, 0.0625, 28, nil, nil},
	{"e2m3", &E2M3, 6, 3, 0.125, 7.5, nil, nil},
	{"e2m1", &E2M1, 4, 1, 0.5, 6, nil, nil},
}

// TestNarrowValues decodes all codes. Between zero and the largest number they must be in order, and the step to the next
// number must be the unit of its exponent.
func TestNarrowValues(t *testing.T) {
	for _, tt := range narrowFormats {
		sign := uint64(1) << (tt.width - 1)
		special := map[uint64]float64{}
		for _, c := range tt.nans {
			special[c] = math.NaN()
		}
		for _, c := range tt.infs {
			special[c] = math.Inf(1)
		}
		last, most := 0.0, 0.0
		for c := range sign {
			x, y := tt.f.Value(c), tt.f.Value(c|sign)
			if want, ok := special[c]; ok {
				if math.Float64bits(x) != math.Float64bits(want) && !(x != x && want != want) || x == x && y != -x {
					t.Errorf("%s %#x is %v and %v, want %v", tt.name, c, x, y, want)
				}
				continue
			}
			if math.Float64bits(y) != math.Float64bits(-x) {
				t.Errorf("%s %#x is %v, with the sign %v", tt.name, c, x, y)
			}
			if c == 1 && x != tt.min {
				t.Errorf("%s: the least is %v, want %v", tt.name, x, tt.min)
			}
			// The step is that of subnormals, doubled for every exponent above the first.
			step := tt.min * math.Pow(2, max(0, float64((int(c)-1)>>tt.frac)-1))
			if c > 0 && x-last != step {
				t.Errorf("%s %#x is %v, %v above the one before, want %v", tt.name, c, x, x-last, step)
			}
			last, most = x, max(most, x)
		}
		if most != tt.max {
			t.Errorf("%s: the largest is %v, want %v", tt.name, most, tt.max)
		}
	}
	for c := range uint64(255) {
		if x := UE8M0.Value(c); x != math.Ldexp(1, int(c)-127) {
			t.Errorf("ue8m0 %#x is %v", c, x)
		}
	}
	if x := UE8M0.Value(255); x == x {
		t.Errorf("ue8m0 0xff is %v", x)
	}
	for c := range uint64(256) {
		if x := S2F6.Value(c); x != float64(int8(c))/64 {
			t.Errorf("s2f6 %#x is %v", c, x)
		}
	}
}

// nearest returns the code of the finite number nearest to x; of two such codes the even one.
func nearest(f *Format, width int, x float64) uint64 {
	best, found := uint64(0), false
	for c := range uint64(1) << width {
		y := f.Value(c)
		if y != y || math.IsInf(y, 0) || math.Signbit(y) != math.Signbit(x) && f.sign != 0 && !(f.fixed && y == 0) {
			continue
		}
		d, e := math.Abs(x-y), math.Abs(x-f.Value(best))
		if !found || d < e || d == e && c&1 == 0 {
			best, found = c, true
		}
	}
	return best
}

// TestNarrowConvert converts all numbers, the midpoints between them, and neighbours of these.
func TestNarrowConvert(t *testing.T) {
	for _, tt := range append(narrowFormats, narrowFormat{name: "s2f6", f: &S2F6, width: 8}) {
		f := tt.f
		for c := range uint64(1) << tt.width {
			x := f.Value(c)
			if x != x || math.IsInf(x, 0) {
				continue
			}
			for _, d := range []float64{0, 0.25, 0.5, 0.75} {
				next := f.Value((c + 1) & (1<<tt.width - 1))
				if next != next || math.IsInf(next, 0) || math.Abs(next-x) > 2*math.Abs(x)+8 {
					next = x * 1.125
				}
				for _, off := range []float64{1, 1 + 0x1p-30, 1 - 0x1p-30} {
					y := (x + d*(next-x)) * off
					if got, want := f.Convert(y, RN, 0, true), nearest(f, tt.width, y); got != want {
						t.Fatalf("%s: %v becomes %#x, want %#x", tt.name, y, got, want)
					}
					if f.fixed {
						continue
					}
					// With .rs the number of random values, of 2^16, that round away from zero must be the lost part of y.
					down, up := f.Convert(y, RZ, 0, true), f.Convert(y, RP, 0, true)
					if y < 0 {
						up = f.Convert(y, RM, 0, true)
					}
					if a, b := f.Value(down), f.Value(up); math.Abs(a) > math.Abs(y) || math.Abs(b) < math.Abs(y) && math.Abs(y) <= tt.max || down != up && down+1 != up {
						t.Fatalf("%s: %v is cut to %v and rounded away to %v", tt.name, y, a, b)
					}
					if down == up {
						continue
					}
					part := uint64(math.Abs((y - f.Value(down)) / (f.Value(up) - f.Value(down)) * (1 << 16)))
					for _, random := range []uint64{0, 1<<16 - 1 - part, 1<<16 - part, 1<<16 - 1} {
						want := down
						if random+part >= 1<<16 {
							want = up
						}
						if random >= 1<<16 {
							continue
						}
						if got := f.Convert(y, RS, random<<48, true); got != want {
							t.Fatalf("%s: %v with random bits %#x becomes %#x, want %#x", tt.name, y, random, got, want)
						}
					}
				}
			}
		}
	}
}

// TestNarrowBeyond converts numbers that are too large, and NaNs.
func TestNarrowBeyond(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		name      string
		f         *Format
		x         float64
		r         Rounding
		satfinite bool
		want      uint64
	}{
		{"e4m3", &E4M3, 1e9, RN, true, 0x7e}, {"e4m3", &E4M3, -inf, RN, true, 0xfe}, {"e4m3", &E4M3, inf, RN, false, 0x7f}, {"e4m3", &E4M3, nan, RN, true, 0x7f},
		{"e5m2", &E5M2, inf, RN, true, 0x7b}, {"e5m2", &E5M2, inf, RN, false, 0x7c}, {"e5m2", &E5M2, 1e9, RZ, false, 0x7b}, {"e5m2", &E5M2, -1e9, RP, false, 0xfb}, {"e5m2", &E5M2, nan, RN, true, 0x7f},
		{"e2m1", &E2M1, nan, RN, true, 7}, {"e2m1", &E2M1, -inf, RN, true, 0xf}, {"e2m3", &E2M3, nan, RN, true, 0x1f}, {"e3m2", &E3M2, -1e9, RN, true, 0x3f},
		{"ue8m0", &UE8M0, 0, RZ, false, 0}, {"ue8m0", &UE8M0, 3, RZ, false, 128}, {"ue8m0", &UE8M0, 3, RP, false, 129}, {"ue8m0", &UE8M0, -3, RP, false, 129},
		{"ue8m0", &UE8M0, 0x1p-149, RP, false, 0}, {"ue8m0", &UE8M0, 0x1.8p-127, RP, false, 1}, {"ue8m0", &UE8M0, 0x1.8p127, RP, false, 0xff}, {"ue8m0", &UE8M0, 0x1.8p127, RP, true, 0xfe},
		{"ue8m0", &UE8M0, inf, RZ, true, 0xfe}, {"ue8m0", &UE8M0, inf, RZ, false, 0xff}, {"ue8m0", &UE8M0, nan, RZ, true, 0xff},
		{"s2f6", &S2F6, -2, RN, true, 0x80}, {"s2f6", &S2F6, -inf, RN, true, 0x80}, {"s2f6", &S2F6, 1.9999, RN, true, 0x7f}, {"s2f6", &S2F6, nan, RN, true, 0x7f},
		{"tf32", &TF32, 1 + 0x1p-11, RN, false, 127 << 10}, {"tf32", &TF32, 1 + 0x1p-11, RNA, false, 127<<10 + 1}, {"tf32", &TF32, -0x1.fffp127, RN, false, 1<<18 | 0xff<<10}, {"tf32", &TF32, -0x1.fffp127, RN, true, 1<<18 | (0xff<<10 - 1)},
	} {
		if got := tt.f.Convert(tt.x, tt.r, 0, tt.satfinite); got != tt.want {
			t.Errorf("%s: %v (%v, satfinite %v) becomes %#x, want %#x", tt.name, tt.x, tt.r, tt.satfinite, got, tt.want)
		}
	}
}
