package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "layernorm", Doc: "layer normalisation of rows of halves, a row to a block",
		N: 512, Max: 1 << 20, SizeDoc: "rows of 768 elements",
		Origin:  "Ba, Kiros and Hinton, Layer normalization (2016); rows as wide as in GPT-2",
		Current: true, Warp: 32,
		Run: layernorm,
	})
}

func layernorm(s *Session) error {
	const columns = 768
	const epsilon = float32(1e-5)
	r := newRNG(1)
	in := f16.randoms(r, s.N*columns, -1, 3)
	gamma, beta := f16.randoms(r, columns, 0.5, 1.5), f16.randoms(r, columns, -0.5, 0.5)
	src, dst := upload(s, in), alloc[uint16](s, len(in))
	if err := s.Launch("layernorm", ptx.Dim(s.N), ptx.Dim(columns/8), epsilon, src, upload(s, gamma), upload(s, beta), dst); err != nil {
		return err
	}
	want, bound := make([]float64, len(in)), make([]float64, len(in))
	g, b := f16.numbers(gamma), f16.numbers(beta)
	for first := 0; first < len(in); first += columns {
		x := f16.numbers(in[first : first+columns])
		mean, variance := 0.0, 0.0
		for _, v := range x {
			mean += v / columns
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / columns
		}
		for i, v := range x {
			y := (v - mean) / math.Sqrt(variance+float64(epsilon))
			want[first+i] = y*g[i] + b[i]
			// The normalised element and the result are each rounded to f16, by at most 2^-11 of their magnitude; sums
			// and rsqrt.approx.f32 have errors below 2^-18.
			bound[first+i] = 0x1p-11*(math.Abs(y*g[i])+math.Abs(want[first+i])) + 0x1p-16
		}
	}
	s.Summary = fmt.Sprintf("normalised %d rows", s.N)
	return within("rows", f16.numbers(interp.Slice[uint16](dst)), want, func(i int) float64 { return bound[i] })
}
