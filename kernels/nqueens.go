package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "nqueens", Doc: "number of ways to place n queens on a board of n×n",
		N: 12, Max: 16, SizeDoc: "queens",
		Origin: "depth-first search on bits (Richards, Backtracking algorithms in MCPL, 1997); nqueens of Kim et al. 2013",
		Papers: []string{"kim2013", "thesis2019"},
		Run:    nqueens,
	})
}

// queens is the number of solutions by n (OEIS A000170).
var queens = [...]int32{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512}

// board is struct board of nqueens.cu: the columns and diagonals that the placed queens attack in the next row, as bits.
type board struct{ cols, left, right uint32 }

func nqueens(s *Session) error {
	// The host places queens in the first rows in all ways. Each thread continues one of these boards.
	n := s.N
	placed := max(0, min(n-1, 4))
	boards := []board{{}}
	for range placed {
		var next []board
		for _, b := range boards {
			for c := range n {
				q := uint32(1) << c
				if q&(b.cols|b.left|b.right) == 0 {
					next = append(next, board{b.cols | q, (b.left | q) << 1, (b.right | q) >> 1})
				}
			}
		}
		boards = next
	}
	start := make([]uint32, 0, 3*len(boards))
	for _, b := range boards {
		start = append(start, b.cols, b.left, b.right)
	}
	src, solutions := upload(s, start), alloc[int32](s, 1)
	if err := s.Launch("nqueens", ptx.Dim(blocks(len(boards), 64)), ptx.Dim(64), n, n-placed, len(boards), src, solutions); err != nil {
		return err
	}
	got := interp.Slice[int32](solutions)
	s.Summary = fmt.Sprintf("%d solutions for %d queens, searched from %d boards", got[0], n, len(boards))
	return Equal("solutions", got, queens[n:n+1])
}
