package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "hotspot", Doc: "temperature of a chip, in tiles with several steps for each load",
		N: 192, Max: 1 << 13, SizeDoc: "cells across, ¾ as many down",
		Origin: "Huang et al., HotSpot: a compact thermal modeling methodology (IEEE Trans. VLSI 2006), with overlapping tiles as in Meng and Skadron (ICS 2009); hotspot of Rodinia",
		Papers: []string{"collange2011", "liu2017", "thesis2019", "vijaykumar2016"},
		Blocks: []int{16, 32},
		Run:    hotspot,
	})
}

func hotspot(s *Session) error {
	block := s.Block
	const steps, launches = 2, 2
	// The chip is 0.5 mm thick and 16 mm wide: as much heat flows to the neighbouring cells as outwards.
	const capacity, acrossX, acrossY, outwards, ambient = float32(0.25), float32(0.5), float32(0.375), float32(0.125), float32(80)
	cols, rows := s.N, landscape(s.N)
	r := newRNG(1)
	power, t := r.floats(rows*cols, 0, 4), r.floats(rows*cols, 320, 340)
	dPower, from, to := upload(s, power), upload(s, t), alloc[float32](s, len(t))
	inner := block - 2*steps
	for range launches {
		if err := s.Launch("hotspot", ptx.Dim(blocks(cols, inner), blocks(rows, inner)), ptx.Dim(block, block), steps, rows, cols, dPower, from, to, capacity, acrossX, acrossY, outwards, ambient); err != nil {
			return err
		}
		from, to = to, from
	}
	for range steps * launches {
		next := make([]float32, len(t))
		for i, here := range t {
			x, y := i%cols, i/cols
			at := func(x, y int) float32 { return t[clamp(y, rows)*cols+clamp(x, cols)] }
			sum := fma32(at(x, y+1)+at(x, y-1)-2*here, acrossY, power[i])
			sum = fma32(at(x+1, y)+at(x-1, y)-2*here, acrossX, sum)
			next[i] = fma32(capacity, fma32(ambient-here, outwards, sum), here)
		}
		t = next
	}
	s.Summary = fmt.Sprintf("%d steps of %d×%d cells, %d in a launch", steps*launches, cols, rows, steps)
	return Equal("temperature", interp.Slice[float32](from), t)
}
