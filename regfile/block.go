package regfile

// This file lays out rows in memory; see the package comment.

import "unsafe"

// alignment is the alignment of blocks and their regions in bytes.
const alignment = 64

// layout contains the offsets in bytes of a block's regions. The regions of shadows are empty if registers are not
// tracked.
type layout struct {
	Active           uintptr
	P, R, Q          uintptr
	ShadowR, ShadowQ uintptr
	Bytes            uintptr // total size
}

// layoutOf returns the layout of a block with room for n rows.
func layoutOf(n Size, tracked bool) (l layout) {
	// place adds a region of entries, each of entry bytes, and returns its offset.
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

// rows contains rows of each kind: r of 32-bit slots, q of 64-bit slots, p of predicates. sr and sq are the shadows of r
// and q; nil if registers are not tracked.
type rows struct {
	r      []Row32
	q      []Row64
	p      []uint32
	sr, sq []Compact
}

func (r *rows) size() Size { return Size{len(r.r), len(r.q), len(r.p)} }

// block contains rows in a single piece of memory with a layout.
type block struct {
	rows
	active  *uint32
	tracked bool
}

// newBlock allocates a block with room for n rows.
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

// region returns a view of n entries of a block.
func region[T any](first unsafe.Pointer, offset uintptr, n int) []T {
	if n == 0 { // an empty last region has no valid pointer
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Add(first, offset)), n)
}

// grow makes room for n rows of each kind and keeps the values of the current rows. For each kind without enough room it
// at least doubles the number of rows.
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

// copyFrom copies the rows of o to the first rows of r.
func (r *rows) copyFrom(o *rows) {
	copy(r.r, o.r)
	copy(r.q, o.q)
	copy(r.p, o.p)
	copy(r.sr, o.sr)
	copy(r.sq, o.sq)
}

// window returns n rows from base on.
func (b *block) window(base, n Size) rows {
	w := rows{r: b.r[base.R : base.R+n.R], q: b.q[base.Q : base.Q+n.Q], p: b.p[base.P : base.P+n.P]}
	if b.tracked {
		w.sr, w.sq = b.sr[base.R:base.R+n.R], b.sq[base.Q:base.Q+n.Q]
	}
	return w
}

// bytesOf returns a view of rows as bytes.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
