package machine

import (
	"errors"
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
)

// TensorState is the tensor memory of a CTA, with its blocks and the pending accesses of its warps.
type TensorState struct {
	Memory       *matrix.TensorMemory // nil before the first allocation
	Blocks       []TensorBlock        // allocated blocks
	FromPair     []TensorBlock        // blocks allocated here so far by the other CTA of the pair alone
	Relinquished bool                 // the CTA has given up the right to allocate
	Warps        []TensorWarp         // warps of 32 lanes, up to the last warp with an access to tensor memory
}

// TensorBlock is a range of columns with a common allocation.
type TensorBlock struct {
	Column, Columns int
	Pair            bool // allocated by a pair of CTAs
	Exclusive       bool // no second block may be allocated at the same time
	Rank            int  // rank of the allocating CTA
	DeallocatedHere bool // for a pair: this CTA has deallocated the block, the other CTA has not
	Src             *code.Source
	Warp            int
}

func (b *TensorBlock) String() string {
	reduction := "allocated"
	if b.Exclusive {
		reduction = "allocated exclusively"
	}
	return fmt.Sprintf("columns %d to %d, %s at %s", b.Column, b.Column+b.Columns-1, reduction, b.Src.Pos)
}

// TensorCells is an array for the largest store, in cells.
type TensorCells [2 * 128 * matrix.Lanes]matrix.Cell

// TensorWarp is the loads and stores of a warp before their wait.
type TensorWarp struct {
	Loads  []PendingTensorLoad
	Stores []PendingTensorStore
}

type PendingTensorLoad struct {
	Src     *code.Source
	Regions []matrix.Region
}

type PendingTensorStore struct {
	IssueOrigin
	Regions []matrix.Region
	Cells   []matrix.Cell
}

// IssueOrigin is the place of issue of an operation, for traps.
type IssueOrigin struct {
	CTA    *CTA
	Src    *code.Source
	Warp   int
	Lanes  uint64
	Active uint64
}

// ErrNoTensorMemory is the value of Warp.Err when an allocation, Warp.BlockedInstr, waits for free tensor memory.
var ErrNoTensorMemory = errors.New("not enough tensor memory")

// PipeOp is a copy, a shift or a multiplication in the pipe of a pair of CTAs. It must not change.
type PipeOp struct {
	Pair     bool
	Access   *code.TensorAccess // tensor-memory access; nil: a shift
	Address  matrix.TensorAddress
	From     matrix.TensorDescriptor // source of a copy
	Product  *matrix.TensorProduct
	Operands matrix.TensorOperands
}
