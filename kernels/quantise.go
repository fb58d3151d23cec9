package kernels

import (
	"errors"
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "quantise", Doc: "halves to floats of 8 bits (e4m3), with a scale for each row",
		N: 512, Max: 1 << 20, SizeDoc: "rows of 1024 elements",
		Origin:  "Micikevicius et al., FP8 formats for deep learning (2022)",
		Current: true, Warp: 32,
		Run: quantise,
	})
}

func quantise(s *Session) error {
	const columns = 1024
	r := newRNG(1)
	in := make([]uint16, 0, s.N*columns)
	for i := range s.N {
		most := float32(i % 8) // with rows of zeros
		in = append(in, f16.randoms(r, columns, -most, most)...)
	}
	src, dst, scales := upload(s, in), alloc[uint8](s, len(in)), alloc[float32](s, s.N)
	if err := s.Launch("quantise", ptx.Dim(s.N), ptx.Dim(columns/8), src, dst, scales); err != nil {
		return err
	}
	want, wantScales := make([]uint8, len(in)), make([]float32, s.N)
	for row := range s.N {
		x := in[row*columns:][:columns]
		most := uint16(0)
		for _, code := range x {
			most = max(most, code&0x7fff) // the codes of magnitudes have the order of the magnitudes
		}
		factor := float32(1)
		if most > 0 {
			factor = 448 / f16.decode(most)
		}
		wantScales[row] = 1 / factor
		for i, code := range x {
			want[row*columns+i] = uint8(e4m3.encode(f16.decode(code) * factor))
		}
	}
	s.Summary = fmt.Sprintf("converted %d rows", s.N)
	return errors.Join(Equal("e4m3", interp.Slice[uint8](dst), want), Equal("scales", interp.Slice[float32](scales), wantScales))
}
