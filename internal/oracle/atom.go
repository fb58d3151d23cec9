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
func red(t *thread) { // with .mbarrier::complete_tx::bytes, red.async
	if t.hasModifier("mbarrier::complete_tx::bytes") {
		t.asyncStoreOrReduce()
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

// combine16 computes op(old, b) for one or two 16-bit floats; op is add, min or max.
func (t *thread) combine16(typ ptx.Type, old, b uint64) uint64 {
	f := half
	if typ == ptx.BF16 || typ == ptx.BF16x2 {
		f = bfloat
	}
	const nanWins = false // a number is preferred to a NaN
	result := uint64(0)
	for i := 0; i < typ.Bits(); i += 16 {
		x, y := f.decode(low(old>>i, 16)), f.decode(low(b>>i, 16))
		var z number
		switch {
		case t.hasModifier("add"):
			z = sum(x, y, "rn")
		case t.hasModifier("min"):
			z = minOrMax(x, y, smaller, nanWins)
		case t.hasModifier("max"):
			z = minOrMax(x, y, larger, nanWins)
		}
		result |= f.round(z, "rn") << i
	}
	return result
}

// modify computes op(old, b); old is the value in memory.
//
// Additions of .f32 flush subnormal operands and results, except in shared memory, with .noftz, and in
// cp.reduce.async.bulk (but not in cp.reduce.async.bulk.tensor).
//
// An addition of .f64 with a NaN operand returns that NaN: unchanged in global memory, made quiet in shared memory. If
// both operands are NaNs, the result is b's in global memory and old's in shared memory. Measured on an H200.
func (t *thread) modify(space ptx.Space, typ ptx.Type, old, b value) value {
	result, operand := integer(old.lo, typ.Bits(), typ.IsSigned()), integer(b.lo, typ.Bits(), typ.IsSigned())
	one := big.NewInt(1)
	switch instrType := t.instr.Type(); {
	case instrType == ptx.F16 || instrType == ptx.F16x2 || instrType == ptx.BF16 || instrType == ptx.BF16x2:
		return value{lo: t.combine16(instrType, old.lo, b.lo)}
	case typ.IsFloat() && (t.hasModifier("min") || t.hasModifier("max")):
		const nanWins = false // a number is preferred to a NaN
		dir := larger
		if t.hasModifier("min") {
			dir = smaller
		}
		f := formatOf(typ)
		return value{lo: f.round(minOrMax(f.decode(old.lo), f.decode(b.lo), dir, nanWins), "rn")}
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
		result.Add(result, operand)
	case t.hasModifier("inc"): // old >= b ? 0 : old+1
		if result.Cmp(operand) >= 0 {
			result = new(big.Int)
		} else {
			result.Add(result, one)
		}
	case t.hasModifier("dec"): // old == 0 || old > b ? b : old-1
		if result.Sign() == 0 || result.Cmp(operand) > 0 {
			result = operand
		} else {
			result.Sub(result, one)
		}
	case t.hasModifier("min"):
		if operand.Cmp(result) < 0 {
			result = operand
		}
	case t.hasModifier("max"):
		if operand.Cmp(result) > 0 {
			result = operand
		}
	default:
		t.unsupported()
	}
	return value{lo: wrap(result, typ.Bits())}
}
