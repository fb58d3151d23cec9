package ptx

// This file holds the few rules of single instructions that the table's
// notation cannot say.

import "fmt"

// rules are checked after the operands, by mnemonic. They return what is wrong,
// "" if nothing is.
var rules = map[string]func(f *Func, in *Instr) string{
	"mov":     ruleMov,
	"bar":     ruleBarrier,
	"cvt":     ruleCvt,
	"setp":    ruleCompare,
	"set":     ruleCompare,
	"ld":      ruleVector,
	"st":      ruleVector,
	"min":     ruleMinMax,
	"max":     ruleMinMax,
	"barrier": ruleBarrier,
	"cvta":    ruleSpace, "mapa": ruleSpace, "getctarank": ruleSpace,
	"lop3": func(f *Func, in *Instr) string {
		if lut := in.Arg("e").Imm; lut.Bits > 255 {
			return fmt.Sprintf("immLut %d is not in 0..255", int64(lut.Bits))
		}
		return ""
	},
	"alloca": func(f *Func, in *Instr) string {
		if o := in.Arg("b"); o.Kind == ImmOperand && (o.Imm.Bits == 0 || o.Imm.Bits&(o.Imm.Bits-1) != 0 || o.Imm.Bits > 1<<23) {
			return "the alignment must be a power of two up to 2^23"
		}
		return ""
	},
}

func checkRules(f *Func, in *Instr) string {
	if rule := rules[in.Op.Name]; rule != nil {
		return rule(f, in)
	}
	return ""
}

// ruleMov: one side may be a vector, whose elements together are as wide as
// the type (manual 9.7.9.4).
func ruleMov(f *Func, in *Instr) string {
	d, a := &in.Ops[0], &in.Ops[1]
	t := in.Type()
	if n := in.VecLen(); n > 1 {
		switch {
		case d.Kind != VecOperand || a.Kind == RegOperand || a.Kind == SRegOperand:
			return fmt.Sprintf("want vectors of %d", n)
		case n*t.Bits() > 128:
			return fmt.Sprintf("a vector of %d × %s is more than 128 bits", n, t)
		}
		return ""
	}
	if d.Kind == VecOperand && a.Kind == VecOperand {
		return "only one operand may be a vector"
	}
	for _, o := range []*Operand{d, a} {
		if o.Kind != VecOperand {
			continue
		}
		if t.Kind() != Bits {
			return fmt.Sprintf("packing wants a .b type, not %s", t)
		}
		bits := 0
		for _, e := range o.Elems() {
			switch e.Kind {
			case RegOperand:
				bits += f.Regs[e.Reg].Type.Bits()
			default:
				bits += t.Bits() / len(o.Elems())
			}
		}
		if bits != t.Bits() {
			return fmt.Sprintf("a vector of %d bits does not make %s", bits, t)
		}
		if len(o.Elems()) == 1 {
			*o = o.Elems()[0] // {a} is a
		}
	}
	return ""
}

// ruleSpace: an address is of the space that the modifier names, .shared without.
func ruleSpace(f *Func, in *Instr) string {
	space, _ := in.Space()
	if space == Generic {
		space = Shared
	}
	if v, ok := in.Arg("a").Sym().(*Var); ok && v.Space != space {
		return fmt.Sprintf("%s is in .%s space", v.Name, v.Space)
	}
	return ""
}

// ruleBarrier: a cta has 16 barriers, and warps arrive whole (manual 9.7.13.1).
func ruleBarrier(f *Func, in *Instr) string {
	if i := in.Form.Operand("a"); in.Form.Effects.Has(Barrier) && i >= 0 && in.Ops[i].Kind == ImmOperand && in.Ops[i].Imm.Bits > 15 {
		return fmt.Sprintf("barrier %d is not in 0..15", int64(in.Ops[i].Imm.Bits))
	}
	i := in.Form.Operand("b")
	if i < 0 || in.Ops[i].Kind != ImmOperand {
		return ""
	}
	switch n := in.Ops[i].Imm.Bits; {
	case n%32 != 0:
		return fmt.Sprintf("%d threads are no whole warps of 32", n)
	case n == 0 && !in.Form.Operands[i].Optional:
		return "a barrier of no threads"
	}
	return ""
}

