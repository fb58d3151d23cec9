// Package random writes random PTX programs, from the instruction table: straight-line code, guards, branches and loops,
// memory, calls, and instructions that the threads of a warp execute together.
//
// There are three kinds of program:
//
//	StraightLine  any instruction, with inputs from memory; few sources of values
//	Structured    values from a thread's index, from parameters and from constants
//	Defined       results that PTX defines to the bit, for any implementation
//
// StraightLine and Structured programs run only on engines of gemu, which agree in more than PTX specifies. Defined
// programs avoid all operations with a result that PTX leaves undefined. Differences lists the cases in which the manual
// and GPUs differ.
//
// Read program.go (StraightLine, and the common parts), structured.go, then defined.go and difference.go. every.go has
// kernels of single instructions. tokens.go does not write programs: it changes the tokens of valid modules, which makes
// nearly valid PTX.
package random
