package mem

import (
	"errors"
	"fmt"

	"gemu/ptx"
)

// The kinds of faults.
var (
	ErrOutOfBounds  = errors.New("out-of-bounds access")
	ErrMisaligned   = errors.New("misaligned access")
	ErrUseAfterFree = errors.New("use after free")
	ErrWrongSpace   = errors.New("access to the wrong state space")
	ErrReadOnly     = errors.New("store to read-only memory")
)

// Access is what an instruction does to memory, for each lane.
type Access struct {
	Space ptx.Space // as the instruction has it
	Bytes int       // of one lane, a power of two: its address must be a multiple
	Kind  AccessKind
}

// AccessKind is the direction of an access.
type AccessKind uint8

// The directions.
const (
	Load AccessKind = iota
	Store
	Atomic // both
)

func (k AccessKind) String() string { return [...]string{"load", "store", "atomic"}[k] }

// String is the kind of access, as in "global load".
func (a *Access) String() string { return a.Space.String() + " " + a.Kind.String() }

// Writes reports whether the access changes memory.
func (a *Access) Writes() bool { return a.Kind != Load }

// Allowed reports whether the instruction's state space is that of the memory, and
// whether it may write there.
func (a *Access) Allowed(m *Allocation) bool {
	if a.Writes() && m.ReadOnly() {
		return false
	}
	switch a.Space {
	case ptx.Param:
		return m.Kind == Params
	case ptx.Const:
		return m.Kind == Constant
	case ptx.Global:
		// The parameter window is part of the global one (manual 9.7.9.19).
		return m.Kind != Constant
	}
	return true
}

// ReadOnly reports whether kernels may not change the memory.
func (m *Allocation) ReadOnly() bool { return m.Kind == Constant || m.Kind == Params || m.fixed }

// View is the memory that a lane can reach: the device's, its CTA's and its own.
type View struct {
	Map                 *Map
	Shared              *Allocation
	LocalFrom, LocalTop uint64 // bytes of local memory in use: LocalFrom ≤ offset < LocalTop
}

// Place is what an address means.
type Place struct {
	Alloc *Allocation // nil: the lane's local memory
	Off   uint64      // bytes from there, or in local memory
}

// Fault is why an access cannot be made.
type Fault struct {
	Kind error
	Msg  string
	Near string // the nearest allocation, "" if that says nothing
}

// Find finds the memory that an access of one lane to an address goes to; an error is the
// kind of the fault that it is.
func (v *View) Find(a *Access, addr uint64) (Place, error) {
	n := uint64(a.Bytes)
	if addr%n != 0 {
		return Place{}, ErrMisaligned
	}
	space, off := a.in(addr)
	switch space {
	case ptx.Shared:
		if !within(off, n, 0, v.Shared.Size) {
			return Place{}, ErrOutOfBounds
		}
		return Place{v.Shared, off}, nil
	case ptx.Local:
		if a.Kind == Atomic {
			return Place{}, ErrWrongSpace
		}
		if !within(off, n, v.LocalFrom, v.LocalTop) {
			return Place{}, ErrOutOfBounds
		}
		return Place{nil, off}, nil
	}
	m := v.Map.Find(addr)
	switch {
	case m == nil || n > m.Span-(addr-m.Base):
		return Place{}, ErrOutOfBounds
	case m.Dead:
		return Place{}, ErrUseAfterFree
	case a.Allowed(m):
		return Place{m, addr - m.Base}, nil
	case a.Writes() && m.ReadOnly():
		return Place{}, ErrReadOnly
	}
	return Place{}, ErrWrongSpace
}

// in is the state space that an address is in, as far as the access and the address say
// it, and the offset in it.
func (a *Access) in(addr uint64) (ptx.Space, uint64) {
	if a.Space == ptx.Generic {
		return Window(addr)
	}
	return a.Space, addr
}

// Resolve is Find with a fault that explains itself.
func (v *View) Resolve(a *Access, addr uint64) (Place, *Fault) {
	place, kind := v.Find(a, addr)
	if kind == nil {
		return place, nil
	}
	f := &Fault{Kind: kind, Msg: fmt.Sprintf("%s of %d bytes at %#x", a, a.Bytes, addr)}
	space, off := a.in(addr)
	m := v.Map.Find(addr)
	switch {
	case kind == ErrMisaligned:
		f.Msg = "misaligned " + f.Msg
	case space == ptx.Shared:
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x of %d bytes of shared memory", a, a.Bytes, off, v.Shared.Size)
	case space == ptx.Local && kind == ErrWrongSpace:
		f.Msg = fmt.Sprintf("%s of %d bytes at %#x, which is local memory", a, a.Bytes, off)
	case space == ptx.Local:
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x of %d bytes of the thread's local memory", a, a.Bytes, off, v.LocalTop)
	case kind == ErrOutOfBounds:
		f.Msg, f.Near = "out-of-bounds "+f.Msg, v.Map.near(addr)
	case kind == ErrUseAfterFree:
		f.Msg, f.Near = f.Msg+", which has been freed", m.String()
	default:
		f.Msg, f.Near = fmt.Sprintf("%s, which is in .%s space", f.Msg, m.Space()), m.String()
	}
	return Place{}, f
}

// within reports whether n bytes at off lie between from and top.
func within(off, n, from, top uint64) bool { return off >= from && off <= top && n <= top-off }

// near says which allocation is the nearest to an address that is in none, and where.
func (m *Map) near(addr uint64) string {
	a := m.nearest(addr)
	if a == nil {
		return ""
	}
	switch d := distance(a, addr); {
	case addr < a.Base:
		return fmt.Sprintf("%s, which begins %d bytes behind the address", a, d)
	case d == 0:
		return fmt.Sprintf("%s, whose last %d bytes the access begins in", a, a.Base+a.Span-addr)
	default:
		return fmt.Sprintf("%s, which ends %d bytes before the address", a, d-1)
	}
}

// Holds reports whether accesses of the given bytes at offsets from + i·by, i from 0
// to n, all lie in the allocation and are aligned. n is less than 64, and by fits in
// 32 bits as a signed number.
func (m *Allocation) Holds(from uint64, by, n int64, bytes int) bool {
	// Between two offsets in the memory that are less than 2^37 apart nothing wraps.
	to := from + uint64(n*by)
	end := m.Size &^ uint64(bytes-1) // of the last access that is aligned
	return from < end && to < end && (from|uint64(by))&uint64(bytes-1) == 0
}
