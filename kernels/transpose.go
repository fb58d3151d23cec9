package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "transpose", Doc: "matrix transposition through padded tiles in shared memory",
		N: 1024, Max: 1 << 13, SizeDoc: "columns, ¾ as many rows",
		Origin: "the bank-conflict-free transposition of CUDA textbooks",
		Papers: []string{"thesis2019", "vijaykumar2016"},
		Run:    transpose,
	})
}

func transpose(s *Session) error {
	w, h := s.N, landscape(s.N)
	in := newRNG(1).floats(w*h, -1, 1)
	src, dst := upload(s, in), alloc[float32](s, w*h)
	if err := s.Launch("transpose", ptx.Dim(blocks(w, 32), blocks(h, 32)), ptx.Dim(32, 8), src, dst, w, h); err != nil {
		return err
	}
	want := make([]float32, w*h)
	for i, v := range in {
		want[i%w*h+i/w] = v
	}
	s.Summary = fmt.Sprintf("transposed %d rows of %d", h, w)
	return Equal("out", interp.Slice[float32](dst), want)
}
