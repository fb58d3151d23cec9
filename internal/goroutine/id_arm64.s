#include "textflag.h"

// func ID() uint64
TEXT ·ID(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
