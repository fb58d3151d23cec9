package grid

// This file runs kernels over memory of the host, which need not be there, and
// which the host may take away while they run.

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"gemu/internal/hostfault"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
)

// runGuarded runs a CTA like run. A fault of the host at memory that is mapped into
// the device becomes a trap.
func runGuarded(c *machine.CTA, budget int, ordered bool) (s machine.CTAStatus) {
	defer c.ImportAll()
	if addr, faulted := hostfault.Catch(func() { s = runCTA(c, budget, ordered) }); faulted {
		c.Err, s = hostFault(c, addr), machine.CTAFailed
	}
	return s
}

// hostFault is the trap of an access to mapped memory that is not there, or not to
// be written. The instruction is found by its address.
func hostFault(c *machine.CTA, addr uint64) *probe.Trap {
	w := &c.Warps[c.NextWarp]
	a := c.Grid.Device.Memory.Find(addr)
	stored := a != nil && readable(unsafe.Add(a.Ptr, addr-a.Base))
	src, lanes := culpritOf(w, addr, stored)
	kind, why := probe.ErrOutOfBounds, "the host has no memory there"
	if stored {
		kind, why = probe.ErrReadOnly, "the host's memory there may not be changed"
	}
	t := w.Fail(src, lanes, kind, "%v at %s: %s", kind, machine.HexAddr(addr), why)
	t.Addr = addr
	if a != nil {
		t.Nearby = a.String()
	}
	return t
}

// readable reports whether there is memory of the host at an address.
func readable(p unsafe.Pointer) bool {
	_, faulted := hostfault.Catch(func() { readProbe.Store(uint32(mem.LoadBits(p, 1))) })
	return !faulted
}

// readProbe keeps the read of readable from being left out.
var readProbe atomic.Uint32

// culpritOf finds the memory instruction of the warp's block that accesses the host's
// address, or stores there, and the lanes that do. If a later instruction of the
// block has used a register for something else, as only one that did not fault can
// have, none may be found: then it is the block and all its lanes.
func culpritOf(w *machine.Warp, addr uint64, stored bool) (src *code.Source, lanes uint64) {
	b := w.CTA.Code.Block(w.PC)
	for pc := b.First; pc < b.Last; pc++ {
		instr := &w.CTA.Code.Instrs[pc]
		if code.Signatures[instr.Op].Side != code.AccessSide {
			continue
		}
		a := w.AccessOf(instr)
		if a.Addr == code.NoSlot || a.Tile != nil || stored && !a.Writes() {
			continue
		}
		for m := w.GuardedLanes(instr.Guard); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			at := a.AddressAt(w.ControlValue(code.Row{Slot: a.Addr, Row: instr.A}, lane))
			if addr-at < uint64(a.Bytes) {
				lanes |= 1 << lane
			}
		}
		if lanes != 0 {
			return w.SourceOf(instr), lanes
		}
	}
	return w.CTA.Code.FirstSource(b), w.Mask
}
