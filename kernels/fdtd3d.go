package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "fdtd3d", Doc: "finite differences in three dimensions, of radius 4",
		N: 64, Max: 1 << 10, SizeDoc: "points along x, ¾ as many along y, ¼ along z",
		Origin: "Micikevicius, 3D finite difference computation on GPUs using CUDA (GPGPU-2, 2009); FDTD3d of the CUDA SDK",
		Papers: []string{"collange2011"},
		Run:    fdtd3d,
	})
}

func fdtd3d(s *Session) error {
	const radius, steps = 4, 2
	nx, ny, nz := s.N, landscape(s.N), blocks(s.N, 4)
	width := nx + 2*radius
	area := width * (ny + 2*radius)
	r := newRNG(1)
	u := r.floats(area*(nz+2*radius), 0, 1)
	stencil := []float32{0.5, 0.04, 0.02, 0.015, 0.008}
	setVar(s, "stencil", stencil)
	from, to := upload(s, u), upload(s, u)
	for range steps {
		if err := s.Launch("fdtd3d", ptx.Dim(blocks(nx, 32), blocks(ny, 8)), ptx.Dim(32, 8), nx, ny, nz, from, to); err != nil {
			return err
		}
		from, to = to, from
	}
	next := make([]float32, len(u))
	copy(next, u)
	for range steps {
		for z := radius; z < nz+radius; z++ {
			for y := radius; y < ny+radius; y++ {
				for x := radius; x < nx+radius; x++ {
					i := z*area + y*width + x
					sum := stencil[0] * u[i]
					for r := 1; r <= radius; r++ {
						sum = fma32(stencil[r], u[i-r*area]+u[i+r*area]+u[i-r*width]+u[i+r*width]+u[i-r]+u[i+r], sum)
					}
					next[i] = sum
				}
			}
		}
		u, next = next, u
	}
	s.Summary = fmt.Sprintf("%d steps on %d×%d×%d points", steps, nx, ny, nz)
	return Equal("u", interp.Slice[float32](from), u)
}
