package matrix

import "sync"

// scratch is the reusable working memory of a multiplication. Nothing in it may be used after the multiplication.
type scratch struct {
	words        [3][]uint64 // A, B and C as in registers
	operandWords [2][]uint32 // A and D of a warpgroup
	factors      [2][]number // A and B
	integers     [2][]int32
	formats      [4]format // formats of A, B, C and D
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// resize returns n elements with arbitrary values, and reuses the memory of list.
func resize[T any](list *[]T, n int) []T {
	if cap(*list) < n {
		*list = make([]T, n)
	}
	return (*list)[:n]
}
