package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "srad", Doc: "anisotropic diffusion that removes speckle from an image",
		N: 256, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "Yu and Acton, Speckle reducing anisotropic diffusion (IEEE Trans. Image Processing 2002); srad of Rodinia, version 2",
		Papers: []string{"collange2011", "liu2017", "thesis2019"},
		Blocks: []int{16, 32},
		Run:    srad,
	})
}

func srad(s *Session) error {
	block := s.Block
	const steps, lambda = 3, float32(0.5)
	cols, rows := s.N, landscape(s.N)
	image := make([]float32, rows*cols)
	for i, v := range testImage(3, cols, rows) {
		image[i] = float32(math.Exp(float64(v) / 255))
	}
	// The upper left quarter has only speckle: its intensities vary little.
	speckle := func(image []float32) float32 {
		var sum, squares, n float64
		for i, v := range image {
			if i%cols <= cols/2 && i/cols <= rows/2 {
				sum, squares, n = sum+float64(v), squares+float64(float64(v)*float64(v)), n+1
			}
		}
		mean := sum / n
		return float32(squares/n/(mean*mean) - 1 + 1e-6)
	}
	dImage, dC := upload(s, image), alloc[float32](s, len(image))
	var d [4]*interp.Buffer // north, south, west, east
	for i := range d {
		d[i] = alloc[float32](s, len(image))
	}
	grid, size := ptx.Dim(blocks(cols, block), blocks(rows, block)), ptx.Dim(block, block)
	for range steps {
		q := float32(0)
		if s.err == nil {
			q = speckle(interp.Slice[float32](dImage))
		}
		if err := s.Launch("srad_coefficient", grid, size, rows, cols, q, dImage, d[0], d[1], d[2], d[3], dC); err != nil {
			return err
		}
		if err := s.Launch("srad_diffuse", grid, size, rows, cols, lambda, dImage, d[0], d[1], d[2], d[3], dC); err != nil {
			return err
		}
	}
	coefficient, differences := make([]float32, len(image)), make([][4]float32, len(image))
	for range steps {
		q0 := speckle(image)
		for i, here := range image {
			x, y := i%cols, i/cols
			at := func(x, y int) float32 { return image[clamp(y, rows)*cols+clamp(x, cols)] - here }
			n, s, w, e := at(x, y-1), at(x, y+1), at(x-1, y), at(x+1, y)
			gradient := fma32(e, e, fma32(w, w, fma32(s, s, n*n))) / (here * here)
			laplacian := (n + s + w + e) / here
			variance := fma32(-0.0625*laplacian, laplacian, 0.5*gradient)
			mean := fma32(0.25, laplacian, 1)
			q := variance / (mean * mean)
			c := 1 / (1 + (q-q0)/(q0*(1+q0)))
			coefficient[i] = min(max(c, 0), 1)
			differences[i] = [4]float32{n, s, w, e}
		}
		for i := range image {
			x, y := i%cols, i/cols
			at := func(x, y int) float32 { return coefficient[clamp(y, rows)*cols+clamp(x, cols)] }
			d := differences[i]
			sum := fma32(at(x, y+1), d[1], at(x, y)*d[0])
			sum = fma32(at(x+1, y), d[3], fma32(at(x, y), d[2], sum))
			image[i] = fma32(0.25*lambda, sum, image[i])
		}
	}
	s.Summary = fmt.Sprintf("%d steps on an image of %d×%d pixels", steps, cols, rows)
	return Equal("image", interp.Slice[float32](dImage), image)
}
