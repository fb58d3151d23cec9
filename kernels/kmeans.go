package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "kmeans", Doc: "k-means clustering with sums by atomics",
		N: 1 << 12, Max: 1 << 23, SizeDoc: "objects",
		Origin: "Lloyd, Least squares quantization in PCM (1982); kmeans of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    kmeans,
	})
}

func kmeans(s *Session) error {
	const k, dims, rounds = 8, 4, 20
	n := s.N
	return iterations(s, k, dims, rounds, 1, func(object, centre, cluster, sum, size, changed *interp.Buffer) error {
		if err := s.Launch("kmeans_assign", ptx.Dim(blocks(n, 256)), ptx.Dim(256), n, dims, k, object, centre, cluster, sum, size, changed); err != nil {
			return err
		}
		return s.Launch("kmeans_update", ptx.Dim(1), ptx.Dim(k), dims, k, centre, sum, size)
	})
}

// iterations calls round, which launches a round of Lloyd's iteration, until no object changes its cluster or rounds are
// done, and compares the result with the host's. copies is the number of copies of the sums and sizes of the clusters.
func iterations(s *Session, k, dims, rounds, copies int, round func(object, centre, cluster, sum, size, changed *interp.Buffer) error) error {
	n := s.N
	object, centre, cluster := clusters(n, k, dims)
	dObject, dCentre, dCluster := upload(s, object), upload(s, centre), upload(s, cluster)
	sum, size, changed := alloc[int32](s, copies*k*dims), alloc[int32](s, copies*k), alloc[int32](s, 1)
	done := 0
	for done < rounds {
		if err := round(dObject, dCentre, dCluster, sum, size, changed); err != nil {
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

// clusters makes n objects, each close to one of k places, and the initial centres. cluster is -1 for every object.
func clusters(n, k, dims int) (object []int32, centre []float32, cluster []int32) {
	r := newRNG(1)
	object = make([]int32, dims*n)
	for i := range n {
		place := newRNG(uint64(i%k) + 100)
		for d := range dims {
			object[d*n+i] = int32(place.intn(192) + r.intn(64))
		}
	}
	centre = make([]float32, k*dims) // initially k of the objects
	for c := range k {
		for d := range dims {
			centre[c*dims+d] = float32(object[d*n+c*c%n])
		}
	}
	cluster = make([]int32, n)
	for i := range cluster {
		cluster[i] = -1
	}
	return object, centre, cluster
}

// lloyd runs a round of the iteration on the host.
func lloyd(n, dims int, object []int32, centre []float32, cluster []int32) {
	k := len(centre) / dims
	sum, size := make([]int, k*dims), make([]int, k)
	for i := range n {
		best, least := 0, float32(0)
		for c := range k {
			distance := float32(0)
			for d := range dims {
				x := float32(object[d*n+i]) - centre[c*dims+d]
				distance = fma32(x, x, distance)
			}
			if c == 0 || distance < least {
				best, least = c, distance
			}
		}
		cluster[i] = int32(best)
		size[best]++
		for d := range dims {
			sum[best*dims+d] += int(object[d*n+i])
		}
	}
	for c := range centre {
		if size[c/dims] > 0 {
			centre[c] = float32(sum[c]) / float32(size[c/dims])
		}
	}
}
