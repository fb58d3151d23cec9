package machine

import (
	"fmt"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/ptx"
)

// AsyncEffect is a pending asynchronous effect of an instruction, for one lane.
type AsyncEffect struct {
	CTA      *CTA         // the issuing CTA
	Sequence int64        // position in the order of issue of its cluster
	Src      *code.Source // the issuing instruction
	Warp     int          // index in the CTA of the issuing warp
	Lane     int          // the issuing lane
	Active   uint64       // active mask at issue
	Group    int          // number of groups that its thread had committed before

	Op           code.Async
	Arrives      bool        // the effect is only an arrival at the mbarrier
	To, From     uint64      // addresses in the spaces of Op
	Bytes        uint64      // number of bytes copied or stored
	Fill         uint64      // number of zero bytes written after them
	Data         []byte      // data of a store, or data read already; nil: the source is still to be read
	Persistent   bool        // Data is not a copy of memory contents and never changes
	Unwritten    uint16      // bytes of each 16 not written by the effect, as a set of bits
	Mbarrier     uint64      // address of the mbarrier in .shared space
	IgnoredBytes uint64      // number of bytes that are not copied but counted at the mbarrier
	PatternFound bool        // the source contains Op.ReportPattern
	KeptBytes    uint64      // host memory of the effect while it is pending, in bytes
	Tensor       *TensorCopy // the tensor copy; nil: none
	SharesTensor bool        // other effects have the same tensor copy
	PipeOp       *PipeOp     // the operation on tensor cores or tensor memory; nil: none
	Commits      bool        // it arrives after all earlier operations of the pipe have happened
	ReadsA       bool        // it arrives after earlier multiplications have read their matrices A in shared memory
	FactorA      [][]uint32  // for a multiplication: matrix A of each CTA if it has been read early, for a commit with ReadsA
	Done         bool        // the effect has happened

	FurtherDestination bool // see probe.Effect
}

// AsyncThread is the groups of bulk operations of a thread.
type AsyncThread struct {
	Pending    []*AsyncEffect // pending effects in the order of issue
	Groups     int            // number of groups committed
	GroupsRead int            // number of groups whose sources have been read
}

// AsyncState is the asynchronous work of a CTA's threads, except effects that complete at mbarriers: see
// Cluster.Pending.
type AsyncState struct {
	native.CopyState
	NextSource int32 // index in Sources of the last allocation that has replaced another

	Copies []native.CopyQueue // for each warp the queues of its halves; empty before the first cp.async instruction
	Lanes  []AsyncThread      // by linear index of the thread; empty before the first bulk operation with a group

	Warpgroups []Warpgroup // up to the last warpgroup that has executed a wgmma instruction
	Tensor     TensorState // tensor memory
}

// IsUsed reports whether a thread of the CTA has issued asynchronous work or has had tensor memory.
func (a *AsyncState) IsUsed() bool {
	return a.KeptBytes != 0 || len(a.Copies) != 0 || a.Lanes != nil || a.Warpgroups != nil || a.Tensor.Memory != nil || a.Tensor.Relinquished || a.Tensor.Warps != nil
}

// Reset sets the state to that of a CTA without asynchronous work. It keeps memory for later CTAs.
func (a *AsyncState) Reset() {
	for i := range a.Copies {
		q := &a.Copies[i]
		a.Free = append(a.Free, q.Pending...)
		q.Pending, q.Sets = q.Pending[:0], q.Sets[:0] // without sets machine code uses no queue
	}
	clear(a.Sources)
	*a = AsyncState{Copies: a.Copies[:0], CopyState: native.CopyState{Objects: a.Objects, Free: a.Free, Sources: a.Sources[:0]}}
}

// RegionOf returns the n bytes at an address of a state space, and the allocation that contains them. It returns a fault if
// the address is not a multiple of align bytes, or if the bytes are not inside a single allocation.
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
		fault = &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%s at %s, which is not inside a single allocation", request.String(), HexAddr(addr))} // not &request, which would then escape to the heap in every call
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
