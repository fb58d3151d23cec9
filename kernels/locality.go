package kernels

// This file has workloads after further benchmarks of table 4 of Vijaykumar's thesis (docs/thesis2019.md), from Rodinia, Polybench and
// the CUDA SDK.

import (
	"fmt"
	"math"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	for _, w := range []*Workload{
		{Name: "thesis/dwt2d", Doc: "three levels of a reversible wavelet transform of a picture, in tiles", N: 1024, Max: 1 << 13, SizeDoc: "pixels across, rounded up to 8, ¾ as many down", Origin: "Le Gall and Tabatabai (1988), the filter 5/3 of JPEG 2000, by lifting; dwt2d of Rodinia", Blocks: []int{256, 128, 192}, Run: dwt2d},
		{Name: "thesis/libor", Doc: "value of swaptions on paths of forward rates, with the rates of a path in local memory", N: 1 << 13, Max: 1 << 18, SizeDoc: "paths", Origin: "Brace, Gatarek and Musiela, The market model of interest rate dynamics (1997); LIBOR of Giles, as used with GPGPU-Sim", Blocks: []int{64, 128, 256}, Run: libor},
		{Name: "thesis/lavamd", Doc: "forces between particles of neighbouring boxes", N: 4, Max: 1 << 3, SizeDoc: "boxes in each direction, with 100 particles each", Origin: rodinia + "lavaMD", Blocks: []int{128, 64, 32}, Run: lavaMD},
		{Name: "thesis/atax", Doc: "product of a matrix with a vector, and of its transpose with the result", N: 1 << 11, Max: 1 << 13, SizeDoc: "rows and columns", Origin: polybench + "ATAX", Blocks: []int{256, 128, 64}, Run: atax},
		{Name: "thesis/mvt", Doc: "products of a matrix and of its transpose with vectors", N: 1 << 11, Max: 1 << 13, SizeDoc: "rows and columns", Origin: polybench + "MVT", Blocks: []int{256, 128, 64}, Run: mvt},
		{Name: "thesis/gramschmidt", Doc: "decomposition of a matrix into an orthogonal and a triangular one, column by column", N: 128, Max: 1 << 11, SizeDoc: "rows and columns", Origin: polybench + "GRAMSCHM", Blocks: []int{256, 128, 64}, Run: gramSchmidt},
		{Name: "thesis/hotspot3d", Doc: "temperature of a chip of eight layers, a column of cells in each thread", N: 384, Max: 1 << 11, SizeDoc: "cells along each side of a layer", Origin: rodinia + "hotspot3D", Blocks: []int{256, 128, 512}, Run: hotspot3D},
		{Name: "thesis/srad1", Doc: "diffusion that keeps edges, with a reduction and the places of neighbours in arrays", N: 768, Max: 1 << 12, SizeDoc: "rows of pixels, ¾ as many columns", Origin: rodinia + "srad_v1", Blocks: []int{512, 128, 256}, Run: srad1},
		{Name: "thesis/particlefilter", Doc: "an object followed through pictures by weighted particles", N: 1 << 12, Max: 1 << 17, SizeDoc: "particles", Origin: rodinia + "particlefilter", Blocks: []int{128, 256, 512}, Run: particleFilter},
		{Name: "thesis/streamcluster", Doc: "gain of further centres of a clustering, for four candidates", N: 1 << 15, Max: 1 << 20, SizeDoc: "points with 32 coordinates", Origin: rodinia + "streamcluster", Blocks: []int{256, 128, 512}, Run: streamCluster},
	} {
		w.Papers, w.BlockThreads = []string{"thesis2019"}, true
		registerMeasured(w)
	}
}

