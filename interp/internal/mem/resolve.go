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

// Resolve finds the memory that an access of one lane to an address goes to.
func (v *View) Resolve(a *Access, addr uint64) (Place, *Fault) {
	n := uint64(a.Bytes)
	fault := func(kind error, format string, args ...any) (Place, *Fault) {
		return Place{}, &Fault{Kind: kind, Msg: fmt.Sprintf(format, args...)}
	}
	if addr%n != 0 {
		return fault(ErrMisaligned, "misaligned %s of %d bytes at %#x", a, n, addr)
	}
	space, off := a.Space, addr
	if space == ptx.Generic {
		space, off = Window(addr)
	}
	switch space {
	case ptx.Shared:
		if !within(off, n, 0, v.Shared.Size) {
			return fault(ErrOutOfBounds, "out-of-bounds %s of %d bytes at %#x of %d bytes of shared memory", a, n, off, v.Shared.Size)
		}
		return Place{v.Shared, off}, nil
	case ptx.Local:
		if a.Kind == Atomic {
			return fault(ErrWrongSpace, "%s of %d bytes at %#x, which is local memory", a, n, off)
		}
		if !within(off, n, v.LocalFrom, v.LocalTop) {
			return fault(ErrOutOfBounds, "out-of-bounds %s of %d bytes at %#x of %d bytes of the thread's local memory", a, n, off, v.LocalTop)
		}
		return Place{nil, off}, nil
	}
	m := v.Map.Find(addr)
	switch {
	case m == nil || n > m.Span-(addr-m.Base):
		_, f := fault(ErrOutOfBounds, "out-of-bounds %s of %d bytes at %#x", a, n, addr)
		f.Near = v.Map.near(addr)
		return Place{}, f
	case m.Dead:
		_, f := fault(ErrUseAfterFree, "%s of %d bytes at %#x, which has been freed", a, n, addr)
		f.Near = m.String()
		return Place{}, f
	case !a.Allowed(m):
		kind := ErrWrongSpace
		if a.Writes() && m.ReadOnly() {
			kind = ErrReadOnly
		}
		_, f := fault(kind, "%s of %d bytes at %#x, which is in .%s space", a, n, addr, m.Space())
		f.Near = m.String()
		return Place{}, f
	}
	return Place{m, addr - m.Base}, nil
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
	last := m.Size - uint64(bytes)
	return last <= m.Size && from <= last && to <= last && (from|uint64(by))&uint64(bytes-1) == 0
}
