package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "cp", Doc: "Coulomb potential on a plane, of all atoms, by direct summation",
		N: 512, Max: 1 << 16, SizeDoc: "atoms",
		Origin: "direct Coulomb summation, Stone et al., Accelerating molecular modeling applications with graphics processors (2007); cutcp of Kim et al. 2013, which names the benchmark after Parboil's",
		Papers: []string{"kim2013"},
		Run:    coulomb,
	})
}

func coulomb(s *Session) error {
	const width, height = 128, 64
	const room = 2048 // capacity of constant memory in atoms, as in cp.cu
	const above = 1.5 // no atom is in the plane
	r := newRNG(1)
	atoms := make([]float32, 4*s.N)
	for i := 0; i < len(atoms); i += 4 {
		z := above + 8*r.float()
		atoms[i], atoms[i+1], atoms[i+2], atoms[i+3] = float32(width*r.float()), float32(height*r.float()), float32(z*z), float32(2*r.float()-1)
	}
	potential := alloc[float32](s, width*height)
	for first := 0; first < s.N; first += room {
		part := atoms[4*first : 4*min(first+room, s.N)]
		setVar(s, "atoms", part)
		if err := s.Launch("cp", ptx.Dim(width/4/16, height/8), ptx.Dim(16, 8), len(part)/4, width, height, potential); err != nil {
			return err
		}
	}
	// The reference adds atom after atom in float64. The kernel's rsqrt.approx.f32 has a relative error of up to 2^-22.
	want := make([]float32, width*height)
	for p := range want {
		sum := 0.0
		for i := 0; i < len(atoms); i += 4 {
			dx, dy := float64(p%width)-float64(atoms[i]), float64(p/width)-float64(atoms[i+1])
			sum += float64(atoms[i+3]) / math.Sqrt(dx*dx+dy*dy+float64(atoms[i+2]))
		}
		want[p] = float32(sum)
	}
	s.Summary = fmt.Sprintf("%d atoms, %d×%d points", s.N, width, height)
	return Close("potential", interp.Slice[float32](potential), want, 1e-4)
}
