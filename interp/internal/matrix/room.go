package matrix

import "sync"

// scratch is what a multiplication works in, for use again: nothing in it outlives that.
type scratch struct {
	words        [3][]uint64 // A, B and C as registers have them
	operandWords [2][]uint32 // of a warpgroup, A and D
	factors      [2][]number // A and B
	integers     [2][]int32
	formats      [4]format // of A, B, C and D
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// resize gives n elements of a room, with any value.
func resize[T any](list *[]T, n int) []T {
	if cap(*list) < n {
		*list = make([]T, n)
	}
	return (*list)[:n]
}
