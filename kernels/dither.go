package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "dither", Doc: "Floyd-Steinberg dithering, parallel along the diagonals",
		N: 640, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "Floyd and Steinberg, An adaptive algorithm for spatial greyscale (1976); dither of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    dither,
	})
}

func dither(s *Session) error {
	w, h := s.N, landscape(s.N)
	in := testImage(3, w, h)
	src, dst, dError := upload(s, in), alloc[uint8](s, w*h), alloc[int32](s, w*h)
	if err := s.Launch("dither", ptx.Dim(1), ptx.Dim(256), src, dst, dError, w, h); err != nil {
		return err
	}
	// The reference computes pixel by pixel, and adds each pixel's error to its neighbours, as the algorithm does.
	want := make([]uint8, w*h)
	sixteenths := make([]int, w*h)
	black := 0
	for i, v := range in {
		x, y := i%w, i/w
		if v == 255 {
			want[i] = 255
			continue
		}
		err := int(v) + sixteenths[i]/16
		if err >= 128 {
			want[i] = 255
			err -= 255
		} else {
			black++
		}
		give := func(dx, dy, share int) {
			if x+dx >= 0 && x+dx < w && y+dy < h {
				sixteenths[i+dy*w+dx] += share * err
			}
		}
		give(1, 0, 7)
		give(-1, 1, 3)
		give(0, 1, 5)
		give(1, 1, 1)
	}
	s.Summary = fmt.Sprintf("dithered %d×%d pixels, %d are black", w, h, black)
	return Equal("out", interp.Slice[uint8](dst), want)
}
