package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "mandelbrot", Doc: "escape times of the Mandelbrot set",
		N: 320, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "the escape-time algorithm",
		Run:    mandelbrot,
	})
}

func mandelbrot(s *Session) error {
	const limit = 100
	w, h := s.N, landscape(s.N)
	left, top, step := float32(-2.25), float32(1.25), 3/float32(w)
	output := alloc[int32](s, w*h)
	if err := s.Launch("mandelbrot", ptx.Dim(blocks(w, 16), blocks(h, 16)), ptx.Dim(16, 16), left, top, step, w, h, limit, output); err != nil {
		return err
	}
	// Escape times depend on the last bit, so the reference rounds as the PTX does, in which the compiler has contracted
	// a·b + c to an fma wherever it could.
	want := make([]int32, w*h)
	inside := 0
	for i := range want {
		cr, ci := fma32(float32(i%w), step, left), fma32(-float32(i/w), step, top)
		var zr, zi float32
		for want[i] < limit {
			ii := zi * zi
			if fma32(zr, zr, ii) > 4 {
				break
			}
			zr, zi = fma32(zr, zr, -ii)+cr, fma32(zi, 2*zr, ci)
			want[i]++
		}
		if want[i] == limit {
			inside++
		}
	}
	s.Summary = fmt.Sprintf("%d of %d×%d points stayed for %d steps", inside, w, h, limit)
	return Equal("out", interp.Slice[int32](output), want)
}
