package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(gemmWorkload("gemm_f16", "halves, by mma", 256, gemmFloats("gemm_f16", f16)))
	register(gemmWorkload("gemm_bf16", "bfloat16 numbers, by mma", 256, gemmFloats("gemm_bf16", bf16)))
	register(gemmWorkload("gemm_s8", "8-bit integers, by mma, with a scale for each column of the result", 256, gemmIntegers))
}

// gemmWorkload returns a workload of gemm.cu: C = A·Bᵀ on tensor cores.
func gemmWorkload(name, elements string, n int, run func(s *Session) error) *Workload {
	return &Workload{
		Name: name, Doc: "C = A·Bᵀ of " + elements + ", with a pipeline of copies to shared memory",
		N: n, Max: 8192, SizeDoc: gemmSizeDoc,
		Origin:  "a linear layer of a neural network; tiles, pipeline and swizzles as in CUTLASS",
		Current: true, Warp: 32, source: "gemm",
		Flops: gemmFlops,
		Run:   run,
	}
}

// gemmSizeDoc is Workload.SizeDoc.
const gemmSizeDoc = "rows of A; ¾ as many rows of B, ½ as many columns of both, as a multiple of 16"

// gemmShape returns the shape of the product of a size: m×k by k×n.
func gemmShape(size int) (m, n, k int) { return size, landscape(size), 16 * blocks(size, 32) }

// gemmFlops is Workload.Flops.
func gemmFlops(size int) float64 {
	m, n, k := gemmShape(size)
	return 2 * float64(m) * float64(n) * float64(k)
}

// gemmPitch returns the pitch of the rows of C, which have n elements: a multiple of 8.
func gemmPitch(n int) int { return 8 * blocks(n, 8) }

// columnsOf returns the first n columns of rows with a pitch.
func columnsOf[T any](rows []T, pitch, n int) []T {
	list := make([]T, 0, len(rows)/pitch*n)
	for first := 0; first < len(rows); first += pitch {
		list = append(list, rows[first:first+n]...)
	}
	return list
}

// gemmFloats runs a kernel for elements of a floating-point format, with sums in f32.
func gemmFloats(kernel string, f format) func(s *Session) error {
	return func(s *Session) error {
		m, n, k := gemmShape(s.N)
		r := newRNG(1)
		a, b := f.randoms(r, m*k, -1, 1), f.randoms(r, n*k, -1, 1)
		pitch := gemmPitch(n)
		dc := alloc[uint16](s, m*pitch)
		if err := s.Launch(kernel, ptx.Dim(blocks(n, 64), blocks(m, 64)), ptx.Dim(128), m, n, k, pitch, upload(s, a), upload(s, b), uint64(0), dc); err != nil {
			return err
		}
		s.Summary = fmt.Sprintf("multiplied %d×%d by %d×%d", m, k, k, n)
		return compareProduct(f, columnsOf(interp.Slice[uint16](dc), pitch, n), a, b, m, n, k)
	}
}

// compareProduct compares C = A·Bᵀ, with elements of a format, with the exact product, within the errors of tensor cores
// and of the rounding of C.
func compareProduct(f format, c, a, b []uint16, m, n, k int) error {
	x, y := f.numbers(a), f.numbers(b)
	want, bound := make([]float64, m*n), make([]float64, m*n)
	for i := range m {
		for j := range n {
			sum, magnitudes := 0.0, 0.0 // f64 has a rounding error below 2^-40
			for l := range k {
				p := x[i*k+l] * y[j*k+l]
				sum += p
				magnitudes += math.Abs(p)
			}
			want[i*n+j] = sum
			// Tensor cores add at least four products at a time to the sum so far. Each of the addends of a step loses less
			// than 2^-22 of the greatest magnitude in it, which is at most the sum of all magnitudes.
			bound[i*n+j] = float64(k)/4*5*0x1p-22*magnitudes + math.Ldexp(math.Abs(sum), -f.fraction-1) + 0x1p-25
		}
	}
	return within("C", f.numbers(c), want, func(i int) float64 { return bound[i] })
}

// gemmIntegers runs the kernel for integers, whose sums are exact.
func gemmIntegers(s *Session) error {
	m, n, k := gemmShape(s.N)
	r := newRNG(1)
	integers := func(n int) []int8 {
		list := make([]int8, n)
		for i := range list {
			list[i] = int8(r.uint64())
		}
		return list
	}
	a, b := integers(m*k), integers(n*k)
	pitch := gemmPitch(n)
	scale := r.floats(pitch, 0, 1)
	for i := range scale {
		scale[i] *= 2 / (80 * sqrt32(float32(k))) // some results exceed 127
	}
	dc := alloc[int8](s, m*pitch)
	if err := s.Launch("gemm_s8", ptx.Dim(blocks(n, 64), blocks(m, 64)), ptx.Dim(128), m, n, k, pitch, upload(s, a), upload(s, b), upload(s, scale), dc); err != nil {
		return err
	}
	want := make([]int8, m*n)
	for i := range m {
		for j := range n {
			sum := int32(0)
			for l := range k {
				sum += int32(a[i*k+l]) * int32(b[j*k+l])
			}
			scaled := math.RoundToEven(float64(float32(sum) * scale[j]))
			want[i*n+j] = int8(max(-128, min(127, scaled)))
		}
	}
	s.Summary = fmt.Sprintf("multiplied %d×%d by %d×%d", m, k, k, n)
	return Equal("C", columnsOf(interp.Slice[int8](dc), pitch, n), want)
}
