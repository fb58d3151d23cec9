package machine

import (
	"errors"
	"fmt"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// TensorState is the tensor memory of a CTA, with its blocks and the pending accesses of its warps.
type TensorState struct {
	Memory       *matrix.TensorMemory // nil before the first allocation
	Blocks       []TensorBlock        // allocated blocks
	FromPair     []TensorBlock        // blocks that the other CTA of the pair has allocated here, and this CTA has not yet
	Relinquished bool                 // the CTA has given up the right to allocate
	Warps        []TensorWarp         // warps of 32 lanes, up to the last warp with an access to tensor memory
}

// TensorBlock is a range of columns with a common allocation.
type TensorBlock struct {
	Column, Columns int          // the first column and the number of columns
	Pair            bool         // allocated by a pair of CTAs
	Exclusive       bool         // no second block may be allocated at the same time
	Rank            int          // rank of the allocating CTA
	DeallocatedHere bool         // for a pair: this CTA has deallocated the block, the other CTA has not
	Src             *code.Source // the allocating instruction
	Warp            int          // index of the allocating warp
}

func (b *TensorBlock) String() string {
	allocated := "allocated"
	if b.Exclusive {
		allocated = "allocated exclusively"
	}
	return fmt.Sprintf("columns %d to %d, %s at %s", b.Column, b.Column+b.Columns-1, allocated, b.Src.Pos)
}

// MaxTensorStore is the size in bytes of the values of the largest store: 128 registers.
const MaxTensorStore = 128 * int(unsafe.Sizeof(regfile.Row32{}))

// TensorWarp has the loads and stores of a warp for which it has not waited yet.
type TensorWarp struct {
	Loads  []PendingTensorLoad
	Stores []PendingTensorStore
}

// PendingTensorLoad is a load from tensor memory for which its warp has not waited yet.
type PendingTensorLoad struct {
	Src     *code.Source
	Regions []matrix.Region
}

// PendingTensorStore is a store to tensor memory for which its warp has not waited yet.
type PendingTensorStore struct {
	IssueOrigin
	Regions []matrix.Region
	Tile    *matrix.TensorTile
	Address matrix.TensorAddress
	Values  []regfile.Row32 // by register
}

// IssueOrigin is the place of issue of an operation, for traps.
type IssueOrigin struct {
	CTA    *CTA
	Src    *code.Source
	Warp   int    // index in the CTA
	Lanes  uint64 // the issuing lanes
	Active uint64 // active mask
}

// ErrNoTensorMemory is the value of Warp.Err when an allocation, Warp.BlockedInstr, waits for free tensor memory.
var ErrNoTensorMemory = errors.New("not enough tensor memory")

// PipeOp is a copy, a shift or a multiplication in the pipe of a pair of CTAs. It must not change.
type PipeOp struct {
	Pair     bool                    // it works on both CTAs of the pair
	Access   *code.TensorAccess      // the copy or the multiplication; nil: a shift
	Address  matrix.TensorAddress    // for a copy or a shift: address in tensor memory
	From     matrix.TensorDescriptor // source of a copy
	Product  *matrix.TensorProduct   // the multiplication; nil: none
	Operands matrix.TensorOperands   // operands of the multiplication
}
