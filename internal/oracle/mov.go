package oracle

// This file executes moves and address conversions (manual 9.7.9).

import (
	"gemu/ptx"
)

// mov (9.7.9.3, 9.7.9.4): d = a. A vector on either side is packed or unpacked, its first element lowest.
func mov(t *thread) {
	d, typ := t.operand("d")
	a, _ := t.operand("a")
	switch {
	case a.Kind == ptx.VecOperand:
		var v value
		shift := 0
		for i := range a.Elems() {
			e := &a.Elems()[i]
			bits := t.elementBits(e, typ, len(a.Elems()))
			v = v.bitOr(t.read(e, untyped(bits)).shiftLeft(shift))
			shift += bits
		}
		t.write(d, typ, v)
	case d.Kind == ptx.VecOperand:
		v := t.read(a, typ)
		for i := range d.Elems() {
			e := &d.Elems()[i]
			bits := t.elementBits(e, typ, len(d.Elems()))
			t.write(e, untyped(bits), v)
			v = v.shiftRight(bits)
		}
	default:
		t.write(d, typ, t.read(a, typ))
	}
}

// elementBits returns the width of a vector element: of its register, or an equal share of the whole.
func (t *thread) elementBits(e *ptx.Operand, whole ptx.Type, n int) int {
	if e.Kind == ptx.RegOperand {
		return t.currentFrame().fn.Regs[e.Reg].Type.Bits()
	}
	return whole.Bits() / n
}

// untyped returns the bit type of a width.
func untyped(bits int) ptx.Type {
	switch bits {
	case 8:
		return ptx.B8
	case 16:
		return ptx.B16
	case 32:
		return ptx.B32
	}
	return ptx.B64
}

func (v value) bitOr(w value) value { return value{v.lo | w.lo, v.hi | w.hi} }

func (v value) shiftLeft(n int) value {
	if n >= 64 {
		return value{0, v.lo << (n - 64)}
	}
	return value{v.lo << n, v.hi<<n | v.lo>>(64-n)}
}

func (v value) shiftRight(n int) value {
	if n >= 64 {
		return value{v.hi >> (n - 64), 0}
	}
	return value{v.lo>>n | v.hi<<(64-n), v.hi >> n}
}

// prmtModes holds, for each mode of prmt and each value of the two low bits of c, the source bytes of the result, most
// significant first.
var prmtModes = map[string][4][4]int{
	"f4e":  {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}},
	"b4e":  {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}},
	"rc8":  {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
	"ecl":  {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}},
	"ecr":  {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}},
	"rc16": {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}},
}

// prmt (9.7.9.7): four bytes selected from b:a. Without a mode, bit 3 of a selector replicates the byte's sign.
func prmt(t *thread) {
	source, c := t.operandValue("b")<<32|t.operandValue("a"), t.operandValue("c")
	d := uint64(0)
	for i := range 4 {
		var b uint64
		if mode := t.instr.Slot("mode"); mode != "" {
			b = source >> (8 * prmtModes[mode][c&3][3-i]) & 0xff
		} else {
			sel := c >> (4 * i) & 0xf
			b = source >> (8 * (sel & 7)) & 0xff
			if sel&8 != 0 {
				b = low(signExtend(b, 8)>>8, 8)
			}
		}
		d |= b << (8 * i)
	}
	t.setOperand("d", d)
}

// isspacep (9.7.9.19): whether a generic address lies in the space. The window of kernel parameters is part of the
// global window.
func isspacep(t *thread) {
	want, sub := t.instr.Space()
	space, addr := t.machine.resolve(t.operandValue("a"))
	switch {
	case space == ptx.Shared && sub != "cluster" && addr-t.cta.sharedBase() >= windowSize:
		space = ptx.Generic // shared memory of another CTA
	case space == ptx.Generic:
		space = ptx.Global
		if a := t.machine.dev.findAllocation(addr); a != nil {
			space = a.space()
		}
	}
	t.setPred("p", space == want || space == ptx.Param && want == ptx.Global)
}

// cvta (9.7.9.20): converts an address of a space to a generic address, or back. Addresses of global, constant and
// parameter memory are generic already.
func cvta(t *thread) {
	window := uint64(0)
	switch space, _ := t.instr.Space(); space {
	case ptx.Shared:
		window = sharedWindow
	case ptx.Local:
		window = localWindow
	}
	if t.hasModifier("to") {
		window = -window
	}
	t.setOperand("d", t.operandValue("a")+window)
}

// mapa (9.7.9.23): the address in the CTA of the given rank that corresponds to the address a.
func mapa(t *thread) {
	rank, n := t.operandValue("b"), t.machine.clusterSize()
	if rank >= uint64(n) {
		t.trap(KindCluster, "cta %d of a cluster of %d", rank, n)
	}
	if n == 1 {
		t.setOperand("d", t.operandValue("a"))
		return
	}
	_, typ := t.operand("a")
	a := t.operandValue("a")
	t.setOperand("d", a-rankOf(a)<<rankShift+low(rank<<rankShift, typ.Bits()))
}

// rankOf returns the field of an address of shared memory, generic or not, that holds the rank.
func rankOf(addr uint64) uint64 { return addr >> rankShift % 256 }

// getctarank (9.7.9.24): the rank of the CTA that owns an address.
func getctarank(t *thread) {
	if t.machine.clusterSize() == 1 {
		t.setOperand("d", 0)
		return
	}
	t.setOperand("d", rankOf(t.operandValue("a")))
}
