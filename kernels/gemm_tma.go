package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "gemm_wgmma", Doc: "C = A·Bᵀ of halves on Hopper: wgmma, and copies by TMA in a warp of their own",
		N: 256, Max: 8192, SizeDoc: gemmSizeDoc,
		Origin:  "CUTLASS 3: the warp-specialised kernels for Hopper",
		Current: true, Warp: 32,
		Flops: gemmFlops,
		Run:   func(s *Session) error { return gemmTMA(s, "gemm_wgmma", 64, 160, 4) },
	})
	register(&Workload{
		Name: "gemm_tcgen05", Doc: "C = A·Bᵀ of halves on Blackwell: tcgen05.mma with sums in tensor memory, and copies by TMA",
		N: 256, Max: 8192, SizeDoc: gemmSizeDoc,
		Origin:  "CUTLASS 4: the warp-specialised kernels for Blackwell",
		Current: true, Warp: 32,
		Flops: gemmFlops,
		Run:   func(s *Session) error { return gemmTMA(s, "gemm_tcgen05", 128, 128, 3) },
	})
}

// gemmTMA runs a kernel that computes tiles of C with a number of rows and 64 columns in blocks of a number of threads, and
// has stages of tiles of A and B in shared memory.
func gemmTMA(s *Session, kernel string, rows, threads, stages int) error {
	const columns, depth = 64, 64
	m, n, k := gemmShape(s.N)
	r := newRNG(1)
	a, b := f16.randoms(r, m*k, -1, 1), f16.randoms(r, n*k, -1, 1)
	pitch := gemmPitch(n)
	// boxes returns the tensor map of a matrix, for boxes with a number of rows.
	boxes := func(matrix []uint16, height int) []byte {
		buffer := upload(s, matrix)
		if s.err != nil {
			return nil
		}
		var text []byte
		text, s.err = buffer.TensorMap(fmt.Sprintf("f16[%dx%d],box=%dx%d,swizzle=128", len(matrix)/k, k, height, depth))
		return text
	}
	mapA, mapB, dc := boxes(a, rows), boxes(b, columns), alloc[uint16](s, m*pitch)
	if err := s.LaunchShared(kernel, ptx.Dim(blocks(n, columns), blocks(m, rows)), ptx.Dim(threads), stages*(rows+columns)*depth*2, m, n, k, pitch, mapA, mapB, dc); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("multiplied %d×%d by %d×%d", m, k, k, n)
	return compareProduct(f16, columnsOf(interp.Slice[uint16](dc), pitch, n), a, b, m, n, k)
}
