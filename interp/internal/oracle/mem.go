package oracle

// This file holds addresses and memory accesses (manual 6.4.1, 9.7.9.8 to
// 9.7.9.11).

import (
	"encoding/binary"

	"gemu/ptx"
)

// resolve finds the space a generic address lies in by the windows, and the
// address within; what is in no window is device memory, whose addresses are
// generic.
func (m *machine) resolve(addr uint64) (ptx.Space, uint64) {
	switch {
	case addr-m.SharedWindow < m.WindowSize:
		return ptx.Shared, addr - m.SharedWindow
	case addr-m.LocalWindow < m.WindowSize:
		return ptx.Local, addr - m.LocalWindow
	}
	return ptx.Generic, addr
}

// address gives the space and address an instruction accesses. A variable
// stands in its own space, whatever the instruction names.
func (t *thread) address(name string) (ptx.Space, uint64) {
	o, _ := t.operand(name)
	space, sub := t.in.Space()
	var addr uint64
	switch {
	case o.Sym != nil:
		space, addr = t.symbol(o.Sym)
		if o.Reg != ptx.NoReg { // an index in bytes
			addr += t.top().regs[o.Reg].lo
		}
		return space, addr + uint64(o.Off)
	case o.Reg != ptx.NoReg:
		f := t.top()
		bits := f.fn.Regs[o.Reg].Type.Bits()
		addr = low(f.regs[o.Reg].lo+uint64(o.Off), bits)
	default:
		addr = uint64(o.Off)
	}
	if space == ptx.Param && !t.readsKernelParams(sub) {
		space = ptx.Local
	}
	return space, addr
}

// readsKernelParams tells the two kinds of .param space apart, for an address
// in a register: .param::entry is the parameter block, .param::func the
// thread's frames. Without either, loads of a kernel mean the former.
func (t *thread) readsKernelParams(sub string) bool {
	switch sub {
	case "entry":
		return true
	case "func":
		return false
	}
	return t.top().fn.Entry && t.in.Mnemonic() == "ld"
}

// access finds the n bytes at an address. They are bytes of shared or local
// memory, or, if b is nil, of the device memory at that address.
func (t *thread) access(space ptx.Space, addr uint64, n int) (at ptx.Space, dev uint64, b []byte) {
	from := space
	if space == ptx.Generic {
		space, addr = t.m.resolve(addr)
	}
	if addr%uint64(n) != 0 {
		t.trap(KindMisaligned, "%s address %#x is not a multiple of %d", from, addr, n)
	}
	var mem []byte
	first := uint64(0)
	switch space {
	default:
		return space, addr, nil
	case ptx.Shared:
		mem = t.cta.shared
	case ptx.Local:
		mem, first = t.local[:t.sp], stackBottom
	}
	if addr < first || addr > uint64(len(mem)) || uint64(len(mem))-addr < uint64(n) {
		t.trap(KindMemory, "%d bytes at %#x are outside %s memory, which has %d", n, addr, space, len(mem))
	}
	return space, addr, mem[addr : addr+uint64(n)]
}

// load reads n bytes, a power of two, at an aligned address.
func (t *thread) load(space ptx.Space, addr uint64, n int) []byte {
	space, addr, b := t.access(space, addr, n)
	p := make([]byte, n)
	if b != nil {
		copy(p, b)
	} else if err := t.m.Memory.Load(space, addr, p); err != nil {
		t.trapErr(KindMemory, err)
	}
	return p
}

// store writes the bytes p, a power of two of them, at an aligned address.
func (t *thread) store(space ptx.Space, addr uint64, p []byte) {
	space, addr, b := t.access(space, addr, len(p))
	if b != nil {
		copy(b, p)
	} else if err := t.m.Memory.Store(space, addr, p); err != nil {
		t.trapErr(KindMemory, err)
	}
}

// valueOf reads up to 16 bytes, least significant first.
func valueOf(p []byte) value {
	var b [16]byte
	copy(b[:], p)
	return value{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// bytesOf is the n low bytes of v, least significant first.
func bytesOf(v value, n int) []byte {
	p := make([]byte, 16)
	binary.LittleEndian.PutUint64(p[:8], v.lo)
	binary.LittleEndian.PutUint64(p[8:], v.hi)
	return p[:n]
}

// elements are the parts of a vector operand, or the operand itself.
func elements(o *ptx.Operand) []*ptx.Operand {
	if o.Kind != ptx.VecOperand {
		return []*ptx.Operand{o}
	}
	list := make([]*ptx.Operand, len(o.Elems))
	for i := range o.Elems {
		list[i] = &o.Elems[i]
	}
	return list
}

// ld (9.7.9.8 to 9.7.9.10): ld, ld.global.nc and ldu. Ordering, caching and
// scope make no difference to threads that run in turn.
func ld(t *thread) {
	d, typ := t.operand("d")
	elems := elements(d)
	space, addr := t.address("a")
	p := t.load(space, addr, len(elems)*typ.Size())
	for i, e := range elems {
		t.write(e, typ, valueOf(p[i*typ.Size():][:typ.Size()]))
	}
}

// st (9.7.9.11). An element _ of a vector leaves its bytes alone.
func st(t *thread) {
	if t.has("async") || t.has("bulk") {
		t.unsupported()
	}
	b, typ := t.operand("b")
	elems := elements(b)
	space, addr := t.address("a")
	size := typ.Size()
	t.access(space, addr, len(elems)*size) // alignment of the whole vector
	for i, e := range elems {
		if e.Kind != ptx.SinkOperand {
			t.store(space, addr+uint64(i*size), bytesOf(t.read(e, typ), size))
		}
	}
}
