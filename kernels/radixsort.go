package kernels

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "radixsort", Doc: "radix sort of keys, ranked in each warp by match.any",
		N: 1 << 17, Max: 1 << 24, SizeDoc: "keys",
		Origin:  "Ashkiani et al., GPU multisplit (2016); Adinets and Merrill, Onesweep (2022)",
		Current: true, Warp: 32,
		Run: radixsort,
	})
}

func radixsort(s *Session) error {
	const bits, block, tile = 8, 256, 2048
	r := newRNG(1)
	keys := make([]uint32, s.N)
	for i := range keys {
		keys[i] = uint32(r.uint64())
	}
	tiles := blocks(s.N, tile)
	from, to, count := upload(s, keys), alloc[uint32](s, s.N), alloc[uint32](s, tiles<<bits)
	for shift := 0; shift < 32; shift += bits {
		if err := s.Launch("radixsort_count", ptx.Dim(tiles), ptx.Dim(block), s.N, shift, from, count); err != nil {
			return err
		}
		if err := s.Launch("radixsort_scan", ptx.Dim(1), ptx.Dim(block), tiles, count); err != nil {
			return err
		}
		if err := s.Launch("radixsort_move", ptx.Dim(tiles), ptx.Dim(block), s.N, shift, from, count, to); err != nil {
			return err
		}
		from, to = to, from
	}
	s.Summary = fmt.Sprintf("sorted %d keys in %d tiles", s.N, tiles)
	slices.Sort(keys)
	return Equal("sorted", interp.Slice[uint32](from), keys)
}
