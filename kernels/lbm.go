package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "lbm", Doc: "flow of a fluid around obstacles by the lattice Boltzmann method",
		N: 64, Max: 1 << 10, SizeDoc: "sites along x, ¾ as many along y, 8 along z",
		Origin: "Qian, d'Humières and Lallemand, Lattice BGK models for Navier-Stokes equation (1992), with 19 velocities; lbm of Parboil",
		Papers: []string{"liu2017", "thesis2019"},
		Run:    lbm,
	})
}

func lbm(s *Session) error {
	const directions, steps, obstacle, driven, omega = 19, 2, 1, 2, float32(1.25)
	nx, ny, nz := s.N, landscape(s.N), 8
	n := nx * ny * nz
	velocity := [directions][3]int{
		{},
		{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1},
		{1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0},
		{1, 0, 1}, {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1},
		{0, 1, 1}, {0, -1, -1}, {0, 1, -1}, {0, -1, 1},
	}
	weight := func(d int) float32 { return [4]float32{1 / 3., 1 / 18., 1 / 36.}[min(d, 1)+d/7-d/14] }
	// A box with a moving lid and some obstacles.
	r := newRNG(1)
	kind := make([]uint8, n)
	count := [3]int{}
	for i := range kind {
		x, y, z := i%nx, i/nx%ny, i/(nx*ny)
		switch {
		case x == 0 || x == nx-1 || y == 0 || y == ny-1 || z == 0 || r.intn(16) == 0:
			kind[i] = obstacle
		case z == nz-1:
			kind[i] = driven
		}
		count[kind[i]]++
	}
	f := make([]float32, directions*n)
	for i := range f {
		f[i] = weight(i/n) * (1 + float32(0.01*(r.float()-0.5)))
	}
	dKind, from, to := upload(s, kind), upload(s, f), alloc[float32](s, len(f))
	for range steps {
		if err := s.Launch("lbm", ptx.Dim(ny, nz), ptx.Dim(nx), dKind, from, to); err != nil {
			return err
		}
		from, to = to, from
	}
	for range steps {
		next := make([]float32, len(f))
		for i := range n {
			var density float32
			var u [3]float32
			for d, v := range velocity {
				density += f[d*n+i]
				for axis := range u {
					u[axis] += float32(float32(v[axis]) * f[d*n+i])
				}
			}
			for axis := range u {
				u[axis] /= density
			}
			if kind[i] == driven {
				u = [3]float32{0.005, 0.002, 0}
			}
			rest := fma32(-1.5, dot32(u, u), 1)
			for d, v := range velocity {
				out := f[d*n+i]
				if kind[i] == obstacle {
					if d > 0 { // the opposite direction
						out = f[((d-1)^1+1)*n+i]
					}
				} else {
					var along float32
					for axis := range u {
						along += float32(float32(v[axis]) * u[axis])
					}
					out = fma32(omega, fma32(weight(d)*density, fma32(fma32(4.5, along, 3), along, rest), -out), out)
				}
				x, y, z := (i%nx+v[0]+nx)%nx, (i/nx%ny+v[1]+ny)%ny, (i/(nx*ny)+v[2]+nz)%nz
				next[d*n+(z*ny+y)*nx+x] = out
			}
		}
		f = next
	}
	s.Summary = fmt.Sprintf("%d steps on %d×%d×%d sites, %d of them obstacles", steps, nx, ny, nz, count[obstacle])
	return Equal("f", interp.Slice[float32](from), f)
}
