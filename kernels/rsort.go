package kernels

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "rsort", Doc: "radix sort of integers",
		N: 1 << 17, Max: 1 << 24, SizeDoc: "integers",
		Origin: "Zagha and Blelloch, Radix sort for vector multiprocessors (SC 1991); rsort of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    rsort,
	})
}

func rsort(s *Session) error {
	const bits, block = 4, 64
	in := make([]int32, s.N)
	r := newRNG(1)
	for i := range in {
		in[i] = int32(r.uint64())
	}
	// Each thread has up to 64 elements.
	stretch := min(64, blocks(s.N, block))
	grid := ptx.Dim(blocks(s.N, block*stretch))
	threads := grid.X * block
	from, to := upload(s, in), alloc[int32](s, s.N)
	count, total := alloc[int32](s, threads<<bits), alloc[int32](s, 1<<bits)
	for shift := 0; shift < 32; shift += bits {
		if err := s.Launch("rsort_count", grid, ptx.Dim(block), s.N, stretch, shift, from, count, total); err != nil {
			return err
		}
		if err := s.Launch("rsort_scan", ptx.Dim(1<<bits), ptx.Dim(block), threads, count, total); err != nil {
			return err
		}
		if err := s.Launch("rsort_move", grid, ptx.Dim(block), s.N, stretch, shift, from, count, to); err != nil {
			return err
		}
		clear(total.Bytes())
		from, to = to, from
	}
	s.Summary = fmt.Sprintf("sorted %d integers, %d threads", s.N, threads)
	slices.Sort(in)
	return Equal("sorted", interp.Slice[int32](from), in)
}
