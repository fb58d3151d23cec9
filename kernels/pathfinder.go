package kernels

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "pathfinder", Doc: "cheapest paths down a grid, in stretches with several rows for each load",
		N: 1 << 12, Max: 1 << 20, SizeDoc: "columns, with 100 rows",
		Origin: "dynamic programming (Bellman 1957), with overlapping stretches as in Meng and Skadron (ICS 2009); pathfinder of Rodinia",
		Papers: []string{"liu2017", "thesis2019"},
		Run:    pathfinder,
	})
}

func pathfinder(s *Session) error {
	const block, rows, maxRows = 256, 100, 20 // a launch advances by at most maxRows rows
	cols := s.N
	r := newRNG(1)
	grid := make([]int32, rows*cols)
	for i := range grid {
		grid[i] = int32(r.intn(10))
	}
	from, to := upload(s, grid[:cols]), alloc[int32](s, cols)
	for row := 1; row < rows; row += maxRows {
		count := min(maxRows, rows-row)
		cost := upload(s, grid[row*cols:][:count*cols])
		if err := s.Launch("pathfinder", ptx.Dim(blocks(cols, block-2*count)), ptx.Dim(block), count, cols, cost, from, to); err != nil {
			return err
		}
		from, to = to, from
	}
	way := slices.Clone(grid[:cols])
	for row := 1; row < rows; row++ {
		above := slices.Clone(way)
		for x := range way {
			way[x] = slices.Min(above[max(x-1, 0):min(x+2, cols)]) + grid[row*cols+x]
		}
	}
	s.Summary = fmt.Sprintf("the cheapest path down %d rows of %d columns costs %d", rows, cols, slices.Min(way))
	return Equal("way", interp.Slice[int32](from), way)
}
