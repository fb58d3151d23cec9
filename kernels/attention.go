package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "attention", Doc: "attention of two heads of halves, by mma, without a matrix of all weights",
		N: 256, Max: 8192, SizeDoc: "rows of queries, keys and values, of 64 elements",
		Origin:  "Dao, FlashAttention-2 (2023): the forward pass",
		Current: true, Warp: 32,
		Flops: func(size int) float64 { return attentionHeads * 4 * float64(size) * float64(size) * attentionWidth },
		Run:   attention,
	})
}

const attentionHeads, attentionWidth = 2, 64

func attention(s *Session) error {
	const width = attentionWidth
	r := newRNG(1)
	size := attentionHeads * s.N * width
	q, k, v := f16.randoms(r, size, -3, 3), f16.randoms(r, size, -3, 3), f16.randoms(r, size, -1, 1)
	dst := alloc[uint16](s, size)
	if err := s.Launch("attention", ptx.Dim(blocks(s.N, 64), attentionHeads), ptx.Dim(128), s.N, upload(s, q), upload(s, k), upload(s, v), dst); err != nil {
		return err
	}
	want := make([]float64, 0, size)
	weights := make([]float64, s.N)
	for first := 0; first < size; first += s.N * width { // a head
		q, k, v := f16.numbers(q[first:][:s.N*width]), f16.numbers(k[first:][:s.N*width]), f16.numbers(v[first:][:s.N*width])
		for i := range s.N {
			total := 0.0
			for j := range weights {
				score := 0.0
				for l := range width {
					score += q[i*width+l] * k[j*width+l]
				}
				weights[j] = math.Exp(score / 8)
				total += weights[j]
			}
			row := make([]float64, width)
			for j, w := range weights {
				for l := range row {
					row[l] += w / total * v[j*width+l]
				}
			}
			want = append(want, row...)
		}
	}
	s.Summary = fmt.Sprintf("%d heads of %d rows", attentionHeads, s.N)
	// Weights are rounded to f16 before the product, by at most 2^-11 of their magnitude, or 2^-25; values are at most 1,
	// and the weights of a row sum to 1 after the division by a total, which is at least 1. The result is rounded by at
	// most 2^-11. Sums of f32 lose less than 2^-22 of the sum of magnitudes (at most 576 for a score) in each of a few
	// additions: an exponent has an error below 2^-11 in the worst case, and so has a weight.
	return within("heads", f16.numbers(interp.Slice[uint16](dst)), want, func(i int) float64 {
		return 2*0x1p-11 + 0x1p-11*math.Abs(want[i]) + float64(s.N)*0x1p-25
	})
}
