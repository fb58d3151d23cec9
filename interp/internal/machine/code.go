package machine

import (
	"sync"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// Kernel is a kernel lowered to run.
type Kernel struct {
	*code.Program
	Module         *ptx.Module
	Kernel         *ptx.Func
	Entry          *code.Func // the kernel's
	CheckReference *Reference // see Launch.Lowering; nil without

	Native      *native.Code
	MemoryNeeds *MemoryNeeds         // see needs
	ContextPool sync.Pool            // *cta: see Grid.poolIdleContexts
	accessOf    []accessedSources    // see accesses
	CheckOnce   func() *native.Check // beside ref, made when it is asked for: see twin
}

// GuardMask is the lanes of half a warp where the guard lets an instruction run.
func GuardMask(f *regfile.File, g int32) uint32 {
	p, negated := code.GuardRow(g)
	if negated {
		return ^f.Pred(p)
	}
	return f.Pred(p)
}
