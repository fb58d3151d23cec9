package mem

import (
	"fmt"

	"gemu/probe"
	"gemu/ptx"
)

// Access is the access that an instruction makes for each lane, and its limits on the device.
type Access struct {
	probe.Request

	Tolerate probe.Tolerance // faults that the access may ignore
	Hardware int             // alignment in bytes that is enough under probe.WMMAAlignment; 0: only the usual alignment
	Unit     uint64          // unit in bytes of shared memory allocation on the device; at most maxSharedUnit
}

// Allowed reports whether the access may reach memory of this kind: its state space fits, and the memory is writable if
// the access writes.
func (a *Access) Allowed(m *Allocation) bool {
	if a.Writes() && m.ReadOnly() {
		return false
	}
	if a.Surface {
		return m.Kind == probe.ArrayMemory
	}
	switch a.Space {
	case ptx.Param:
		return m.Kind == probe.ParameterMemory
	case ptx.Const:
		return m.Kind == probe.ConstantMemory
	case ptx.Global:
		// The parameter window is part of the global window (manual 9.7.9.19).
		return m.Kind != probe.ConstantMemory && m.Kind < probe.ArrayMemory
	}
	return m.Kind < probe.ArrayMemory
}

// ReadOnly reports whether kernels may not change the memory.
func (m *Allocation) ReadOnly() bool {
	return m.Kind == probe.ConstantMemory || m.Kind == probe.ParameterMemory || m.mapping&ReadOnly != 0
}

// View is the memory that a lane can reach: of the device, of its CTA and its own.
type View struct {
	Map                  *Map
	Shared               *Allocation
	Cluster              []*Allocation // shared memory of the cluster's CTAs, by rank; nil for a cluster with a single CTA
	LocalBegin, LocalEnd uint64        // bytes of local memory in use: LocalBegin ≤ offset < LocalEnd
}

// Location is the memory that an address refers to.
type Location struct {
	Alloc  *Allocation // nil: the lane's local memory
	Offset uint64      // in bytes, from the start of the allocation or of local memory

	Tolerated probe.Tolerance // faults of the access that were tolerated
}

// BytesLeft returns the number of accessible bytes from a location on.
func (v *View) BytesLeft(a *Access, p Location) uint64 {
	if p.Alloc == nil {
		return v.LocalEnd - p.Offset
	}
	if p.Tolerated.Has(probe.SharedUnit) {
		return roundUp(p.Alloc.Size, a.Unit) - p.Offset
	}
	return p.Alloc.Size - p.Offset
}

// Fault describes why an access cannot be made.
type Fault struct {
	Kind error
	Msg  string
	Near string // nearest allocation; "" if it does not help
}

// Find returns the memory that a lane's access to an address reaches. The error is a fault of the list above, such as
// probe.ErrMisaligned.
func (v *View) Find(a *Access, addr uint64) (Location, error) {
	whole, n, tolerated := uint64(a.Bytes), uint64(a.Bytes-a.SpareBytes), probe.Strict
	if align := uint64(a.Align); addr%whole != 0 && (align == 0 || addr%align != 0) {
		if a.Hardware == 0 || addr%uint64(a.Hardware) != 0 || !a.Tolerate.Has(probe.WMMAAlignment) {
			return Location{}, probe.ErrMisaligned
		}
		tolerated = probe.WMMAAlignment
	}
	space, offset := v.spaceAt(a, addr)
	if a.Cluster && space != ptx.Shared {
		return Location{}, probe.ErrWrongSpace
	}
	switch space {
	case ptx.Shared:
		m := v.sharedAt(a, offset)
		switch addr := m.offset(offset); {
		case m.Freed:
			return Location{}, probe.ErrExited
		case isWithin(addr, n, 0, m.Size):
			return Location{m, addr, tolerated}, nil
		case a.Kind == probe.AccessLoad && a.Unit > 0 && a.Tolerate.Has(probe.SharedUnit) && isWithin(addr, n, 0, roundUp(m.Size, a.Unit)):
			return Location{m, addr, tolerated | probe.SharedUnit}, nil
		default:
			return Location{}, probe.ErrOutOfBounds
		}
	case ptx.Local:
		if a.Kind == probe.AccessAtomic {
			return Location{}, probe.ErrWrongSpace
		}
		if !isWithin(offset, n, v.LocalBegin, v.LocalEnd) {
			return Location{}, probe.ErrOutOfBounds
		}
		return Location{nil, offset, tolerated}, nil
	}
	m := v.Map.Find(addr)
	switch {
	case m == nil || n > m.Span-(addr-m.Base):
		return Location{}, probe.ErrOutOfBounds
	case m.Freed:
		return Location{}, probe.ErrUseAfterFree
	case a.Allowed(m):
		return Location{m, addr - m.Base, tolerated}, nil
	case a.Writes() && m.ReadOnly():
		return Location{}, probe.ErrReadOnly
	}
	return Location{}, probe.ErrWrongSpace
}

// spaceAt returns the state space of an address, as far as the access and the windows decide it, and the address in
// that space.
func (v *View) spaceAt(a *Access, addr uint64) (ptx.Space, uint64) {
	switch {
	case a.Space != ptx.Generic:
		return a.Space, addr
	case v.IsShared(addr):
		return ptx.Shared, addr - probe.SharedWindow
	case InWindow(addr, ptx.Local):
		return ptx.Local, addr - probe.LocalWindow
	}
	return ptx.Generic, addr
}