// waveletLevel transforms n elements, which are step apart, by the filter 5/3, and moves the averages to the front.
func waveletLevel(list []int32, n, step int) {
	at := func(i int) *int32 {
		if i < 0 {
			i = -i
		}
		if i >= n {
			i = 2*n - 2 - i
		}
		return &list[i*step]
	}
	for i := 1; i < n; i += 2 {
		*at(i) -= (*at(i - 1) + *at(i + 1)) >> 1
	}
	for i := 0; i < n; i += 2 {
		*at(i) += (*at(i - 1) + *at(i + 1) + 2) >> 2
	}
	var parts [2][]int32
	for i := range n {
		parts[i%2] = append(parts[i%2], list[i*step])
	}
	for i, v := range slices.Concat(parts[0], parts[1]) {
		list[i*step] = v
	}
}

func dwt2d(s *Session) error {
	const tile, levels = 32, 3
	w, h := 8*blocks(s.N, 8), 8*blocks(landscape(s.N), 8)
	want := make([]int32, w*h)
	for i, v := range testImage(1, w, h) {
		want[i] = int32(v) - 128
	}
	from, to := upload(s, want), alloc[int32](s, w*h)
	for level := range levels {
		width, height := w>>level, h>>level
		low := alloc[int32](s, width/2*(height/2))
		if err := s.Launch("dwt2d", ptx.Dim(blocks(width, tile), blocks(height, tile)), ptx.Dim(s.Block), width, height, from, low, to, w); err != nil {
			return err
		}
		from = low
		for y := range height {
			waveletLevel(want[y*w:], width, 1)
		}
		for x := range width {
			waveletLevel(want[x:], height, w)
		}
	}
	got := slices.Clone(interp.Slice[int32](to))
	for i, v := range interp.Slice[int32](from) { // the averages of the last level
		x, y := i%(w>>levels), i/(w>>levels)
		got[y*w+x] = v
	}
	s.Summary = fmt.Sprintf("%d levels of %d×%d pixels", levels, w, h)
	return Equal("coefficients", got, want)
}

func libor(s *Session) error {
	const rates, steps, delta, start = 80, 40, 0.25, 0.05
	n := s.N
	volatility, maturity, strike := make([]float32, rates), make([]int32, 15), make([]float32, 15)
	for i := range volatility {
		volatility[i] = 0.2
	}
	for i := range maturity {
		maturity[i] = []int32{4, 8, 20, 28, 40}[i/3]
		strike[i] = []float32{0.045, 0.05, 0.055}[i%3]
	}
	setVar(s, "volatility", volatility)
	setVar(s, "maturity", maturity)
	setVar(s, "strike", strike)
	r := newRNG(1)
	z := make([]float32, steps*n)
	for i := range z { // the sum of twelve uniform numbers is nearly normal
		sum := float32(-6)
		for range 12 {
			sum += r.float()
		}
		z[i] = sum
	}
	value := alloc[float32](s, n)
	if err := s.threadEach("libor", n, n, float32(delta), float32(start), upload(s, z), value); err != nil {
		return err
	}
	want, mean := make([]float64, n), 0.0
	for path := range want {
		var rate, bond, annuity [rates]float64
		for i := range rate {
			rate[i] = float64(float32(start))
		}
		for k := range steps {
			shock, drift := math.Sqrt(delta)*float64(z[k*n+path]), 0.0
			for i := k + 1; i < rates; i++ {
				sigma := float64(volatility[i-k-1])
				drift += delta * sigma * rate[i] / (1 + delta*rate[i])
				rate[i] *= math.Exp(delta*sigma*drift + sigma*(shock-0.5*delta*sigma))
			}
		}
		b, a, v := 1.0, 0.0, 0.0
		for k := steps; k < rates; k++ {
			b /= 1 + delta*rate[k]
			a += delta * b
			bond[k-steps], annuity[k-steps] = b, a
		}
		for i, m := range maturity {
			v -= 100 * min(bond[m-1]+float64(strike[i])*annuity[m-1]-1, 0)
		}
		for k := range steps {
			v /= 1 + delta*rate[k]
		}
		want[path] = v
		mean += v / float64(n)
	}
	s.Summary = fmt.Sprintf("%d paths with a mean value of %.2f", n, mean)
	// A rate has 40 factors, each within 2^-21, and so is within 2^-15 of itself. The relative error of b is then at most -ln b times
	// 2^-15, and its error less than ½·2^-15; that of a strike times an annuity is less than ¼·2^-15, and roundings add less than
	// ¼·2^-15. A value has 15 terms, each 100 times such a sum; the last division adds at most ½·2^-15 of 15·100.
	return within("value", doubles(interp.Slice[float32](value)), want, func(int) float64 { return 100 * 15 * 1.5 * 0x1p-15 })
}

