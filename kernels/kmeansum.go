package kernels

import (
	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "kmeansum", Doc: "k-means clustering with sums by block",
		N: 1 << 10, Max: 1 << 20, SizeDoc: "objects",
		Origin: "Lloyd, Least squares quantization in PCM (1982); kmeans of Rodinia",
		Papers: []string{"kim2013"},
		Run:    kmeansum,
	})
}

func kmeansum(s *Session) error {
	// Connections in the benchmark's data have 34 features, and the benchmark makes five clusters.
	const k, dims, rounds, block = 5, 34, 5, 256
	n := s.N
	count := blocks(n, block)
	return iterations(s, k, dims, rounds, count, func(object, centre, cluster, sum, size, changed *interp.Buffer) error {
		if err := s.Launch("kmeansum_assign", ptx.Dim(count), ptx.Dim(block), n, dims, k, object, centre, cluster, sum, size, changed); err != nil {
			return err
		}
		return s.Launch("kmeansum_update", ptx.Dim(1), ptx.Dim(block), count, dims, k, centre, sum, size)
	})
}
