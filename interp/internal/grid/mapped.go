package grid

// This file runs kernels that access host memory which may be missing, or which the host may unmap during the launch.

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

// runGuarded is runCTA, except that a host fault at memory mapped into the device becomes a trap.
func runGuarded(c *machine.CTA, budget int, ordered bool) (s machine.CTAStatus) {
	defer c.ImportAll()
	if addr, faulted := hostfault.Catch(func() { s = runCTA(c, budget, ordered) }); faulted {
		c.Err, s = hostFault(c, addr), machine.CTAFailed
	}
	return s
}

// hostFault returns the trap of an access to missing or read-only host memory. It finds the instruction by the address of
// the fault.
func hostFault(c *machine.CTA, addr uint64) *probe.Trap {
	w := &c.Warps[c.NextWarp]
	a := c.Grid.Device.Memory.Find(addr)
	isStore := a != nil && readable(unsafe.Add(a.Ptr, addr-a.Base))
	src, lanes := culpritOf(w, addr, isStore)
	kind, why := probe.ErrOutOfBounds, "the host has no memory there"
	if isStore {
		kind, why = probe.ErrReadOnly, "the host's memory there is read-only"
	}
	t := w.Fail(src, lanes, kind, "%v at %s: %s", kind, machine.HexAddr(addr), why)
	t.Addr = addr
	if a != nil {
		t.Nearby = a.String()
	}
	return t
}

// readable reports whether the host can read memory at an address.
func readable(p unsafe.Pointer) bool {
	_, faulted := hostfault.Catch(func() { readProbe.Store(uint32(mem.LoadBits(p, 1))) })
	return !faulted
}

// readProbe receives the value that readable reads, so that the compiler does not remove the read.
var readProbe atomic.Uint32

// culpritOf finds the first memory instruction of the warp's block with an access to an address of the host, and the lanes
// with this access. If isStore is set, only stores count. A later instruction of the block may have overwritten the address
// register, so that no instruction matches; then culpritOf returns the block's first instruction and all lanes.
func culpritOf(w *machine.Warp, addr uint64, isStore bool) (src *code.Source, lanes uint64) {
	b := w.CTA.Code.Block(w.PC)
	for pc := b.First; pc < b.Last; pc++ {
		instr := &w.CTA.Code.Instrs[pc]
		if code.Signatures[instr.Op].Side != code.AccessSide {
			continue
		}
		a := w.AccessOf(instr)
		if a.Addr == code.NoSlot || a.Tile != nil || isStore && !a.Writes() {
			continue
		}
		for m := w.GuardedLanes(instr.Guard); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			laneAddr := a.AddressAt(w.ControlValue(code.Row{Slot: a.Addr, Row: instr.A}, lane))
			if addr-laneAddr < uint64(a.Bytes) {
				lanes |= 1 << lane
			}
		}
		if lanes != 0 {
			return w.SourceOf(instr), lanes
		}
	}
	return w.CTA.Code.FirstSource(b), w.Mask
}
