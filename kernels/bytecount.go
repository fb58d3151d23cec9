package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "bytecount", Doc: "number of occurrences of each byte, with a histogram in shared memory for each warp",
		N: 1 << 18, Max: 1 << 26, SizeDoc: "vectors of 16 bytes",
		Origin:  "the histogram of CUB, with vectors and privatised counters",
		Current: true,
		Run:     bytecount,
	})
}

func bytecount(s *Session) error {
	data := make([]uint8, 16*s.N)
	want := make([]uint32, 256)
	r := newRNG(1)
	for i := range data {
		data[i] = uint8(r.intn(128) + r.intn(128)) // triangular distribution
		want[data[i]]++
	}
	src, bins := upload(s, data), alloc[uint32](s, 256)
	if err := s.Launch("bytecount", ptx.Dim(min(32, blocks(s.N, 256))), ptx.Dim(256), s.N, src, bins); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("counted %d bytes", len(data))
	return Equal("bins", interp.Slice[uint32](bins), want)
}
