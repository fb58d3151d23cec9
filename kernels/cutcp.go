package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "cutcp", Doc: "Coulomb potential on a lattice, of the atoms within a cutoff",
		N: 340, Max: 1 << 17, SizeDoc: "atoms",
		Origin: "Rodrigues et al., GPU acceleration of cutoff pair potentials (CF 2008); cutcp of Kim et al. 2013",
		Papers: []string{"kim2013", "liu2017", "thesis2019"},
		Run:    cutcp,
	})
}

func cutcp(s *Session) error {
	const cell, places = 8, 8
	// The lattice is a cube of n×n×n points, with 16 atoms for every three cells.
	n := int(math.Ceil(cell * math.Cbrt(float64(s.N)*3/16)))
	cells := blocks(n, cell)
	r := newRNG(1)
	atoms := make([]float32, cells*cells*cells*places*4)
	full := make([]int, cells*cells*cells)
	for placed := 0; placed < s.N; {
		x, y, z := r.intn(n), r.intn(n), r.intn(n)
		c := (z/cell*cells+y/cell)*cells + x/cell
		if full[c] == places {
			continue
		}
		for i, v := range []int{x, y, z} { // at least 0.2 from the planes of lattice points
			atoms[(c*places+full[c])*4+i] = float32(v) + 0.2 + float32(0.6*r.float())
		}
		atoms[(c*places+full[c])*4+3] = float32(2*r.float()) - 1
		full[c]++
		placed++
	}
	dAtoms, potential := upload(s, atoms), alloc[float32](s, n*n*n)
	if err := s.Launch("cutcp", ptx.Dim(cells, cells, blocks(n, 4)), ptx.Dim(8, 8, 4), n, cells, dAtoms, potential); err != nil {
		return err
	}
	// The reference adds atom after atom in float64. The kernel's rsqrt.approx.f32 has a relative error of up to 2^-22.
	sum := make([]float64, n*n*n)
	for i := 0; i < len(atoms); i += 4 {
		ax, ay, az, charge := float64(atoms[i]), float64(atoms[i+1]), float64(atoms[i+2]), float64(atoms[i+3])
		for z := clamp(int(az)-cell, n); z <= clamp(int(az)+cell+1, n); z++ {
			for y := clamp(int(ay)-cell, n); y <= clamp(int(ay)+cell+1, n); y++ {
				for x := clamp(int(ax)-cell, n); x <= clamp(int(ax)+cell+1, n); x++ {
					dx, dy, dz := ax-float64(x), ay-float64(y), az-float64(z)
					if r2 := dx*dx + dy*dy + dz*dz; r2 < cell*cell {
						near := 1 - r2/(cell*cell)
						sum[(z*n+y)*n+x] += charge / math.Sqrt(r2) * near * near
					}
				}
			}
		}
	}
	want := make([]float32, len(sum))
	for i, v := range sum {
		want[i] = float32(v)
	}
	s.Summary = fmt.Sprintf("%d atoms, a lattice of %d×%d×%d points", s.N, n, n, n)
	return Close("potential", interp.Slice[float32](potential), want, 1e-5)
}
