package kernels

// This file has the workloads of Measured after benchmarks of Rodinia and Parboil: their distribution of work over
// threads, arrays, and tiles in shared memory. docs/gv100.md has the sources of the sizes.

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
	"gemu/texture"
)

const rodinia = "Che et al., Rodinia: A benchmark suite for heterogeneous computing (IISWC 2009), "
const parboil = "Stratton et al., Parboil: A revised benchmark suite for scientific and commercial throughput computing (2012), "

func init() {
	registerMeasured(&Workload{Name: "gv100/backprop", Doc: "a layer of a neural network forwards, and a change of its weights",
		N: 1 << 16, Max: 1 << 20, SizeDoc: "input units", Origin: rodinia + "backprop", Run: measuredBackprop})
	registerMeasured(&Workload{Name: "gv100/hotspot", Doc: "temperature of a chip, in tiles with two steps for each load",
		N: 1 << 10, Max: 1 << 13, SizeDoc: "cells across and down", Origin: rodinia + "hotspot", Run: measuredHotspot})
	registerMeasured(&Workload{Name: "gv100/kmeans", Doc: "the nearest of five centres for objects of 34 features, which are a texture",
		N: 819200, Max: 1 << 21, SizeDoc: "objects", Origin: rodinia + "kmeans", Run: measuredKmeans})
	registerMeasured(&Workload{Name: "gv100/srad", Doc: "coefficients of diffusion of an image, with the places of neighbours in arrays",
		N: 458, Max: 1 << 13, SizeDoc: "columns of pixels, with 502/458 as many rows", Origin: rodinia + "srad_v1", Run: measuredSrad})
	registerMeasured(&Workload{Name: "gv100/sgemm", Doc: "matrix product with sums in registers",
		N: 1 << 10, Max: 1 << 12, SizeDoc: "rows, rounded up to 128, with 33/32 as many columns and 31/32 as many products of an element", Origin: parboil + "sgemm", Run: measuredSgemm})
	registerMeasured(&Workload{Name: "gv100/mriq", Doc: "the matrix Q of a reconstruction of magnetic resonance images, with 16 samples",
		N: 1 << 18, Max: 1 << 20, SizeDoc: "places", Origin: parboil + "mri-q", source: "mriq", Run: func(s *Session) error { return mriqOf(s, 16) }})
}

func measuredBackprop(s *Session) error {
	const side = 16 // of a block, and hidden units
	tiles := blocks(s.N, side)
	units := tiles * side
	r := newRNG(1)
	in, weight, before, delta := r.floats(1+units, 0, 1), r.floats((1+units)*(side+1), -1, 1), r.floats((1+units)*(side+1), -1, 1), r.floats(1+side, -1, 1)
	dIn, dWeight, dBefore, dDelta := upload(s, in), upload(s, weight), upload(s, before), upload(s, delta)
	partial := alloc[float32](s, units)
	if err := s.Launch("backprop_forward", ptx.Dim(1, tiles), ptx.Dim(side, side), dIn, dWeight, partial, side); err != nil {
		return err
	}
	want := make([]float32, units)
	for tile := range tiles {
		node := func(k, j int) *float32 { return &weight[(tile*side+k+1)*(side+1)+j+1] }
		for k := range side {
			for j := range side {
				*node(k, j) *= in[tile*side+k+1]
			}
		}
		for span := 2; span <= side; span *= 2 {
			for k := 0; k < side; k += span {
				for j := range side {
					*node(k, j) += *node(k+span/2, j)
				}
			}
		}
		for j := range side {
			want[tile*side+j] = *node(0, j)
		}
	}
	if err := Equal("weight", interp.Slice[float32](dWeight), weight); err != nil {
		return err
	}
	if err := Equal("partial", interp.Slice[float32](partial), want); err != nil {
		return err
	}
	if err := s.Launch("backprop_adjust", ptx.Dim(1, tiles), ptx.Dim(side, side), dDelta, side, dIn, dWeight, dBefore); err != nil {
		return err
	}
	in[0] = 1 // the bias
	for i := range weight {
		if unit, j := i/(side+1), i%(side+1); j > 0 {
			before[i] = 0.3*delta[j]*in[unit] + 0.3*before[i]
			weight[i] += before[i]
		}
	}
	s.Summary = fmt.Sprintf("%d input units, %d hidden units", units, side)
	// The kernel rounds a few times, by at most 2^-24 of numbers that are below 8.
	if err := Close("weight", interp.Slice[float32](dWeight), weight, 4e-6); err != nil {
		return err
	}
	return Close("change", interp.Slice[float32](dBefore), before, 4e-6)
}

func measuredHotspot(s *Session) error {
	const block, steps = 16, 2
	const inner = block - 2*steps
	const capacity, acrossX, acrossY, outwards, ambient = float32(0.25), float32(0.5), float32(0.375), float32(0.125), float32(80)
	n := s.N
	r := newRNG(1)
	power, t := r.floats(n*n, 0, 4), r.floats(n*n, 320, 340)
	from, to := upload(s, t), alloc[float32](s, n*n)
	if err := s.Launch("hotspot", ptx.Dim(blocks(n, inner), blocks(n, inner)), ptx.Dim(block, block), steps, upload(s, power), from, to, n, n, capacity, acrossX, acrossY, outwards); err != nil {
		return err
	}
	for range steps {
		next := make([]float32, len(t))
		for i, here := range t {
			x, y := i%n, i/n
			at := func(x, y int) float32 { return t[clamp(y, n)*n+clamp(x, n)] }
			heat := power[i] + (at(x, y+1)+at(x, y-1)-2*here)*acrossY + (at(x+1, y)+at(x-1, y)-2*here)*acrossX + (ambient-here)*outwards
			next[i] = here + capacity*heat
		}
		t = next
	}
	s.Summary = fmt.Sprintf("%d steps of %d×%d cells", steps, n, n)
	// A step rounds about ten times, by 2^-24 of numbers that are at most twice the temperature, and reference and kernel
	// round at different places.
	return Close("temperature", interp.Slice[float32](to), t, 4e-6)
}

