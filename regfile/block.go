package regfile

// This file lays rows out in memory: see the package comment.

import "unsafe"

// alignment is what the addresses of blocks and their regions are multiples of.
const alignment = 64

// layout is where the regions of a block begin, in bytes from its beginning. Those of
// shadows are empty where registers are not tracked.
type layout struct {
	Active           uintptr
	P, R, Q          uintptr
	ShadowR, ShadowQ uintptr
	Bytes            uintptr // of the whole
}

// layoutOf is that of a block with room for n rows.
func layoutOf(n Size, tracked bool) (l layout) {
	place := func(entry uintptr, entries int) (offset uintptr) {
		offset = l.Bytes
		l.Bytes = (l.Bytes + entry*uintptr(entries) + alignment - 1) &^ (alignment - 1)
		return offset
	}
	l.Active = place(4, 1)
	l.P = place(4, n.P)
	l.R = place(unsafe.Sizeof(Row32{}), n.R)
	l.Q = place(unsafe.Sizeof(Row64{}), n.Q)
	if !tracked {
		n = Size{}
	}
	l.ShadowR = place(unsafe.Sizeof(Compact{}), n.R)
	l.ShadowQ = place(unsafe.Sizeof(Compact{}), n.Q)
	return l
}

// rows are rows of each kind, and their shadows if they have any.
type rows struct {
	r      []Row32
	q      []Row64
	p      []uint32
	sr, sq []Compact
}

func (r *rows) size() Size { return Size{len(r.r), len(r.q), len(r.p)} }

// block is rows that lie in one piece of memory, as layout says.
type block struct {
	rows
	active  *uint32
	tracked bool
}

// newBlock makes a block with room for n rows.
func newBlock(n Size, tracked bool) block {
	l := layoutOf(n, tracked)
	memory := make([]byte, l.Bytes+alignment)
	first := unsafe.Pointer(unsafe.SliceData(memory))
	first = unsafe.Add(first, -uintptr(first)&(alignment-1))
	b := block{tracked: tracked, active: (*uint32)(unsafe.Add(first, l.Active))}
	b.p = region[uint32](first, l.P, n.P)
	b.r = region[Row32](first, l.R, n.R)
	b.q = region[Row64](first, l.Q, n.Q)
	if tracked {
		b.sr = region[Compact](first, l.ShadowR, n.R)
		b.sq = region[Compact](first, l.ShadowQ, n.Q)
	}
	return b
}

// region views n entries of a block.
func region[T any](first unsafe.Pointer, offset uintptr, n int) []T {
	if n == 0 { // behind the last region there is nothing to point to
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Add(first, offset)), n)
}

// grow makes room for n rows; those that are there stay what they are. Of the kinds
// that have too little room it doubles what they have.
func (b *block) grow(n Size) {
	size := b.size()
	if n.R <= size.R && n.Q <= size.Q && n.P <= size.P {
		return
	}
	newLen := func(n, current int) int {
		if n <= current {
			return current
		}
		return max(n, 2*current)
	}
	old := *b
	*b = newBlock(Size{newLen(n.R, size.R), newLen(n.Q, size.Q), newLen(n.P, size.P)}, b.tracked)
	*b.active = *old.active
	b.copyFrom(&old.rows)
}

// copyFrom copies rows to the first rows.
func (r *rows) copyFrom(o *rows) {
	copy(r.r, o.r)
	copy(r.q, o.q)
	copy(r.p, o.p)
	copy(r.sr, o.sr)
	copy(r.sq, o.sq)
}

// window is n rows from base on.
func (b *block) window(base, n Size) rows {
	w := rows{r: b.r[base.R : base.R+n.R], q: b.q[base.Q : base.Q+n.Q], p: b.p[base.P : base.P+n.P]}
	if b.tracked {
		w.sr, w.sq = b.sr[base.R:base.R+n.R], b.sq[base.Q:base.Q+n.Q]
	}
	return w
}

// bytesOf views rows as bytes.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
