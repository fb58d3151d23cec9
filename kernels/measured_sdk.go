package kernels

// This file has the workloads of Measured after samples of the CUDA SDK.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/ptx"
	"gemu/texture"
)

const sdk = "a sample of NVIDIA's CUDA SDK: "

func init() {
	registerMeasured(&Workload{Name: "gv100/binomial", Doc: "European options by binomial trees of 2048 steps in registers",
		N: 1 << 10, Max: 1 << 10, SizeDoc: "options", Origin: "Cox, Ross and Rubinstein, Option pricing: a simplified approach (1979); " + sdk + "binomialOptions", Run: measuredBinomial})
	registerMeasured(&Workload{Name: "gv100/dct8x8", Doc: "discrete cosine transforms of 8×8 pixels in shared memory",
		N: 1 << 9, Max: 1 << 13, SizeDoc: "pixels across and down, rounded up to 32", Origin: "Ahmed, Natarajan and Rao, Discrete cosine transform (1974); " + sdk + "dct8x8", Papers: []string{"kandiah2021", "thesis2019"}, Run: measuredDCT})
	registerMeasured(&Workload{Name: "gv100/fwt", Doc: "a fast Walsh transform",
		N: 1 << 23, Max: 1 << 25, SizeDoc: "elements, rounded up to an odd power of two", Origin: "Fino and Algazi, Unified matrix treatment of the fast Walsh-Hadamard transform (1976); " + sdk + "fastWalshTransform", Run: measuredFWT})
	registerMeasured(&Workload{Name: "gv100/histogram64", Doc: "histograms of six bits with counters of a byte for each thread",
		N: 1 << 26, Max: 1 << 28, SizeDoc: "bytes, rounded up to 16", Origin: sdk + "histogram", Run: measuredHistogram})
	registerMeasured(&Workload{Name: "gv100/mergesort", Doc: "sorts of 1024 keys with values in shared memory",
		N: 1 << 22, Max: 1 << 24, SizeDoc: "keys, rounded up to 1024", Origin: "Satish, Harris and Garland, Designing efficient sorting algorithms for manycore GPUs (2009); " + sdk + "mergeSort", Run: measuredMergesort})
	registerMeasured(&Workload{Name: "gv100/quasirandom", Doc: "points of a digital sequence, and quantiles of the normal distribution",
		N: 1 << 20, Max: 1 << 24, SizeDoc: "points in three dimensions", Origin: "Bratley, Fox and Niederreiter, Programs to generate Niederreiter's low-discrepancy sequences (1994); " + sdk + "quasirandomGenerator", Run: measuredQuasirandom})
	registerMeasured(&Workload{Name: "gv100/sobol", Doc: "vectors of a Sobol sequence in 100 dimensions, for a GPU of 80 multiprocessors",
		N: 100000, Max: 1 << 22, SizeDoc: "vectors", Origin: "Bratley and Fox, Algorithm 659 (1988); " + sdk + "sobolQRNG", Run: measuredSobol})
}

func measuredBinomial(s *Session) error {
	const steps, most, block = 2048, 1024, 128
	r := newRNG(1)
	const rate, volatility = 0.02, 0.3
	options := make([]float32, 5*most) // price, strike, rise, up, down of each
	for i := range most {
		years := 0.2 + float64(1.8*float64(r.float()))
		step := years / steps
		rise := volatility * math.Sqrt(step)
		up := (math.Exp(rate*step) - math.Exp(-rise)) / (math.Exp(rise) - math.Exp(-rise))
		discount := math.Exp(-rate * step)
		copy(options[5*i:], []float32{5 + float32(25*r.float()), 1 + float32(40*r.float()), float32(rise), float32(up * discount), float32((1 - up) * discount)})
	}
	setVar(s, "options", options)
	value := alloc[float32](s, s.N)
	if err := s.Launch("binomial", ptx.Dim(s.N), ptx.Dim(block), value); err != nil {
		return err
	}
	want, node := make([]float32, s.N), make([]float64, steps+1)
	for i := range want {
		price, strike, rise, up, down := float64(options[5*i]), float64(options[5*i+1]), float64(options[5*i+2]), float64(options[5*i+3]), float64(options[5*i+4])
		for j := range node {
			node[j] = max(0, price*math.Exp(rise*float64(2*j-steps))-strike)
		}
		for last := steps; last > 0; last-- {
			for j := range last {
				node[j] = up*node[j+1] + down*node[j]
			}
		}
		want[i] = float32(node[0])
	}
	s.Summary = fmt.Sprintf("%d options by trees of %d steps", s.N, steps)
	// As in binomial.go: two roundings by 2^-24 in a step, and at the leaves as much as about 100 steps.
	return Close("value", interp.Slice[float32](value), want, float64(steps+100)/(1<<23))
}

