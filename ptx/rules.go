package ptx

// This file contains the rules of single instructions beyond the table's notation.

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// rules are the checks of an instruction after those of its operands, by mnemonic. They return the problem, "" if there
// is none.
var rules = map[string]func(f *Func, instr *Instr) string{
	"mov":  ruleMov,
	"bar":  ruleBarrier,
	"cvt":  ruleCvt,
	"ld":   ruleAccess,
	"ldu":  ruleAccess,
	"st":   ruleAccess,
	"atom": ruleAtomic, "red": ruleAtomic,
	"cp":       ruleCopy,
	"multimem": ruleMultimem,
	"mma":      ruleMma,
	"min":      ruleMinMax,
	"max":      ruleMinMax,
	"mbarrier": ruleMbarrier, "createpolicy": rulePolicy,
	"barrier": ruleBarrier,
	"wgmma":   ruleWgmma,
	"tcgen05": ruleTensor,
	"cvta":    ruleSpace, "mapa": ruleSpace, "getctarank": ruleSpace,
	"fabric": func(f *Func, instr *Instr) string {
		if instr.Has("relaxed") && !instr.Has("sys") {
			return ".relaxed needs the scope .sys"
		}
		return ""
	},
	"alloca": func(f *Func, instr *Instr) string {
		if o := instr.Arg("b"); o.Kind == ImmOperand && (o.Imm.Bits == 0 || o.Imm.Bits&(o.Imm.Bits-1) != 0 || o.Imm.Bits > 1<<23) {
			return "the alignment must be a power of two up to 2^23"
		}
		return ""
	},
}

// checkRules checks the instruction with the rule of its mnemonic, and returns the problem, "" if there is none.
func checkRules(f *Func, instr *Instr) string {
	if rule := rules[instr.Op.Name]; rule != nil {
		return rule(f, instr)
	}
	return ""
}

// ruleMov checks vectors: without .v2 or .v4, one operand may be a vector whose elements together are as wide as the type
// (manual 9.7.9.4).
func ruleMov(f *Func, instr *Instr) string {
	d, a := &instr.Ops[0], &instr.Ops[1]
	t := instr.Type()
	if n := instr.VecLen(); n > 1 {
		switch {
		case d.Kind != VecOperand || a.Kind == RegOperand || a.Kind == SRegOperand:
			return fmt.Sprintf("the operands must be vectors of %d elements", n)
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
			return fmt.Sprintf("packing needs a .b type, not %s", t)
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
			return fmt.Sprintf("a vector of %d bits does not fit %s", bits, t)
		}
		if len(o.Elems()) == 1 {
			*o = o.Elems()[0] // {a} means a
		}
	}
	return ""
}

// ruleSpace checks that a variable is in the space of the modifier; in .shared if no modifier names a space.
func ruleSpace(f *Func, instr *Instr) string {
	space, _ := instr.Space()
	if space == Generic {
		space = Shared
	}
	if v, ok := instr.Arg("a").Sym().(*Var); ok && v.Space != space {
		return fmt.Sprintf("%s is in .%s space, want .%s", v.Name, v.Space, space)
	}
	return ""
}

// ruleBarrier checks constants: a CTA has 16 barriers, and warps arrive as a whole, so the number of threads is a
// multiple of 32 (manual 9.7.13.1).
func ruleBarrier(f *Func, instr *Instr) string {
	if i := instr.Form.Operand("a"); instr.Form.Effects.HasAll(Barrier) && i >= 0 && instr.Ops[i].Kind == ImmOperand && instr.Ops[i].Imm.Bits > 15 {
		return fmt.Sprintf("barrier %d is not in 0..15", int64(instr.Ops[i].Imm.Bits))
	}
	i := instr.Form.Operand("b")
	if i < 0 || instr.Ops[i].Kind != ImmOperand {
		return ""
	}
	switch n := instr.Ops[i].Imm.Bits; {
	case n%32 != 0:
		return fmt.Sprintf("the number of threads must be a multiple of 32, not %d", n)
	case n == 0 && !instr.Form.Operands[i].Optional:
		return "the number of threads must be above 0"
	}
	return ""
}

