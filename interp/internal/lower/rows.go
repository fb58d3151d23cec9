package lower

import "container/heap"

// rowPool lets registers share the rows of one kind. It is a heap of the rows in use and a heap of the free rows.
type rowPool struct {
	busy byLast  // the row that becomes free first is at the top
	free rowHeap // the lowest row is at the top
}

// busyRow is a row and the last instruction that needs it.
type busyRow struct {
	row  int32
	last int
}

// take removes the lowest row that is unused from instruction first on from the free rows and returns it; -1 if there is
// none. The caller must put the row in use by use. first must not decrease between calls.
func (p *rowPool) take(first int) int32 {
	for range len(p.busy) {
		if p.busy[0].last >= first {
			break
		}
		heap.Push(&p.free, heap.Pop(&p.busy).(busyRow).row)
	}
	if len(p.free) == 0 {
		return -1
	}
	return heap.Pop(&p.free).(int32)
}

// use records that a row, taken or new, is needed up to instruction last.
func (p *rowPool) use(row int32, last int) { heap.Push(&p.busy, busyRow{row, last}) }

// byLast is a heap of rows, ordered by the last instruction that needs them.
type byLast []busyRow

func (h byLast) Len() int           { return len(h) }
func (h byLast) Less(i, j int) bool { return h[i].last < h[j].last }
func (h byLast) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byLast) Push(x any)        { *h = append(*h, x.(busyRow)) }
func (h *byLast) Pop() any          { return popLast(h) }

// rowHeap is a heap of rows, ordered by number.
type rowHeap []int32

func (h rowHeap) Len() int           { return len(h) }
func (h rowHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h rowHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rowHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *rowHeap) Pop() any          { return popLast(h) }

// popLast removes the last element of a list and returns it.
func popLast[T any, L ~[]T](list *L) T {
	n := len(*list) - 1
	x := (*list)[n]
	*list = (*list)[:n]
	return x
}
