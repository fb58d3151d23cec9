package probe

import (
	"math"
	"math/bits"

	"gemu/ptx"
)

// AccessKind is the direction of an access.
type AccessKind uint8

// The directions.
const (
	// AccessLoad reads memory.
	AccessLoad AccessKind = iota
	// AccessStore writes memory.
	AccessStore
	// AccessAtomic reads and writes memory.
	AccessAtomic
)

// String returns "load", "store" or "atomic".
func (k AccessKind) String() string { return [...]string{"load", "store", "atomic"}[k] }

// Request is the access that an instruction makes for each lane, without its addresses.
type Request struct {
	// Space is the state space that the instruction names; ptx.Generic if it names none.
	Space ptx.Space
	// Bytes is the number of bytes of a lane, a power of two. The address must be a multiple of it.
	Bytes int
	// Align is an alignment in bytes, smaller than Bytes, that is sufficient; 0 if the address must be a multiple of Bytes.
	Align int
	// Kind is the direction.
	Kind AccessKind

	// SpareBytes is how many of the last bytes of Bytes the instruction ignores. They may lie past the end of the memory.
	SpareBytes int

	// Cluster means that a generic address must be an address of shared memory of a CTA of the cluster.
	Cluster bool

	// Surface means an access through a surface, to an array (ArrayMemory), which loads and stores do not reach.
	Surface bool
}

// String returns space and direction, as in "global load".
func (r *Request) String() string {
	if r.Cluster {
		return "cluster's shared " + r.Kind.String()
	}
	return r.Space.String() + " " + r.Kind.String()
}

// Writes reports whether the access changes memory.
func (r *Request) Writes() bool { return r.Kind != AccessLoad }

// Access is an access of an instruction to memory, by all lanes of an event.
type Access struct {
	Request
	// Addr has the address of each lane, in the space of the request; nil without Subscription.Addresses.
	Addr []uint64
	// Lanes is the set of lanes that access memory. It is smaller than Event.Lanes where a lane accesses memory for several
	// lanes, as in ldmatrix.
	Lanes uint64
	// Lengths has the number of bytes of each lane, for accesses to regions of different lengths (st.bulk); nil for
	// accesses of equal length.
	Lengths []uint64
	// Machine gives the methods of Access access to the state of the machine. It is valid during the call of Sink.OnEvent only.
	Machine AccessMachine

	addrBuffer []uint64

	runLanes uint64 // the lanes of runs; 0 if there are no runs
	runs     [maxAddressRuns]AddressRun
	runCount int // 0 if the lanes have more than maxAddressRuns runs
}

// AccessMachine is the state of the machine at an access. Probes use it through the methods of Access.
type AccessMachine interface {
	// BytesLeft returns the number of bytes, of at most Bytes, that lie in memory for a lane.
	BytesLeft(a *Access, lane int) int
	// AppendStored appends the bytes that a lane is about to store to p (Access.Stored).
	AppendStored(a *Access, p []byte, lane int) (to []byte, ok bool)
	// StoredBy fills s with the operands of a lane's writing access (Access.StoredBy).
	StoredBy(a *Access, s *Stored, lane int) (ok bool)
	// AllocationAt returns the memory of an access to an address (Access.AllocationAt).
	AllocationAt(a *Access, addr uint64) (space ptx.Space, alloc *Allocation, offset uint64, ok bool)
	// MemoryBefore returns bytes of an allocation as they were before the access (Access.MemoryBefore).
	MemoryBefore(a *Access, alloc *Allocation, offset uint64, n int) []byte
	// Shadow returns the shadow bytes of the memory of a lane's access.
	Shadow(a *Access, lane int) []byte
}

// Reset makes a an access without addresses. It keeps the memory of Addr for Reserve.
func (a *Access) Reset(r Request, lanes uint64, m AccessMachine) {
	a.Request, a.Addr, a.Lanes, a.Lengths, a.Machine, a.runLanes = r, nil, lanes, nil, m, 0
}

