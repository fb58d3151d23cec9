package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "sgemm", Doc: "C = α·A·B + β·C through tiles in shared memory",
		N: 256, Max: 4096, SizeDoc: "rows of A; ¾ as many columns of B, ½ as many in common",
		Origin: "BLAS level 3, tiled as the CUDA C++ Programming Guide explains; sgemm of Kim et al. 2013",
		Papers: []string{"kim2013", "liu2017", "thesis2019"},
		Flops: func(size int) float64 {
			m, n, k := sgemmShape(size)
			return 2 * float64(m) * float64(n) * float64(k)
		},
		Run: sgemm,
	})
}

// sgemmShape returns the shape of the product of a size: m×k by k×n.
func sgemmShape(size int) (m, n, k int) { return size, landscape(size), blocks(size, 2) }

func sgemm(s *Session) error {
	m, n, k := sgemmShape(s.N)
	r := newRNG(1)
	a, b, c := r.floats(m*k, -1, 1), r.floats(k*n, -1, 1), r.floats(m*n, -1, 1)
	const alpha, beta = float32(1.5), float32(0.25)
	da, db, dc := upload(s, a), upload(s, b), upload(s, c)
	if err := s.Launch("sgemm", ptx.Dim(blocks(n, 16), blocks(m, 16)), ptx.Dim(16, 16), m, n, k, alpha, da, db, beta, dc); err != nil {
		return err
	}
	want := make([]float32, m*n)
	for i := range want {
		row, col := i/n, i%n
		sum := float32(0)
		for j := range k {
			sum = fma32(a[row*k+j], b[j*n+col], sum)
		}
		want[i] = fma32(beta, c[i], alpha*sum)
	}
	s.Summary = fmt.Sprintf("multiplied %d×%d by %d×%d", m, k, k, n)
	return Equal("C", interp.Slice[float32](dc), want)
}
