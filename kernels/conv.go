package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "conv", Doc: "convolution with a kernel of 20 elements",
		N: 1 << 18, Max: 1 << 28, SizeDoc: "elements",
		Origin: "direct convolution; conv of Kim et al. 2013",
		Papers: []string{"kim2013", "vijaykumar2016"},
		Run:    conv,
	})
}

func conv(s *Session) error {
	const taps = 20
	r := newRNG(1)
	in, tap := r.floats(s.N+taps-1, -1, 1), r.floats(taps, -1, 1)
	src, dTap, dst := upload(s, in), upload(s, tap), alloc[float32](s, s.N)
	if err := s.Launch("conv", ptx.Dim(blocks(s.N, 256)), ptx.Dim(256), s.N, src, taps, dTap, dst); err != nil {
		return err
	}
	want := make([]float32, s.N)
	for j, c := range tap {
		for i := range want {
			want[i] = fma32(c, in[i+j], want[i])
		}
	}
	s.Summary = fmt.Sprintf("%d outputs of %d taps", s.N, taps)
	return Equal("out", interp.Slice[float32](dst), want)
}
