package access

// This file executes loads and stores at compact addresses.

import (
	"math/bits"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// LoadRows executes a load in which lane i reads at p + (i − first)·step, for the lanes of m.
func LoadRows(f *regfile.File, a *code.Access, p unsafe.Pointer, first, step int, m uint32) {
	for i, e := range a.Elems {
		switch ptr := unsafe.Add(p, i*a.Size); e.Slot {
		case code.R:
			a.Strided.Load32(f.Row32(e.Row), ptr, first, step, m)
		case code.Q:
			a.Strided.Load64(f.Row64(e.Row), ptr, first, step, m)
		}
	}
}

// StoreRows executes a store in which lane i writes at p + (i − first)·step, for the lanes of m. It materialises compact
// data.
func StoreRows(w *machine.Warp, f *regfile.File, a *code.Access, p unsafe.Pointer, first, step int, m uint32) {
	w.CTA.Changed = true
	ExpandElems(f, a.Elems, m)
	for i, e := range a.Elems {
		switch ptr := unsafe.Add(p, i*a.Size); e.Slot {
		case code.R:
			a.Strided.Store32(f.Src32(e.Row), ptr, first, step, m)
		case code.Q:
			a.Strided.Store64(f.Src64(e.Row), ptr, first, step, m)
		}
	}
}

// MemoryAt returns the memory that the lanes of m access at the compact address v: lane i accesses p + (i − first)·step. It
// tests only the last hit of the instruction. ok is false if the access is elsewhere or addresses wrap; then the address of
// each lane must be resolved. The access must not be to local memory.
func MemoryAt(w *machine.Warp, a *code.Access, v affinetrack.Value, m uint32) (p unsafe.Pointer, first, step int, ok bool) {
	block := w.CTA.LastHits[a.HitIndex].Memory()
	base := uint64(0)
	switch {
	case a.Space == ptx.Shared:
		block = w.CTA.SharedMem
		base = block.Base - probe.SharedWindow
	case a.Addr == code.NoSlot:
		p = a.FixedPointer()
		return p, first, step, p != nil
	case block == nil:
		return nil, 0, 0, false
	default:
		base = block.Base
	}
	first = bits.TrailingZeros32(m)
	if a.Addr == code.R {
		if v, ok = affinetrack.Widen(v, false, m); !ok {
			return nil, 0, 0, false
		}
	}
	by, from := int64(v.Stride), v.At(first)+a.Offset-base
	if by != int64(int32(by)) || !block.ContainsStrided(from, by, int64(31-bits.LeadingZeros32(m)-first), a.Bytes) {
		return nil, 0, 0, false
	}
	return unsafe.Add(block.Ptr, from), first, int(by), true
}
