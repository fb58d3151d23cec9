package kernels

import (
	"fmt"
	"math"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "btree", Doc: "searches for keys and ranges in a B+ tree of order 256",
		N: 1 << 16, Max: 1 << 22, SizeDoc: "keys, with a search for every 256, at least 8",
		Origin: "Fix, Wilkes and Skadron, Accelerating braided B+ tree searches on a GPU with CUDA (2011); b+tree of Rodinia",
		Papers: []string{"liu2017"},
		Run:    btree,
	})
}

func btree(s *Session) error {
	const order = 256
	r := newRNG(1)
	keys, record := make([]int32, s.N), make([]int32, s.N)
	last := int32(0)
	for i := range keys { // with gaps
		last += int32(1 + r.intn(8))
		keys[i], record[i] = last, int32(r.uint64())
	}
	key, child, height := newTree(r, order, keys)
	searches := max(8, s.N/256)
	x, to := make([]int32, searches), make([]int32, searches)
	for i := range x { // search for present and missing keys, and for ranges with and without keys
		x[i] = int32(r.intn(int(last) + 2))
		to[i] = x[i] + int32(r.intn(1000)) - 100
	}
	missing := slices.Repeat([]int32{-1}, searches)
	dKey, dChild, dX := upload(s, key), upload(s, child), upload(s, x)
	found, place, count := upload(s, missing), alloc[int32](s, searches), alloc[int32](s, searches)
	if err := s.Launch("btree_find", ptx.Dim(searches), ptx.Dim(order), height, dKey, dChild, upload(s, record), dX, found); err != nil {
		return err
	}
	if err := s.Launch("btree_range", ptx.Dim(searches), ptx.Dim(order), height, dKey, dChild, dX, upload(s, to), place, count); err != nil {
		return err
	}
	hits := 0
	wantFound, wantPlace, wantCount := missing, make([]int32, searches), make([]int32, searches)
	for i := range x {
		first, exact := slices.BinarySearch(keys, x[i])
		if exact {
			wantFound[i] = record[first]
			hits++
		}
		end, _ := slices.BinarySearch(keys, to[i]+1)
		wantPlace[i], wantCount[i] = int32(first), int32(end-first)
	}
	s.Summary = fmt.Sprintf("found %d of %d keys among %d, and as many ranges, in a tree of %d levels", hits, searches, s.N, 1+height)
	if err := Equal("found", interp.Slice[int32](found), wantFound); err != nil {
		return err
	}
	if err := Equal("place", interp.Slice[int32](place), wantPlace); err != nil {
		return err
	}
	return Equal("count", interp.Slice[int32](count), wantCount)
}

// newTree makes a B+ tree of keys. It returns the keys and children of its nodes, the root first, and the number of levels
// above the leaves. Nodes have from order/2 to order keys, except the last node of a level. Leaves have at most 2 + ¼ of all
// keys: in a small tree they have fewer than order/2, so it has more than one leaf.
func newTree(r *rng, order int, keys []int32) (key, child []int32, height int) {
	type node struct{ key, child []int32 }
	var levels [][]node // the leaves first
	children := make([]int32, len(keys))
	for i := range children {
		children[i] = int32(i)
	}
	for limit := 2 + len(keys)/4; ; limit = order {
		var level []node
		var above []int32 // the first keys of the nodes, which are the keys of the next level
		for len(keys) > 0 {
			n := min(order/2+r.intn(order/2+1), limit, len(keys))
			if len(levels) > 0 && len(keys) <= order {
				n = len(keys)
			}
			above = append(above, keys[0])
			level = append(level, node{keys[:n], children[:n]})
			keys, children = keys[n:], children[n:]
		}
		levels = append(levels, level)
		if len(level) == 1 {
			break
		}
		above[0] = math.MinInt32
		keys, children = above, make([]int32, len(above))
		for i := range children {
			children[i] = int32(i)
		}
	}
	// The levels are contiguous, from the root on.
	height = len(levels) - 1
	nodes := 0
	for l := height; l >= 0; l-- {
		nodes += len(levels[l])
		for _, n := range levels[l] {
			for i := range order {
				k, c := int32(math.MaxInt32), int32(0)
				if i < len(n.key) {
					if k, c = n.key[i], n.child[i]; l > 0 {
						c += int32(nodes)
					}
				}
				key, child = append(key, k), append(child, c)
			}
		}
	}
	return key, child, height
}
