package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "histogram", Doc: "number of occurrences of each byte, counted in shared memory first",
		N: 1 << 22, Max: 1 << 30, SizeDoc: "bytes",
		Origin: "the privatised histogram of CUDA textbooks",
		Run:    histogram,
	})
}

func histogram(s *Session) error {
	data := make([]uint8, s.N)
	want := make([]uint32, 256)
	r := newRNG(1)
	for i := range data {
		data[i] = uint8(r.intn(128) + r.intn(128)) // triangular distribution
		want[data[i]]++
	}
	src, bins := upload(s, data), alloc[uint32](s, 256)
	if err := s.Launch("histogram", ptx.Dim(min(64, blocks(s.N, 256))), ptx.Dim(256), src, s.N, bins); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("counted %d bytes", s.N)
	return Equal("bins", interp.Slice[uint32](bins), want)
}
