package lanes

// This file has functions that the CUDA run-time provides inside a kernel: malloc, free and __assertfail (printf.go has
// vprintf), and the access to their arguments.

import (
	"math/bits"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// builtinArgument returns argument i of a builtin call for a lane; 0 if there is none.
func builtinArgument(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, i, lane int) uint64 {
	args := w.CTA.Code.Calls[instr.Side].Args
	if i >= len(args) {
		return 0
	}
	p := args[i]
	switch p.Slot {
	case code.R:
		return uint64(f.Src32(p.Row)[lane])
	case code.Q:
		return f.Src64(p.Row)[lane]
	}
	return w.Local[h].Load(4*w.Frame.Local+p.Offset, lane, min(p.Size, 8))
}

// setBuiltinResult writes the result of a builtin call for a lane, if the call has a result.
func setBuiltinResult(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, lane int, v uint64) {
	rets := w.CTA.Code.Calls[instr.Side].Rets
	if len(rets) == 0 {
		return
	}
	p := rets[0]
	switch p.Slot {
	case code.R:
		f.Row32(p.Row)[lane] = uint32(v)
	case code.Q:
		f.Row64(p.Row)[lane] = v
	default:
		w.Local[h].Store(4*w.Frame.Local+p.Offset, lane, min(p.Size, 8), v)
	}
}

// heapBlock is the number of bytes that a block of the heap adds to the used heap besides its own size: about the size of
// the host's record. A freed block does not count, although the map keeps records of up to 2*mem.MaxFreed freed blocks,
// about 30 MB.
const heapBlock = 256

// malloc executes malloc on the device heap. It returns 0 if the heap is full.
func malloc(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	g := w.CTA.Grid
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		size := builtinArgument(w, h, f, instr, 0, lane)
		addr := uint64(0)
		if size > 0 && size <= g.Device.Heap && g.Device.HeapUsed+size+heapBlock <= g.Device.Heap {
			if a, err := g.Device.Memory.Alloc(size, probe.HeapMemory, ""); err == nil {
				g.Device.HeapUsed += size + heapBlock
				addr = a.Base
				event.EmitMemory(w, probe.OnAlloc, instr, 32*h+lane, a)
			}
		}
		setBuiltinResult(w, h, f, instr, lane, addr)
	}
	w.CTA.Changed = true
}

// free executes free on the device heap.
func free(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	g := w.CTA.Grid
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr := builtinArgument(w, h, f, instr, 0, lane)
		if addr == 0 {
			continue
		}
		a := g.Device.Memory.Find(addr)
		if a == nil || a.Kind != probe.HeapMemory || a.Base != addr || a.Freed {
			why := "which malloc did not return"
			if a != nil && a.Freed {
				why = "which was freed already"
			}
			t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrHeap, "%v of %s, %s", probe.ErrHeap, machine.HexAddr(addr), why)
			t.Addr = addr
			return
		}
		g.Device.HeapUsed -= a.Size + heapBlock
		event.EmitMemory(w, probe.OnFree, instr, 32*h+lane, a)
		g.Device.Memory.Free(a)
	}
	w.CTA.Changed = true
}

// assertFail executes __assertfail, which a failed assert calls. Its arguments are message, file, line and function.
func assertFail(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	lane := bits.TrailingZeros32(m) & 31
	str := func(i int) string {
		s, _ := readString(w, h, lane, builtinArgument(w, h, f, instr, i, lane))
		return s
	}
	w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), probe.ErrAssert, "%v: %s:%d: %s: `%s'", probe.ErrAssert, str(1), uint32(builtinArgument(w, h, f, instr, 2, lane)), str(3), str(0))
}

// loadByte reads a byte at a generic address. ok is false if there is no such memory.
func loadByte(w *machine.Warp, h, lane int, addr uint64) (b byte, ok bool) {
	v, ok := readGuestMemory(w, h, lane, addr, 1)
	return byte(v), ok
}

// readGuestMemory reads size bytes at a generic address, as a little-endian number. ok is false if there is no such memory;
// it does not trap.
func readGuestMemory(w *machine.Warp, h, lane int, addr uint64, size int) (v uint64, ok bool) {
	n := uint64(size)
	var p []byte
	view := access.View(w)
	switch space := view.SpaceOf(addr, true); space {
	case ptx.Shared:
		place, err := view.Find(&mem.Access{Request: probe.Request{Bytes: 1}}, addr)
		if err != nil || n > place.Alloc.Size-place.Offset {
			return 0, false
		}
		p = place.Alloc.Data[place.Offset:]
	case ptx.Local:
		addr -= probe.LocalWindow
		if top := 4 * uint64(w.LocalTop()); addr > top || n > top-addr {
			return 0, false
		}
		return w.Local[h].Load(int(addr), lane, size), true
	default:
		a := w.CTA.Grid.Device.Memory.Find(addr)
		if a == nil || a.Freed || n > a.Size-(addr-a.Base) {
			return 0, false
		}
		p = a.Data[addr-a.Base:]
	}
	for i := range size {
		v |= uint64(p[i]) << (8 * i)
	}
	return v, true
}

// readString reads a C string at a generic address. ok is false if the memory ends before the string, or the string has
// more than 1 MiB.
func readString(w *machine.Warp, h, lane int, addr uint64) (text string, ok bool) {
	var s []byte
	for {
		c, ok := loadByte(w, h, lane, addr+uint64(len(s)))
		if !ok || len(s) > 1<<20 {
			return string(s), false
		}
		if c == 0 {
			return string(s), true
		}
		s = append(s, c)
	}
}
