package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "bilat", Doc: "bilateral filter of a grey image",
		N: 192, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "Tomasi and Manduchi, Bilateral filtering for gray and color images (ICCV 1998), with a lookup table and a Taylor series as in bilat of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    bilat,
	})
}

func bilat(s *Session) error {
	const (
		radius, side = 3, 2*3 + 1
		near, sigma  = 2.0, 30 // standard deviations of the weights, by distance in pixels and by intensity
		scale        = 1.0 / (2 * sigma * sigma)
	)
	w, h := s.N, landscape(s.N)
	in := testImage(2, w, h)
	nearness := make([]float32, side*side)
	for i := range nearness {
		dx, dy := float64(i%side-radius), float64(i/side-radius)
		nearness[i] = float32(math.Exp(-(dx*dx + dy*dy) / (2 * near * near)))
	}
	setVar(s, "nearness", nearness)
	src, dst := upload(s, in), alloc[float32](s, w*h)
	if err := s.Launch("bilat", ptx.Dim(blocks(w, 32), blocks(h, 8)), ptx.Dim(32, 8), src, dst, w, h, sigma, scale); err != nil {
		return err
	}
	// The reference computes in float64, with the series that the kernel uses for e^-t. The series has an error of up to
	// 0.6 %, but the kernel differs from the reference only by the rounding of float32, about 1e-6.
	decay := make([]float64, 3*sigma+1)
	for d := range decay {
		u := -float64(d*d) * scale / 8
		decay[d] = math.Pow(1+u+u*u/2+u*u*u/6+u*u*u*u/24, 8)
	}
	want := make([]float32, w*h)
	for i := range want {
		x, y := i%w, i/w
		var sum, weights float64
		for py := max(y-radius, 0); py <= min(y+radius, h-1); py++ {
			for px := max(x-radius, 0); px <= min(x+radius, w-1); px++ {
				v := in[py*w+px]
				d := max(v, in[i]) - min(v, in[i])
				if int(d) < len(decay) {
					weight := float64(nearness[(py-y+radius)*side+px-x+radius]) * decay[d]
					sum += weight * float64(v)
					weights += weight
				}
			}
		}
		want[i] = float32(sum / weights)
	}
	s.Summary = fmt.Sprintf("filtered an image of %d×%d pixels", w, h)
	return Close("out", interp.Slice[float32](dst), want, 1e-5)
}
