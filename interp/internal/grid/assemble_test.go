package grid

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// Assemble prepares a kernel as NewKernel does, and assembles the machine code that a launch may enter: for full masks and
// for other masks; for check mode if p has a reference. It reports whether the host gives memory for machine code.
func Assemble(m *ptx.Module, k *ptx.Func, p *code.Program) bool {
	c := NewKernel(m, k, p)
	for _, mask := range []uint32{regfile.Full, 1} {
		ctx := &native.Context{Mask: mask}
		if c.CheckReference == nil && !c.Native.Ready(ctx) || exchange.ReferenceAdjoins(c) && !c.CheckOnce().Ready(ctx) {
			return false
		}
	}
	return true
}
