package oracle

// This file has addresses and memory accesses (manual 6.4.1, 9.7.9.8 to 9.7.9.11).

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gemu/ptx"
)

// resolve returns the space of a generic address and the address in that space. An address in no window is device
// memory, whose addresses are generic. Each CTA of the cluster has a window for its shared memory.
func (m *machine) resolve(addr uint64) (ptx.Space, uint64) {
	for rank := range m.clusterSize() {
		if address := addr - sharedWindow; address-uint64(rank)<<rankShift < windowSize {
			return ptx.Shared, address
		}
	}
	switch {
	case addr-localWindow < windowSize:
		return ptx.Local, addr - localWindow
	}
	return ptx.Generic, addr
}

// address returns the space and address that an instruction accesses. A variable determines its own space, even if the
// instruction names another.
func (t *thread) address(name string) (ptx.Space, uint64) {
	o, _ := t.operand(name)
	space, sub := t.instr.Space()
	if t.instr.GlobalOnly() {
		space = ptx.Global
	}
	var addr uint64
	switch {
	case o.Sym() != nil:
		space, addr = t.symbol(o.Sym())
		if o.Reg == ptx.NoReg {
			return space, addr + uint64(o.Offset())
		}
		// The register is an index of elements, of which there are less than 4 GB.
		size := o.Sym().(*ptx.Var).Type.Size()
		addr += low((t.currentFrame().regs[o.Reg].lo+uint64(o.Offset()))*uint64(size), 32)
		if space == ptx.Shared || space == ptx.Local || t.machine.mod.AddressSize == 32 {
			addr = low(addr, 32)
		}
		return space, addr
	case o.Reg != ptx.NoReg:
		f := t.currentFrame()
		bits := f.fn.Regs[o.Reg].Type.Bits()
		addr = low(f.regs[o.Reg].lo+uint64(o.Offset()), bits)
	default:
		addr = uint64(o.Offset())
	}
	if space == ptx.Param && !t.readsKernelParams(sub) {
		space = ptx.Local
	}
	return space, addr
}

// readsKernelParams distinguishes the two kinds of .param space, for an address in a register: .param::entry is the
// parameter block, .param::func the thread's frames. Without a suffix, loads in a kernel read the parameter block.
func (t *thread) readsKernelParams(sub string) bool {
	switch sub {
	case "entry":
		return true
	case "func":
		return false
	}
	return t.currentFrame().fn.Entry && t.instr.Mnemonic() == "ld"
}

// accessKind is the direction of a memory access.
type accessKind uint8

const (
	readAccess accessKind = iota
	writeAccess
	updateAccess // reads and writes, as one operation
)

// access returns the n bytes at an address, which must be a multiple of n, a power of two.
func (t *thread) access(space ptx.Space, addr uint64, n int, rw accessKind) []byte {
	return t.accessAligned(space, addr, n, n, rw)
}

// accessAligned is access for an address that must be a multiple of align instead of n.
func (t *thread) accessAligned(space ptx.Space, addr uint64, n, align int, rw accessKind) []byte {
	if address := addr; address%uint64(align) != 0 {
		if space == ptx.Generic {
			_, address = t.machine.resolve(addr)
		}
		t.trap(KindMisaligned, "%s address %#x is not a multiple of %d", space, address, align)
	}
	p, space, addr, err := t.locate(space, addr, n, rw)
	if err != nil {
		t.trap(KindMemory, "%v", err)
	}
	t.logAccess(space, addr, p, rw)
	return p
}

// accessTolerant is accessAligned for a load, or for any access of wmma, with the faults that the device tolerates.
// enough is the sufficient alignment if the device tolerates less than the manual requires.
func (t *thread) accessTolerant(space ptx.Space, addr uint64, n, align, enough int, rw accessKind) []byte {
	cfg, tolerated := &t.machine.dev.cfg, false
	if cfg.WMMAAlignment && addr%uint64(align) != 0 && addr%uint64(enough) == 0 {
		align, tolerated = enough, true
	}
	if _, _, _, err := t.locate(space, addr, n, rw); err != nil && rw == readAccess && cfg.SharedUnit > 0 && addr%uint64(align) == 0 {
		inSpace, address := space, addr
		if space == ptx.Generic {
			inSpace, address = t.machine.resolve(addr)
		}
		if inSpace == ptx.Shared {
			c := t.ctaOfShared(address, t.reachesCluster())
			unit := uint64(cfg.SharedUnit)
			units := (uint64(len(c.shared)) + unit - 1) / unit
			if offset := address - c.sharedBase(); offset < units*unit && uint64(n) <= units*unit-offset {
				t.machine.stats.Tolerated++
				p := make([]byte, units*unit)
				copy(p, c.shared)
				return p[offset:][:n]
			}
		}
	}
	if tolerated {
		t.machine.stats.Tolerated++
	}
	return t.accessAligned(space, addr, n, align, rw)
}

// locate returns the n bytes at an address, with their space and their address in that space.
func (t *thread) locate(from ptx.Space, address uint64, n int, rw accessKind) (p []byte, space ptx.Space, addr uint64, err error) {
	space, addr = from, address
	if space == ptx.Generic {
		space, addr = t.machine.resolve(addr)
	}
	var all []byte
	first := uint64(0)
	switch space {
	default:
		a, p, err := t.machine.dev.bytesAt(space, addr, n, rw != readAccess)
		if err != nil {
			return nil, space, addr, err
		}
		return p, a.space(), addr, nil
	case ptx.Shared:
		c := t.ctaOfShared(addr, t.reachesCluster())
		all, first = c.shared, c.sharedBase()
	case ptx.Local:
		all, first = t.local[:t.sp], stackBottom
	}
	offset := addr
	if space == ptx.Shared {
		offset, first = addr-first, 0
	}
	if offset < first || offset > uint64(len(all)) || uint64(len(all))-offset < uint64(n) {
		return nil, space, addr, fmt.Errorf("%d bytes at %#x are outside %s memory, which has %d", n, addr, space, len(all))
	}
	return all[offset:][:n], space, addr, nil
}