// ruleCvt: where a rounding modifier must stand and where it may (manual
// 9.7.9.21).
func ruleCvt(f *Func, in *Instr) string {
	if in.Has("pack") {
		return ""
	}
	if !in.Form.HasSlot("atype") || !in.Form.HasSlot("dtype") {
		for i := range in.Ops { // packed numbers, and random bits
			if o := &in.Form.Operands[i]; in.Ops[i].Kind == ImmOperand && o.typ.Kind() == Bits && o.typ != NoType {
				return fmt.Sprintf("operand %s must be in a register", o.Name)
			}
		}
		return ""
	}
	d, a := in.SlotType("dtype"), in.SlotType("atype")
	if in.Has("sat") && d.IsInt() && a.IsInt() && holds(d, a) {
		return fmt.Sprintf(".sat is not allowed where %s holds every %s", d, a)
	}
	rnd := in.Slot("rnd")
	integral := rnd == "rni" || rnd == "rzi" || rnd == "rmi" || rnd == "rpi"
	switch {
	case d.IsInt() && a.IsInt():
		if rnd != "" {
			return "no rounding between integers"
		}
	case d.IsInt(): // from float
		if !integral {
			return "a conversion to an integer wants .rni, .rzi, .rmi or .rpi"
		}
	case a.IsInt(): // to float
		if rnd == "" || integral {
			return "a conversion from an integer wants .rn, .rz, .rm or .rp"
		}
	case d.Bits() < a.Bits() || d.Bits() == a.Bits() && d != a:
		if rnd == "" || integral {
			return "a conversion to a narrower float wants .rn, .rz, .rm or .rp"
		}
	case d == a:
		if rnd != "" && !integral {
			return "a conversion to the same float type rounds only to an integer (.rni, .rzi, .rmi, .rpi)"
		}
	default:
		if rnd != "" && d != BF16 && a != BF16 {
			return "a conversion to a wider float is exact, without rounding"
		}
	}
	if in.Has("ftz") && d != F32 && a != F32 {
		return ".ftz applies to .f32 only"
	}
	return ""
}

// holds reports whether integer type d has all the values of a.
func holds(d, a Type) bool {
	if d.IsSigned() == a.IsSigned() {
		return d.Bits() >= a.Bits()
	}
	return d.IsSigned() && d.Bits() > a.Bits()
}

// ruleCompare: which comparisons a type has (manual 9.3.1).
func ruleCompare(f *Func, in *Instr) string {
	t := in.SlotType("stype")
	if t == NoType {
		t = in.Type()
	}
	ok := false
	switch cmp := in.Slot("cmp"); cmp {
	case "eq", "ne":
		ok = true
	case "lt", "le", "gt", "ge":
		ok = t.Kind() != Bits || t == F16x2 || t == BF16x2
	case "lo", "ls", "hi", "hs":
		ok = t.Kind() == Unsigned
	default:
		ok = t.IsFloat() || t == F16x2 || t == BF16x2
	}
	switch {
	case !ok:
		return fmt.Sprintf("comparison .%s does not apply to %s", in.Slot("cmp"), t)
	case in.Has("ftz") && t != F32 && t != F16 && t != F16x2:
		return fmt.Sprintf(".ftz does not apply to %s", t)
	}
	return ""
}

// ruleVector: a vector access moves at most 16 bytes, with .v8 and the 64-bit
// .v4 32 bytes of global memory (manual 9.7.9.8, 9.7.9.11).
func ruleVector(f *Func, in *Instr) string {
	n, size := in.VecLen(), in.Type().Size()
	space, _ := in.Space()
	switch {
	case n*size <= 16 && n < 8:
	case n*size == 32 && (size == 4 || size == 8) && (space == Global || space == Generic):
	case n > 1:
		return fmt.Sprintf("a vector of %d × %s is not allowed here", n, in.Type())
	}
	return ""
}

func ruleMinMax(f *Func, in *Instr) string {
	if in.Has("xorsign") && !in.Has("abs") {
		return ".xorsign wants .abs"
	}
	return ""
}
