package interp

// This file lowers kernels of a module.

import (
	"fmt"

	"gemu/interp/internal/lower"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// lower prepares a kernel of the module to run.
func (m *Module) lower(k *ptx.Func, opt lower.Options) (*prepared, error) {
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
	c := &prepared{Program: p, mod: m, kernel: k, entry: p.Funcs[0]}
	if p.Ref != nil {
		c.ref = newReference(c, &prepared{Program: p.Ref, mod: m, kernel: k, entry: p.Ref.Funcs[0]})
	}
	return c, nil
}

// fewLanes is how many lanes a warp may have for tags to cost more than they save.
const fewLanes = 4

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