// IsShared reports whether a generic address lies in a window of shared memory, of the CTA or of another CTA of its
// cluster.
func (v *View) IsShared(addr uint64) bool {
	return InShared(addr, max(len(v.Cluster), 1))
}

// SpaceOf returns the state space of a generic address. It counts shared memory of the whole cluster as ptx.Shared if
// cluster is set; else only that of the CTA, and ptx.Generic for the rest.
func (v *View) SpaceOf(addr uint64, cluster bool) ptx.Space {
	switch {
	case v.IsShared(addr) && (cluster || addr-v.Shared.Base < probe.WindowSize):
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

// sharedAt returns the shared memory that contains an address of .shared space.
func (v *View) sharedAt(a *Access, addr uint64) *Allocation {
	if rank := addr >> probe.RankShift; a.Space == ptx.Generic && rank < uint64(len(v.Cluster)) {
		return v.Cluster[rank]
	}
	return v.Shared
}

// offset converts an address of .shared space to an offset in this shared memory.
func (m *Allocation) offset(addr uint64) uint64 { return addr - (m.Base - probe.SharedWindow) }

// Resolve is Find with an explained fault.
func (v *View) Resolve(a *Access, addr uint64) (Location, *Fault) {
	place, kind := v.Find(a, addr)
	if kind == nil {
		return place, nil
	}
	access := a.String() // not a itself, which would then escape to the heap in every call
	address := addr      // address as the instruction has it
	if a.Cluster {
		address -= probe.SharedWindow
	}
	f := &Fault{Kind: kind, Msg: fmt.Sprintf("%s of %d bytes at %#x", access, a.Bytes, address)}
	space, offset := v.spaceAt(a, addr)
	m := v.Map.Find(addr)
	switch {
	case kind == probe.ErrMisaligned:
		f.Msg = "misaligned " + f.Msg
	case kind == probe.ErrExited:
		f.Msg = fmt.Sprintf("%s of %d bytes at %#x, which was shared memory of the CTA of rank %d of the cluster: that CTA has exited", access, a.Bytes, offset, offset>>probe.RankShift)
	case space == ptx.Shared && v.Cluster != nil:
		m := v.sharedAt(a, offset)
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x: shared memory of %d bytes begins at %#x", access, a.Bytes, offset, m.Size, m.Base-probe.SharedWindow)
		if rank := offset >> probe.RankShift; m == v.Shared && rank < uint64(len(v.Cluster)) && v.Cluster[rank] != m {
			f.Near = fmt.Sprintf("shared memory of the CTA of rank %d of the cluster: .shared::cluster reaches it, .shared does not", rank)
		}
	case space == ptx.Shared:
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x of %d bytes of shared memory", access, a.Bytes, offset, v.Shared.Size)
	case a.Cluster:
		f.Msg += ", which is not in shared memory of the cluster"
	case space == ptx.Local && kind == probe.ErrWrongSpace:
		f.Msg = fmt.Sprintf("%s of %d bytes at %#x, which is local memory", access, a.Bytes, offset)
	case space == ptx.Local:
		f.Msg = fmt.Sprintf("out-of-bounds %s of %d bytes at %#x of %d bytes of the thread's local memory", access, a.Bytes, offset, v.LocalEnd)
	case kind == probe.ErrOutOfBounds:
		f.Msg, f.Near = "out-of-bounds "+f.Msg, v.Map.describeNearest(addr)
	case kind == probe.ErrUseAfterFree:
		f.Msg, f.Near = f.Msg+", which has been freed", m.String()
	case m.Kind >= probe.ArrayMemory:
		f.Msg, f.Near = fmt.Sprintf("%s, which is %s", f.Msg, m.Kind.Opaque()), m.String()
	default:
		f.Msg, f.Near = fmt.Sprintf("%s, which is in .%s space", f.Msg, m.Space()), m.String()
	}
	return Location{}, f
}

// isWithin reports whether n bytes at off lie between from and top.
func isWithin(offset, n, from, top uint64) bool {
	return offset >= from && offset <= top && n <= top-offset
}

// describeNearest describes the allocation closest to an address that lies in none, and its distance.
func (m *Map) describeNearest(addr uint64) string {
	a := m.nearest(addr)
	if a == nil {
		return ""
	}
	switch d := distance(a, addr); {
	case addr < a.Base:
		return fmt.Sprintf("%s, which begins %d bytes after the address", a, d)
	case d == 0:
		return fmt.Sprintf("%s: the access begins in its last %d bytes", a, a.Base+a.Span-addr)
	default:
		return fmt.Sprintf("%s, which ends %d bytes before the address", a, d-1)
	}
}

// ContainsStrided reports whether accesses of the given number of bytes at the offsets from + i·stride, i from 0 to n,
// all lie in the allocation and are aligned. n must be less than 64, and stride must fit in 32 signed bits.
func (m *Allocation) ContainsStrided(from uint64, stride, n int64, bytes int) bool {
	// Offsets in the memory are less than 2^37 apart, so that nothing in between wraps.
	to := from + uint64(n*stride)
	end := m.Size &^ uint64(bytes-1) // end of the last aligned access
	return from < end && to < end && (from|uint64(stride))&uint64(bytes-1) == 0
}
