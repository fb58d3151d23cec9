package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "stencil", Doc: "iterations of a 7-point stencil, two columns to a thread",
		N: 64, Max: 1 << 11, SizeDoc: "points along x, ¾ as many along y, ⅛ along z and at least 4",
		Origin: "Datta et al., Stencil computation optimization and auto-tuning on state-of-the-art multicore architectures (SC 2008); stencil of Parboil",
		Papers: []string{"liu2017", "thesis2019"},
		Run:    stencil,
	})
}

func stencil(s *Session) error {
	const steps, centre, neighbours = 4, float32(1. / 6), float32(1. / 36)
	nx, ny, nz := s.N, landscape(s.N), max(4, blocks(s.N, 8))
	area := nx * ny
	u := newRNG(1).floats(area*nz, 0, 1)
	from, to := upload(s, u), upload(s, u)
	for range steps {
		if err := s.Launch("stencil", ptx.Dim(blocks(nx, 64), blocks(ny, 4)), ptx.Dim(32, 4), nx, ny, nz, centre, neighbours, from, to); err != nil {
			return err
		}
		from, to = to, from
	}
	for range steps {
		next := make([]float32, len(u))
		for i := range u {
			x, y, z := i%nx, i/nx%ny, i/area
			if next[i] = u[i]; x > 0 && x < nx-1 && y > 0 && y < ny-1 && z > 0 && z < nz-1 {
				next[i] = fma32(neighbours, u[i-area]+u[i+area]+u[i-nx]+u[i+nx]+u[i-1]+u[i+1], -centre*u[i])
			}
		}
		u = next
	}
	s.Summary = fmt.Sprintf("%d steps on %d×%d×%d points", steps, nx, ny, nz)
	return Equal("u", interp.Slice[float32](from), u)
}
