// Package spill rewrites the functions of a PTX module so that a thread needs at most N physical registers, like the
// assembler of a compiler (nvcc's -maxrregcount, ptxas's --maxrregcount): it allocates registers, and keeps the
// remaining variables in local memory.
//
// A physical register has 32 bits. A virtual register of 8, 16 or 32 bits takes a single register, a register of 64 bits
// two and a register of 128 bits four, which need not be consecutive: vectors and pairs consist of any registers.
// Predicates are not counted; they have registers of their own, as on the hardware.
//
// Each step has a file:
//
//   - program.go represents a function as operations on variables. Each web of definitions and uses that belong
//     together is a variable. analysis.go computes live variables and distances to next uses.
//   - place.go decides which variables are in registers at each operation. It evicts the variable whose next use is
//     farthest (Belady), across blocks after Braun and Hack, "Register Spilling and Live-Range Splitting for SSA-Form
//     Programs" (2009). Values of constants, parameters, addresses of parameters and special registers are recomputed
//     instead of stored (rematerialisation).
//   - color.go assigns registers by colouring the interference graph (Briggs, Cooper and Torczon, "Improvements to Graph
//     Coloring Register Allocation", 1994). A variable without a colour moves to memory, and both steps are repeated;
//     plan.go contains this loop.
//   - rewrite.go applies the result to the module.
//
// A variable reloaded anywhere is stored wherever it is written, so memory always has its value. A called
// function may use all registers; variables that live across a call are in memory.
//
// The package does no scheduling: instructions keep the order of the source.
package spill