func lavaMD(s *Session) error {
	const particles, alpha = 100, 0.5
	side := s.N
	n := side * side * side
	r := newRNG(1)
	var places, charges []float32
	count, neighbours := make([]int32, n), make([]int32, 27*n)
	for box := range n {
		at := [3]int{box % side, box / side % side, box / (side * side)}
		for range particles {
			var p [3]float32
			for d := range p {
				p[d] = float32(at[d]) + r.float()
			}
			places = append(places, p[0], p[1], p[2], dot32(p, p)/2)
			charges = append(charges, 0.1+r.float())
		}
		for k := range 27 {
			x, y, z := at[0]+k%3-1, at[1]+k/3%3-1, at[2]+k/9-1
			if min(x, y, z) >= 0 && max(x, y, z) < side {
				neighbours[27*box+int(count[box])] = int32((z*side+y)*side + x)
				count[box]++
			}
		}
	}
	forces := alloc[float32](s, 4*particles*n)
	if err := s.Launch("lavamd", ptx.Dim(n), ptx.Dim(s.Block), float32(alpha), upload(s, count), upload(s, neighbours), upload(s, places), upload(s, charges), forces); err != nil {
		return err
	}
	want, size := make([]float64, 4*particles*n), make([]float64, 4*particles*n) // size has the sums of magnitudes
	for i := range particles * n {
		box := i / particles
		for _, other := range neighbours[27*box:][:count[box]] {
			for j := int(other) * particles; j < int(other+1)*particles; j++ {
				var distance [3]float64
				square := 0.0
				for d := range distance {
					distance[d] = float64(places[4*i+d]) - float64(places[4*j+d])
					square += distance[d] * distance[d]
				}
				potential := float64(charges[j]) * math.Exp(-alpha*square)
				for d, x := range [4]float64{distance[0], distance[1], distance[2], 1 / (2 * alpha)} {
					term := 2 * alpha * potential * x
					want[4*i+d] += term
					size[4*i+d] += math.Abs(term)
				}
			}
		}
	}
	s.Summary = fmt.Sprintf("%d boxes of %d particles", n, particles)
	// The square of a distance has rounding errors of 2^-24 of numbers up to 2·3·8², which alpha halves: below 2^-13 for a term. A sum
	// of 2700 terms rounds by at most 2700·2^-24 of the magnitudes. w of particles is rounded, too.
	return within("forces", doubles(interp.Slice[float32](forces)), want, func(i int) float64 { return size[i] / (1 << 11) })
}

// matrixVector returns x + A·y, or x + Aᵀ·y, for a matrix A of n rows and n columns, with the rounding of the kernels.
func matrixVector(a, y, x []float32, transposed bool) []float32 {
	n := len(y)
	out := slices.Clone(x)
	for i := range n {
		for j := range n {
			if transposed {
				out[j] = fma32(a[i*n+j], y[i], out[j])
			} else {
				out[i] = fma32(a[i*n+j], y[j], out[i])
			}
		}
	}
	return out
}

