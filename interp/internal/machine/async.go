package machine

import (
	"fmt"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// AsyncEffect is one that an instruction has for a lane, and that is still to come.
type AsyncEffect struct {
	CTA      *CTA  // that has issued it
	Sequence int64 // in the order of issue in its cluster
	Src      *code.Source
	Warp     int
	Lane     int
	Active   uint64
	Group    int // of its thread, as many as were committed before

	Op           code.Async
	Arrives      bool        // at the mbarrier, and that is all
	To, From     uint64      // addresses
	Bytes        uint64      // that are copied or stored
	Fill         uint64      // zeros behind them
	Data         []byte      // of a store, or read already; nil: it is read from the source
	Persistent   bool        // it has always been there: it is not memory's
	Unwritten    uint16      // which bytes of each 16 it leaves as they are
	Mbarrier     uint64      // address of the mbarrier in .shared space
	IgnoredBytes uint64      // bytes beside those copied, of which the mbarrier is told all the same
	PatternFound bool        // its source has the pattern that it looks for
	KeptBytes    uint64      // bytes that it takes, while it is to come
	Tensor       *TensorCopy // what it is of a tensor; nil: nothing
	PipeOp       *PipeOp     // what it is of tensor cores and their memory; nil: nothing
	Commits      bool        // it arrives when what came before it in the pipeline has happened
	ReadsA       bool        // … or when matrices A in shared memory, of multiplications before it, have been read
	FactorA      [][]uint32  // of a multiplication: matrix A of each CTA, if a commit has had it read
	Done         bool
}

// AsyncThread is what a thread has issued.
type AsyncThread struct {
	Pending    [2][]*AsyncEffect // of cp.async, of bulk operations with groups; in the order of issue
	Groups     [2]int            // committed
	GroupsRead int               // groups of bulk operations, whose sources have been read
}

// AsyncState is what the threads of a CTA have issued, beside what mbarriers are told of.
type AsyncState struct {
	KeptBytes uint64        // bytes that effects to come take
	Lanes     []AsyncThread // by thread; none before one has issued something

	Warpgroups []Warpgroup // those up to the last that has executed something of wgmma
	Tensor     TensorState // tensor memory
}

// IsUsed reports whether a thread of the CTA has issued something, or had tensor memory.
func (a *AsyncState) IsUsed() bool {
	return a.KeptBytes != 0 || a.Lanes != nil || a.Warpgroups != nil || a.Tensor.Memory != nil || a.Tensor.Relinquished || a.Tensor.Warps != nil
}

// RegionOf is n bytes at an address that is to be a multiple of align, and the memory that they
// are of.
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
		fault = &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%s at %s, which is not in one piece of memory", &request, HexAddr(addr))}
		fallthrough
	case fault != nil:
		fault.Msg += fmt.Sprintf(": one of %d bytes from %s on", n, HexAddr(addr))
		return nil, nil, fault
	}
	return first.Alloc, unsafe.Slice((*byte)(unsafe.Add(first.Alloc.Ptr, first.Offset)), n), nil
}

// Align is what the addresses must be multiples of.
func (e *AsyncEffect) Align() uint64 {
	switch {
	case e.Op.IgnoreOutOfBounds: // its addresses have been looked at
		return 1
	case e.Op.Bulk:
		return 16
	}
	return uint64(e.Op.Bytes)
}
