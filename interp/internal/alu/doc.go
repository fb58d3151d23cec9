// Package alu has the instructions that only compute: for each a short function of one lane's operands, with its manual
// section, and a kernel that calls this function for all lanes of a row.
//
// A function's //gemu:kernel directive names its operations (package directive describes the syntax). The program in _gen
// generates the kernels, and tables of them by operation (zkernels.go):
//
//	//gemu:kernel add.$T; T = u32|s32 …   →   k_add_s32(f *regfile.File, instr *code.Instr, m uint32)
//	func add[T …](a, b T) T
//
// The signature of the function determines the rows of its operands: a type of up to 32 bits is in a row of 32-bit slots, a
// 64-bit type in a row of 64-bit slots, and bool in a predicate.
//
// The files follow the manual: int.go (9.7.1, 9.7.2), float.go (9.7.3), half.go and mixed.go (9.7.4 to 9.7.6), cmp.go
// (9.7.6), logic.go (9.7.8), cvt.go and narrow.go (9.7.9), video.go (9.7.18). slow.go has the rare forms of float arithmetic and
// conversions.
package alu
