package kernels

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "median", Doc: "3×3 median filter of a grey image",
		N: 400, Max: 1 << 13, SizeDoc: "pixels across, ¾ as many down",
		Origin: "the median filter (Tukey 1971), by rank; median of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    median,
	})
}

func median(s *Session) error {
	w, h := s.N, landscape(s.N)
	in := testImage(5, w, h)
	src, dst := upload(s, in), alloc[uint8](s, w*h)
	if err := s.Launch("median", ptx.Dim(blocks(w, 16), blocks(h, 16)), ptx.Dim(16, 16), src, dst, w, h); err != nil {
		return err
	}
	want := make([]uint8, w*h)
	for i := range want {
		var v [9]uint8
		for j := range v {
			v[j] = in[clamp(i/w+j/3-1, h)*w+clamp(i%w+j%3-1, w)]
		}
		slices.Sort(v[:])
		want[i] = v[4]
	}
	s.Summary = fmt.Sprintf("filtered an image of %d×%d pixels", w, h)
	return Equal("out", interp.Slice[uint8](dst), want)
}
