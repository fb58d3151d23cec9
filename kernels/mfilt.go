package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "mfilt", Doc: "blur of a grey image where a mask is set",
		N: 640, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "mfilt of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    mfilt,
	})
}

func mfilt(s *Session) error {
	w, h := s.N, landscape(s.N)
	in, mask := testImage(4, w, h), make([]uint8, w*h)
	blurred := 0
	for i := range mask {
		x, y := i%w, i/w
		if (x/23+y/17)%3 > 0 { // patches
			mask[i] = 1
			blurred++
		}
	}
	src, dMask, dst := upload(s, in), upload(s, mask), alloc[uint8](s, w*h)
	if err := s.Launch("mfilt", ptx.Dim(blocks(w, 32), blocks(h, 8)), ptx.Dim(32, 8), src, dMask, dst, w, h); err != nil {
		return err
	}
	// The reference uses a table of the sums over the rectangles between the upper left corner and each pixel (Crow 1984).
	area := make([]int, (w+1)*(h+1))
	at := func(x, y int) int { return area[y*(w+1)+x] }
	for i, v := range in {
		x, y := i%w, i/w
		area[(y+1)*(w+1)+x+1] = int(v) + at(x, y+1) + at(x+1, y) - at(x, y)
	}
	want := make([]uint8, w*h)
	for i, v := range in {
		want[i] = v
		if mask[i] != 0 {
			x, y := i%w, i/w
			x0, y0, x1, y1 := max(x-1, 0), max(y-1, 0), min(x+2, w), min(y+2, h)
			want[i] = uint8((at(x1, y1) - at(x0, y1) - at(x1, y0) + at(x0, y0)) / ((x1 - x0) * (y1 - y0)))
		}
	}
	s.Summary = fmt.Sprintf("blurred %d of %d×%d pixels", blurred, w, h)
	return Equal("out", interp.Slice[uint8](dst), want)
}
