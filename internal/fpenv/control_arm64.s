#include "textflag.h"

// func Control() uint32
TEXT ·Control(SB), NOSPLIT, $0-4
	MRS FPCR, R0
	MOVW R0, ret+0(FP)
	RET

// func SetControl(c uint32)
TEXT ·SetControl(SB), NOSPLIT, $0-4
	MOVWU c+0(FP), R0
	MSR R0, FPCR
	RET