func atax(s *Session) error {
	n := s.N
	r := newRNG(1)
	a, x := r.floats(n*n, -1, 1), r.floats(n, -1, 1)
	da, dt, dy := upload(s, a), alloc[float32](s, n), alloc[float32](s, n)
	if err := s.threadEach("atax_rows", n, n, n, da, upload(s, x), dt); err != nil {
		return err
	}
	if err := s.threadEach("atax_columns", n, n, n, da, dt, dy); err != nil {
		return err
	}
	zero := make([]float32, n)
	s.Summary = fmt.Sprintf("%d×%d elements", n, n)
	return Equal("y", interp.Slice[float32](dy), matrixVector(a, matrixVector(a, x, zero, false), zero, true))
}

func mvt(s *Session) error {
	n := s.N
	r := newRNG(1)
	a, y1, y2, x1, x2 := r.floats(n*n, -1, 1), r.floats(n, -1, 1), r.floats(n, -1, 1), r.floats(n, -1, 1), r.floats(n, -1, 1)
	da, d1, d2 := upload(s, a), upload(s, x1), upload(s, x2)
	if err := s.threadEach("mvt_rows", n, n, da, upload(s, y1), d1); err != nil {
		return err
	}
	if err := s.threadEach("mvt_columns", n, n, da, upload(s, y2), d2); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("%d×%d elements", n, n)
	if err := Equal("x1", interp.Slice[float32](d1), matrixVector(a, y1, x1, false)); err != nil {
		return err
	}
	return Equal("x2", interp.Slice[float32](d2), matrixVector(a, y2, x2, true))
}

func gramSchmidt(s *Session) error {
	n := s.N
	a, r, q := newRNG(1).floats(n*n, -1, 1), make([]float32, n*n), make([]float32, n*n)
	da, dr, dq := upload(s, a), upload(s, r), upload(s, q)
	for k := range n {
		if err := s.Launch("gramschmidt_length", ptx.Dim(1), ptx.Dim(1), n, k, da, dr); err != nil {
			return err
		}
		if err := s.threadEach("gramschmidt_unit", n, n, k, da, dr, dq); err != nil {
			return err
		}
		if k < n-1 {
			if err := s.threadEach("gramschmidt_rest", n-1-k, n, k, da, dr, dq); err != nil {
				return err
			}
		}
		sum := make([]float32, n)
		for i := range n {
			sum[k] = fma32(a[i*n+k], a[i*n+k], sum[k])
		}
		sum[k] = sqrt32(sum[k])
		for i := range n {
			q[i*n+k] = a[i*n+k] / sum[k]
			for j := k + 1; j < n; j++ {
				sum[j] = fma32(q[i*n+k], a[i*n+j], sum[j])
			}
		}
		for i := range n {
			for j := k + 1; j < n; j++ {
				a[i*n+j] = fma32(-q[i*n+k], sum[j], a[i*n+j])
			}
		}
		copy(r[k*n+k:], sum[k:])
	}
	s.Summary = fmt.Sprintf("%d columns, the first has the length %.4f", n, r[0])
	if err := Equal("R", interp.Slice[float32](dr), r); err != nil {
		return err
	}
	return Equal("Q", interp.Slice[float32](dq), q)
}

func hotspot3D(s *Session) error {
	const layers, steps, along, upwards, scale, ambient = 8, 2, float32(0.125), float32(0.0625), float32(0.03125), float32(80)
	n := s.N
	r := newRNG(1)
	power, t := r.floats(layers*n*n, 0, 4), r.floats(layers*n*n, 320, 340)
	dPower, from, to := upload(s, power), upload(s, t), alloc[float32](s, layers*n*n)
	for range steps {
		if err := s.Launch("hotspot3d", ptx.Dim(blocks(n, 64), blocks(n, s.Block/64)), ptx.Dim(64, s.Block/64), n, n, layers, dPower, from, to, along, upwards, scale, ambient); err != nil {
			return err
		}
		from, to = to, from
		next := make([]float32, len(t))
		own := 1 - (4*along + 2*upwards + scale*0.0625) // exact: small multiples of powers of two
		for i, here := range t {
			x, y, z := i%n, i/n%n, i/(n*n)
			at := func(x, y, z int) float32 { return t[(clamp(z, layers)*n+clamp(y, n))*n+clamp(x, n)] }
			sum := here * own
			sum = fma32(along, at(x-1, y, z)+at(x+1, y, z), sum)
			sum = fma32(along, at(x, y-1, z)+at(x, y+1, z), sum)
			sum = fma32(upwards, at(x, y, z-1)+at(x, y, z+1), sum)
			next[i] = fma32(scale, power[i], fma32(scale*0.0625, ambient, sum))
		}
		t = next
	}
	s.Summary = fmt.Sprintf("%d steps of %d layers of %d×%d cells", steps, layers, n, n)
	return Equal("temperature", interp.Slice[float32](from), t)
}

