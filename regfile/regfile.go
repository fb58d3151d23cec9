// Package regfile is the register storage of a warp.
//
// Storage is register-major: a register is a row with an element for each lane, so an instruction works on whole rows.
// A register of up to 32 bits takes a row of 32-bit slots, a wider register takes a row of 64-bit slots (two rows for
// 128 bits). Predicates are bit masks with bit i for lane i. Values narrower than their slot are zero-extended.
//
// A row has 32 lanes. A warp of 64 lanes has two Files; a narrower warp leaves lanes of its File unused.
//
// # Layout
//
// The rows of a File are in a single block of memory. A block with room for P predicates, R 32-bit rows and Q 64-bit
// rows begins at a multiple of 64 bytes, and so does each of its regions, in this order:
//
//	region          bytes of an entry   entries
//	active lanes    4                   1
//	predicates      4                   P
//	32-bit rows     32 · 4              R
//	64-bit rows     32 · 8              Q
//
// If registers are tracked, shadows follow:
//
//	shadows         24                  R: base 8, stride 8, mask 4, materialised 4
//	shadows         24                  Q
//
// So machine code can find all regions from a single pointer. The registers of a function are a window: consecutive
// entries in each region. The window of a callee follows the window of its caller. The windows of two functions with the
// same caller overlap: lanes that are in different functions use different columns (column i has the slots of lane i).
// Therefore the kinds of rows must not share a region: in a shared region the place of a column would depend on the kind.
//
// Rows that no instruction writes are in a block of their own, Constants, which all warps share. Operands refer to them
// by negative numbers.
//
// Read the files in this order: regfile.go, block.go, constants.go and shadow.go. Package gemu/models/traffic counts the
// accesses of instructions to rows. Models of other register files are packages below gemu/models, too.
//
// # Errors, concurrency and compatibility
//
// The functions return no errors; a row outside the window is an error of the caller, and may panic. A File belongs to one goroutine
// at a time. The layout of a block belongs to one version of gemu: machine code and Go are built for it together.
package regfile

import (
	"io"
	"unsafe"
)

// Lanes is the number of lanes in a row.
const Lanes = 32

// Full is the mask of all lanes of a row.
const Full = 1<<Lanes - 1

// Row32 is a register of up to 32 bits, a slot per lane.
type Row32 = [Lanes]uint32

// Row64 is a register of 64 bits, a slot per lane.
type Row64 = [Lanes]uint64

// Size is a number of rows of each kind: R of up to 32 bits, Q of 64 bits, P of predicates.
type Size struct{ R, Q, P int }

// Add returns the sum of two sizes.
func (n Size) Add(o Size) Size { return Size{n.R + o.R, n.Q + o.Q, n.P + o.P} }

// File contains the registers of up to 32 lanes of a warp. Its window, which belongs to the running function, is part
// of the stack of all active functions.
type File struct {
	rows                 // the window
	constants *Constants // declared next to the window so that both are in one cache line
	base      Size       // number of rows before the window
	block     block

	// OnMaterialise, if set, is called after a row of the window has been written from its shadow. It receives the slot
	// width in bits (32 or 64), the row's number and the written lanes.
	OnMaterialise func(bits int, row int32, lanes uint32)
}

// New returns a file without a window. Operands with negative numbers are constants of k. The file has shadows if tracked
// is set.
func New(k *Constants, tracked bool) *File {
	return &File{constants: k, block: newBlock(Size{}, tracked)}
}

// NewAdjacent returns a file without shadows in the block of f. Its rows follow the rows of f: first is the number of rows
// of f, size that of the new file. If either file needs more rows later, it moves to another block.
func (f *File) NewAdjacent(k *Constants, first, size Size) *File {
	f.block.grow(first.Add(size))
	g := New(k, false)
	g.block.rows = f.block.window(first, size)
	g.block.sr, g.block.sq = nil, nil
	return g
}

// IsFollowedBy reports whether, for each kind of rows, g's window begins directly after the first rows of f's window;
// first is their number.
func (f *File) IsFollowedBy(g *File, first Size) bool {
	return isNext(f.r, g.r, first.R) && isNext(f.q, g.q, first.Q) && isNext(f.p, g.p, first.P)
}

