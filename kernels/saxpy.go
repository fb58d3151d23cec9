package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "saxpy", Doc: "y = a·x + y over vectors of floats",
		N: 1 << 20, Max: 1 << 28, SizeDoc: "elements",
		Origin: "BLAS level 1",
		Run:    saxpy,
	})
}

func saxpy(s *Session) error {
	r := newRNG(1)
	x, y := r.floats(s.N, 0, 1), r.floats(s.N, 0, 1)
	const a = 2.7
	dx, dy := upload(s, x), upload(s, y)
	if err := s.Launch("saxpy", ptx.Dim(blocks(s.N, 256)), ptx.Dim(256), s.N, float32(a), dx, dy); err != nil {
		return err
	}
	want := make([]float32, s.N)
	for i := range want {
		want[i] = fma32(a, x[i], y[i])
	}
	s.Summary = fmt.Sprintf("y = %v·x + y over %d elements", a, s.N)
	return Equal("y", interp.Slice[float32](dy), want)
}
