// Package regfile is the register storage of a warp.
//
// Storage is register-major: a register is a row with one element per lane, so
// that an instruction works on whole rows. Registers of up to 32 bits take a
// row of 32-bit slots, wider ones a row of 64-bit slots (two rows for 128 bits),
// predicates are bit masks, bit i for lane i. Values narrower than their slot
// are kept zero-extended.
//
// A row has 32 lanes. A warp of 64 lanes has two Files, narrower warps leave
// lanes of theirs unused.
//
// # Layout
//
// The rows of a File lie in one block, those of each kind together, behind the mask of the
// lanes that are active. A block with room for P predicates, R and Q rows begins at a
// multiple of 64 bytes, and so do its regions, each behind the one before, in this order:
//
//	region          bytes of an entry   entries
//	active lanes    4                   1
//	predicates      4                   P
//	32-bit rows     32 · 4              R
//	64-bit rows     32 · 8              Q
//
// and, where registers are tracked,
//
//	shadows         24                  R: base 8, stride 8, mask 4, clean 4
//	shadows         24                  Q
//
// So code that is not Go's can find everything from one pointer. The registers of
// a function are a window: in each region, entries from the window's first on. The windows
// of functions that call each other lie one behind the other; those of two that the same one
// calls lie over each other, and each lane has its own in its column. So kinds must
// not share a region: the columns of lanes would not be the same.
//
// Rows that no instruction writes are in a block of their own that all warps share,
// Constants; operands name them by negative numbers.
//
// Package traffic, below, counts what instructions read and write. Models of other register
// files than the shadow affine one are packages there, too: probes of launches.
package regfile

import (
	"io"
	"unsafe"
)

// Lanes is the number of lanes in a row.
const Lanes = 32

// Full is the mask of a row with every lane active.
const Full = 1<<Lanes - 1

// Row32 is a register of up to 32 bits, one slot per lane.
type Row32 = [Lanes]uint32

// Row64 is a register of 64 bits, one slot per lane.
type Row64 = [Lanes]uint64

// Size is a number of rows of each kind.
type Size struct{ R, Q, P int }

// Add is the sum of two sizes.
func (n Size) Add(o Size) Size { return Size{n.R + o.R, n.Q + o.Q, n.P + o.P} }

// File holds the registers of up to 32 lanes of a warp: a window, for the
// running function, of the stack of all active functions.
type File struct {
	rows                 // the window
	constants *Constants // beside it, in the cache line of what finds operands
	base      Size
	block     block

	// OnMaterialise, if set, is called when a row of the window has been written from its shadow,
	// one of slots of 32 or 64 bits: with its number and the lanes.
	OnMaterialise func(bits int, row int32, lanes uint32)
}

// New makes a file without a window. Operands with negative numbers are constants of k;
// tracked files have shadows.
func New(k *Constants, tracked bool) *File {
	return &File{constants: k, block: newBlock(Size{}, tracked)}
}

// NewAdjacent makes a file, without shadows, whose rows lie behind the first own ones of this in the same block: as long as
// neither wants more than own and size.
func (f *File) NewAdjacent(k *Constants, first, size Size) *File {
	f.block.grow(first.Add(size))
	g := New(k, false)
	g.block.rows = f.block.window(first, size)
	g.block.sr, g.block.sq = nil, nil
	return g
}

// IsFollowedBy reports whether g's window begins where the first rows of f's window end, for all kinds of rows.
func (f *File) IsFollowedBy(g *File, first Size) bool {
	return isNext(f.r, g.r, first.R) && isNext(f.q, g.q, first.Q) && isNext(f.p, g.p, first.P)
}

func isNext[T any](rows, next []T, first int) bool {
	return len(next) == 0 || cap(rows) >= first+len(next) && &rows[:first+1][first] == &next[0]
}

// Tracked reports whether the file has shadows.
func (f *File) Tracked() bool { return f.block.tracked }

// Active is the lanes that execute.
func (f *File) Active() uint32 { return *f.block.active }

// SetActive says which lanes execute.
func (f *File) SetActive(m uint32) { *f.block.active = m }

// Reset opens a first window, in whose shadow all is generic. Registers keep what
// they held: PTX leaves their first value undefined.
func (f *File) Reset(frame Size) {
	f.Open(Size{}, frame)
	f.ClearShadows()
}

// Open makes the rows from base on the window. It changes none of them: a new window
// may lie where lanes that are elsewhere have theirs, since a lane's registers are a
// column of it.
func (f *File) Open(base, frame Size) {
	if base == f.base && frame == f.size() { // as for one CTA after another
		return
	}
	f.block.grow(base.Add(frame))
	f.base, f.rows = base, f.block.window(base, frame)
}

// CopyFrom makes the file hold what another does. It has no window then.
func (f *File) CopyFrom(o *File) {
	f.block = newBlock(o.block.size(), o.block.tracked)
	*f.block.active = *o.block.active
	f.block.copyFrom(&o.block.rows)
	f.rows = rows{}
}

// Bytes is what the file takes of memory.
func (f *File) Bytes() int { return int(layoutOf(f.block.size(), f.block.tracked).Bytes) }

// Pointers is where the window's rows of each kind begin; nil if there are none.
func (f *File) Pointers() (r, q, p unsafe.Pointer) {
	return unsafe.Pointer(unsafe.SliceData(f.r)), unsafe.Pointer(unsafe.SliceData(f.q)), unsafe.Pointer(unsafe.SliceData(f.p))
}

// ShadowPointers is where the shadows of the window's rows begin, of 32-bit slots and of 64-bit slots; nil if there are none.
func (f *File) ShadowPointers() (r, q unsafe.Pointer) {
	return unsafe.Pointer(unsafe.SliceData(f.sr)), unsafe.Pointer(unsafe.SliceData(f.sq))
}

// WindowSize is the size of the window.
func (f *File) WindowSize() Size { return f.size() }

// WriteTo writes the bytes of the first n rows of each kind, and of their shadows: those of
// all windows that lie there.
func (f *File) WriteTo(w io.Writer, n Size) {
	r := f.block.window(Size{}, n)
	w.Write(bytesOf(r.p))
	w.Write(bytesOf(r.r))
	w.Write(bytesOf(r.q))
	w.Write(bytesOf(r.sr))
	w.Write(bytesOf(r.sq))
}

// Row32 is row i of the window.
func (f *File) Row32(i int32) *Row32 { return &f.r[i] }

// Row64 is row i of 64-bit slots of the window.
func (f *File) Row64(i int32) *Row64 { return &f.q[i] }

// Pred is predicate i of the window.
func (f *File) Pred(i int32) uint32 { return f.p[i] }

// SetP writes the bits of mask m of predicate i.
func (f *File) SetP(i int32, m, bits uint32) {
	f.p[i] = f.p[i]&^m | bits&m
}

// Src32 is the row of a 32-bit source operand.
func (f *File) Src32(i int32) *Row32 {
	if i < 0 {
		return &f.constants.r[^i]
	}
	return &f.r[i]
}

// Src64 is the row of a 64-bit source operand.
func (f *File) Src64(i int32) *Row64 {
	if i < 0 {
		return &f.constants.q[^i]
	}
	return &f.q[i]
}

// SrcP is the mask of a predicate source operand.
func (f *File) SrcP(i int32) uint32 {
	if i < 0 {
		return f.constants.p[^i]
	}
	return f.p[i]
}
