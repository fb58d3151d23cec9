package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "heartwall", Doc: "tracking of points on the walls of a heart, by correlation with templates",
		N: 12, Max: 1 << 12, SizeDoc: "points, and ⅖ as many frames, from 1 up to 20",
		Origin: "Szafaryn, Skadron and Saucerman, Experiences accelerating MATLAB systems biology applications (2009); heartwall of Rodinia, its tracking without the detection",
		Papers: []string{"collange2011", "liu2017", "thesis2019"},
		Run:    heartwall,
	})
}

func heartwall(s *Session) error {
	const (
		side, search, threads = 11, 13, 128
		margin                = side/2 + search/2
		inertia               = float32(0.875)
		moveX, moveY, noise   = 2, 1, 0.1
	)
	frames := max(1, min(2*s.N/5, 20))
	space := margin + frames*(search/2) // points start this far from the edges, so that they stay inside
	cols, rows := 2*space+96, 2*space+64
	r := newRNG(1)
	// The content moves by (moveX, moveY) from frame to frame, with noise.
	ground := testImage(4, cols+frames*moveX, rows+frames*moveY)
	frame := make([][]float32, frames+1)
	for f := range frame {
		frame[f] = make([]float32, cols*rows)
		for i := range frame[f] {
			x, y := i%cols+(frames-f)*moveX, i/cols+(frames-f)*moveY
			frame[f][i] = float32(ground[y*(cols+frames*moveX)+x])/256 + float32(noise*r.float())
		}
	}
	x, y := make([]int32, s.N), make([]int32, s.N)
	templates := make([]float32, s.N*side*side)
	for i := range x {
		x[i], y[i] = int32(space+r.intn(cols-2*space)), int32(space+r.intn(rows-2*space))
		for j := range side * side {
			templates[i*side*side+j] = frame[0][(int(y[i])-side/2+j/side)*cols+int(x[i])-side/2+j%side]
		}
	}
	start := append([]int32(nil), x...)
	dX, dY, dTemplates, dCorrelation := upload(s, x), upload(s, y), upload(s, templates), alloc[float32](s, s.N*search*search)
	for _, f := range frame[1:] {
		if err := s.Launch("heartwall", ptx.Dim(s.N), ptx.Dim(threads), cols, inertia, upload(s, f), dX, dY, dTemplates, dCorrelation); err != nil {
			return err
		}
	}
	correlation := make([]float32, s.N*search*search)
	for _, f := range frame[1:] {
		for i := range x {
			correlate := correlation[i*search*search:][:search*search]
			t := templates[i*side*side:][:side*side]
			corner := (int(y[i])-margin)*cols + int(x[i]) - margin
			// As in the kernel, columns are summed first.
			total := func(column func(c int) float32) float32 {
				sum := float32(0)
				for c := range side {
					sum += column(c)
				}
				return sum
			}
			mean := float32(total(func(c int) float32 {
				sum := float32(0)
				for j := c; j < len(t); j += side {
					sum += t[j]
				}
				return sum
			}) * (1 / float32(side*side)))
			norm := total(func(c int) float32 {
				sum := float32(0)
				for j := c; j < len(t); j += side {
					sum = fma32(t[j]-mean, t[j]-mean, sum)
				}
				return sum
			})
			best := 0
			for p := range correlate {
				var sum, square, product float32
				for j, v := range t {
					w := f[corner+(p/search+j/side)*cols+p%search+j%side]
					sum += w
					square = fma32(w, w, square)
					product = fma32(w, v-mean, product)
				}
				correlate[p] = 0
				if variance := fma32(-1/float32(side*side)*sum, sum, square); variance > 0 {
					correlate[p] = product / sqrt32(norm*variance)
				}
				if correlate[p] > correlate[best] {
					best = p
				}
			}
			for j := range t {
				t[j] = fma32(inertia, t[j], (1-inertia)*f[corner+(best/search+j/side)*cols+best%search+j%side])
			}
			x[i] += int32(best%search - search/2)
			y[i] += int32(best/search - search/2)
		}
	}
	followed := 0
	for i := range x {
		if int(x[i]-start[i]) == frames*moveX {
			followed++
		}
	}
	s.Summary = fmt.Sprintf("%d of %d points found in the last of %d frames", followed, s.N, frames)
	if err := Equal("correlation", interp.Slice[float32](dCorrelation), correlation); err != nil {
		return err
	}
	if err := Equal("x", interp.Slice[int32](dX), x); err != nil {
		return err
	}
	if err := Equal("y", interp.Slice[int32](dY), y); err != nil {
		return err
	}
	return Equal("templates", interp.Slice[float32](dTemplates), templates)
}
