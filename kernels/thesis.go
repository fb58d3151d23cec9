package kernels

// This file has workloads after benchmarks of the thesis of Vijaykumar (2019) that the library does not have: their distribution of
// work over threads and CTAs, with inputs of their own (docs/thesis2019.md).

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

const polybench = "Grauer-Gray et al., Auto-tuning a high-level language targeted to GPU codes (InPar 2012), "

func init() {
	for _, w := range []*Workload{
		{Name: "thesis/syrk", Doc: "product of a matrix with its transpose, an element in each thread", N: 192, Max: 1 << 11, SizeDoc: "rows and columns", Origin: polybench + "SYRK", Blocks: []int{256, 128, 512}, Run: syrk},
		{Name: "thesis/doitgen", Doc: "products of planes with a matrix, a launch for each plane", N: 128, Max: 1 << 10, SizeDoc: "rows and columns of each of 4 planes", Origin: polybench + "doitgen", Blocks: []int{256, 128, 512}, Run: doitgen},
		{Name: "thesis/conv2d", Doc: "weighted sum of 3×3 neighbours", N: 512, Max: 1 << 12, SizeDoc: "rows and columns", Origin: polybench + "2DCONV", Blocks: []int{256, 128, 512}, Run: conv2d},
		{Name: "thesis/histo", Doc: "histogram in ranges of bins, each of which a row of blocks counts over all pixels", N: 1 << 17, Max: 1 << 22, SizeDoc: "pixels", Origin: parboil + "histo", Blocks: []int{256, 128, 512}, Run: histo},
		{Name: "thesis/scalarprod", Doc: "dot products of pairs of vectors", N: 128, Max: 1 << 12, SizeDoc: "pairs of vectors of 4096 elements", Origin: "scalarProd of the CUDA SDK", Run: scalarProd},
		{Name: "thesis/gemm", Doc: "matrix product without tiles, an element in each thread", N: 640, Max: 1 << 11, SizeDoc: "rows and columns", Origin: polybench + "GEMM", Blocks: []int{256, 128, 512}, Run: gemmUntiled},
		{Name: "thesis/spmvcsr", Doc: "sparse matrix times vector, in compressed rows", N: 1 << 16, Max: 1 << 20, SizeDoc: "rows and columns", Origin: "Bell and Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors (SC 2009): a row in each thread", Blocks: []int{256, 128, 512}, Run: spmvCSR},
	} {
		w.Papers, w.BlockThreads = []string{"thesis2019"}, true
		registerMeasured(w)
	}
}

// threadOfMatrix launches a kernel with a thread for each element of an n×n matrix, in blocks with 32 columns.
func (s *Session) threadOfMatrix(kernel string, n int, args ...any) error {
	rows := s.Block / 32
	return s.Launch(kernel, ptx.Dim(blocks(n, 32), blocks(n, rows)), ptx.Dim(32, rows), args...)
}

func syrk(s *Session) error {
	n, m := s.N, s.N
	r := newRNG(1)
	a, c := r.floats(n*m, -1, 1), r.floats(n*n, -1, 1)
	const alpha, beta = float32(1.5), float32(0.25)
	da, dc := upload(s, a), upload(s, c)
	if err := s.threadOfMatrix("syrk", n, n, m, alpha, beta, da, dc); err != nil {
		return err
	}
	want := make([]float32, n*n)
	for i := range want {
		row, col, sum := i/n, i%n, float32(0)
		for k := range m {
			sum = fma32(a[row*m+k], a[col*m+k], sum)
		}
		want[i] = fma32(c[i], beta, alpha*sum)
	}
	s.Summary = fmt.Sprintf("%d×%d elements", n, n)
	return Equal("C", interp.Slice[float32](dc), want)
}

func doitgen(s *Session) error {
	const planes = 4
	n := s.N
	r := newRNG(1)
	a, c := r.floats(planes*n*n, -1, 1), r.floats(n*n, -1, 1)
	da, dc, dsum := upload(s, a), upload(s, c), alloc[float32](s, planes*n*n)
	for plane := range planes {
		if err := s.threadOfMatrix("doitgen", n, n, n, plane, da, dc, dsum); err != nil {
			return err
		}
	}
	want := make([]float32, planes*n*n)
	for i := range want {
		row, p := i/n, i%n
		for k := range n {
			want[i] = fma32(a[row*n+k], c[k*n+p], want[i])
		}
	}
	s.Summary = fmt.Sprintf("%d planes of %d×%d", planes, n, n)
	return Equal("sum", interp.Slice[float32](dsum), want)
}