// isNext reports whether next begins directly after the first elements of rows; first is their number.
func isNext[T any](rows, next []T, first int) bool {
	return len(next) == 0 || cap(rows) >= first+len(next) && &rows[:first+1][first] == &next[0]
}

// Tracked reports whether the file has shadows.
func (f *File) Tracked() bool { return f.block.tracked }

// Active returns the executing lanes.
func (f *File) Active() uint32 { return *f.block.active }

// SetActive sets the executing lanes.
func (f *File) SetActive(m uint32) { *f.block.active = m }

// Reset opens a first window and makes all its registers generic. Registers keep their old values: PTX leaves the
// initial value undefined.
func (f *File) Reset(frame Size) {
	f.Open(Size{}, frame)
	f.ClearShadows()
}

// Open sets the window to frame rows of each kind after base rows. It changes no values, because the window may overlap
// windows of other lanes of the warp, whose columns must not change.
func (f *File) Open(base, frame Size) {
	if base == f.base && frame == f.size() { // the usual case when one CTA follows another
		return
	}
	f.block.grow(base.Add(frame))
	f.base, f.rows = base, f.block.window(base, frame)
}

// CopyFrom copies the state of o. The file has no window afterwards.
func (f *File) CopyFrom(o *File) {
	f.block = newBlock(o.block.size(), o.block.tracked)
	*f.block.active = *o.block.active
	f.block.copyFrom(&o.block.rows)
	f.rows = rows{}
}

// Bytes returns the memory size of the file in bytes.
func (f *File) Bytes() int { return int(layoutOf(f.block.size(), f.block.tracked).Bytes) }

// Pointers returns pointers to the window's rows of each kind; nil if there are none.
func (f *File) Pointers() (r, q, p unsafe.Pointer) {
	return unsafe.Pointer(unsafe.SliceData(f.r)), unsafe.Pointer(unsafe.SliceData(f.q)), unsafe.Pointer(unsafe.SliceData(f.p))
}

// ShadowPointers returns pointers to the shadows of the window's rows of 32-bit and 64-bit slots; nil if there are
// none.
func (f *File) ShadowPointers() (r, q unsafe.Pointer) {
	return unsafe.Pointer(unsafe.SliceData(f.sr)), unsafe.Pointer(unsafe.SliceData(f.sq))
}

// WindowSize returns the size of the window.
func (f *File) WindowSize() Size { return f.size() }

// WriteTo writes the bytes of the first n rows of each kind and of their shadows, across all windows.
func (f *File) WriteTo(w io.Writer, n Size) {
	r := f.block.window(Size{}, n)
	w.Write(bytesOf(r.p))
	w.Write(bytesOf(r.r))
	w.Write(bytesOf(r.q))
	w.Write(bytesOf(r.sr))
	w.Write(bytesOf(r.sq))
}

// Row32 returns row i of 32-bit slots of the window.
func (f *File) Row32(i int32) *Row32 { return &f.r[i] }

// Row64 returns row i of 64-bit slots of the window.
func (f *File) Row64(i int32) *Row64 { return &f.q[i] }

// Pred returns predicate i of the window.
func (f *File) Pred(i int32) uint32 { return f.p[i] }

// SetP sets predicate i to bits in the lanes of m.
func (f *File) SetP(i int32, m, bits uint32) {
	f.p[i] = f.p[i]&^m | bits&m
}

// Src32 returns the row of a 32-bit source operand.
func (f *File) Src32(i int32) *Row32 {
	if i < 0 {
		return &f.constants.r[^i]
	}
	return &f.r[i]
}

// Src64 returns the row of a 64-bit source operand.
func (f *File) Src64(i int32) *Row64 {
	if i < 0 {
		return &f.constants.q[^i]
	}
	return &f.q[i]
}

// SrcP returns the mask of a predicate source operand.
func (f *File) SrcP(i int32) uint32 {
	if i < 0 {
		return f.constants.p[^i]
	}
	return f.p[i]
}
