package machine

import (
	"errors"
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
)

// TensorState is the tensor memory of a CTA, and what its warps have under way with it.
type TensorState struct {
	Memory       *matrix.TensorMemory // nil until some is allocated
	Blocks       []TensorBlock        // that are allocated
	FromPair     []TensorBlock        // those that the other CTA of the pair has allocated here, and this one has yet to
	Relinquished bool                 // no more is allocated
	Warps        []TensorWarp         // those of 32 lanes, up to the last that has accessed it
}

// TensorBlock is columns that have been allocated together.
type TensorBlock struct {
	Column, Columns int
	Pair            bool // of CTAs
	Exclusive       bool // no others are allocated meanwhile
	Rank            int  // of the CTA that has allocated it
	DeallocatedHere bool // one of a pair, which the CTA has deallocated, and the other has not
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

// TensorCells is what a store has, at most.
type TensorCells [2 * 128 * matrix.Lanes]matrix.Cell

// TensorWarp is loads and stores of a warp that it has not waited for.
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

// IssueOrigin is what a trap says of where something was issued.
type IssueOrigin struct {
	CTA    *CTA
	Src    *code.Source
	Warp   int
	Lanes  uint64
	Active uint64
}

// ErrNoTensorMemory is the answer of an allocation, w.away, for which there is not enough tensor memory.
var ErrNoTensorMemory = errors.New("not enough tensor memory")

// PipeOp is a copy, a shift or a multiplication. It does not change.
type PipeOp struct {
	Pair     bool
	Access   *code.TensorAccess // nil: a shift
	Address  matrix.TensorAddress
	From     matrix.TensorDescriptor // of a copy
	Product  *matrix.TensorProduct
	Operands matrix.TensorOperands
}
