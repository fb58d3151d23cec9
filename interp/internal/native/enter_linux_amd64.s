#include "textflag.h"
#include "go_asm.h"

// func enter(code unsafe.Pointer, c *Context)
//
// The frame is larger than the stack that machine code may use. Go makes room for it, and machine code begins at its
// upper end. Go's wrapper of this function restores R14, which holds g in Go, and X15; a signal handler finds g
// elsewhere. Stencils need a stack aligned as in C. The assembler saves the frame pointer.
TEXT ·enter(SB), 0, $1552-16
	MOVQ code+0(FP), AX
	MOVQ c+8(FP), R12
	MOVL Context_Mask(R12), R13
	MOVQ Context_r(R12), DI
	MOVQ Context_q(R12), SI
	MOVQ Context_p(R12), DX
	MOVQ Context_constants(R12), CX
	ADJSP $-1536
	MOVQ SP, 0(SP) // the marker of the frame, for faultHandler
	MOVQ $const_frameMarker, BX
	MOVQ BX, 8(SP)
	MOVQ SP, BP // which stencils keep
	ANDQ $-16, SP
	CALL AX
	MOVQ BP, SP
	ADJSP $1536
	VZEROUPPER
	RET

// func cpuid(leaf uint32) (ecx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-12
	MOVL leaf+0(FP), AX
	XORL CX, CX
	CPUID
	MOVL CX, ecx+8(FP)
	RET
