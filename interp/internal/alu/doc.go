// Package alu holds the semantics of the instructions that only compute: a short function for a lane, next to its manual
// section, and a kernel for a row of lanes that is generated from it.
//
// A function's //gemu:kernel directive names the opcodes that it implements (package directive describes the syntax). The
// program in _gen writes the lane loops, and tables of them by operation (zkernels.go):
//
//	//gemu:kernel add.$T; T = u32|s32 …   →   k_add_s32(f *regfile.File, instr *code.Instr, m uint32)
//	func add[T …](a, b T) T
//
// The signature of the function determines the registers of its operands: types of up to 32 bits are in 32-bit rows, 64-bit
// types in 64-bit rows, bool in predicates.
//
// The files follow the manual: int.go (9.7.1, 9.7.2), float.go (9.7.3), half.go and mixed.go (9.7.4 to 9.7.6), cmp.go
// (9.7.6), logic.go (9.7.8), cvt.go (9.7.9), video.go (9.7.18). slow.go has the rare forms of float arithmetic and
// conversions.
package alu
