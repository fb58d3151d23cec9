package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "threshold", Doc: "y = a·y, saturated: the example of the value-structure paper",
		N: 1 << 20, Max: 1 << 28, SizeDoc: "elements",
		Origin: "figure 1 of Kim et al., Microarchitectural Mechanisms to Exploit Value Structure in SIMT Architectures (ISCA 2013)",
		Papers: []string{"kim2013"},
		Run:    threshold,
	})
}

func threshold(s *Session) error {
	const a, limit, block = 3, 1000, 256
	y := make([]int32, blocks(s.N, block)*block) // the kernel has no bounds check
	r := newRNG(1)
	for i := range s.N {
		y[i] = int32(r.intn(600) - 100)
	}
	dy := upload(s, y)
	if err := s.Launch("ex_gpsimt_kernel", ptx.Dim(len(y)/block), ptx.Dim(block), dy, a); err != nil {
		return err
	}
	above := 0
	for i, v := range y {
		if a*v > limit {
			above++
		}
		y[i] = min(a*v, limit)
	}
	s.Summary = fmt.Sprintf("y = %d·y, %d of %d elements saturated", a, above, s.N)
	return Equal("y", interp.Slice[int32](dy), y)
}
