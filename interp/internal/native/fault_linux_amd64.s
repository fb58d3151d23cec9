#include "textflag.h"
#include "go_asm.h"

// Offsets in the kernel's structures: siginfo is not needed; ucontext has the registers in the order of REG_R8 and so on.
#define UCONTEXT_RBP 120
#define UCONTEXT_RSP 160
#define UCONTEXT_RIP 168

// The signal handler of SIGSEGV and SIGBUS. The C ABI applies: signal DI, siginfo SI, ucontext DX. If the interrupted
// instruction is in a text of catchingTexts, the handler makes the thread continue after the call of machine code in the
// function enter. It finds this function's frame by the marker there. Otherwise the handler before it handles the signal,
// with the same arguments. The handler uses no stack, and only registers that a function of C may change.
TEXT ·faultHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ UCONTEXT_RIP(DX), AX
	LEAQ ·catchingTexts(SB), R8
	MOVQ $const_maxCatchingTexts, CX
next:
	CMPQ AX, 0(R8)
	JB other
	CMPQ AX, 8(R8)
	JB found
other:
	ADDQ $16, R8
	DECQ CX
	JNZ next
pass:
	LEAQ ·previousHandlers(SB), R8
	MOVLQZX DI, CX
	MOVQ (R8)(CX*8), AX
	JMP AX

found:
	MOVQ UCONTEXT_RSP(DX), R8
	ADDQ $7, R8
	ANDQ $-8, R8
	MOVQ $const_frameWords, CX
	MOVQ $const_frameMarker, R9
search:
	CMPQ R8, 0(R8)
	JNE further
	CMPQ R9, 8(R8)
	JEQ resume
further:
	ADDQ $8, R8
	DECQ CX
	JNZ search
	JMP pass

resume:
	MOVQ R8, UCONTEXT_RBP(DX)
	ANDQ $-16, R8
	MOVQ R8, UCONTEXT_RSP(DX)
	MOVQ -8(R8), AX // the return address that the call has pushed
	MOVQ AX, UCONTEXT_RIP(DX)
	RET

// func addressOfFaultHandler() uintptr
TEXT ·addressOfFaultHandler(SB), NOSPLIT, $0-8
	LEAQ ·faultHandler(SB), AX
	MOVQ AX, ret+0(FP)
	RET
