// Package matrix computes the matrix instructions of a warp (manual 9.7.14 to 9.7.16): where lanes hold the elements of
// a matrix, and the result of a multiplication. It knows neither instructions nor machines: the caller passes the
// registers.
//
// A multiplication runs in these steps:
//
//	registers  → Layout gathers the fragments of the lanes into a matrix (layout.go; wmma.go, tile.go and wgmma.go
//	             say which layout an operand has)
//	elements   → format.decode reads numbers (number.go); Sparse and Scales select and scale them (sparse.go, scale.go)
//	row·column → Numerics adds the products as a generation of tensor cores does (numerics.go)
//	sums       → Layout scatters the elements of D to registers
//
// Read layout.go, then mma.go (a warp), wgmma.go (a warpgroup, with operands in shared memory), tensor.go and
// tensormma.go (tensor memory of sm_100). compress.go has sparse vectors in the registers of a thread.
package matrix
