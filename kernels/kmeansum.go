package kernels

import (
	"fmt"

	"gemu/interp"
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
	// Connections of the data that the benchmark comes with have 34 features, of which it makes
	// five clusters.
	const k, dims, rounds, block = 5, 34, 5, 256
	n := s.N
	object, centre, cluster := clusters(n, k, dims)
	dObject, dCentre, dCluster := upload(s, object), upload(s, centre), upload(s, cluster)
	count := blocks(n, block)
	sum, size, changed := alloc[int32](s, count*k*dims), alloc[int32](s, count*k), alloc[int32](s, 1)
	done := 0
	for done < rounds {
		if err := s.Launch("kmeansum_assign", interp.Dim(count), interp.Dim(block), n, dims, k, dObject, dCentre, dCluster, sum, size, changed); err != nil {
			return err
		}
		if err := s.Launch("kmeansum_update", interp.Dim(1), interp.Dim(block), count, dims, k, dCentre, sum, size); err != nil {
			return err
		}
		done++
		more := interp.Slice[int32](changed)
		if more[0] == 0 {
			break
		}
		more[0] = 0
	}
	for range done {
		lloyd(n, dims, object, centre, cluster)
	}
	s.Summary = fmt.Sprintf("%d objects in %d clusters after %d rounds", n, k, done)
	if err := Equal("cluster", interp.Slice[int32](dCluster), cluster); err != nil {
		return err
	}
	return Equal("centre", interp.Slice[float32](dCentre), centre)
}
