package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "bfs", Doc: "breadth-first search, a launch per level",
		N: 1 << 17, Max: 1 << 24, SizeDoc: "nodes",
		Origin: "Harish and Narayanan, Accelerating large graph algorithms on the GPU using CUDA (HiPC 2007); bfs of Kim et al. 2013",
		Papers: []string{"kim2013", "thesis2019", "vijaykumar2016"},
		Run:    bfs,
	})
}

func bfs(s *Session) error {
	// A random graph with 6 edges per node on average, so that some nodes are unreachable, in compressed rows.
	n := s.N
	r := newRNG(1)
	first := make([]int32, n+1)
	var edges []int32
	for v := range n {
		for range r.intn(13) {
			edges = append(edges, int32(r.intn(n)))
		}
		first[v+1] = int32(len(edges))
	}
	distance := make([]int32, n)
	for v := range distance {
		distance[v] = -1
	}
	root, leads := bfsRoot(first, edges)
	distance[root] = 0
	mark := make([]uint8, n)
	mark[root] = 1
	dFirst, dEdges := upload(s, first), upload(s, edges)
	frontier, visited, found := upload(s, mark), upload(s, mark), alloc[int32](s, n)
	dDistance, more := upload(s, distance), alloc[int32](s, 1)
	levels := 0
	for grid, block := ptx.Dim(blocks(n, 256)), ptx.Dim(256); ; levels++ {
		if err := s.Launch("bfs_expand", grid, block, n, dFirst, dEdges, frontier, visited, found, dDistance); err != nil {
			return err
		}
		interp.Slice[int32](more)[0] = 0
		if err := s.Launch("bfs_commit", grid, block, n, frontier, visited, found, more); err != nil {
			return err
		}
		if interp.Slice[int32](more)[0] == 0 {
			break
		}
	}
	if leads && levels == 0 {
		return fmt.Errorf("the search from node %d reached no other node, although it has an edge", root)
	}
	reached := 1
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, u := range edges[first[v]:first[v+1]] {
			if distance[u] < 0 {
				distance[u] = distance[v] + 1
				queue = append(queue, int(u))
				reached++
			}
		}
	}
	s.Summary = fmt.Sprintf("reached %d of %d nodes over %d edges in %d levels", reached, n, len(edges), levels)
	return Equal("distance", interp.Slice[int32](dDistance), distance)
}

// bfsRoot returns the node at which the search begins: the first from the middle on, and then from 0, that has an edge
// to a different node. If there is none, it returns the middle; leads is then false.
func bfsRoot(first, edges []int32) (root int, leads bool) {
	n := len(first) - 1
	for i := range n {
		root = (n/2 + i) % n
		for _, to := range edges[first[root]:first[root+1]] {
			if int(to) != root {
				return root, true
			}
		}
	}
	return n / 2, false
}
