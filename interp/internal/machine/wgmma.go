package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
)

// Warpgroup is what four warps have executed of wgmma.
type Warpgroup struct {
	FirstNumber int           // number of the first of joint
	Pending     []*GroupInstr // that not all warps have executed
	Warps       [matrix.Warps]WarpgroupWarp
}

// WarpgroupWarp is a warp of a warpgroup.
type WarpgroupWarp struct {
	Executed int // of its instructions
	Pending  []*PendingProduct
	Groups   int // committed
	Fenced   bool
}

// GroupInstr is an instruction of a warpgroup.
type GroupInstr struct {
	Number int
	Source *code.Source
	A, B   matrix.Descriptor
}

// PendingProduct is a multiplication that is pending, for a warp.
type PendingProduct struct {
	*GroupInstr
	Side       int32 // of its instruction, in Tables.Fragments
	Group      int   // of its warp, as many as were committed before
	Accumulate bool
	Stored     []uint8  // columns of a sparse A
	Rows       []uint32 // of A, if that is in shared memory and has been read
	Columns    []uint32 // of B, if that has been read
	Executed   bool     // where it was issued; but who waits for it still waits for the others of the group

	// For probes: its number among asynchronous operations, whether they know that it has read, and
	// the lanes that have issued it.
	Sequence     int64
	ReadReported bool
	Warp         int
	Active       uint64
	Depth        int
}