func srad1(s *Session) error {
	const steps, rate = 2, float32(0.5)
	rows, columns := s.N, landscape(s.N)
	n := rows * columns
	image := make([]float32, n)
	for i, v := range testImage(1, rows, columns) { // the range of exp(v/255)
		image[i] = 1 + float32(1.75*float32(v)/256)
	}
	places := func(n, step int) (list []int32) {
		for i := range n {
			list = append(list, int32(clamp(i+step, n)))
		}
		return list
	}
	dNorth, dSouth, dWest, dEast := upload(s, places(rows, -1)), upload(s, places(rows, 1)), upload(s, places(columns, -1)), upload(s, places(columns, 1))
	dImage, dCoefficient := upload(s, image), alloc[float32](s, n)
	var d [4]*interp.Buffer
	for i := range d {
		d[i] = alloc[float32](s, n)
	}
	grid := blocks(n, s.Block)
	for range steps {
		dSums, dSquares := alloc[float32](s, grid), alloc[float32](s, grid)
		if err := s.LaunchShared("srad1_sums", ptx.Dim(grid), ptx.Dim(s.Block), 8*s.Block, n, dImage, dSums, dSquares); err != nil {
			return err
		}
		sums, squares, sum, square := make([]float32, grid), make([]float32, grid), 0.0, 0.0
		for b := range grid {
			part, squared := make([]float32, s.Block), make([]float32, s.Block)
			for i, v := range image[b*s.Block : min((b+1)*s.Block, n)] {
				part[i], squared[i] = v, v*v
			}
			sums[b], squares[b] = treeSum(part), treeSum(squared)
			sum, square = sum+float64(sums[b]), square+float64(squares[b])
		}
		if err := Equal("sums", interp.Slice[float32](dSums), sums); err != nil {
			return err
		}
		if err := Equal("sums of squares", interp.Slice[float32](dSquares), squares); err != nil {
			return err
		}
		mean := sum / float64(n)
		speckle := max(float32((square/float64(n)-float64(mean*mean))/float64(mean*mean)), 1e-6) // a single pixel has no variance
		if err := s.threadEach("srad1_coefficients", n, rows, n, dNorth, dSouth, dWest, dEast, speckle, dImage, d[0], d[1], d[2], d[3], dCoefficient); err != nil {
			return err
		}
		if err := s.threadEach("srad1_diffuse", n, rows, n, dSouth, dEast, rate, d[0], d[1], d[2], d[3], dCoefficient, dImage); err != nil {
			return err
		}
		var differences [4][]float32
		coefficient := make([]float32, n)
		at := func(list []float32, row, column int) float32 {
			return list[clamp(row, rows)+rows*clamp(column, columns)]
		}
		for i, here := range image {
			row, column := i%rows, i/rows
			gradient, laplacian := float32(0), float32(0)
			for k, v := range [4]float32{at(image, row-1, column), at(image, row+1, column), at(image, row, column-1), at(image, row, column+1)} {
				v -= here
				differences[k] = append(differences[k], v)
				gradient += float32(v * v)
				laplacian += v
			}
			gradient, laplacian = gradient/float32(here*here), laplacian/here
			mean := 1 + float32(0.25*laplacian)
			q := (float32(0.5*gradient) - float32(0.0625*float32(laplacian*laplacian))) / float32(mean*mean)
			coefficient[i] = min(max(1/(1+(q-speckle)/float32(speckle*(1+speckle))), 0), 1)
		}
		for i := range image {
			row, column := i%rows, i/rows
			sum := float32(0)
			for k, c := range [4]float32{coefficient[i], at(coefficient, row+1, column), coefficient[i], at(coefficient, row, column+1)} {
				sum += float32(c * differences[k][i])
			}
			image[i] += float32(0.25 * rate * sum)
		}
		if err := Equal("coefficients", interp.Slice[float32](dCoefficient), coefficient); err != nil {
			return err
		}
	}
	s.Summary = fmt.Sprintf("%d steps of %d×%d pixels", steps, columns, rows)
	return Equal("picture", interp.Slice[float32](dImage), image)
}