func measuredDCT(s *Session) error {
	const side = 32 // of the pixels of a block
	n := side * blocks(s.N, side)
	image := make([]float32, n*n)
	for i, v := range testImage(1, n, n) {
		image[i] = float32(v) - 128
	}
	to := alloc[float32](s, n*n)
	if err := s.Launch("dct8x8", ptx.Dim(n/side, n/side), ptx.Dim(8, 4, 4), to, upload(s, image), n); err != nil {
		return err
	}
	dev := s.Module.Device()
	array, err := dev.NewArray("picture", texture.Image{Geometry: texture.Image2D, Format: texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, Width: n, Height: n})
	if err != nil {
		return err
	}
	if _, err := binary.Encode(array.Bytes(), binary.LittleEndian, image); err != nil {
		return err
	}
	picture, err := dev.NewTexture(interp.TextureDesc{Name: "picture", Array: array, Sampler: texture.DefaultSampler()})
	if err != nil {
		return err
	}
	var basis [8][8]float64
	for k := range basis {
		for i := range basis[k] {
			basis[k][i] = 0.5 * math.Cos(float64(k*(2*i+1))*math.Pi/16)
			if k == 0 {
				basis[k][i] *= math.Sqrt(0.5)
			}
		}
	}
	var matrix []float32
	for k := range basis {
		for _, v := range basis[k] {
			matrix = append(matrix, float32(v))
		}
	}
	setVar(s, "matrix", matrix)
	byTexture := alloc[float32](s, n*n)
	if err := s.Launch("dct8x8_texture", ptx.Dim(n/8, n/8), ptx.Dim(8, 8), byTexture, picture, n); err != nil {
		return err
	}
	want := make([]float32, n*n)
	for corner := range n * n / 64 {
		x, y := corner%(n/8)*8, corner/(n/8)*8
		var columns [8][8]float64
		for k := range 8 {
			for i := range 8 {
				for j := range 8 {
					columns[k][i] += basis[k][j] * float64(image[(y+j)*n+x+i])
				}
			}
		}
		for k := range 8 {
			for l := range 8 {
				sum := 0.0
				for i := range 8 {
					sum += basis[l][i] * columns[k][i]
				}
				want[(y+k)*n+x+l] = float32(sum)
			}
		}
	}
	s.Summary = fmt.Sprintf("%d×%d pixels", n, n)
	// A coefficient has about 20 roundings by 2^-24 of numbers up to 1024.
	if err := Close("coefficients", interp.Slice[float32](to), want, 1.3e-3); err != nil {
		return err
	}
	return Close("coefficients by texture", interp.Slice[float32](byTexture), want, 1.3e-3)
}

func measuredFWT(s *Session) error {
	const shared = 11 // a block has 2^shared elements in shared memory
	log := max(shared, bits.Len(uint(s.N-1))) | 1
	n := 1 << log
	a := newRNG(1).floats(n, -1, 1)
	d := upload(s, a)
	levels := log // levels of the transform that remain
	for ; levels > shared; levels -= 2 {
		if err := s.Launch("fwt_global", ptx.Dim(n/4/256), ptx.Dim(256), d, d, 1<<levels>>2); err != nil {
			return err
		}
	}
	if err := s.Launch("fwt_shared", ptx.Dim(n>>shared), ptx.Dim(1<<shared>>2), d, d); err != nil {
		return err
	}
	walsh(a)
	s.Summary = fmt.Sprintf("transformed %d elements", n)
	return Equal("transform", interp.Slice[float32](d), a)
}

func measuredHistogram(s *Session) error {
	const block, most = 64, 240 // bytes that a thread may count, a multiple of 16 below 256
	n := blocks(s.N, 16)        // vectors
	grid := blocks(16*n, block*most)
	data := make([]byte, 16*n)
	r := newRNG(1)
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], r.uint64())
	}
	want := make([]uint32, block*grid)
	for i, b := range data {
		want[i/16/block%grid*block+int(b>>2)]++
	}
	partial := alloc[uint32](s, len(want))
	if err := s.Launch("histogram64", ptx.Dim(grid), ptx.Dim(block), partial, upload(s, data), n); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("counted %d bytes in %d blocks", len(data), grid)
	return Equal("counts", interp.Slice[uint32](partial), want)
}

