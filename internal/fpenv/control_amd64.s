#include "textflag.h"

// func Control() uint32
TEXT ·Control(SB), NOSPLIT, $0-4
	STMXCSR ret+0(FP)
	RET

// func SetControl(c uint32)
TEXT ·SetControl(SB), NOSPLIT, $0-4
	LDMXCSR c+0(FP)
	RET
