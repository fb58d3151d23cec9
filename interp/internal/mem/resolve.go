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
	ErrExited       = errors.New("access to shared memory of a CTA that has exited")
)

// Access is what an instruction does to memory, for each lane.
type Access struct {
	Space ptx.Space // as the instruction has it
	Bytes int       // of one lane, a power of two: its address must be a multiple
	Align int       // … unless this is what it must be a multiple of
	Kind  AccessKind

	// SpareBytes is how many of the bytes, from the last, nobody wants: they may lie behind the end of
	// the memory.
	SpareBytes int

	// Cluster has a generic address be one of shared memory, of any CTA of the cluster.
	Cluster bool

	Tolerate Tolerance // faults in spite of which the access is made
	Hardware int       // the alignment that is enough where WMMAAlignment is tolerated; 0: none but the usual
	Unit     uint64    // bytes in multiples of which the device allocates shared memory; at most maxSharedUnit

	Surface bool // by way of a surface: to arrays, which nothing else reaches
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
func (a *Access) String() string {
	if a.Cluster {
		return "cluster's shared " + a.Kind.String()
	}
	return a.Space.String() + " " + a.Kind.String()
}

// Writes reports whether the access changes memory.
func (a *Access) Writes() bool { return a.Kind != Load }

// Allowed reports whether the instruction's state space is that of the memory, and
// whether it may write there.
func (a *Access) Allowed(m *Allocation) bool {
	if a.Writes() && m.ReadOnly() {
		return false
	}
	if a.Surface {
		return m.Kind == Array
	}
	switch a.Space {
	case ptx.Param:
		return m.Kind == Params
	case ptx.Const:
		return m.Kind == Constant
	case ptx.Global:
		// The parameter window is part of the global one (manual 9.7.9.19).
		return m.Kind != Constant && m.Kind < Array
	}
	return m.Kind < Array
}

// ReadOnly reports whether kernels may not change the memory.
func (m *Allocation) ReadOnly() bool {
	return m.Kind == Constant || m.Kind == Params || m.mapping&ReadOnly != 0
}

// HasUninitialised reports whether nobody has said what memory of its kind holds as it is allocated: that
// which the host or malloc has allocated, and per-CTA memory. Variables have initial values.
func (m *Allocation) HasUninitialised() bool {
	return m.Kind == Buffer || m.Kind == Heap || m.Kind == PerCTA
}

// View is the memory that a lane can reach: the device's, its CTA's and its own.
type View struct {
	Map                  *Map
	Shared               *Allocation
	Cluster              []*Allocation // the shared memory of the CTAs of a cluster, by rank; nil for one of one
	LocalBegin, LocalEnd uint64        // bytes of local memory in use: LocalBegin ≤ offset < LocalEnd
}

// Location is what an address means.
type Location struct {
	Alloc  *Allocation // nil: the lane's local memory
	Offset uint64      // bytes from there, or in local memory

	Tolerated Tolerance // faults that the access is
}

// BytesLeft is how many bytes an access may have that begins at a place.
func (v *View) BytesLeft(a *Access, p Location) uint64 {
	if p.Alloc == nil {
		return v.LocalEnd - p.Offset
	}
	if p.Tolerated.Has(SharedUnit) {
		return roundUp(p.Alloc.Size, a.Unit) - p.Offset
	}
	return p.Alloc.Size - p.Offset
}

// Fault is why an access cannot be made.
type Fault struct {
	Kind error
	Msg  string
	Near string // the nearest allocation, "" if that says nothing
}

// Find finds the memory that an access of one lane to an address goes to; an error is the
// kind of the fault that it is.
func (v *View) Find(a *Access, addr uint64) (Location, error) {
	whole, n, tolerated := uint64(a.Bytes), uint64(a.Bytes-a.SpareBytes), Strict
	if align := uint64(a.Align); addr%whole != 0 && (align == 0 || addr%align != 0) {
		if a.Hardware == 0 || addr%uint64(a.Hardware) != 0 || !a.Tolerate.Has(WMMAAlignment) {
			return Location{}, ErrMisaligned
		}
		tolerated = WMMAAlignment
	}
	space, offset := v.spaceAt(a, addr)
	if a.Cluster && space != ptx.Shared {
		return Location{}, ErrWrongSpace
	}
	switch space {
	case ptx.Shared:
		m := v.sharedAt(a, offset)
		switch addr := m.offset(offset); {
		case m.Freed:
			return Location{}, ErrExited
		case isWithin(addr, n, 0, m.Size):
			return Location{m, addr, tolerated}, nil
		case a.Kind == Load && a.Unit > 0 && a.Tolerate.Has(SharedUnit) && isWithin(addr, n, 0, roundUp(m.Size, a.Unit)):
			return Location{m, addr, tolerated | SharedUnit}, nil
		default:
			return Location{}, ErrOutOfBounds
		}
	case ptx.Local:
		if a.Kind == Atomic {
			return Location{}, ErrWrongSpace
		}
		if !isWithin(offset, n, v.LocalBegin, v.LocalEnd) {
			return Location{}, ErrOutOfBounds
		}
		return Location{nil, offset, tolerated}, nil
	}
	m := v.Map.Find(addr)
	switch {
	case m == nil || n > m.Span-(addr-m.Base):
		return Location{}, ErrOutOfBounds
	case m.Freed:
		return Location{}, ErrUseAfterFree
	case a.Allowed(m):
		return Location{m, addr - m.Base, tolerated}, nil
	case a.Writes() && m.ReadOnly():
		return Location{}, ErrReadOnly
	}
	return Location{}, ErrWrongSpace
}

// spaceAt is the state space that an address is in, as far as the access and the address say
// it, and the address there.
func (v *View) spaceAt(a *Access, addr uint64) (ptx.Space, uint64) {
	switch {
	case a.Space != ptx.Generic:
		return a.Space, addr
	case v.IsShared(addr):
		return ptx.Shared, addr - SharedWindow
	case InWindow(addr, ptx.Local):
		return ptx.Local, addr - LocalWindow
	}
	return ptx.Generic, addr
}

// IsShared reports whether a generic address lies in the window of shared memory: of the CTA,
// or of one of its cluster.
func (v *View) IsShared(addr uint64) bool {
	return InShared(addr, max(len(v.Cluster), 1))
}

// SpaceOf is the state space whose window a generic address lies in: that of shared memory is
// the CTA's, or the cluster's.
func (v *View) SpaceOf(addr uint64, cluster bool) ptx.Space {
	switch {
	case v.IsShared(addr) && (cluster || addr-v.Shared.Base < WindowSize):
		return ptx.Shared
	case v.IsShared(addr):
		return ptx.Generic
	case InWindow(addr, ptx.Local):
		return ptx.Local
	}
	if a := v.Map.Find(addr); a != nil {
		return a.Space()
	}
	return ptx.Global
}

// sharedAt is the shared memory that an access to an address of .shared space goes to.
func (v *View) sharedAt(a *Access, addr uint64) *Allocation {
	if rank := addr >> RankShift; a.Space == ptx.Generic && rank < uint64(len(v.Cluster)) {
		return v.Cluster[rank]
	}
	return v.Shared
}

// offset is where in shared memory an address of .shared space is.
func (m *Allocation) offset(addr uint64) uint64 { return addr - (m.Base - SharedWindow) }

// Resolve is Find with a fault that explains itself.
func (v *View) Resolve(a *Access, addr uint64) (Location, *Fault) {
	place, kind := v.Find(a, addr)
	if kind == nil {
		return place, nil
	}
	what := a.String() // not a itself, which would be moved to the heap whether or not there is a fault
	at := addr         // as the instruction has it
	if a.Cluster {
		at -= SharedWindow
	}
	f := &Fault{Kind: kind, Msg: fmt.Sprintf("%s of %d bytes at %#x", what, a.Bytes, at)}
	space, offset := v.spaceAt(a, addr)
	m := v.Map.Find(addr)
	switch {
	case kind == ErrMisaligned:
		f.Msg = "misaligned " + f.Msg
	case kind == ErrExited:
		f.Msg = fmt.Sprintf("%s of %d bytes at %#x, which was shared memory of the CTA of rank %d of the cluster: it has exited", what, a.Bytes, offset, offset>>RankShift)
	case space == ptx.Shared && v.Cluster != nil:
		m := v.sharedAt(a, offset)
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x: shared memory of %d bytes begins at %#x", what, a.Bytes, offset, m.Size, m.Base-SharedWindow)
		if rank := offset >> RankShift; m == v.Shared && rank < uint64(len(v.Cluster)) && v.Cluster[rank] != m {
			f.Near = fmt.Sprintf("shared memory of the CTA of rank %d of the cluster, which .shared::cluster reaches, and .shared does not", rank)
		}
	case space == ptx.Shared:
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x of %d bytes of shared memory", what, a.Bytes, offset, v.Shared.Size)
	case a.Cluster:
		f.Msg += ", which is not in shared memory of the cluster"
	case space == ptx.Local && kind == ErrWrongSpace:
		f.Msg = fmt.Sprintf("%s of %d bytes at %#x, which is local memory", what, a.Bytes, offset)
	case space == ptx.Local:
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x of %d bytes of the thread's local memory", what, a.Bytes, offset, v.LocalEnd)
	case kind == ErrOutOfBounds:
		f.Msg, f.Near = "out-of-bounds "+f.Msg, v.Map.near(addr)
	case kind == ErrUseAfterFree:
		f.Msg, f.Near = f.Msg+", which has been freed", m.String()
	case m.Kind >= Array:
		f.Msg, f.Near = fmt.Sprintf("%s, which is %s", f.Msg, m.Kind.opaque()), m.String()
	default:
		f.Msg, f.Near = fmt.Sprintf("%s, which is in .%s space", f.Msg, m.Space()), m.String()
	}
	return Location{}, f
}

// isWithin reports whether n bytes at off lie between from and top.
func isWithin(offset, n, from, top uint64) bool {
	return offset >= from && offset <= top && n <= top-offset
}

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

// ContainsStrided reports whether accesses of the given bytes at offsets from + i·by, i from 0
// to n, all lie in the allocation and are aligned. n is less than 64, and by fits in
// 32 bits as a signed number.
func (m *Allocation) ContainsStrided(from uint64, stride, n int64, bytes int) bool {
	// Between two offsets in the memory that are less than 2^37 apart nothing wraps.
	to := from + uint64(n*stride)
	end := m.Size &^ uint64(bytes-1) // of the last access that is aligned
	return from < end && to < end && (from|uint64(stride))&uint64(bytes-1) == 0
}
