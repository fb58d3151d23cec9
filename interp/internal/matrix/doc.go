// Package matrix computes the matrix instructions of a warp (manual 9.7.14 to 9.7.16): it knows which lane holds which
// element of a matrix, and computes the result of a multiplication. It knows neither instructions nor machines: the caller
// passes the registers.
//
// A multiplication has these steps:
//
//	registers  → Layout gathers the fragments of the lanes into a matrix (layout.go). wmma.go, tile.go and wgmma.go
//	             choose the layout of an operand.
//	elements   → format.decode reads numbers (number.go). Sparse selects elements (sparse.go), Scales scale them (scale.go).
//	row·column → Numerics adds the products in the way of a generation of tensor cores (numerics.go).
//	sums       → Layout scatters the elements of D to registers.
//
// Read layout.go, then mma.go (a warp), wgmma.go (a warpgroup, with operands in shared memory), tensor.go and tensormma.go
// (tensor memory of sm_100). compress.go has sparse vectors in the registers of a thread,
// columns.go the multiplications that machine code executes.
package matrix