func conv2d(s *Session) error {
	n := s.N
	a := newRNG(1).floats(n*n, -1, 1)
	da, db := upload(s, a), alloc[float32](s, n*n)
	if err := s.threadOfMatrix("conv2d", n, n, da, db); err != nil {
		return err
	}
	weights := []float32{0.2, -0.3, 0.4, 0.5, 0.6, 0.7, -0.8, -0.9, 0.1}
	want := make([]float32, n*n)
	for i := 1; i < n-1; i++ {
		for j := 1; j < n-1; j++ {
			v := weights[0] * a[(i-1)*n+j-1]
			for k := 1; k < 9; k++ {
				v = fma32(weights[k], a[(i-1+k/3)*n+j-1+k%3], v)
			}
			want[i*n+j] = v
		}
	}
	s.Summary = fmt.Sprintf("%d×%d elements", n, n)
	return Equal("b", interp.Slice[float32](db), want)
}

func histo(s *Session) error {
	const ranges, bins = 4, 1024
	r := newRNG(1)
	pixels, want := make([]uint32, s.N), make([]uint32, ranges*bins)
	for i := range pixels { // most pixels are near a few values
		at := r.intn(64) + 64*r.intn(4)
		if r.intn(4) == 0 {
			at = r.intn(ranges * bins)
		}
		pixels[i] = uint32(at/bins<<24 | at%bins)
		want[at]++
	}
	dPixels, dBins := upload(s, pixels), alloc[uint32](s, ranges*bins)
	if err := s.Launch("histo", ptx.Dim(min(48, blocks(s.N, s.Block)), ranges), ptx.Dim(s.Block), dPixels, s.N, dBins); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("%d pixels in %d bins", s.N, ranges*bins)
	return Equal("bins", interp.Slice[uint32](dBins), want)
}

func scalarProd(s *Session) error {
	const n, sums = 4096, 256
	r := newRNG(1)
	a, b := r.floats(s.N*n, -1, 1), r.floats(s.N*n, -1, 1)
	da, db, dOut := upload(s, a), upload(s, b), alloc[float32](s, s.N)
	if err := s.Launch("scalarprod", ptx.Dim(min(128, s.N)), ptx.Dim(sums), s.N, n, da, db, dOut); err != nil {
		return err
	}
	want := make([]float32, s.N)
	for v := range want {
		var part [sums]float32
		for i := range n {
			part[i%sums] = fma32(a[v*n+i], b[v*n+i], part[i%sums])
		}
		for half := sums / 2; half > 0; half /= 2 {
			for i := range half {
				part[i] += part[i+half]
			}
		}
		want[v] = part[0]
	}
	s.Summary = fmt.Sprintf("%d pairs of %d elements", s.N, n)
	return Equal("out", interp.Slice[float32](dOut), want)
}

func gemmUntiled(s *Session) error {
	n := s.N
	r := newRNG(1)
	a, b, c := r.floats(n*n, -1, 1), r.floats(n*n, -1, 1), r.floats(n*n, -1, 1)
	const alpha, beta = float32(1.5), float32(0.25)
	dc := upload(s, c)
	if err := s.threadOfMatrix("gemm", n, n, alpha, beta, upload(s, a), upload(s, b), dc); err != nil {
		return err
	}
	want := make([]float32, n*n)
	for i := range n {
		for k := range n {
			for j := range n {
				want[i*n+j] = fma32(a[i*n+k], b[k*n+j], want[i*n+j])
			}
		}
	}
	for i, sum := range want {
		want[i] = fma32(c[i], beta, float32(alpha*sum))
	}
	s.Summary = fmt.Sprintf("%d×%d elements", n, n)
	return Equal("C", interp.Slice[float32](dc), want)
}

func spmvCSR(s *Session) error {
	n := s.N
	r := newRNG(1)
	first, column := make([]int32, n+1), []int32{}
	for i := range n { // as in spmv: most elements are near the diagonal; some rows have four times as many elements
		count := 1 + r.intn(16)
		if r.intn(32) == 0 {
			count *= 4
		}
		for range count {
			at := clamp(i+r.intn(129)-64, n)
			if r.intn(8) == 0 {
				at = r.intn(n)
			}
			column = append(column, int32(at))
		}
		first[i+1] = int32(len(column))
		slices.Sort(column[first[i]:])
	}
	value, x := r.floats(len(column), -1, 1), r.floats(n, -1, 1)
	y := alloc[float32](s, n)
	if err := s.threadEach("spmvcsr", n, n, upload(s, first), upload(s, column), upload(s, value), upload(s, x), y); err != nil {
		return err
	}
	want := make([]float32, n)
	for i := range want {
		for k := first[i]; k < first[i+1]; k++ {
			want[i] = fma32(value[k], x[column[k]], want[i])
		}
	}
	s.Summary = fmt.Sprintf("%d rows, %d elements", n, len(value))
	return Equal("y", interp.Slice[float32](y), want)
}
