package grid

import (
	"sync"

	"gemu/interp/internal/check"
	"gemu/interp/internal/code"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/ptx"
)

// NewKernel prepares kernel k of module m for launches. p is the lowered kernel.
func NewKernel(m *ptx.Module, k *ptx.Func, p *code.Program) *machine.Kernel {
	c := &machine.Kernel{Program: p, Module: m, Kernel: k, Entry: p.Funcs[0], Native: native.New(p)}
	if p.Reference != nil {
		c.CheckReference = check.NewReference(c, &machine.Kernel{Program: p.Reference, Module: m, Kernel: k, Entry: p.Reference.Funcs[0]})
		c.CheckOnce = sync.OnceValue(func() *native.Check { return exchange.NativeCheck(c) })
	}
	return c
}
