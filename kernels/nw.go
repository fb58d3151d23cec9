package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "nw", Doc: "global alignment of two sequences, diagonal by diagonal",
		N: 256, Max: 1 << 13, SizeDoc: "letters of each sequence",
		Origin: "Needleman and Wunsch, A general method applicable to the search for similarities in the amino acid sequence of two proteins (1970); nw of Rodinia",
		Papers: []string{"collange2011", "thesis2019", "vijaykumar2016"},
		Run:    nw,
	})
}

func nw(s *Session) error {
	const tile, letters, penalty = 16, 20, 10
	tiles := blocks(s.N, tile)
	n := tiles * tile // sequences are padded with letter 0
	r := newRNG(1)
	// The scores of pairs of letters, in the range of matrices for amino acids.
	var worth [letters][letters]int32
	for a := range letters {
		for b := range a {
			worth[a][b] = int32(r.intn(8) - 4)
			worth[b][a] = worth[a][b]
		}
		worth[a][a] = int32(4 + r.intn(8))
	}
	first, second := make([]int, n), make([]int, n)
	for i := range s.N { // alike, except for a tenth
		first[i] = r.intn(letters)
		second[i] = first[i]
		if r.intn(10) == 0 {
			second[i] = r.intn(letters)
		}
	}
	similarity, want := make([]int32, n*n), make([]int32, (n+1)*(n+1))
	for i := range similarity {
		similarity[i] = worth[second[i/n]][first[i%n]]
	}
	for i := range n + 1 {
		want[i], want[i*(n+1)] = int32(-i*penalty), int32(-i*penalty)
	}
	dSimilarity, score := upload(s, similarity), upload(s, want)
	for i := 1; i < 2*tiles; i++ {
		kernel, count := "nw_grow", i
		if i > tiles {
			kernel, count = "nw_shrink", 2*tiles-i
		}
		if err := s.Launch(kernel, ptx.Dim(count), ptx.Dim(tile), n, penalty, dSimilarity, score); err != nil {
			return err
		}
	}
	for y := 1; y <= n; y++ {
		for x := 1; x <= n; x++ {
			at := func(dx, dy int) int32 { return want[(y-dy)*(n+1)+x-dx] }
			want[y*(n+1)+x] = max(at(1, 1)+worth[second[y-1]][first[x-1]], at(1, 0)-penalty, at(0, 1)-penalty)
		}
	}
	s.Summary = fmt.Sprintf("aligned %d letters with as many, a score of %d", s.N, want[s.N*(n+1)+s.N])
	return Equal("score", interp.Slice[int32](score), want)
}