// Renew makes a an access of the same request by other lanes, without addresses.
func (a *Access) Renew(lanes uint64) { a.Addr, a.Lanes, a.runLanes = nil, lanes, 0 }

// Reserve gives Addr room for n lanes, and reuses the memory of earlier calls. The content is unspecified.
func (a *Access) Reserve(n int) {
	if len(a.addrBuffer) != n {
		a.addrBuffer = make([]uint64, n)
	}
	a.Addr = a.addrBuffer
}

// maxAddressRuns is the largest number of runs that Access.Runs returns.
const maxAddressRuns = 4

// AddressRun is a set of lanes whose addresses have equal distances: lane i accesses Addr + (i-f)·Stride, modulo 2^64,
// where f is the first lane. A run of a single lane has Stride 0.
type AddressRun struct {
	// Lanes is the set of lanes; it is not empty.
	Lanes uint64
	// Addr is the address of the first lane.
	Addr uint64
	// Stride is the distance from lane to lane, in bytes.
	Stride int64
}

// Span returns the lowest address of the run, and the distance in bytes from the lowest to the highest address. ok is false if
// addresses wrap around the end of the address space, or if Stride does not fit in a signed 32-bit number.
func (r *AddressRun) Span() (low, width uint64, ok bool) {
	distance := 63 - bits.LeadingZeros64(r.Lanes) - bits.TrailingZeros64(r.Lanes)
	low, width = r.Addr, uint64(r.Stride)*uint64(distance)
	if r.Stride < 0 {
		low, width = low+width, -width
	}
	return low, width, r.Stride == int64(int32(r.Stride)) && low+width >= low
}

// Runs divides a set of lanes into runs, in the order of lanes, each as long as possible. It returns an empty slice if there are
// more than four runs. The result is valid until the next call. The access must have addresses.
func (a *Access) Runs(lanes uint64) []AddressRun {
	if a.runLanes != lanes {
		a.runLanes = lanes
		a.runCount = a.computeRuns(lanes)
	}
	return a.runs[:a.runCount]
}

// SetStride sets the result of Runs for a set of lanes: a single run, whose addresses are stride bytes apart from lane to lane.
// The access must have addresses.
func (a *Access) SetStride(lanes uint64, stride int64) {
	if lanes&(lanes-1) == 0 {
		stride = 0
	}
	a.runLanes, a.runCount = lanes, 1
	a.runs[0] = AddressRun{Lanes: lanes, Addr: a.Addr[bits.TrailingZeros64(lanes)], Stride: stride}
}

// computeRuns fills a.runs and returns the number of runs.
func (a *Access) computeRuns(lanes uint64) (n int) {
	for lanes != 0 {
		if n == maxAddressRuns {
			return 0
		}
		first := bits.TrailingZeros64(lanes)
		r := &a.runs[n]
		*r = AddressRun{Addr: a.Addr[first]}
		n++
		rest := lanes & (lanes - 1)
		if rest != 0 {
			next := bits.TrailingZeros64(rest)
			if r.Stride = int64(a.Addr[next] - r.Addr); next-first > 1 {
				r.Stride /= int64(next - first)
			}
			last := first
			// Neighbouring lanes, the usual case, need no search for the next lane.
			last += stridedLen(a.Addr[first:first+bits.TrailingZeros64(^(lanes>>first))], uint64(r.Stride)) - 1
			addr := a.Addr[last]
			rest &= ^uint64(0) << (last + 1)
			for rest != 0 {
				lane := bits.TrailingZeros64(rest) & 63
				if addr += uint64(r.Stride) * uint64(lane-last); a.Addr[lane] != addr {
					break
				}
				last = lane
				rest &= rest - 1
			}
		}
		if r.Lanes = lanes &^ rest; r.Lanes&(r.Lanes-1) == 0 {
			r.Stride = 0
		}
		lanes = rest
	}
	return n
}

