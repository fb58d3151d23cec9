package oracle

// This file executes atomics (manual 9.7.13.5, 9.7.13.6). Threads run in turn, so that every instruction is atomic.

import (
	"math/big"

	"gemu/ptx"
)

// atom (9.7.13.5): d = *a; *a = op(*a, b), or for cas op(*a, b, c).
func atom(t *thread) {
	old := t.readModifyWrite()
	d, typ := t.operand("d")
	for i, e := range elements(d) {
		t.write(e, typ, old[i])
	}
}

// red (9.7.13.6): *a = op(*a, b).
func red(t *thread) {
	if t.hasModifier("mbarrier::complete_tx::bytes") {
		t.asyncStore()
		return
	}
	t.readModifyWrite()
}

// readModifyWrite updates memory and returns the old values, element by element.
func (t *thread) readModifyWrite() []value {
	space, addr := t.address("a")
	if space == ptx.Generic {
		space, addr = t.machine.resolve(addr)
	}
	if space == ptx.Local || space == ptx.Param || space == ptx.Const {
		t.trap(KindMemory, "atomic operation on %s memory", space)
	}
	b, typ := t.operand("b")
	n := typ.Size()
	p := t.access(space, addr, n*len(elements(b)), updateAccess)
	var list []value
	for i, e := range elements(b) {
		place := p[i*n:][:n]
		old := valueOf(place)
		list = append(list, old)
		v := t.read(e, typ)
		t.logOperand(v, n)
		copy(place, bytesOf(t.modify(space, typ, old, v), n))
	}
	return list
}

// combineHalves computes op(old, b) for one or two 16-bit numbers.
func (t *thread) combineHalves(typ ptx.Type, old, b uint64) uint64 {
	f := half
	if typ == ptx.BF16 || typ == ptx.BF16x2 {
		f = bfloat
	}
	r := uint64(0)
	for i := 0; i < typ.Bits(); i += 16 {
		x, y := f.decode(low(old>>i, 16)), f.decode(low(b>>i, 16))
		var z number
		switch {
		case t.hasModifier("add"):
			z = sum(x, y, "rn")
		case t.hasModifier("min"):
			z = minOrMax(x, y, -1, false)
		case t.hasModifier("max"):
			z = minOrMax(x, y, 1, false)
		}
		r |= f.round(z, "rn") << i
	}
	return r
}

// modify computes op(old, b). Additions of .f32 flush subnormal operands and results in global memory, but not in
// shared memory. A NaN of .f64 is unchanged in global memory, and b's NaN is preferred to memory's NaN; in shared
// memory the NaN is made quiet, and the NaN in memory is preferred (an H200).
func (t *thread) modify(space ptx.Space, typ ptx.Type, old, b value) value {
	r, s := integer(old.lo, typ.Bits(), typ.IsSigned()), integer(b.lo, typ.Bits(), typ.IsSigned())
	one := big.NewInt(1)
	switch half := t.instr.Type(); {
	case half == ptx.F16 || half == ptx.F16x2 || half == ptx.BF16 || half == ptx.BF16x2:
		return value{lo: t.combineHalves(half, old.lo, b.lo)}
	case typ.IsFloat() && (t.hasModifier("min") || t.hasModifier("max")):
		dir := 1
		if t.hasModifier("min") {
			dir = -1
		}
		f := formatOf(typ)
		return value{lo: f.round(minOrMax(f.decode(old.lo), f.decode(b.lo), dir, false), "rn")}
	case t.hasModifier("exch"):
		return b
	case t.hasModifier("cas"):
		c, _ := t.operand("c")
		if old == b {
			return t.read(c, typ)
		}
		return old
	case t.hasModifier("and"):
		return value{lo: old.lo & b.lo}
	case t.hasModifier("or"):
		return value{lo: old.lo | b.lo}
	case t.hasModifier("xor"):
		return value{lo: old.lo ^ b.lo}
	case t.hasModifier("add") && typ.IsFloat():
		f := formatOf(typ)
		if typ == ptx.F64 && (f.isNaN(old.lo) || f.isNaN(b.lo)) {
			switch {
			case space == ptx.Shared:
				return value{lo: f.firstNaN(old.lo, b.lo)}
			case f.isNaN(b.lo):
				return b
			}
			return old
		}
		flush := func(bits uint64) uint64 { return bits }
		keepsSubnormals := space == ptx.Shared || t.hasModifier("noftz") || t.hasModifier("bulk") && !t.hasModifier("tensor")
		if typ == ptx.F32 && !keepsSubnormals {
			flush = f.flush
		}
		return value{lo: flush(f.round(sum(f.decode(flush(old.lo)), f.decode(flush(b.lo)), "rn"), "rn"))}
	case t.hasModifier("add"):
		r.Add(r, s)
	case t.hasModifier("inc"): // r >= s ? 0 : r+1
		if r.Cmp(s) >= 0 {
			r = new(big.Int)
		} else {
			r.Add(r, one)
		}
	case t.hasModifier("dec"): // r == 0 || r > s ? s : r-1
		if r.Sign() == 0 || r.Cmp(s) > 0 {
			r = s
		} else {
			r.Sub(r, one)
		}
	case t.hasModifier("min"):
		if s.Cmp(r) < 0 {
			r = s
		}
	case t.hasModifier("max"):
		if s.Cmp(r) > 0 {
			r = s
		}
	default:
		t.unsupported()
	}
	return value{lo: wrap(r, typ.Bits())}
}
