package machine

import (
	"sync"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// Kernel is a lowered kernel.
type Kernel struct {
	*code.Program
	Module         *ptx.Module
	Kernel         *ptx.Func
	Entry          *code.Func // entry function
	CheckReference *Reference // reference of check mode, see Launch.Lowering; nil: none

	Native      *native.Code
	MemoryNeeds *MemoryNeeds         // upper bounds of the memory of a CTA; nil: not computed yet
	ContextPool sync.Pool            // *CTA: idle contexts for later launches
	accessOf    []accessedSources    // see Accesses
	CheckOnce   func() *native.Check // machine code of check mode, made at the first call
}

// GuardMask returns the lanes of half a warp for which the guard holds.
func GuardMask(f *regfile.File, g int32) uint32 {
	p, negated := code.GuardRow(g)
	if negated {
		return ^f.Pred(p)
	}
	return f.Pred(p)
}
