package simt

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
	module *ptx.Module
	kernel *ptx.Func
	entry  *code.Func // the kernel's
	ref    *reference // see Launch.Lowering; nil without

	native      *native.Code
	memoryNeeds *memoryNeeds         // see needs
	contextPool sync.Pool            // *cta: see Grid.poolIdleContexts
	accessOf    []accessedSources    // see accesses
	checkOnce   func() *native.Check // beside ref, made when it is asked for: see twin
}

// NewKernel readies a kernel of a module, lowered to p, to be run.
func NewKernel(m *ptx.Module, k *ptx.Func, p *code.Program) *Kernel {
	c := &Kernel{Program: p, module: m, kernel: k, entry: p.Funcs[0], native: native.New(p)}
	if p.Reference != nil {
		c.ref = newReference(c, &Kernel{Program: p.Reference, module: m, kernel: k, entry: p.Reference.Funcs[0]})
		c.checkOnce = sync.OnceValue(func() *native.Check { return c.nativeCheck() })
	}
	return c
}

// guardMask is the lanes of half a warp where the guard lets an instruction run.
func guardMask(f *regfile.File, g int32) uint32 {
	p, negated := code.GuardRow(g)
	if negated {
		return ^f.Pred(p)
	}
	return f.Pred(p)
}
