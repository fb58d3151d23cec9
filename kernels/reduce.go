package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "reduce", Doc: "sum of integers by warp shuffles, shared memory and an atomic",
		N: 1 << 22, Max: 1 << 28, SizeDoc: "elements",
		Origin: "the parallel reduction of CUDA textbooks",
		Warp:   32,
		Run:    reduce,
	})
}

func reduce(s *Session) error {
	r := newRNG(1)
	in := make([]int32, s.N)
	want := int32(0) // wraps around
	for i := range in {
		in[i] = int32(r.uint64())
		want += in[i]
	}
	src, sum := upload(s, in), alloc[int32](s, 1)
	if err := s.Launch("reduce", ptx.Dim(min(64, blocks(s.N, 256))), ptx.Dim(256), src, s.N, sum); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("summed %d integers", s.N)
	return Equal("sum", interp.Slice[int32](sum), []int32{want})
}
