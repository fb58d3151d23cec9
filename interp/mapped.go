package interp

// This file runs kernels over memory of the host, which the host may take away
// while they run.

import "runtime/debug"

// runGuarded runs a CTA like run. A fault of the host at memory that is mapped into
// the device becomes a trap.
func (c *cta) runGuarded(budget int, turn bool) (s status) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface{ Addr() uintptr }) // see debug.SetPanicOnFault
		if !ok {
			panic(r)
		}
		c.err, s = c.hostFault(uint64(fault.Addr())), failed
	}()
	return c.run(budget, turn)
}

// hostFault is the trap of an access to mapped memory that is not there any more.
// The instruction is one of the block that the warp is in: which is not known.
func (c *cta) hostFault(addr uint64) *Trap {
	w := &c.warps[(c.next+len(c.warps)-1)%len(c.warps)]
	t := w.fail(c.code.blocks[w.pc].anchor(), w.mask, ErrOutOfBounds, "%v at %s, from here on: the host has taken away the memory that is mapped there", ErrOutOfBounds, hexAddr(addr))
	t.Addr = addr
	if a := c.grid.dev.mem.find(addr); a != nil {
		t.Near = a.describe()
	}
	return t
}
