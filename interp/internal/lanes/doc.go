// Package lanes executes single instructions for the active lanes of a half of a warp, as the plan of the kernel says: on
// all lanes, on compact operands (affine.go), or once for the launch.
//
// machine.go has the two tables of functions: LaneFuncs, by operation, and execFuncs for compact operands, by the plan's
// execution. The functions of operations that only compute are in package alu. Read portable.go (a block), machine.go,
// affine.go, then warpops.go, sreg.go, builtin.go, printf.go, matrix.go, sparse.go and ctamemory.go.
package lanes
