package interp

// This file lowers kernels of a module.

import (
	"fmt"

	"gemu/interp/internal/lower"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/simt"
	"gemu/ptx"
)

// lower prepares a kernel of the module to run.
func (m *Module) lower(k *ptx.Func, opt lower.Options) (*simt.Kernel, error) {
	if args, ok := k.Directive(".reqnctapercluster"); ok && dimOf(args).Count() > 1 {
		return nil, &ptx.Unsupported{
			File: m.Name, Pos: k.Pos, Line: m.Line(int(k.Pos.Line)), Kernel: k.Name,
			What: fmt.Sprintf("a kernel in clusters of %s ctas (.reqnctapercluster)", dimOf(args)),
		}
	}
	p, err := lower.Kernel(m.Module, k, loaded{m}, opt)
	if err != nil {
		return nil, err
	}
	return simt.NewKernel(m.Module, k, p), nil
}

// loaded is what lowering knows of the device that a module is loaded into.
type loaded struct{ m *Module }

func (a loaded) Address(s ptx.Symbol) (uint64, bool) { return a.m.symbolAddress(s) }

func (a loaded) Params(bytes int) { a.m.dev.mem.SizeParams(bytes) }

func (a loaded) Memory(addr uint64) *mem.Allocation { return a.m.dev.mem.Find(addr) }

// AddressTaken is found out once: a module can have many kernels.
func (a loaded) AddressTaken() []*ptx.Func {
	if a.m.taken == nil {
		a.m.taken = lower.AddressTaken(a.m.Module)
	}
	return a.m.taken
}
