package interp

import (
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// prepared is a kernel lowered to run.
type prepared struct {
	*code.Program
	mod    *Module
	kernel *ptx.Func
	entry  *code.Func // the kernel's
	ref    *reference // of check mode; nil without
}

// guardMask is the lanes of half a warp where the guard lets an instruction run.
func guardMask(f *regfile.File, g int32) uint32 {
	if g > 0 {
		return f.P[g-1]
	}
	return ^f.P[-g-1]
}
