package kernels

import (
	"fmt"
	"image/color"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "rgb2cmyk", Doc: "colour space conversion of an image",
		N: 1 << 20, Max: 1 << 28, SizeDoc: "pixels",
		Origin: "undercolour removal; rgb2cmyk of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    rgb2cmyk,
	})
}

func rgb2cmyk(s *Session) error {
	r := newRNG(1)
	rgb, want := make([]uint8, 3*s.N), make([]uint8, 4*s.N)
	for i := range rgb {
		rgb[i] = uint8(r.intn(256))
	}
	src, dst := upload(s, rgb), alloc[uint8](s, 4*s.N)
	if err := s.Launch("rgb2cmyk", ptx.Dim(blocks(s.N, 256)), ptx.Dim(256), s.N, src, dst); err != nil {
		return err
	}
	// image/color scales the inks by 255/(255 - k), which the kernel does not; scaled reverts it.
	scaled := func(v, k uint8) uint8 { return uint8((int(v)*(255-int(k)) + 254) / 255) }
	for i := range s.N {
		c, m, y, k := color.RGBToCMYK(rgb[3*i], rgb[3*i+1], rgb[3*i+2])
		copy(want[4*i:], []uint8{scaled(c, k), scaled(m, k), scaled(y, k), k})
	}
	s.Summary = fmt.Sprintf("converted %d pixels", s.N)
	return Equal("cmyk", interp.Slice[uint8](dst), want)
}