func measuredKmeans(s *Session) error {
	const block, features, clusters, most = 256, 34, 5, 32
	n := s.N
	r := newRNG(1)
	feature, centre := make([]float32, features*n), make([]float32, features*most) // whole numbers below 256: distances are exact in every order
	for i := range feature {
		feature[i] = float32(r.intn(256))
	}
	for c := range clusters {
		for k := range features {
			centre[features*c+k] = feature[n*k+c*(n/clusters)]
		}
	}
	setVar(s, "centre", centre)
	image := texture.Image{Geometry: texture.Image1D, Format: texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, Width: len(feature)}
	object, err := s.Module.Device().NewTexture(interp.TextureDesc{Name: "feature", Buffer: upload(s, feature), Image: image, Sampler: texture.DefaultSampler()})
	if err != nil {
		return err
	}
	side := 1 // of a square of blocks
	for side*side*block < n {
		side++
	}
	cluster := alloc[int32](s, n)
	if err := s.Launch("kmeans_point", ptx.Dim(side, side), ptx.Dim(block), object, features, n, clusters, cluster); err != nil {
		return err
	}
	want := make([]int32, n)
	for i := range want {
		least := 0
		for c := range clusters {
			distance := 0
			for k := range features {
				d := int(feature[n*k+i] - centre[features*c+k])
				distance += d * d
			}
			if c == 0 || distance < least {
				least, want[i] = distance, int32(c)
			}
		}
	}
	s.Summary = fmt.Sprintf("%d objects of %d features, %d clusters", n, features, clusters)
	return Equal("cluster", interp.Slice[int32](cluster), want)
}

func measuredSrad(s *Session) error {
	const block, speckle = 512, 0.05
	cols := s.N
	rows := max(1, cols*502/458)
	r := newRNG(1)
	image := r.floats(rows*cols, 1, 2)
	neighbours := func(n, step int) *interp.Buffer {
		list := make([]int32, n)
		for i := range list {
			list[i] = int32(clamp(i+step, n))
		}
		return upload(s, list)
	}
	var d [5]*interp.Buffer // north, south, east, west, coefficient
	for i := range d {
		d[i] = alloc[float32](s, len(image))
	}
	if err := s.Launch("srad", ptx.Dim(blocks(len(image), block)), ptx.Dim(block), rows, len(image), neighbours(rows, -1), neighbours(rows, 1), neighbours(cols, 1), neighbours(cols, -1), d[0], d[1], d[2], d[3], float32(speckle), d[4], upload(s, image)); err != nil {
		return err
	}
	var want [5][]float32
	for i := range want {
		want[i] = make([]float32, len(image))
	}
	for i := range image {
		row, col, here := i%rows, i/rows, image[i]
		sum, squares := 0.0, 0.0
		for k, at := range [4]int{clamp(row-1, rows) + rows*col, clamp(row+1, rows) + rows*col, row + rows*clamp(col+1, cols), row + rows*clamp(col-1, cols)} {
			want[k][i] = image[at] - here
			sum += float64(want[k][i])
			squares += float64(want[k][i]) * float64(want[k][i])
		}
		gradient, laplacian := squares/float64(here*here), sum/float64(here)
		mean := 1 + 0.25*laplacian
		q := (0.5*gradient - 0.0625*laplacian*laplacian) / (mean * mean)
		want[4][i] = float32(min(max(1/(1+(q-speckle)/(speckle*(1+speckle))), 0), 1))
	}
	s.Summary = fmt.Sprintf("%d×%d pixels", cols, rows)
	for i, name := range [4]string{"north", "south", "east", "west"} {
		if err := Equal(name, interp.Slice[float32](d[i]), want[i]); err != nil {
			return err
		}
	}
	// The kernel rounds about twenty times, by 2^-24; mean is at least ½, speckle is 1/20.
	return Close("coefficient", interp.Slice[float32](d[4]), want[4], 2e-4)
}

func measuredSgemm(s *Session) error {
	const alpha, beta = 1, 2
	m := 128 * blocks(s.N, 128)
	n, k := 16*blocks(m*33/32, 16), 8*blocks(m*31/32, 8)
	r := newRNG(1)
	whole := func(n int) []float32 { // small whole numbers: sums are exact in every order
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(r.intn(17) - 8)
		}
		return list
	}
	a, b, c := whole(m*k), whole(n*k), whole(m*n)
	dC := upload(s, c)
	if err := s.Launch("sgemm", ptx.Dim(m/128, n/16), ptx.Dim(16, 8), upload(s, a), m, upload(s, b), n, dC, m, k, float32(alpha), float32(beta)); err != nil {
		return err
	}
	for col := range n {
		sum := c[m*col:][:m]
		for row := range sum {
			sum[row] *= beta
		}
		for i := range k {
			x := alpha * b[n*i+col]
			for row, y := range a[m*i:][:m] {
				sum[row] += y * x
			}
		}
	}
	s.Summary = fmt.Sprintf("%d×%d times %d×%d", m, k, k, n)
	return Equal("product", interp.Slice[float32](dC), c)
}