// ruleCvt checks modifiers and registers. Some conversions require a rounding modifier, some allow one, and the
// remaining conversions reject it (manual 9.7.9.21).
func ruleCvt(f *Func, instr *Instr) string {
	if instr.Has("pack") {
		return ""
	}
	to, from := instr.Conversion()
	if _, n := to.Elements(); n > 1 || !instr.Form.HasSlot("atype") || !instr.Form.HasSlot("dtype") {
		for i := range instr.Ops { // packed numbers and random bits
			o, t := &instr.Form.Operands[i], registerOf(f, &instr.Ops[i])
			contents := from
			if o.Writes() {
				contents = to
			}
			switch {
			case o.typ.Kind() != Bits || o.typ == NoType:
			case instr.Ops[i].Kind == ImmOperand:
				return fmt.Sprintf("operand %s must be in a register", o.Name)
			case t != NoType && t != o.typ && !(t == F16x2 && contents == F16x2):
				return fmt.Sprintf("operand %s is %s, want %s", o.Name, t, o.typ)
			}
		}
		return ""
	}
	d, a := instr.SlotType("dtype"), instr.SlotType("atype")
	for i := range instr.Ops { // .bf16 does not allow wider registers
		want, t := instr.OperandType(i), registerOf(f, &instr.Ops[i])
		if (d == BF16 || a == BF16) && t != NoType && (t.Bits() != want.Bits() || want == BF16 && t.Kind() != Bits) {
			return fmt.Sprintf("operand %s is %s, with .bf16 want a register of %d bits", instr.Form.Operands[i].Name, t, want.Bits())
		}
	}
	if instr.Has("sat") && d.IsInt() && a.IsInt() && containsType(d, a) {
		return fmt.Sprintf(".sat is not allowed where %s holds every %s", d, a)
	}
	if instr.Has("sat") && (d == BF16 || a == BF16) {
		return ".sat is not allowed with .bf16"
	}
	rnd := instr.Slot("rnd")
	integral := rnd == "rni" || rnd == "rzi" || rnd == "rmi" || rnd == "rpi"
	switch {
	case d.IsInt() && a.IsInt():
		if rnd != "" {
			return "a conversion between integers cannot have a rounding modifier"
		}
	case d.IsInt(): // from float
		if !integral {
			return "a conversion to an integer needs .rni, .rzi, .rmi or .rpi"
		}
	case a.IsInt(): // to float
		if rnd == "" || integral {
			return "a conversion from an integer needs .rn, .rz, .rm or .rp"
		}
	case d.Bits() == a.Bits() && d != a: // .f16 and .bf16: round to nearest even without a modifier
		if integral {
			return "a conversion of .f16 to .bf16 or back does not round to an integer"
		}
	case d.Bits() < a.Bits():
		if rnd == "" || integral {
			return "a conversion to a narrower float needs .rn, .rz, .rm or .rp"
		}
	case d == a:
		if rnd != "" && !integral {
			return "a conversion to the same float type rounds only to an integer (.rni, .rzi, .rmi, .rpi)"
		}
	default:
		if rnd != "" && a != BF16 || integral {
			return "a conversion to a wider float is exact and cannot have a rounding modifier"
		}
	}
	if instr.Has("ftz") && d != F32 && a != F32 {
		return ".ftz applies to .f32 only"
	}
	return ""
}

// registerOf returns the type of the operand's register; NoType if it is no register.
func registerOf(f *Func, o *Operand) Type {
	if o.Kind != RegOperand {
		return NoType
	}
	return f.Regs[o.Reg].Type
}

// containsType reports whether integer type d contains all values of a.
func containsType(d, a Type) bool {
	if d.IsSigned() == a.IsSigned() {
		return d.Bits() >= a.Bits()
	}
	return d.IsSigned() && d.Bits() > a.Bits()
}

