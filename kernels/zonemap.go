package kernels

import (
	"errors"
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "zonemap", Doc: "minimum, maximum, sum and union of bits of each 128 integers, by redux.sync",
		N: 1 << 22, Max: 1 << 28, SizeDoc: "elements",
		Origin:  "Moerkotte, Small materialized aggregates (VLDB 1998): zone maps of databases",
		Current: true, Warp: 32,
		Run: zonemap,
	})
}

func zonemap(s *Session) error {
	const zone = 128
	// A summary has four words: minimum, maximum, sum and bits.
	empty := []int32{math.MaxInt32, math.MinInt32, 0, 0}
	add := func(summary []int32, v int32) {
		summary[0], summary[1] = min(summary[0], v), max(summary[1], v)
		summary[2] += v // wraps around
		summary[3] |= v
	}
	r := newRNG(1)
	column := make([]int32, s.N)
	zones := blocks(s.N, zone)
	want, wantAll := make([]int32, 4*zones), append([]int32(nil), empty...)
	for i := range column {
		if i%zone == 0 {
			copy(want[i/zone*4:], empty)
		}
		column[i] = int32(r.uint64()) >> (i / zone % 32) // of several magnitudes, so that zones differ
		add(want[i/zone*4:], column[i])
		add(wantAll, column[i])
	}
	src, dst, all := upload(s, column), alloc[int32](s, len(want)), upload(s, empty)
	if err := s.Launch("zonemap", ptx.Dim(min(64, blocks(zones, 8))), ptx.Dim(256), s.N, src, dst, all); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("%d zones", zones)
	return errors.Join(Equal("zones", interp.Slice[int32](dst), want), Equal("all", interp.Slice[int32](all), wantAll))
}
