package access

// This file executes accesses to local memory, and the instructions that move a lane's stack.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// FrameAccess loads or stores a variable of the running function's local frame.
func FrameAccess(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	offset := int64(w.AccessOf(instr).Offset)
	if offset < 0 || !LocalRow(w, h, f, w.AccessOf(instr), uint64(4*w.Frame.Local)+uint64(offset), m) {
		accessEachLane(w, h, f, instr, m, m)
	}
}

// LocalAccess loads or stores local memory at per-lane addresses, which are often the same in all lanes.
func LocalAccess(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	if a.Addr == code.Q {
		accessLocal(w, h, f, instr, f.Src64(instr.A), 0, m)
	} else {
		accessLocal(w, h, f, instr, f.Src32(instr.A), 0, m)
	}
}

// accessLocal is LocalAccess for addresses in a row. base is the address at which local memory begins: 0, or the local
// window for generic addresses.
func accessLocal[A mem.Slot](w *machine.Warp, h int, f *regfile.File, instr *code.Instr, addr *[regfile.Lanes]A, base uint64, m uint32) {
	a := w.AccessOf(instr)
	first := addr[bits.TrailingZeros32(m)&31]
	same := true
	for n := m; n != 0 && same; n &= n - 1 {
		same = addr[bits.TrailingZeros32(n)&31] == first
	}
	if same && LocalRow(w, h, f, a, uint64(first+A(a.Offset))-base, m) {
		return
	}
	if len(a.Elems) != 1 || a.Elems[0].Slot == code.NoSlot || a.Size > 8 {
		accessEachLane(w, h, f, instr, m, m)
		return
	}
	e, size, words := a.Elems[0], uint64(a.Size), w.Local[h]
	begin, end := LocalRange(w)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		offset := uint64(addr[lane]+A(a.Offset)) - base
		if offset < begin || offset > end || size > end-offset || offset&(size-1) != 0 {
			accessEachLane(w, h, f, instr, n, n)
			return
		}
		if a.Store {
			words.Store(int(offset), lane, a.Size, ReadElem(f, e, lane))
		} else {
			writeElem(a, f, e, lane, words.Load(int(offset), lane, a.Size))
		}
	}
}

// intoLocal returns the first lanes of m, up to the first lane whose generic address is not in local memory.
func intoLocal[A mem.Slot](a *code.Access, addr *[regfile.Lanes]A, m uint32) (local uint32) {
	for n := m; n != 0; n &= n - 1 {
		if lanesAddr := uint64(addr[bits.TrailingZeros32(n)&31] + A(a.Offset)); lanesAddr-probe.LocalWindow >= probe.WindowSize {
			break
		}
		local |= n & -n
	}
	return local
}

// LocalRow executes an access to local memory at an address that is the same in all lanes, in bytes. Word i of all lanes is
// a row, so nothing is computed per lane. It reports whether it has executed the access.
func LocalRow(w *machine.Warp, h int, f *regfile.File, a *code.Access, addr uint64, m uint32) bool {
	begin, end := LocalRange(w)
	if addr < begin || addr > end || uint64(a.Bytes) > end-addr || addr%uint64(a.Bytes) != 0 || a.Size > 8 {
		return false
	}
	for i, e := range a.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		offset := int(addr) + i*a.Size
		words := w.Local[h][offset/4:]
		switch {
		case a.Size == 4 && e.Slot == code.R && !a.Store:
			mem.CopyRow(f.Row32(e.Row), &words[0], m)
		case a.Size == 4 && e.Slot == code.R:
			mem.CopyRow(&words[0], f.Src32(e.Row), m)
		case a.Size == 8 && !a.Store:
			words.LoadRow64(f.Row64(e.Row), 0, m)
		case a.Size == 8:
			words.StoreRow64(f.Src64(e.Row), 0, m)
		default:
			for n := m; n != 0; n &= n - 1 {
				lane := bits.TrailingZeros32(n) & 31
				if a.Store {
					words.Store(offset&3, lane, a.Size, ReadElem(f, e, lane))
				} else {
					writeElem(a, f, e, lane, words.Load(offset&3, lane, a.Size))
				}
			}
		}
	}
	return true
}

