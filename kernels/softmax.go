package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "softmax", Doc: "softmax of rows of halves, a row to a warp",
		N: 512, Max: 1 << 20, SizeDoc: "rows of 1024 elements",
		Origin:  "the last step of classifiers and of attention in neural networks; exponentials by ex2.approx",
		Current: true, Warp: 32,
		Run: softmax,
	})
}

func softmax(s *Session) error {
	const columns = 1024
	in := f16.randoms(newRNG(1), s.N*columns, -8, 8)
	src, dst := upload(s, in), alloc[uint16](s, len(in))
	if err := s.Launch("softmax", ptx.Dim(blocks(s.N, 4)), ptx.Dim(128), s.N, src, dst); err != nil {
		return err
	}
	want := make([]float64, len(in))
	for first := 0; first < len(in); first += columns {
		x, y := f16.numbers(in[first:first+columns]), want[first:first+columns]
		sum := 0.0
		for i := range x {
			y[i] = math.Exp(x[i])
			sum += y[i]
		}
		for i := range y {
			y[i] /= sum
		}
	}
	s.Summary = fmt.Sprintf("normalised %d rows", s.N)
	// The result is rounded to f16: by at most 2^-11 of its magnitude, or by 2^-25 if it is subnormal. The exponents are
	// at most 24 in magnitude, and are rounded to f32 by at most 2^-20: 2^-20 of the power. ex2.approx.ftz.f32 has an
	// error below 2^-22, and the sum one below 2^-18 of its magnitude (64 additions one after another).
	return within("softmax", f16.numbers(interp.Slice[uint16](dst)), want, func(i int) float64 { return (0x1p-11+0x1p-17)*want[i] + 0x1p-25 })
}
