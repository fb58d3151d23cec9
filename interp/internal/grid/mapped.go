package grid

// This file runs kernels over host memory that may be missing, or unmapped by the host meanwhile.

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

// runGuarded is runCTA with a trap in place of a host fault at memory mapped into the device.
func runGuarded(c *machine.CTA, budget int, ordered bool) (s machine.CTAStatus) {
	defer c.ImportAll()
	if addr, faulted := hostfault.Catch(func() { s = runCTA(c, budget, ordered) }); faulted {
		c.Err, s = hostFault(c, addr), machine.CTAFailed
	}
	return s
}

// hostFault returns the trap of an access to missing or read-only mapped memory. It finds the instruction by the
// address.
func hostFault(c *machine.CTA, addr uint64) *probe.Trap {
	w := &c.Warps[c.NextWarp]
	a := c.Grid.Device.Memory.Find(addr)
	stored := a != nil && readable(unsafe.Add(a.Ptr, addr-a.Base))
	src, lanes := culpritOf(w, addr, stored)
	kind, why := probe.ErrOutOfBounds, "the host has no memory there"
	if stored {
		kind, why = probe.ErrReadOnly, "the host's memory there is read-only"
	}
	t := w.Fail(src, lanes, kind, "%v at %s: %s", kind, machine.HexAddr(addr), why)
	t.Addr = addr
	if a != nil {
		t.Nearby = a.String()
	}
	return t
}

// readable reports whether the host has memory at an address.
func readable(p unsafe.Pointer) bool {
	_, faulted := hostfault.Catch(func() { readProbe.Store(uint32(mem.LoadBits(p, 1))) })
	return !faulted
}

// readProbe keeps the compiler from removing the read of readable.
var readProbe atomic.Uint32

// culpritOf finds the memory instruction of the warp's block with an access, or a store, to an address of the host,
// and its lanes. If a later instruction of the block has overwritten the address register, it may find none; then it
// returns the block's first instruction and all lanes.
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