func measuredMergesort(s *Session) error {
	const length = 1024
	n := length * blocks(s.N, length)
	r := newRNG(1)
	key, value := make([]uint32, n), make([]uint32, n)
	for i := range key {
		key[i], value[i] = uint32(r.intn(1<<16)), uint32(i)
	}
	toKey, toValue := alloc[uint32](s, n), alloc[uint32](s, n)
	if err := s.Launch("mergesort_shared", ptx.Dim(n/length), ptx.Dim(length/2), toKey, toValue, upload(s, key), upload(s, value)); err != nil {
		return err
	}
	var run [length]uint64
	for from := 0; from < n; from += length {
		for i := range run {
			run[i] = uint64(key[from+i])<<32 | uint64(value[from+i]) // values ascend, so equal keys keep their order
		}
		slices.Sort(run[:])
		for i, both := range run {
			key[from+i], value[from+i] = uint32(both>>32), uint32(both)
		}
	}
	s.Summary = fmt.Sprintf("sorted %d keys in runs of %d", n, length)
	if err := Equal("keys", interp.Slice[uint32](toKey), key); err != nil {
		return err
	}
	return Equal("values", interp.Slice[uint32](toValue), value)
}

func measuredQuasirandom(s *Session) error {
	const dimensions, digits, grid, block = 3, 31, 128, 128
	n := s.N
	r := newRNG(1)
	directions := make([]uint32, dimensions*digits)
	for i := range directions {
		directions[i] = uint32(r.uint64() >> 33)
	}
	setVar(s, "directions", directions)
	out := alloc[float32](s, dimensions*n)
	if err := s.Launch("quasirandom", ptx.Dim(grid), ptx.Dim(block, dimensions), out, 0, n); err != nil {
		return err
	}
	want := make([]float32, dimensions*n)
	for i := range want {
		x := uint32(0)
		for index := i % n; index != 0; index &= index - 1 {
			x ^= directions[i/n*digits+bits.TrailingZeros(uint(index))]
		}
		want[i] = float32(x+1) * (1 / float32(1<<digits))
	}
	if err := Equal("points", interp.Slice[float32](out), want); err != nil {
		return err
	}
	if err := s.Launch("inverse_normal", ptx.Dim(grid), ptx.Dim(block), out, dimensions*n); err != nil {
		return err
	}
	step := 1 / float32(dimensions*n+1)
	for i := range want {
		want[i] = float32(moro(float32(i+1) * step))
	}
	s.Summary = fmt.Sprintf("%d points in %d dimensions, as many quantiles", n, dimensions)
	// The argument is the kernel's. A quantile, at most 6, has about 20 roundings by 2^-24, and the errors of two lg2.approx.
	return Close("quantiles", interp.Slice[float32](out), want, 1e-5)
}

// moro returns Moro's approximation of the inverse of the normal distribution function (The full Monte, 1995).
func moro(p float32) float64 {
	polynomial := func(z float64, c ...float64) (v float64) {
		for _, c := range slices.Backward(c) {
			v = v*z + c
		}
		return v
	}
	x := float64(p - 0.5)
	if math.Abs(x) < float64(float32(0.42)) {
		z := x * x
		return x * polynomial(z, 2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637) / polynomial(z, 1, -8.4735109309, 23.08336743743, -21.06224101826, 3.13082909833)
	}
	tail := p
	if x > 0 {
		tail = 1 - p
	}
	z := math.Log(-math.Log(float64(tail)))
	z = polynomial(z, 0.3374754822726147, 0.9761690190917186, 0.1607979714918209, 0.0276438810333863, 0.0038405729373609, 0.0003951896511919, 0.0000321767881768, 0.0000002888167364, 0.0000003960315187)
	if x > 0 {
		return z
	}
	return -z
}

func measuredSobol(s *Session) error {
	const block, dimensions, multiprocessors = 64, 100, 80
	n := s.N
	grid := 1 // the smallest power of two that is enough for four blocks on each multiprocessor, or for all vectors
	for grid < min(4*multiprocessors, blocks(n, block)) {
		grid *= 2
	}
	r := newRNG(1)
	directions := make([]uint32, 32*dimensions)
	for i := range directions {
		k := i % 32 // direction k has k + 1 bits, the last of which is set
		directions[i] = (uint32(r.uint64()>>32)>>(31-k) | 1) << (31 - k)
	}
	out := alloc[float32](s, n*dimensions)
	if err := s.Launch("sobol", ptx.Dim(grid, dimensions), ptx.Dim(block), n, upload(s, directions), out); err != nil {
		return err
	}
	want := make([]float32, n*dimensions)
	for d := range dimensions {
		x := uint32(0) // of vector i, whose bits are those of the Gray code of i
		for i := range n {
			want[d*n+i] = float32(x) * (1 / float32(1<<32))
			x ^= directions[32*d+bits.TrailingZeros(^uint(i))]
		}
	}
	s.Summary = fmt.Sprintf("%d vectors in %d dimensions", n, dimensions)
	return Equal("vectors", interp.Slice[float32](out), want)
}
