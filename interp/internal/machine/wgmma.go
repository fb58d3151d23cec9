package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// Warpgroup is the wgmma state of four warps.
type Warpgroup struct {
	FirstNumber int           // number of the first instruction in Pending
	Pending     []*GroupInstr // instructions executed by fewer than four warps
	Warps       [matrix.Warps]WarpgroupWarp
}

// WarpgroupWarp is the wgmma state of one warp of a warpgroup.
type WarpgroupWarp struct {
	Executed int               // number of wgmma instructions executed
	Pending  []*PendingProduct // pending multiplications, in the order of issue
	Groups   int               // number of groups committed
	Fenced   bool              // it has executed wgmma.fence
}

// GroupInstr is a wgmma instruction that the warps of a warpgroup execute together.
type GroupInstr struct {
	Number int               // position in the order of the warpgroup's wgmma instructions
	Source *code.Source      // the PTX instruction
	A, B   matrix.Descriptor // descriptors of matrices in shared memory
}

// PendingProduct is a pending multiplication of one warp.
type PendingProduct struct {
	*GroupInstr
	Side       int32    // index of its instruction in Tables.Fragments
	Group      int      // number of groups that its warp had committed before
	Accumulate bool     // D is added to the product
	Stored     []uint8  // for a sparse A: columns of the stored elements
	Rows       []uint32 // rows of A, if A is in shared memory and has been read
	Columns    []uint32 // columns of B, if B has been read

	// In place of Rows and Columns, for multiplications in machine code: see matrix.Wgmma.LoadA and matrix.Shared.LoadRegisters.
	RowRegisters, ColumnRegisters []regfile.Row32

	Executed bool // it was executed at issue; a wait for its group still waits for the rest of the group

	// For probes: its number among asynchronous operations, whether the read has been reported, and the issuing lanes.
	Sequence     int64
	ReadReported bool
	Warp         int
	Active       uint64
	Depth        int
}
