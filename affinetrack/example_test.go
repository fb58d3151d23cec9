package affinetrack_test

import (
	"fmt"

	"gemu/affinetrack"
	"gemu/ptx"
)

// An affine unit executes an addition of a uniform and an affine operand on two numbers in place of 32 lanes.
func Example() {
	unit := affinetrack.NewUnit(affinetrack.Policies[0], affinetrack.Rules)
	add := affinetrack.Operation{Rule: ptx.AffineAdd, Width: 32, Out: 32, Slot: 32}
	tid := affinetrack.Value{Stride: 1}
	offset := affinetrack.Value{Base: 100}
	const all = ^uint32(0)
	sum, execution := unit.Binary(&add, tid, offset, all, all)
	fmt.Println(execution == affinetrack.CompactResult, sum.Base, sum.Stride, "lane 31:", sum.At(31))
	// Output: true 100 1 lane 31: 131
}