// ruleAccess checks the width and the cache modifiers of a memory access. A vector access moves at most 16 bytes; in
// global memory, .v8 of 32 bits and .v4 of 64 bits move 32 bytes, and only they have an L2 priority. A cache operator
// excludes priorities (manual 9.7.9.8, 9.7.9.11).
func ruleAccess(f *Func, instr *Instr) string {
	n, size := instr.VecLen(), instr.Type().Size()
	space, _ := instr.Space()
	wide := n*size == 32 && (size == 4 || size == 8) && (space == Global || space == Generic) && !instr.Has("async") && instr.Op.Name != "ldu"
	l1, l2 := instr.Slot("l1"), instr.Slot("l2")
	switch {
	case n > 1 && (n*size > 16 || n == 8) && !wide:
		return fmt.Sprintf("a vector of %d × %s is not allowed here: want at most 4 elements and 16 bytes or, for ld and st in global memory, 32 bytes", n, instr.Type())
	case l1 != "" && (instr.Slot("cop") != "" || instr.Has("cv")):
		return fmt.Sprintf(".%s is not allowed with a cache operator", l1)
	case l2 != "" && !wide:
		return fmt.Sprintf(".%s needs .v8 of 32 bits or .v4 of 64 bits", l2)
	}
	return ruleCached(f, instr)
}

// ruleCached checks that cache modifiers are given only for global memory and generic addresses.
func ruleCached(f *Func, instr *Instr) string {
	if space, _ := instr.Space(); space == Global || space == Generic {
		return ""
	}
	for _, slot := range []string{"l1", "l2", "hint", "pf"} {
		if m := instr.Slot(slot); m != "" {
			return fmt.Sprintf(".%s is allowed only for .global and generic addresses", m)
		}
	}
	return ""
}

// ruleAtomic checks that a vector of eight has 16-bit elements (manual 9.7.13.5), and the cache modifiers.
func ruleAtomic(f *Func, instr *Instr) string {
	if instr.VecLen() == 8 && instr.Type().Bits() != 16 {
		return fmt.Sprintf("a vector of 8 × %s is not allowed here: want elements of 16 bits", instr.Type())
	}
	return ruleCached(f, instr)
}

// ruleCopy checks cp.async, which copies 4, 8 or 16 bytes. Its operand e is the number of bytes to read from the source,
// or a predicate under which nothing is read (manual 9.7.9.25.3).
func ruleCopy(f *Func, instr *Instr) string {
	i := instr.Form.Operand("e")
	if i < 0 || !instr.Form.Operands[i].Negate { // a different copy instruction
		return ""
	}
	o, n, t := &instr.Ops[i], instr.Arg("c").Imm.Bits, registerOf(f, &instr.Ops[i])
	switch {
	case n == 12:
		return "the number of bytes must be 4, 8 or 16, not 12"
	case o.Neg && t != Pred:
		return "operand e cannot be negated: it is not a predicate"
	case t != NoType && t != Pred && !U32.agrees(t, false):
		return fmt.Sprintf("operand e is %s, want .u32 or .pred", t)
	case o.Kind != ImmOperand:
	case o.Imm.Kind != IntImm:
		return "operand e is a float, want .u32 or .pred"
	case o.Imm.Bits > n:
		return fmt.Sprintf("the source size of %d bytes exceeds the copy of %d bytes", int64(o.Imm.Bits), n)
	}
	return ""
}

// ruleMultimem checks that a vector of floats has 32, 64 or 128 bits (manual 9.7.9.14), and that an order and a scope are
// given together. A single .f16 or .bf16 is too narrow, so half precision is compared in vectors only.
func ruleMultimem(f *Func, instr *Instr) string {
	if n, t := instr.VecLen(), instr.Type(); instr.Form.HasSlot("vec") && (n*t.Bits() < 32 || n*t.Bits() > 128 || n > 1 && t == F64) {
		return fmt.Sprintf("a vector of %d × %s is not allowed here: want 32, 64 or 128 bits in all, and no .f64", n, t)
	}
	switch sem, scope := instr.Slot("sem"), instr.Slot("scope"); {
	case !instr.Form.HasSlot("sem"): // the table defines where a scope is allowed
	case sem == "weak" && scope != "":
		return ".weak is not allowed with a scope"
	case sem != "weak" && (sem == "") != (scope == ""):
		return "an order requires a scope, and a scope requires an order"
	}
	return ""
}

