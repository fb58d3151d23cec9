package grid

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// Assemble prepares a kernel as NewKernel does, and makes the machine code that a launch may enter: for all lanes and for
// the lanes of a mask; in check mode if p has a reference. It reports whether there is machine code.
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
