package kernels

import (
	"fmt"

	"gemu/interp"
)

func init() {
	register(&Workload{
		Name: "saxpy", Doc: "y = a·x + y over vectors of floats",
		N: 1 << 16, SizeDoc: "elements",
		Origin: "BLAS level 1",
		Run:    saxpy,
	})
}

func saxpy(s *Session) error {
	r := newRNG(1)
	x, y := make([]float32, s.N), make([]float32, s.N)
	for i := range x {
		x[i], y[i] = r.float(), r.float()
	}
	const a = 2.5
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	dy, err := upload(s, y)
	if err != nil {
		return err
	}
	if err := s.Launch("saxpy", interp.Dim(blocks(s.N, 256)), interp.Dim(256), s.N, float32(a), dx, dy); err != nil {
		return err
	}
	want := make([]float32, s.N)
	for i := range want {
		// One rounding, as the fma of the kernel; exact in float64.
		want[i] = float32(float64(a)*float64(x[i]) + float64(y[i]))
	}
	s.Summary = fmt.Sprintf("y = %v·x + y over %d elements", a, s.N)
	return Equal("y", interp.Slice[float32](dy), want)
}
