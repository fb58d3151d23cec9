// Package lanes executes single instructions for the active lanes of half a warp, as the plan of the kernel says: on all lanes,
// on compact operands (affine.go), or once for the launch.
//
// machine.go has the two tables: LaneFuncs, by operation, and the functions for compact operands, by plan. Operations that only
// compute are in package alu. Read portable.go (a block), machine.go, affine.go, then warpops.go, sreg.go, builtin.go, matrix.go.
package lanes
