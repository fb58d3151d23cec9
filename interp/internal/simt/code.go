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
	mod    *ptx.Module
	kernel *ptx.Func
	entry  *code.Func // the kernel's
	ref    *reference // see Launch.Lowering; nil without

	native   *native.Code
	needed   *needs               // see needs
	idle     sync.Pool            // *cta: see Grid.leaveContexts
	accessOf []accessing          // see accesses
	checked  func() *native.Check // beside ref, made when it is asked for: see twin
}

// NewKernel readies a kernel of a module, lowered to p, to be run.
func NewKernel(m *ptx.Module, k *ptx.Func, p *code.Program) *Kernel {
	c := &Kernel{Program: p, mod: m, kernel: k, entry: p.Funcs[0], native: native.New(p)}
	if p.Ref != nil {
		c.ref = newReference(c, &Kernel{Program: p.Ref, mod: m, kernel: k, entry: p.Ref.Funcs[0]})
		c.checked = sync.OnceValue(c.twin)
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
