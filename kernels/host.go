package kernels

// This file contains helpers of the host programs: buffers, inputs, and arithmetic with the device's rounding.

import (
	"math"

	"gemu/interp"
)

// upload allocates a buffer with a copy of data. An error is kept in the session, and the next Launch returns it; before
// that Launch the buffer must not be read.
func upload[T interp.Element](s *Session, data []T) *interp.Buffer {
	b, err := interp.NewBuffer(s.Module.Device(), data)
	if err != nil && s.err == nil {
		s.err = err
	}
	return b
}

// alloc allocates a buffer of n zeros, with errors as in upload.
func alloc[T interp.Element](s *Session, n int) *interp.Buffer { return upload(s, make([]T, n)) }

// setVar writes a variable of the module.
func setVar[T interp.Element](s *Session, name string, data []T) {
	copy(interp.Slice[T](s.Module.Var(name)), data)
}

// blocks returns the number of blocks of size b that cover n.
func blocks(n, b int) int { return (n + b - 1) / b }

// clamp returns the value in [0, n) closest to i.
func clamp(i, n int) int { return max(0, min(i, n-1)) }

// fma32 returns a·b + c rounded once, like fma.rn.f32. The product is exact in float64. The sum is rounded to odd in
// float64, so rounding it to float32 gives the correct result (Boldo and Melquiond 2008). The numbers must be finite, and
// neither very large nor very small.
func fma32(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	sum := p + q
	t := sum - p
	rest := (p - (sum - t)) + (q - t) // p + q - sum, exactly (Knuth's TwoSum)
	if bits := math.Float64bits(sum); rest != 0 && bits&1 == 0 {
		if (rest > 0) == (sum > 0) {
			sum = math.Float64frombits(bits + 1)
		} else {
			sum = math.Float64frombits(bits - 1)
		}
	}
	return float32(sum)
}

// dot32 returns the dot product of a and b, summed from the first dimension on.
func dot32(a, b [3]float32) float32 { return fma32(a[2], b[2], fma32(a[1], b[1], a[0]*b[0])) }

// sqrt32 returns the square root, correctly rounded: float64 has more than twice the digits of float32.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// doubles returns the numbers as float64.
func doubles(list []float32) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// rng generates pseudorandom numbers for inputs that are the same on all hosts (xorshift64*, Marsaglia 2003, Vigna 2016).
type rng uint64

func newRNG(seed uint64) *rng {
	r := rng(seed*0x9e3779b97f4a7c15 | 1)
	return &r
}

func (r *rng) uint64() uint64 {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = rng(x)
	return x * 0x2545f4914f6cdd1d
}

// intn returns a number in [0, n).
func (r *rng) intn(n int) int { return int(r.uint64() >> 33 % uint64(n)) }

// float returns a number in [0, 1).
func (r *rng) float() float32 { return float32(r.uint64()>>40) / (1 << 24) }

// floats returns n numbers in [lo, hi).
func (r *rng) floats(n int, lo, hi float32) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = lo + float32((hi-lo)*r.float())
	}
	return f
}

// testImage makes a grey image for filters: a gradient from left to right, a bright disc with a sharp edge, noise, and a few
// black or white pixels.
func testImage(seed uint64, w, h int) []uint8 {
	r := newRNG(seed)
	p := make([]uint8, w*h)
	for i := range p {
		x, y := i%w, i/w
		v := 40 + 120*x/w + r.intn(16)
		if dx, dy := 2*x-w, 2*y-h; dx*dx+dy*dy < h*h/2 {
			v += 90
		}
		if r.intn(50) == 0 {
			v = 255 * r.intn(2)
		}
		p[i] = uint8(min(v, 255))
	}
	return p
}

// landscape returns the height of a picture that is n pixels wide.
func landscape(n int) int { return max(1, n*3/4) }