// load reads n bytes, a power of two, at an aligned address.
func (t *thread) load(space ptx.Space, addr uint64, n int) []byte {
	return slices.Clone(t.access(space, addr, n, readAccess))
}

// valueOf reads up to 16 bytes, least significant first.
func valueOf(p []byte) value {
	var b [16]byte
	copy(b[:], p)
	return value{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// bytesOf returns the n low bytes of v, least significant first.
func bytesOf(v value, n int) []byte {
	p := make([]byte, 16)
	binary.LittleEndian.PutUint64(p[:8], v.lo)
	binary.LittleEndian.PutUint64(p[8:], v.hi)
	return p[:n]
}

// elements returns the elements of a vector operand, or the operand itself.
func elements(o *ptx.Operand) []*ptx.Operand {
	if o.Kind != ptx.VecOperand {
		return []*ptx.Operand{o}
	}
	list := make([]*ptx.Operand, len(o.Elems()))
	for i := range o.Elems() {
		list[i] = &o.Elems()[i]
	}
	return list
}

// ld (9.7.9.8 to 9.7.9.10): ld, ld.global.nc and ldu. Ordering, caching and scope make no difference to threads that
// run in turn. The last elements of a vector may lie past the end of the memory if nothing reads them: compilers load
// four elements where three are needed and the address is a multiple of four. They are zero.
func ld(t *thread) {
	d, typ := t.operand("d")
	elems := elements(d)
	space, addr := t.address("a")
	size := typ.Size()
	whole, n := len(elems)*size, len(elems)
	for ; n > 1; n-- {
		if _, _, _, err := t.locate(space, addr, n*size, readAccess); err == nil || !t.isDeadRegister(elems[n-1]) {
			break
		}
	}
	p := make([]byte, whole)
	copy(p, t.accessTolerant(space, addr, n*size, whole, whole, readAccess))
	for i, e := range elems {
		t.write(e, typ, valueOf(p[i*size:][:size]))
	}
}

// isDeadRegister reports whether an element of a vector, which the current instruction writes, is never read: it must
// be a register of the function itself, not a result, and no path from here reads it.
func (t *thread) isDeadRegister(e *ptx.Operand) bool {
	if e.Kind != ptx.RegOperand {
		return true
	}
	f := t.currentFrame()
	shared, _ := f.fn.Statics()
	if slices.Contains(shared, e.Reg) || f.fn.Returned(e.Reg) {
		return false
	}
	type place struct {
		block *ptx.Block
		index int
	}
	seen := map[place]bool{}
	for work := []place{{f.block, f.index}}; len(work) > 0; {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[p] {
			continue
		}
		seen[p] = true
		if p.index == len(p.block.Instrs) {
			for _, next := range p.block.Succs {
				work = append(work, place{next, 0})
			}
			continue
		}
		instr := p.block.Instrs[p.index]
		for r := range instr.Uses() {
			if r == e.Reg {
				return false
			}
		}
		reachesEnd := false
		for r := range instr.Defs() {
			reachesEnd = reachesEnd || r == e.Reg && instr.Guard.Reg == ptx.NoReg
		}
		if !reachesEnd {
			work = append(work, place{p.block, p.index + 1})
		}
	}
	return true
}

// storeBulk executes st.bulk (9.7.9.13): zeros, only to shared memory, in units of 8 bytes.
func (t *thread) storeBulk() {
	space, addr := t.address("a")
	if space == ptx.Generic {
		space, addr = t.machine.resolve(addr)
	}
	o, _ := t.operand("b")
	n := t.read(o, ptx.U64).lo
	switch {
	case n == 0:
		t.logAccess(space, addr, nil, writeAccess)
		return
	case space != ptx.Shared:
		t.trap(KindMemory, "st.bulk to %s memory", space)
	case n%8 != 0:
		t.trap(KindMisaligned, "st.bulk of %d bytes", n)
	}
	p := t.asyncBytes(space, addr, int(min(n, 1<<40)), 8, writeAccess)
	t.logAccess(space, addr, p, writeAccess)
	clear(p)
}

// multimem (9.7.9.14): a multicast address stands for a single place here, so that reducing is loading, storing is
// storing, and an update of all copies is an update of a single copy.
func multimem(t *thread) {
	switch {
	case t.hasModifier("bulk"):
		cp(t)
	case t.hasModifier("ld_reduce"):
		ld(t)
	case t.hasModifier("st"):
		st(t)
	default:
		t.readModifyWrite()
	}
}

// st (9.7.9.11). An element _ of a vector does not change its bytes.
func st(t *thread) {
	if t.hasModifier("bulk") {
		t.storeBulk()
		return
	}
	if t.hasModifier("mbarrier::complete_tx::bytes") {
		t.asyncStoreOrReduce()
		return
	}
	b, typ := t.operand("b")
	elems := elements(b)
	space, addr := t.address("a")
	size := typ.Size()
	p := t.access(space, addr, len(elems)*size, writeAccess)
	for i, e := range elems {
		if e.Kind != ptx.SinkOperand {
			copy(p[i*size:], bytesOf(t.read(e, typ), size))
		}
	}
}
