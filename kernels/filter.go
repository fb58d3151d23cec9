package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "filter", Doc: "3×3 Gaussian filter of a grey image",
		N: 640, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "the binomial kernel of image processing textbooks",
		Run:    filter,
	})
}

func filter(s *Session) error {
	w, h := s.N, landscape(s.N)
	in := testImage(1, w, h)
	src, dst := upload(s, in), alloc[uint8](s, w*h)
	if err := s.Launch("filter", ptx.Dim(blocks(w, 16), blocks(h, 16)), ptx.Dim(16, 16), src, dst, w, h); err != nil {
		return err
	}
	// The filter is separable: 1 2 1 along the rows, then along the columns.
	rows := make([]int, w*h)
	for i := range rows {
		x, row := i%w, in[i/w*w:][:w]
		rows[i] = int(row[clamp(x-1, w)]) + 2*int(row[x]) + int(row[clamp(x+1, w)])
	}
	want := make([]uint8, w*h)
	for i := range want {
		x, y := i%w, i/w
		want[i] = uint8((rows[clamp(y-1, h)*w+x] + 2*rows[i] + rows[clamp(y+1, h)*w+x] + 8) / 16)
	}
	s.Summary = fmt.Sprintf("smoothed an image of %d×%d pixels", w, h)
	return Equal("out", interp.Slice[uint8](dst), want)
}