// ruleWgmma checks the transpositions: only matrices in shared memory can be transposed (manual 9.7.15.5.2).
func ruleWgmma(f *Func, instr *Instr) string {
	i, j := instr.Form.Operand("i"), instr.Form.Operand("j")
	if i < 0 || j < 0 {
		return ""
	}
	switch inRegisters, transposesA := instr.Arg("a").Kind == VecOperand, instr.Ops[j].Kind != NoOperand; {
	case !transposesA && !inRegisters:
		return "two transpositions are needed, of A and of B: both are in shared memory"
	case transposesA && inRegisters:
		return "only the transposition of B is allowed: A is in registers"
	}
	return ""
}

// ruleTensor checks tcgen05: shapes, kinds and scales must match, and all instructions of a function must have the same
// .cta_group (manual 9.7.16.7.1, 9.7.16.8.3, 9.7.16.9.2, 9.7.16.10.9.1).
func ruleTensor(f *Func, instr *Instr) string {
	for _, group := range []string{"cta_group::1", "cta_group::2"} {
		if instr.Has(group) {
			if f.ctaGroup != "" && f.ctaGroup != group {
				return fmt.Sprintf(".%s is not allowed in a function that uses .%s", group, f.ctaGroup)
			}
			f.ctaGroup = group
		}
	}
	switch instr.Form.Family {
	case FamilyTensorAlloc:
		if i := instr.Form.Operand("b"); i >= 0 && !instr.Has("exclusive") && instr.Ops[i].Kind == ImmOperand && instr.Ops[i].Imm.Bits&(instr.Ops[i].Imm.Bits-1) != 0 {
			return "the number of columns must be a power of two"
		}
	case FamilyTensorLoad, FamilyTensorStore:
		registers := "b"
		if instr.Form.Operand("d") >= 0 {
			registers = "d"
		}
		elems := instr.Arg(registers).Elems()
		if len(elems) > 128 {
			return fmt.Sprintf("%d registers, but at most 128 are allowed", len(elems))
		}
		if registers == "d" {
			elems = slices.Clip(elems)
			if p := instr.Form.Operand("p"); p >= 0 {
				elems = append(elems, instr.Ops[p].Elems()...)
			}
			if q := instr.Form.Operand("q"); q >= 0 {
				elems = append(elems, instr.Ops[q])
			}
			seen := map[RegID]bool{}
			for _, e := range elems {
				switch {
				case e.Kind == SinkOperand:
					return "the destination of the load must not be the sink _"
				case seen[e.Reg]:
					return fmt.Sprintf("%s is loaded twice", f.Regs[e.Reg].Name)
				}
				seen[e.Reg] = true
			}
		}
		if instr.Has("red") && instr.Has("x1") {
			return ".red needs .x2 or more"
		}
		if instr.Has("red") && instr.Type() != F32 && (instr.Has("abs") || instr.Has("NaN")) {
			return ".abs and .NaN are allowed only with .f32"
		}
	case FamilyTensorCopy:
		want := map[string]string{"64x128b": "warpx2", "32x128b": "warpx4"}[instr.Slot("shape")]
		if cast := instr.Slot("multicast"); !strings.HasPrefix(cast, want) || want == "" && cast != "" {
			return ".64x128b needs .warpx2, .32x128b needs .warpx4, and other shapes allow neither"
		}
		if (instr.Slot("dfmt") == "") != (instr.Slot("sfmt") == "") {
			return "the formats of destination and source must be given together"
		}
	case FamilyTensorMma:
		kind, scale := instr.Slot("kind"), instr.Slot("scale")
		if !instr.Has("block_scale") {
			i := instr.Form.Operand("h")
			scaled := i >= 0 && instr.Ops[i].Kind == ImmOperand && !instr.Has("ws")
			switch {
			case scaled && kind == "kind::i8" && !(instr.Has("sp") && instr.Arg("f").Kind != NoOperand):
				// The manual allows no scale-input-d here; NVIDIA's assembler accepts any, and ignores it.
			case scaled && kind != "kind::f16" && kind != "kind::tf32":
				return "scale-input-d is allowed only with .kind::f16 and .kind::tf32"
			case scaled && instr.Ops[i].Imm.Encode(U32) > 15:
				return "scale-input-d must be 0 to 15"
			}
			return ""
		}
		if allowed := tensorScales[kind]; !slices.Contains(allowed, scale) {
			return fmt.Sprintf("want one of .%s with .%s", strings.Join(slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" }), " ."), kind)
		}
	}
	return ""
}

// tensorScales lists the allowed scale vector sizes of each kind; "" permits the omission of the modifier.
var tensorScales = map[string][]string{
	"kind::mxf8f6f4": {"", "scale_vec::1X", "block32"},
	"kind::mxf4":     {"", "scale_vec::2X", "block32"},
	"kind::mxf4nvf4": {"scale_vec::2X", "scale_vec::4X", "block16", "block32"},
}

// ruleMinMax checks .xorsign: with two operands it requires .abs, and .abs requires it; with three it is not allowed
// (manual 9.7.3.11).
func ruleMinMax(f *Func, instr *Instr) string {
	three := instr.Form.Operand("c") >= 0 && instr.Arg("c").Kind != NoOperand
	switch {
	case three && instr.Has("xorsign"):
		return ".xorsign is not allowed with three operands"
	case !three && instr.Has("xorsign") != instr.Has("abs"):
		return ".xorsign requires .abs, and .abs requires .xorsign"
	}
	return ""
}

// ruleMma checks that addend and sum have the same type, except in the old shape .m8n8k4 with a sum in .f32 (manual
// 9.7.14.5.14).
func ruleMma(f *Func, instr *Instr) string {
	t := instr.Types()
	if d, c := t[0], t[3]; d != c && !(instr.Has("m8n8k4") && d == F32) {
		return fmt.Sprintf("the sum has type %s, the addend has type %s", d, c)
	}
	return ""
}

// ruleMbarrier checks the address and the results. An mbarrier is in shared memory, even with a generic address (manual
// 9.7.13.15.1). An arrival at the mbarrier of another CTA has no result (9.7.13.15.13).
func ruleMbarrier(f *Func, instr *Instr) string {
	if i := instr.Form.Operand("a"); i >= 0 {
		if v, ok := instr.Ops[i].Sym().(*Var); ok && v.Space != Shared {
			return fmt.Sprintf("%s is in .%s space, want .shared", v.Name, v.Space)
		}
	}
	if instr.Form.Operand("q") >= 0 {
		report, value := instr.Arg("q").Kind != NoOperand, instr.Arg("d").Kind != NoOperand
		switch {
		case value && !report:
			return "a report value requires a report predicate: p|q"
		case report && instr.Has("phase_type::conditional"):
			return ".phase_type::conditional has no report"
		}
		return ""
	}
	if i := instr.Form.Operand("d"); i >= 0 && instr.Has("shared::cluster") && instr.Ops[i].Kind != SinkOperand {
		return "the destination must be _, because .shared::cluster has no result"
	}
	return ""
}

// rulePolicy checks createpolicy: the fraction of the cache lines is above 0 and at most 1, and may be the integer 1 as
// in the manual's example. The primary part of a range is not larger than the range (manual 9.7.9.18).
func rulePolicy(f *Func, instr *Instr) string {
	i, j := instr.Form.Operand("b"), instr.Form.Operand("c")
	if i < 0 {
		return ""
	}
	o, t := &instr.Ops[i], registerOf(f, &instr.Ops[i])
	switch {
	case j < 0 && t != NoType && !F32.agrees(t, false):
		return fmt.Sprintf("the fraction is %s, want .f32", t)
	case j < 0 && o.Kind == ImmOperand && !fraction(o.Imm):
		return "the fraction must be above 0.0 and at most 1.0"
	case j >= 0 && o.Kind == ImmOperand && instr.Ops[j].Kind == ImmOperand:
		if n, total := o.Imm.Encode(U32), instr.Ops[j].Imm.Encode(U32); n > total {
			return fmt.Sprintf("the primary size %d exceeds the total size %d", n, total)
		}
	}
	return ""
}

// fraction reports whether a number, converted to .f32, is above 0 and at most 1.
func fraction(i Imm) bool {
	if i.Kind == IntImm {
		return i.Bits == 1
	}
	x := math.Float32frombits(uint32(i.Encode(F32)))
	return 0 < x && x <= 1
}