// stridedLen returns the length of the longest prefix of list whose elements are stride apart. list must not be empty.
func stridedLen(list []uint64, stride uint64) int {
	n := 1
	for n+4 <= len(list) { // independent comparisons, a branch for four of them
		l := list[n-1 : n+4]
		if (l[1]-l[0]^stride)|(l[2]-l[1]^stride)|(l[3]-l[2]^stride)|(l[4]-l[3]^stride) != 0 {
			break
		}
		n += 4
	}
	for n < len(list) && list[n]-list[n-1] == stride {
		n++
	}
	return n
}

// Length returns the number of bytes that a lane accesses: with Lengths, the lane's element; without Lengths, Bytes, or fewer if
// SpareBytes lie past the end of the memory. The access must have addresses.
func (a *Access) Length(lane int) int {
	if a.Lengths != nil {
		return int(min(a.Lengths[lane], math.MaxInt32))
	}
	if a.SpareBytes > 0 {
		return a.Machine.BytesLeft(a, lane)
	}
	return a.Bytes
}

// Bulk reports whether the lanes access regions of different lengths: st.bulk, which writes zeros.
func (a *Access) Bulk() bool { return a.Lengths != nil }

// Stored appends to p the bytes that a lane is about to store. ok is true only if the lane stores registers element by element.
// It is false for atomics, matrices, st.bulk, and vectors with omitted elements: use StoredBy for these, except st.bulk.
func (a *Access) Stored(p []byte, lane int) (to []byte, ok bool) {
	return a.Machine.AppendStored(a, p, lane)
}

// Stored has the operands of a lane's writing access.
type Stored struct {
	// Data has the bytes that a store writes; for an atomic operation, the operand that it combines with the old value; for .cas,
	// the new value.
	Data []byte
	// Size is the size of an element of Data in bytes.
	Size int

	// Compare has the value with which .cas compares memory; empty for all other operations.
	Compare []byte
	// Left is the set of elements of a vector that are not stored: bit i for element i.
	Left uint64
}

// StoredBy fills s with the operands of a lane's access: stored registers, operands of atomics, rows of matrices (made of
// registers of all lanes), or texels of surfaces. It reuses the memory of s. ok is false for loads, for st.bulk, and for
// operations on mbarriers, whose bytes the machine computes.
func (a *Access) StoredBy(s *Stored, lane int) (ok bool) { return a.Machine.StoredBy(a, s, lane) }

// PlaceOf returns the memory that a lane accesses: the state space, the allocation (nil: local memory of the thread) and the
// offset in bytes, from the start of the allocation or of local memory. For shared memory, the allocation belongs to the accessed
// CTA, which may be another CTA of the cluster. ok is false if the access traps, or if it reads past the end of shared memory and
// that is tolerated (SharedUnit). The access must have addresses.
func (a *Access) PlaceOf(lane int) (space ptx.Space, alloc *Allocation, offset uint64, ok bool) {
	return a.AllocationAt(a.Addr[lane])
}

// AllocationAt returns the memory of an access to an address, as PlaceOf does.
func (a *Access) AllocationAt(addr uint64) (space ptx.Space, alloc *Allocation, offset uint64, ok bool) {
	return a.Machine.AllocationAt(a, addr)
}

// MemoryBefore returns n bytes of an allocation, from an offset on, as they were before the access. At a late event
// (AccessCondition.Late), the access itself and later stores may already have changed the memory. The bytes must be in the memory. The
// result is valid during the call of Sink.OnEvent only, and must not be changed; it is nil at an event of a recording.
func (a *Access) MemoryBefore(alloc *Allocation, offset uint64, n int) []byte {
	return a.Machine.MemoryBefore(a, alloc, offset, n)
}

// Shadow returns the shadow bytes of the memory that a lane accesses, interp.Config.ShadowBytes for each byte. The shadow bytes
// of new memory are zero: after an allocation, when a CTA begins, when a function with local memory is called. The result is nil
// if the device has no shadow bytes, or if the access traps. The access must have addresses. CTAs that run at the same time share
// the shadow bytes of global memory.
func (a *Access) Shadow(lane int) []byte { return a.Machine.Shadow(a, lane) }
