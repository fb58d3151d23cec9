package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "cmult", Doc: "product of complex numbers, element by element",
		N: 1 << 20, Max: 1 << 27, SizeDoc: "elements",
		Origin: "cmult of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    cmult,
	})
}

func cmult(s *Session) error {
	r := newRNG(1)
	a, b := r.floats(2*s.N, -1, 1), r.floats(2*s.N, -1, 1)
	da, db, dc := upload(s, a), upload(s, b), alloc[float32](s, 2*s.N)
	if err := s.Launch("cmult", ptx.Dim(blocks(s.N, 256)), ptx.Dim(256), s.N, da, db, dc); err != nil {
		return err
	}
	want := make([]float32, 2*s.N)
	for i := 0; i < len(want); i += 2 {
		want[i] = fma32(a[i], b[i], -(a[i+1] * b[i+1]))
		want[i+1] = fma32(a[i], b[i+1], a[i+1]*b[i])
	}
	s.Summary = fmt.Sprintf("multiplied %d pairs of complex numbers", s.N)
	return Equal("c", interp.Slice[float32](dc), want)
}