// treeSum adds up the elements of a list, whose length is a power of two, as a block does in shared memory. It changes the list.
func treeSum(list []float32) float32 {
	for half := len(list) / 2; half > 0; half /= 2 {
		for i := range half {
			list[i] += list[i+half]
		}
	}
	return list[0]
}

func particleFilter(s *Session) error {
	const frames, width, height, points = 3, 128, 128, 61
	n := s.N
	var disc []int32
	for i := range 81 {
		if y, x := i/9-4, i%9-4; y*y+x*x <= 18 {
			disc = append(disc, int32(y), int32(x))
		}
	}
	r := newRNG(1)
	x, y := r.floats(n, 62, 66), r.floats(n, 62, 66)
	grid, block, dDisc := ptx.Dim(blocks(n, s.Block)), ptx.Dim(s.Block), upload(s, disc)
	for frame := range frames {
		picture := make([]uint8, width*height) // a bright disc moves over a dark background, with noise
		for i := range picture {
			dx, dy := i%width-64-frame, i/width-64-2*frame
			picture[i] = uint8(92 + r.intn(17))
			if dx*dx+dy*dy <= 18 {
				picture[i] += 128
			}
		}
		weights := make([]float32, n)
		for i := range weights {
			weights[i] = 1 / float32(n)
		}
		dX, dY, weight, sums := upload(s, x), upload(s, y), upload(s, weights), alloc[float32](s, grid.X)
		if err := s.LaunchShared("pf_likelihood", grid, block, 4*s.Block, n, dX, dY, dDisc, upload(s, picture), width, height, weight, sums); err != nil {
			return err
		}
		got := slices.Clone(interp.Slice[float32](weight))
		for i, w := range got {
			column, row, difference := int(math.RoundToEven(float64(x[i]))), int(math.RoundToEven(float64(y[i]))), 0
			for p := range points {
				pixel := int(picture[clamp(row+int(disc[2*p]), height)*width+clamp(column+int(disc[2*p+1]), width)])
				difference += (pixel-100)*(pixel-100) - (pixel-228)*(pixel-228)
			}
			// The exponent is below 7 and has the error of two roundings, and ex2.approx that of 2^-22.
			if want := float64(weights[i]) * math.Exp(float64(difference)/(50*50*points)); math.Abs(float64(w)-want) > 4e-6*want {
				return &Mismatch{Values: "likelihood", Index: i, Got: w, Want: want, Count: 1, Total: n}
			}
		}
		// The other steps are exact, from the likelihood of the kernel on.
		sum, wantSums := float32(0), make([]float32, grid.X)
		for b := range wantSums {
			part := make([]float32, s.Block)
			copy(part, got[b*s.Block:min((b+1)*s.Block, n)])
			wantSums[b] = treeSum(part)
			sum += wantSums[b]
		}
		if err := Equal("sums", interp.Slice[float32](sums), wantSums); err != nil {
			return err
		}
		upTo, newX, newY := alloc[float32](s, n), alloc[float32](s, n), alloc[float32](s, n)
		if err := s.Launch("pf_normalise", grid, block, n, sums, grid.X, weight); err != nil {
			return err
		}
		if err := s.Launch("pf_add", ptx.Dim(1), ptx.Dim(1), n, weight, upTo); err != nil {
			return err
		}
		first := r.float()
		if err := s.Launch("pf_choose", grid, block, n, first, upTo, dX, dY, newX, newY); err != nil {
			return err
		}
		added, wantUpTo, wantX, wantY := float32(0), make([]float32, n), make([]float32, n), make([]float32, n)
		for i, w := range got {
			added += w / sum
			wantUpTo[i] = added
		}
		for i := range wantX {
			at := (first + float32(i)) / float32(n)
			k, _ := slices.BinarySearch(wantUpTo, at)
			wantX[i], wantY[i] = x[min(k, n-1)], y[min(k, n-1)]
		}
		if err := Equal("sums of weights", interp.Slice[float32](upTo), wantUpTo); err != nil {
			return err
		}
		if err := Equal("x", interp.Slice[float32](newX), wantX); err != nil {
			return err
		}
		if err := Equal("y", interp.Slice[float32](newY), wantY); err != nil {
			return err
		}
		for i := range x { // the object moves
			x[i], y[i] = wantX[i]+1+2*(r.float()-0.5), wantY[i]+2+2*(r.float()-0.5)
		}
	}
	s.Summary = fmt.Sprintf("%d particles in %d frames, the first is at (%.1f, %.1f)", n, frames, x[0], y[0])
	return nil
}

