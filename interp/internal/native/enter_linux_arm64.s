#include "textflag.h"
#include "go_asm.h"

// func enter(code unsafe.Pointer, c *Context)
//
// The frame is larger than the stack that machine code may use. Go makes room for it, and machine code begins at its
// upper end. Go's wrapper of this function keeps nothing in registers but g (R28), which stencils do not touch. Stencils
// preserve the stack pointer, the frame pointer and the return address. An ISB must precede code that another thread has
// written. Stencils expect the context in R20, and so on: the calling convention preserve_none.
TEXT ·enter(SB), 0, $1552-16
	MOVD code+0(FP), R0
	MOVD c+8(FP), R20
	MOVWU Context_Mask(R20), R21
	MOVD Context_r(R20), R24
	MOVD Context_q(R20), R25
	MOVD Context_p(R20), R26
	MOVD Context_constants(R20), R27
	ISB $15
	ADD $1536, RSP
	BL (R0)
	SUB $1536, RSP
	RET

// func synchronize(from, to uintptr)
//
// It makes the host fetch instructions again from memory (Arm ARM, B2.4.4): it cleans the data cache to the point of
// unification and invalidates the instruction cache. CTR_EL0 has the sizes of their lines.
TEXT ·synchronize(SB), NOSPLIT, $0-16
	MOVD from+0(FP), R0
	MOVD to+8(FP), R1
	MRS CTR_EL0, R2
	MOVD $4, R5
	UBFX $16, R2, $4, R3
	LSL R3, R5, R3
	AND $15, R2, R4
	LSL R4, R5, R4
	SUB $1, R3, R6
	BIC R6, R0, R6
data:
	CMP R1, R6
	BHS cleaned
	DC CVAU, R6
	ADD R3, R6
	B data
cleaned:
	DSB $11 // ISH
	SUB $1, R4, R6
	BIC R6, R0, R6
instructions:
	CMP R1, R6
	BHS done
	WORD $0xd50b7526 // IC IVAU, R6, which the assembler does not know
	ADD R4, R6
	B instructions
done:
	DSB $11
	ISB $15
	RET
