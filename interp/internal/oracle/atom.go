package oracle

// This file executes atomics (manual 9.7.13.5, 9.7.13.6). As threads run in
// turn, every instruction is atomic.

import (
	"math/big"

	"gemu/ptx"
)

// atom (9.7.13.5): d = *a; *a = op(*a, b), or for cas op(*a, b, c).
func atom(t *thread) {
	old := t.readModifyWrite()
	d, typ := t.operand("d")
	t.write(d, typ, old)
}

// red (9.7.13.6): *a = op(*a, b).
func red(t *thread) {
	if t.has("async") {
		t.unsupported()
	}
	t.readModifyWrite()
}

// readModifyWrite updates memory and gives what was there. Vectors and half
// precision are not run.
func (t *thread) readModifyWrite() value {
	if t.has("noftz") || t.in.VecLen() > 1 {
		t.unsupported()
	}
	space, addr := t.address("a")
	if space == ptx.Generic {
		space, addr = resolve(addr)
	}
	if space == ptx.Local || space == ptx.Param || space == ptx.Const {
		t.trap(KindMemory, "atomic operation on %s memory", space)
	}
	b, typ := t.operand("b")
	p := t.reach(space, addr, typ.Size(), updates)
	old := valueOf(p)
	copy(p, bytesOf(t.modify(space, typ, old, t.read(b, typ)), typ.Size()))
	return old
}

// modify is op(old, b). Additions of .f32 in global memory, not in shared, flush
// subnormal operands and results.
func (t *thread) modify(space ptx.Space, typ ptx.Type, old, b value) value {
	r, s := integer(old.lo, typ.Bits(), typ.IsSigned()), integer(b.lo, typ.Bits(), typ.IsSigned())
	one := big.NewInt(1)
	switch {
	case t.has("exch"):
		return b
	case t.has("cas"):
		c, _ := t.operand("c")
		if old == b {
			return t.read(c, typ)
		}
		return old
	case t.has("and"):
		return value{lo: old.lo & b.lo}
	case t.has("or"):
		return value{lo: old.lo | b.lo}
	case t.has("xor"):
		return value{lo: old.lo ^ b.lo}
	case t.has("add") && typ.IsFloat():
		f := formatOf(typ)
		flush := func(bits uint64) uint64 { return bits }
		if typ == ptx.F32 && space != ptx.Shared {
			flush = f.flush
		}
		return value{lo: flush(f.round(sum(f.decode(flush(old.lo)), f.decode(flush(b.lo)), "rn"), "rn"))}
	case t.has("add"):
		r.Add(r, s)
	case t.has("inc"): // r >= s ? 0 : r+1
		if r.Cmp(s) >= 0 {
			r = new(big.Int)
		} else {
			r.Add(r, one)
		}
	case t.has("dec"): // r == 0 || r > s ? s : r-1
		if r.Sign() == 0 || r.Cmp(s) > 0 {
			r = s
		} else {
			r.Sub(r, one)
		}
	case t.has("min"):
		if s.Cmp(r) < 0 {
			r = s
		}
	case t.has("max"):
		if s.Cmp(r) > 0 {
			r = s
		}
	default:
		t.unsupported()
	}
	return value{lo: wrap(r, typ.Bits())}
}