func streamCluster(s *Session) error {
	const dims, candidates = 32, 4
	n := s.N
	centres := min(8, n)
	r := newRNG(1)
	coordinates := make([]float32, dims*n) // points in groups
	for i := range n {
		place := newRNG(uint64(i%24) + 100)
		for d := range dims {
			coordinates[d*n+i] = place.float() + r.float()/4
		}
	}
	distance := func(i, j int) float32 {
		square := float32(0)
		for d := range dims {
			x := coordinates[d*n+i] - coordinates[d*n+j]
			square = fma32(x, x, square)
		}
		return square
	}
	weight, cost, centre, points, number := make([]float32, n), make([]float32, n), make([]int, n), make([]uint32, 0, 3*n), make([]int32, n)
	for i := range n {
		weight[i] = float32(1 + r.intn(3))
		centre[i] = r.intn(centres)
		cost[i] = distance(i, centre[i]) * weight[i]
		points = append(points, math.Float32bits(weight[i]), math.Float32bits(cost[i]), uint32(centre[i]))
	}
	for i := range centres { // the first points are the centres
		number[i] = int32(i)
	}
	dPoints, dCoordinates, dNumber := upload(s, points), upload(s, coordinates), upload(s, number)
	moved := 0
	for k := range candidates {
		candidate := (n - 1) * (k + 1) / candidates
		saved, moves := alloc[float32](s, n*(centres+1)), alloc[uint8](s, n)
		if err := s.LaunchShared("streamcluster", ptx.Dim(blocks(n, s.Block)), ptx.Dim(s.Block), 4*dims, n, dims, candidate, dPoints, dCoordinates, dNumber, centres, saved, moves); err != nil {
			return err
		}
		wantSaved, wantMoves := make([]float32, n*(centres+1)), make([]uint8, n)
		for i := range n {
			c := float32(distance(i, candidate) * weight[i])
			if c < cost[i] {
				wantMoves[i] = 1
				wantSaved[i*(centres+1)+centres] = c - cost[i]
				moved++
			} else {
				wantSaved[i*(centres+1)+centre[i]] = cost[i] - c
			}
		}
		if err := Equal("moves", interp.Slice[uint8](moves), wantMoves); err != nil {
			return err
		}
		if err := Equal("saved", interp.Slice[float32](saved), wantSaved); err != nil {
			return err
		}
	}
	s.Summary = fmt.Sprintf("%d points, %d are nearer to one of %d candidates", n, moved, candidates)
	return nil
}
