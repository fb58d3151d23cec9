package mem

import (
	"fmt"

	"gemu/probe"
	"gemu/ptx"
)

// Access is the access that an instruction makes in each lane, with the properties of the device that decide its faults.
type Access struct {
	probe.Request

	Tolerate probe.Tolerance // faults that are tolerated
	Hardware int             // alignment in bytes that suffices if probe.WMMAAlignment is tolerated; 0: there is none
	Unit     uint64          // unit of shared memory allocation on the device in bytes, a divisor of maxSharedUnit
}

// Allowed reports whether the access may be to allocation m: its state space fits the kind of memory, and if it writes, the
// memory is writable.
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

// MayFault reports whether an access within the bounds of the allocation may fault on the host.
func (m *Allocation) MayFault() bool {
	return m.Kind == probe.HostMemory && m.mapping&Permanent == 0
}

// View is the memory that a lane can access: the device's, its CTA's or its cluster's, and its own.
type View struct {
	Map                  *Map          // memory of the device
	Shared               *Allocation   // shared memory of the lane's CTA
	Cluster              []*Allocation // shared memory of the cluster's CTAs, by rank; nil for a cluster with a single CTA
	LocalBegin, LocalEnd uint64        // bytes of local memory in use: LocalBegin ≤ offset < LocalEnd
}

// Location is the memory that an address refers to.
type Location struct {
	Alloc  *Allocation // nil: the lane's local memory
	Offset uint64      // in bytes, from the start of the allocation or of local memory

	Tolerated probe.Tolerance // faults of the access that are tolerated
}

// BytesLeft returns the number of bytes from location p on that access a can reach.
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
	Kind error  // an error of package probe, such as probe.ErrMisaligned
	Msg  string // the access, its address, and the reason
	Near string // the allocation nearest to the address; "" if it does not help
}

// Find returns the memory that a lane's access to an address reaches. The error is the kind of a fault, such as
// probe.ErrMisaligned: see Fault.Kind.
func (v *View) Find(a *Access, addr uint64) (Location, error) {
	size, needed, tolerated := uint64(a.Bytes), uint64(a.Bytes-a.SpareBytes), probe.Strict
	if align := uint64(a.Align); addr%size != 0 && (align == 0 || addr%align != 0) {
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
		case isWithin(addr, needed, 0, m.Size):
			return Location{m, addr, tolerated}, nil
		case a.Kind == probe.AccessLoad && a.Unit > 0 && a.Tolerate.Has(probe.SharedUnit) && isWithin(addr, needed, 0, roundUp(m.Size, a.Unit)):
			return Location{m, addr, tolerated | probe.SharedUnit}, nil
		default:
			return Location{}, probe.ErrOutOfBounds
		}
	case ptx.Local:
		if a.Kind == probe.AccessAtomic {
			return Location{}, probe.ErrWrongSpace
		}
		if !isWithin(offset, needed, v.LocalBegin, v.LocalEnd) {
			return Location{}, probe.ErrOutOfBounds
		}
		return Location{nil, offset, tolerated}, nil
	}
	m := v.Map.Find(addr)
	switch {
	case m == nil || needed > m.Span-(addr-m.Base):
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

// spaceAt returns the state space of an address, and the address in that space. For a generic address outside the windows
// it returns ptx.Generic.
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

// IsShared reports whether a generic address is in the window of shared memory of the lane's CTA or of another CTA of its
// cluster.
func (v *View) IsShared(addr uint64) bool {
	return InShared(addr, max(len(v.Cluster), 1))
}

// SpaceOf returns the state space of a generic address; ptx.Global if there is no memory. For shared memory of another CTA
// of the cluster it returns ptx.Shared if cluster is set, otherwise ptx.Generic.
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

// sharedAt returns the shared memory for an address of .shared space. Only generic accesses reach other CTAs.
func (v *View) sharedAt(a *Access, addr uint64) *Allocation {
	if rank := addr >> probe.RankShift; a.Space == ptx.Generic && rank < uint64(len(v.Cluster)) {
		return v.Cluster[rank]
	}
	return v.Shared
}

// offset converts an address of .shared space to an offset in m, a shared memory.
func (m *Allocation) offset(addr uint64) uint64 { return addr - (m.Base - probe.SharedWindow) }

// Resolve is Find with a fault that has a message.
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
	case m.mapping&ReadOnly != 0 && a.Writes():
		f.Msg, f.Near = f.Msg+", which is read-only memory", m.String()
	default:
		f.Msg, f.Near = fmt.Sprintf("%s, which is in .%s space", f.Msg, m.Space()), m.String()
	}
	return Location{}, f
}

// isWithin reports whether n bytes from offset on are in the range from from up to, but not including, top.
func isWithin(offset, n, from, top uint64) bool {
	return offset >= from && offset <= top && n <= top-offset
}

// describeNearest describes the allocation closest to the address of an access out of bounds, and its distance.
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

// ContainsStrided reports whether n+1 accesses of the given number of bytes, a power of two, at the offsets from + i·stride
// for i from 0 to n are all in the allocation and aligned. n must be less than 64, and stride must fit in 32 signed bits.
// For n = 0 it may be false because of the stride alone.
func (m *Allocation) ContainsStrided(from uint64, stride, n int64, bytes int) bool {
	// Offsets in the memory are less than 2^37 apart, so that nothing in between wraps.
	to := from + uint64(n*stride)
	end := m.Size &^ uint64(bytes-1) // end of the last aligned access
	return from < end && to < end && (from|uint64(stride))&uint64(bytes-1) == 0
}