// LocalRange returns the addresses of the beginning and the end of a thread's local memory, in bytes.
func LocalRange(w *machine.Warp) (begin, end uint64) {
	return 4 * machine.KernelFrame, 4 * uint64(w.LocalTop())
}

// GrowLocal makes room for the given number of words of local memory per thread.
func GrowLocal(w *machine.Warp, words int) {
	for h := range w.Files {
		if len(w.Local[h]) < words {
			grown := make([]regfile.Row32, max(words, 2*len(w.Local[h])))
			copy(grown, w.Local[h])
			w.Local[h] = grown
		}
	}
}

// FrameAddress32 writes the address of a variable in the running function's local frame.
func FrameAddress32(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row32(instr.D), uint32(4*uint64(w.Frame.Local)+instr.Imm), m)
}

// FrameAddress64 is FrameAddress32 for 64-bit registers.
func FrameAddress64(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row64(instr.D), 4*uint64(w.Frame.Local)+instr.Imm, m)
}

// FrameSource returns the address of a variable in the running function's local frame, as a compact value.
func FrameSource(w *machine.Warp, h int, instr *code.Instr, m uint32) affinetrack.Value {
	return affinetrack.Value{Base: 4*uint64(w.Frame.Local) + instr.Imm}
}

// Stacksave executes stacksave (manual 9.7.17): it returns the top of a lane's stack, which is above the static frame.
func Stacksave(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	base := uint64(4 * (w.Frame.Local + w.Frame.Func.Local))
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := base
		if w.Frame.Func.Allocates {
			v += uint64(f.Row32(w.Frame.Func.AddressTaken)[i])
		}
		if instr.Op == code.Stacksave64 {
			f.Row64(instr.D)[i] = v
		} else {
			f.Row32(instr.D)[i] = uint32(v)
		}
	}
}

// Stackrestore executes stackrestore: it removes everything from a lane's stack that alloca has added since the stacksave.
func Stackrestore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	base := uint64(4 * (w.Frame.Local + w.Frame.Func.Local))
	taken := f.Row32(w.Frame.Func.AddressTaken)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		v := uint64(0)
		if instr.Op == code.Stackrestore64 {
			v = f.Src64(instr.A)[i]
		} else {
			v = uint64(f.Src32(instr.A)[i])
		}
		if v < base || v-base > uint64(taken[i]) {
			w.Fail(w.SourceOf(instr), 1<<(32*h+i), probe.ErrStackOverflow, "stackrestore of %s, which is outside the stack in use: no stacksave gave it, or an earlier stackrestore has released it", machine.HexAddr(v))
			return
		}
		taken[i] = uint32(v - base)
	}
}

// Alloca executes alloca: it reserves memory above the top of a lane's stack.
func Alloca(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	base := uint64(4 * (w.Frame.Local + w.Frame.Func.Local))
	align := instr.Imm
	taken := f.Row32(w.Frame.Func.AddressTaken)
	limit := 4 * uint64(w.CTA.Grid.StackWords)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		size := uint64(0)
		if instr.Op == code.Alloca64 {
			size = f.Src64(instr.A)[i]
		} else {
			size = uint64(f.Src32(instr.A)[i])
		}
		addr := (base + uint64(taken[i]) + align - 1) / align * align
		if size > limit || addr+size > limit {
			w.Fail(w.SourceOf(instr), 1<<(32*h+i), probe.ErrStackOverflow, "%v: alloca of %d bytes, with %d of %d bytes in use", probe.ErrStackOverflow, size, addr, limit)
			return
		}
		taken[i] = uint32(addr + (size+3)/4*4 - base)
		if instr.Op == code.Alloca64 {
			f.Row64(instr.D)[i] = addr
		} else {
			f.Row32(instr.D)[i] = uint32(addr)
		}
	}
	GrowLocal(w, w.LocalTop())
}
