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
package regfile

// Lanes is the number of lanes in a row.
const Lanes = 32

// Full is the mask of a row with every lane active.
const Full = 1<<Lanes - 1

// Row32 is a register of up to 32 bits, one slot per lane.
type Row32 = [Lanes]uint32

// Row64 is a register of 64 bits, one slot per lane.
type Row64 = [Lanes]uint64

// Constants are the rows an instruction reads that no instruction writes:
// immediate operands, broadcast to all lanes. They are shared by all warps of a
// launch.
type Constants struct {
	R []Row32
	Q []Row64
	P []uint32

	SR, SQ []Compact // their shadows, made by Shadow
	SP     []CompactPred
}

// File holds the registers of up to 32 lanes of a warp: a window, for the
// running function, of the stack of all active functions.
type File struct {
	R []Row32  // window of registers of up to 32 bits
	Q []Row64  // window of 64-bit registers
	P []uint32 // window of predicates
	K *Constants
	S *Shadow // nil if registers are not tracked

	allR []Row32
	allQ []Row64
	allP []uint32
}

// Size is a number of rows of each kind.
type Size struct{ R, Q, P int }

// Add is the sum of two sizes.
func (n Size) Add(o Size) Size { return Size{n.R + o.R, n.Q + o.Q, n.P + o.P} }

// Reset opens a first window, in whose shadow all is generic. Registers keep what
// they held: PTX leaves their first value undefined.
func (f *File) Reset(frame Size) {
	f.Open(Size{}, frame)
	if f.S != nil {
		clear(f.S.R)
		clear(f.S.Q)
		clear(f.S.P)
	}
}

// Open makes the rows from base on the window. It changes none of them: a new window
// may lie where lanes that are elsewhere have theirs, since a lane's registers are a
// column of it.
func (f *File) Open(base, frame Size) {
	f.allR = grow(f.allR, base.R+frame.R)
	f.allQ = grow(f.allQ, base.Q+frame.Q)
	f.allP = grow(f.allP, base.P+frame.P)
	f.R = f.allR[base.R : base.R+frame.R]
	f.Q = f.allQ[base.Q : base.Q+frame.Q]
	f.P = f.allP[base.P : base.P+frame.P]
	if f.S != nil {
		f.S.open(base, frame)
	}
}

// Rows is the first rows of each kind, those of all windows that lie there.
func (f *File) Rows(n Size) ([]Row32, []Row64, []uint32) {
	return f.allR[:n.R], f.allQ[:n.Q], f.allP[:n.P]
}

func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	t := make([]T, max(n, 2*len(s)))
	copy(t, s)
	return t
}

// Src32 is the row of a 32-bit source operand.
func (f *File) Src32(i int32) *Row32 {
	if i < 0 {
		return &f.K.R[^i]
	}
	return &f.R[i]
}

// Src64 is the row of a 64-bit source operand.
func (f *File) Src64(i int32) *Row64 {
	if i < 0 {
		return &f.K.Q[^i]
	}
	return &f.Q[i]
}

// SrcP is the mask of a predicate source operand.
func (f *File) SrcP(i int32) uint32 {
	if i < 0 {
		return f.K.P[^i]
	}
	return f.P[i]
}

// SetP writes the bits of mask m of predicate i.
func (f *File) SetP(i int32, m, bits uint32) {
	f.P[i] = f.P[i]&^m | bits&m
}
