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
	Entry          *code.Func // the kernel as a lowered function
	CheckReference *Reference // the reference, for check mode and for probes of operations; nil: none

	Native      *native.Code         // machine code of the kernel
	MemoryNeeds *MemoryNeeds         // upper bounds of the memory of a CTA; nil: not computed yet
	ContextPool sync.Pool            // idle contexts (*CTA) for later launches
	accessOf    []accessedSources    // result of Accesses; nil before its first call
	CheckOnce   func() *native.Check // returns the machine code of check mode, made at the first call
}

// GuardMask returns the lanes of a register file for which guard g, which must not be 0, holds.
func GuardMask(f *regfile.File, g int32) uint32 {
	p, negated := code.GuardRow(g)
	if negated {
		return ^f.Pred(p)
	}
	return f.Pred(p)
}
