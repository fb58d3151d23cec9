package async

// This file executes the instructions that change and read tensor maps: tensormap.replace, .query and .cp_fenceproxy.

import (
	"math/bits"

	"gemu/internal/tensormap"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// MapReplace executes tensormap.replace (manual 9.7.9.27).
//
//go:norace
func MapReplace(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.MapFieldOf(instr.Imm)
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		b, ok := mapAt(w, h, instr, lane, op.Space, probe.AccessAtomic, f.Src64(instr.A)[lane])
		if !ok {
			return
		}
		if err := tensormap.Replace(b, code.MapFields[op.Field], op.Ord, f.Src64(instr.B)[lane]); err != nil {
			w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrAsync, "%v: the tensor map at %s: %v", probe.ErrAsync, machine.HexAddr(f.Src64(instr.A)[lane]), err)
			return
		}
		w.CTA.Changed = true
	}
}

// MapLarge executes tensormap.query.
//
//go:norace
func MapLarge(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, d := code.MapFieldOf(instr.Imm), uint32(0)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		b, ok := mapAt(w, h, instr, lane, op.Space, probe.AccessLoad, f.Src64(instr.A)[lane])
		if !ok {
			return
		}
		large, err := tensormap.Large(b)
		if err != nil {
			w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrAsync, "%v: the tensor map at %s: %v", probe.ErrAsync, machine.HexAddr(f.Src64(instr.A)[lane]), err)
			return
		}
		if large {
			d |= 1 << lane
		}
	}
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, d)
	}
}

// MapCopy executes tensormap.cp_fenceproxy (manual 9.7.13.16), lane by lane.
//
//go:norace
func MapCopy(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if absent := uint32(w.Live>>(32*h)) &^ m; absent != 0 {
		t := w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), probe.ErrDivergent, "%v: all lanes of a warp must execute %s together; missing: %s", probe.ErrDivergent, w.SourceOf(instr).Text, probe.LaneText(uint64(absent)<<(32*h)))
		t.Notes = append(t.Notes, w.Whereabouts(uint64(absent)<<(32*h))...)
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		from, ok := mapAt(w, h, instr, lane, ptx.Shared, probe.AccessLoad, f.Src64(instr.B)[lane])
		if !ok {
			return
		}
		to, ok := mapAt(w, h, instr, lane, ptx.Global, probe.AccessStore, f.Src64(instr.A)[lane])
		if !ok {
			return
		}
		copy(to, from)
		w.CTA.Changed = true
	}
}

// mapAt returns the bytes of the tensor map at a lane's address. It traps and returns false if the access is invalid.
func mapAt(w *machine.Warp, h int, instr *code.Instr, lane int, space ptx.Space, kind probe.AccessKind, addr uint64) ([]byte, bool) {
	_, b, fault := w.CTA.RegionOf(space, kind, addr, tensormap.Size, tensormap.Align)
	if fault != nil {
		t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), fault.Kind, "%s", fault.Msg)
		t.Addr, t.Bytes, t.Nearby = addr, tensormap.Size, fault.Near
		return nil, false
	}
	return b, true
}
