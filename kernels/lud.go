package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "lud", Doc: "factors of a matrix, lower and upper triangular, tile by tile",
		N: 128, Max: 1 << 12, SizeDoc: "rows and columns, rounded up to 16s, at least 32",
		Origin: "the blocked LU decomposition of Golub and Van Loan, Matrix Computations; lud of Rodinia",
		Papers: []string{"collange2011", "thesis2019"},
		Run:    lud,
	})
}

func lud(s *Session) error {
	const tile = 16
	tiles := max(2, blocks(s.N, tile)) // a single tile has no perimeter
	n := tiles * tile
	a := newRNG(1).floats(n*n, -1, 1)
	for i := range n {
		a[i*n+i] += float32(n) // no pivoting is needed
	}
	matrix := upload(s, a)
	for i := range tiles {
		if err := s.Launch("lud_diagonal", ptx.Dim(1), ptx.Dim(tile), n, i*tile, matrix); err != nil {
			return err
		}
		remaining := tiles - 1 - i // tiles to the right of, and below, the diagonal tile
		if remaining == 0 {
			break
		}
		if err := s.Launch("lud_perimeter", ptx.Dim(remaining), ptx.Dim(2*tile), n, i*tile, matrix); err != nil {
			return err
		}
		if err := s.Launch("lud_internal", ptx.Dim(remaining, remaining), ptx.Dim(tile, tile), n, i*tile, matrix); err != nil {
			return err
		}
	}
	// The reference computes element by element, in the kernel's order of rounding: it sums the products with each earlier
	// tile and subtracts the sum, and then subtracts the products with the preceding elements of the element's own tile.
	for k := range n {
		factor := func(y, x int) {
			v, own := a[y*n+x], k/tile*tile
			for from := 0; from < own; from += tile {
				sum := float32(0)
				for i := from; i < from+tile; i++ {
					sum = fma32(a[y*n+i], a[i*n+x], sum)
				}
				v -= sum
			}
			for i := own; i < k; i++ {
				v = fma32(-a[y*n+i], a[i*n+x], v)
			}
			if y > x {
				v /= a[x*n+x]
			}
			a[y*n+x] = v
		}
		for x := k; x < n; x++ {
			factor(k, x)
		}
		for y := k + 1; y < n; y++ {
			factor(y, k)
		}
	}
	s.Summary = fmt.Sprintf("factored a matrix of %d×%d elements", n, n)
	return Equal("LU", interp.Slice[float32](matrix), a)
}
