package kernels

// This file has the workloads of XMem's experiment with tiles (Vijaykumar 2019, section 2.5): the same work, in a launch for each tile. The
// size is that of a tile.

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

// TiledRows is the number of rows and columns of the matrices of tiled workloads. A tile has whole rows, each of 1 KiB.
const TiledRows = 256

// TiledSteps is the number of steps of the tiled stencil on each tile.
const TiledSteps = 8

func init() {
	for _, w := range []*Workload{
		{Name: "thesis/tiledgemm", Doc: "product of matrices, a launch for each tile of rows of the second", Origin: polybench + "GEMM", Run: tiledGEMM},
		{Name: "thesis/tiledsyrk", Doc: "product of a transposed matrix with the matrix, a launch for each tile of rows", Origin: polybench + "SYRK", Run: tiledSYRK},
		{Name: "thesis/tiledstencil", Doc: "steps of a five-point stencil, several on each tile of rows", Origin: "Jacobi iteration in two dimensions", Run: tiledStencil},
	} {
		w.N, w.Max, w.SizeDoc, w.Papers = 32, TiledRows, "rows of a tile", []string{"thesis2019"}
		registerMeasured(w)
	}
}

// forTiles calls f for each tile of rows.
func forTiles(rows int, f func(first, rows int) error) error {
	for first := 0; first < TiledRows; first += rows {
		if err := f(first, min(rows, TiledRows-first)); err != nil {
			return err
		}
	}
	return nil
}

func tiledGEMM(s *Session) error {
	const n = TiledRows
	r := newRNG(1)
	a, b := r.floats(n*n, -1, 1), r.floats(n*n, -1, 1)
	return tiledProduct(s, "tiledgemm", func(i, k int) float32 { return a[i*n+k] }, b, upload(s, a), upload(s, b))
}

func tiledSYRK(s *Session) error {
	const n = TiledRows
	a := newRNG(1).floats(n*n, -1, 1)
	return tiledProduct(s, "tiledsyrk", func(i, k int) float32 { return a[k*n+i] }, a, upload(s, a))
}

// tiledProduct launches a kernel with the matrices in buffers for each tile, and compares the result with the product of left, by row and
// column, and right.
func tiledProduct(s *Session, kernel string, left func(i, k int) float32, right []float32, buffers ...any) error {
	const n = TiledRows
	product := alloc[float32](s, n*n)
	err := forTiles(s.N, func(first, rows int) error {
		args := slices.Concat([]any{n, first, rows}, buffers, []any{product})
		return s.Launch(kernel, ptx.Dim(n/32, n/8), ptx.Dim(32, 8), args...)
	})
	if err != nil {
		return err
	}
	want := make([]float32, n*n)
	for i := range n {
		for k := range n {
			for j := range n {
				want[i*n+j] = fma32(left(i, k), right[k*n+j], want[i*n+j])
			}
		}
	}
	s.Summary = fmt.Sprintf("%d×%d elements, %d launches", n, n, blocks(n, s.N))
	return Equal("C", interp.Slice[float32](product), want)
}

func tiledStencil(s *Session) error {
	const n = TiledRows
	from := newRNG(1).floats(n*n, -1, 1)
	to := make([]float32, n*n)
	buffers := [2]*interp.Buffer{upload(s, from), alloc[float32](s, n*n)}
	grids := [2][]float32{from, to}
	err := forTiles(s.N, func(first, rows int) error {
		for step := range TiledSteps {
			if err := s.Launch("tiledstencil", ptx.Dim(n/32, blocks(rows, 8)), ptx.Dim(32, 8), n, n, first, rows, buffers[step%2], buffers[1-step%2]); err != nil {
				return err
			}
			in, out := grids[step%2], grids[1-step%2]
			for i := first; i < first+rows; i++ {
				for j := range n {
					v := in[i*n+j]
					if i > 0 && i < n-1 && j > 0 && j < n-1 {
						v = 0.2 * (v + in[i*n+j-1] + in[i*n+j+1] + in[(i-1)*n+j] + in[(i+1)*n+j])
					}
					out[i*n+j] = v
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("%d×%d cells, %d steps on each of %d tiles", n, n, TiledSteps, blocks(n, s.N))
	return Equal("grid", interp.Slice[float32](buffers[0]), from)
}
