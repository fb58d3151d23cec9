package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "lps", Doc: "Jacobi iteration for Laplace's equation in three dimensions",
		N: 100, Max: 1 << 10, SizeDoc: "points along each side of a cube",
		Origin: "Jacobi iteration on a 7-point stencil, planes in shared memory as in Giles's Laplace solver; lps of Kim et al. 2013",
		Papers: []string{"kim2013", "thesis2019", "vijaykumar2016"},
		Run:    lps,
	})
}

func lps(s *Session) error {
	const steps = 1
	nx, ny, nz := s.N, s.N, s.N
	u := newRNG(1).floats(nx*ny*nz, 0, 1)
	from, to := upload(s, u), alloc[float32](s, len(u))
	for range steps {
		if err := s.Launch("lps", ptx.Dim(blocks(nx, 32), blocks(ny, 4)), ptx.Dim(32, 4), nx, ny, nz, from, to); err != nil {
			return err
		}
		from, to = to, from
	}
	for range steps {
		next := make([]float32, len(u))
		for i := range u {
			x, y, z := i%nx, i/nx%ny, i/(nx*ny)
			if x == 0 || x == nx-1 || y == 0 || y == ny-1 || z == 0 || z == nz-1 {
				next[i] = u[i]
				continue
			}
			next[i] = (u[i-1] + u[i+1] + u[i-nx] + u[i+nx] + u[i-nx*ny] + u[i+nx*ny]) * (1 / float32(6))
		}
		u = next
	}
	s.Summary = fmt.Sprintf("%d step on %d×%d×%d points", steps, nx, ny, nz)
	return Equal("u", interp.Slice[float32](from), u)
}
