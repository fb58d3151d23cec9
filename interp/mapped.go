package interp

// This file runs kernels over memory of the host, which need not be there, and
// which the host may take away while they run.

import (
	"math/bits"
	"runtime/debug"

	"gemu/interp/internal/alu"
)

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

// hostFault is the trap of an access to mapped memory that is not there, or not to
// be written. The instruction is found by its address.
func (c *cta) hostFault(addr uint64) *Trap {
	w := &c.warps[(c.next+len(c.warps)-1)%len(c.warps)]
	src, lanes := w.culprit(addr)
	t := w.fail(src, lanes, ErrOutOfBounds, "%v at %s: the host has no memory there, or it may not be changed", ErrOutOfBounds, hexAddr(addr))
	t.Addr = addr
	if a := c.grid.dev.mem.find(addr); a != nil {
		t.Near = a.describe()
	}
	return t
}

// culprit finds the memory instruction of the warp's block that accesses the host's
// address, and the lanes that do. If a later instruction of the block has used a
// register for something else, as only one that did not fault can have, none may be
// found: then it is the block and all its lanes.
func (w *warp) culprit(addr uint64) (src *instr, lanes uint64) {
	b := &w.cta.code.blocks[w.pc]
	for i := range b.insts {
		in := &b.insts[i]
		if in.mem == nil || in.mem.addr == alu.NoSlot {
			continue
		}
		mask := w.guarded(in.guard)
		for m := mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			at := in.mem.off + w.value(operandRef{in.mem.addr, in.mem.row}, lane)
			if addr-at < uint64(in.mem.bytes) {
				lanes |= 1 << lane
			}
		}
		if lanes != 0 {
			return in.src, lanes
		}
	}
	return b.anchor(), w.mask
}
