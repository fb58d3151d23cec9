package occupancy

import "sort"

// Point is a block, and the blocks like it that are resident on a multiprocessor.
type Point struct {
	Block        // resources of the block
	Blocks int   // resident blocks; 0 if a single block does not fit
	Warps  int   // warps of these blocks
	Limit  Limit // resource that limits their number, as of Limits.Resident
}

// Point returns the point of a block.
func (l *Limits) Point(b Block) Point {
	n, limit := l.Resident(b)
	return Point{b, n, n * l.WarpsOf(b), limit}
}

// Surface has the resident warps of blocks that differ in their threads and registers, with the same shared memory.
//
// It is complete, although it has few points. The warps of a block decide about its resources, and registers are allocated
// in units: a block with another number of threads or registers has the resident warps of the next point with no fewer of
// each, if it has any.
type Surface struct {
	Threads   []int     // threads of a block, ascending: multiples of a warp up to MaxThreads
	Registers []int     // registers of a thread, ascending: each the last number with its allocation, up to Limits.PerThread
	Points    [][]Point // points by index of Threads and of Registers
}

// Surface returns the surface of blocks with the given bytes of shared memory.
func (l *Limits) Surface(shared int) *Surface {
	s := &Surface{}
	for r := 1; r <= l.PerThread; r++ {
		if r == l.PerThread || l.warpRegisters(r) != l.warpRegisters(r+1) {
			s.Registers = append(s.Registers, r)
		}
	}
	for t := l.WarpSize; t <= MaxThreads; t += l.WarpSize {
		var row []Point
		for _, r := range s.Registers {
			row = append(row, l.Point(Block{t, r, shared}))
		}
		s.Threads, s.Points = append(s.Threads, t), append(s.Points, row)
	}
	return s
}

// Cell returns the indices of a block in Threads and Registers. They are the lengths of these if the block has more than
// the surface; column is -1 if the number of registers is unknown.
func (s *Surface) Cell(b Block) (row, column int) {
	row, column = sort.SearchInts(s.Threads, b.Threads), -1
	if b.Registers > 0 {
		column = sort.SearchInts(s.Registers, b.Registers)
	}
	return row, column
}

// Resource is a resource that a block has more or less of.
type Resource string

// The resources.
const (
	Threads   Resource = "threads"       // of a block
	Registers Resource = "registers"     // of a thread
	Shared    Resource = "shared memory" // bytes of a block
)

// Cliff is the smallest change of a resource of a block, in one direction, with which more or fewer warps are resident.
// Vijaykumar, "Enhancing Programmability, Portability, and Performance with Rich Cross-Layer Abstractions" (2019), in the
// chapter on Zorua, calls a fall a performance cliff, because the time of a kernel can rise there by half.
type Cliff struct {
	Resource Resource // resource that is changed
	Change   int      // threads, registers or bytes that are added; negative if they are removed
	To       Point    // point of the changed block
}

// Cliffs returns the cliffs around a block: for each resource, with less and with more of it, the smallest change with
// which fewer warps are resident than of this block, and the smallest with which more are. The order is that of the
// resources above, less before more, and fewer warps before more. The changed blocks have 1 to MaxThreads threads, 1 to
// PerThread registers and 0 to PerBlock bytes. A block with an unknown number of registers has no cliffs of registers.
func (l *Limits) Cliffs(b Block) (list []Cliff) {
	for _, r := range []Resource{Threads, Registers, Shared} {
		if r == Registers && b.Registers == 0 {
			continue
		}
		for _, sign := range []int{-1, 1} {
			for _, rises := range []bool{false, true} {
				if c, ok := l.cliff(b, r, sign, rises); ok {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// cliff returns the smallest change of a resource with the given sign with which more warps are resident (rises), or
// fewer. ok is false if there is none.
func (l *Limits) cliff(b Block, r Resource, sign int, rises bool) (c Cliff, ok bool) {
	changed := b
	var amount *int
	var least, most int
	switch r {
	case Threads:
		amount, least, most = &changed.Threads, 1, MaxThreads
	case Registers:
		amount, least, most = &changed.Registers, 1, l.PerThread
	case Shared:
		amount, least, most = &changed.Shared, 0, l.PerBlock
	}
	now, warps := *amount, l.Point(b).Warps
	first, last := max(least-now, 1), most-now // sizes of the change
	if sign < 0 {
		first, last = max(now-most, 1), now-least
	}
	differs := func(size int) bool {
		*amount = now + sign*size
		if n := l.Point(changed).Warps; rises {
			return n > warps
		} else {
			return n < warps
		}
	}
	size := first
	if r == Shared { // more bytes never have more warps
		size += sort.Search(max(last-first+1, 0), func(i int) bool { return differs(first + i) })
	} else {
		for size <= last && !differs(size) {
			size++
		}
	}
	if size > last {
		return c, false
	}
	*amount = now + sign*size
	return Cliff{r, sign * size, l.Point(changed)}, true
}
