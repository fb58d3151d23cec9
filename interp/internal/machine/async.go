package machine

import (
	"fmt"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// AsyncEffect is a pending asynchronous effect of an instruction, for one lane.
type AsyncEffect struct {
	CTA      *CTA  // the issuing CTA
	Sequence int64 // position in the order of issue of its cluster
	Src      *code.Source
	Warp     int
	Lane     int
	Active   uint64
	Group    int // number of groups committed by its thread before

	Op           code.Async
	Arrives      bool        // the effect is only an arrival at the mbarrier
	To, From     uint64      // addresses
	Bytes        uint64      // number of bytes copied or stored
	Fill         uint64      // number of zero bytes written after them
	Data         []byte      // data of a store, or data read already; nil: the source is still to be read
	Persistent   bool        // Data is not a copy of memory contents and never changes
	Unwritten    uint16      // bytes of each 16 not written by the effect, as a set of bits
	Mbarrier     uint64      // address of the mbarrier in .shared space
	IgnoredBytes uint64      // bytes not copied but counted at the mbarrier
	PatternFound bool        // the source contains the pattern sought
	KeptBytes    uint64      // host bytes taken by the effect while it is pending
	Tensor       *TensorCopy // the tensor copy; nil: none
	PipeOp       *PipeOp     // the operation on tensor cores or tensor memory; nil: none
	Commits      bool        // it arrives after all earlier operations of the pipeline have happened
	ReadsA       bool        // it arrives after earlier multiplications have read their matrices A in shared memory
	FactorA      [][]uint32  // for a multiplication: matrix A of each CTA, if a commit made it be read
	Done         bool
}

// AsyncThread is the asynchronous work issued by a thread.
type AsyncThread struct {
	Pending    [2][]*AsyncEffect // pending effects in the order of issue: [0] of cp.async, [1] of bulk operations with groups
	Groups     [2]int            // groups committed, by the same index
	GroupsRead int               // groups of bulk operations whose sources have been read
}

// AsyncState is the asynchronous work of a CTA's threads, except effects that complete at mbarriers: see
// Cluster.Pending.
type AsyncState struct {
	KeptBytes uint64        // host bytes taken by pending effects
	Lanes     []AsyncThread // by thread; empty before the first asynchronous instruction

	Warpgroups []Warpgroup // up to the last warpgroup that has executed a wgmma instruction
	Tensor     TensorState // tensor memory
}

// IsUsed reports whether a thread of the CTA has issued asynchronous work or has had tensor memory.
func (a *AsyncState) IsUsed() bool {
	return a.KeptBytes != 0 || a.Lanes != nil || a.Warpgroups != nil || a.Tensor.Memory != nil || a.Tensor.Relinquished || a.Tensor.Warps != nil
}

// RegionOf returns the allocation and the n bytes at an address. It returns a fault if the address is not a multiple of
// align, or the bytes are not in one allocation.
func (c *CTA) RegionOf(space ptx.Space, kind probe.AccessKind, addr, n, align uint64) (*mem.Allocation, []byte, *mem.Fault) {
	if n == 0 {
		return nil, nil, nil
	}
	view := mem.View{Map: c.Grid.Device.Memory, Shared: c.SharedMem, Cluster: c.Cluster.Shared}
	request := mem.Access{Request: probe.Request{Space: space, Bytes: int(align), Kind: kind}}
	if addr%align != 0 {
		_, fault := view.Resolve(&request, addr)
		return nil, nil, fault
	}
	request.Bytes = 1
	first, fault := view.Resolve(&request, addr)
	last := first
	if fault == nil && n > 1 {
		last, fault = view.Resolve(&request, addr+n-1)
	}
	switch {
	case fault == nil && (first.Alloc == nil || last.Alloc != first.Alloc || last.Offset-first.Offset != n-1):
		fault = &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%s at %s, which is not inside a single allocation", &request, HexAddr(addr))}
		fallthrough
	case fault != nil:
		fault.Msg += fmt.Sprintf(": one of the %d bytes that begin at %s", n, HexAddr(addr))
		return nil, nil, fault
	}
	return first.Alloc, unsafe.Slice((*byte)(unsafe.Add(first.Alloc.Ptr, first.Offset)), n), nil
}

// Align returns the required alignment of the addresses, in bytes.
func (e *AsyncEffect) Align() uint64 {
	switch {
	case e.Op.IgnoreOutOfBounds: // the addresses have been checked already
		return 1
	case e.Op.Bulk:
		return 16
	}
	return uint64(e.Op.Bytes)
}
