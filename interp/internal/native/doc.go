// Package native executes code of the machine as machine code of the host: copy-and-patch (Xu and
// Kjolstad, "Copy-and-patch compilation", OOPSLA 2021).
//
// For each operation there is a stencil: machine code that does it to a row of 32 lanes, which
// clang has compiled from C, with holes for where its operands are. The C of the arithmetic is made of the Go
// functions of package alu. A block becomes the stencils of its instructions one behind the other,
// their holes filled. What has no stencil, Go does: native code leaves before it and is entered again behind
// it.
//
// Code is in memory of its own, which can be written or executed, never both. Native code runs on the
// goroutine's stack, of which it takes up to a bound that its entry declares; it calls nothing of Go, and touches only
// memory that gemu has allocated and that is kept alive while it runs: registers, constants, the context,
// and allocations, after a look at their bounds. It cannot be preempted, so it comes back after some instructions.
package native

//go:generate go run ./_gen
