package ptx

import (
	"slices"
	"strconv"

	"gemu/ptx/internal/syntax"
)

// resolveVector resolves a vector {…} of registers, numbers and sinks. want is the required type of the elements or, for
// a mov that packs or unpacks, of the whole vector.
func (b *funcBuilder) resolveVector(o *Operand, parsed *syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	pos := Pos(parsed.Pos)
	if !b.checkVectorLength(len(parsed.Elems), instr, spec, pos) {
		return false
	}
	elem := want
	if spec.count.kind == countAny && instr.Form.Family == FamilyMove && want.Bits()%max(len(parsed.Elems), 1) == 0 && want != NoType {
		elem = bitsOf(want.Bits() / max(len(parsed.Elems), 1)) // a mov packs or unpacks
	}
	o.Kind = VecOperand
	elems := b.newOps(len(parsed.Elems))
	o.extra().elems = elems
	elemSpec := *spec
	elemSpec.Vector, elemSpec.Sink, elemSpec.element = false, true, true
	indexSpec, indices := elemSpec, instr.indices(spec)
	indexSpec.typ, indexSpec.slot = U32, ""
	used := instr.coordinates(spec, len(parsed.Elems))
	ok := true
	if !slices.ContainsFunc(parsed.Elems, func(e syntax.Operand) bool { return e.Kind != syntax.Name || e.Sym != "_" }) {
		b.errorf(pos, "%s: at least one element of the vector must not be the sink _", instr.Text)
		return false
	}
	for i := range parsed.Elems {
		e, single, t := &parsed.Elems[i], &elemSpec, elem
		switch {
		case i < indices:
			single, t = &indexSpec, U32
		case i >= used: // an extra element is ignored
			t = NoType
		}
		if !b.resolveOperand(&elems[i], e, instr, single, t) || i < indices && !b.checkElementTypes(elems[i:i+1], parsed.Elems[i:], instr, single, t) {
			ok = false
		}
	}
	return ok && b.checkElementTypes(elems[indices:], parsed.Elems[indices:], instr, spec, elem)
}

// checkVectorLength checks the number of registers in a vector.
func (b *funcBuilder) checkVectorLength(n int, instr *Instr, spec *OperandSpec, pos Pos) bool {
	if list := instr.lengths(spec); !slices.Contains(list, n) {
		want := strconv.Itoa(list[0])
		if spec.padded() {
			for i, more := range list[1:] {
				want += []string{", ", " or "}[(i+2)/len(list)] + strconv.Itoa(more)
			}
		}
		b.errorf(pos, "%s: vector of %d, want %s", instr.Text, n, want)
		return false
	}
	return true
}

// checkElementTypes checks the types of the registers in a vector. The vector has the type of all its registers or, if
// they differ, the untyped type of their width. This type must agree with want. The manual does not define this; the
// rule is taken from ptxas, which also moves integers as floats, except as .bf16. A number is an integer or a float, as
// written. A vector of numbers without a register is rejected in a fragment (except 0f… for .f32) and, if a number is an
// integer, in .b32 operands of tensor instructions.
func (b *funcBuilder) checkElementTypes(elems []Operand, written []syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	bits := 0 // width of the registers
	for i := range elems {
		if t := registerOf(b.fn, &elems[i]); t != NoType {
			bits = t.Bits()
			break
		}
	}
	var all, first, last Type
	integers := false // at least one number is an integer
	pos := Pos(written[0].Pos)
	for i := range elems {
		t, name := registerOf(b.fn, &elems[i]), written[i].Sym
		if imm := elems[i].Imm; elems[i].Kind == ImmOperand {
			t, name = imm.typeInVector(bits), "a number"
			integers = integers || imm.Kind == IntImm
		}
		switch {
		case t == NoType:
			continue
		case all == NoType:
			all, first = t, t
		case !last.sharesVectorWith(t):
			b.errorf(Pos(written[i].Pos), "%s: %s is %s, but the element before it is %s", instr.Text, name, t, last)
			return false
		case t != all:
			all = bitsOf(t.Bits())
		}
		last = t
	}
	fragment := spec.count.kind == countFragment
	if bits == 0 {
		written := func(e Operand) bool { return e.Kind == ImmOperand && (want != F32 || e.Imm.Kind == F64Imm) }
		inFragment := fragment && (instr.fragmentType(spec) != NoType || want == F32) && slices.ContainsFunc(elems, written)
		wmma4 := instr.Form.Family == FamilyWmma && instr.elementType(spec).Bits() == 4 // ptxas accepts it
		if inFragment || integers && want == B32 && instr.Form.Class == ClassTensor && !wmma4 {
			b.errorf(pos, "%s: operand %s: a vector of %s needs at least one register", instr.Text, spec.Name, instr.elementType(spec))
			return false
		}
		return true
	}
	moves := spec.count.kind == countVec && instr.Form.Effects.Any(Reads|Writes) || spec.count.slot == "geom" || fragment && instr.Form.Family == FamilyMma && want == F64
	if moves && want.IsFloat() && want != BF16 && all.IsInt() && all.Bits() == want.Bits() || instr.acceptsType(spec, want, all) {
		return true
	}
	i := slices.IndexFunc(elems, func(e Operand) bool { return registerOf(b.fn, &e) != NoType })
	b.errorf(Pos(written[i].Pos), "%s: %s is %s, %s", instr.Text, written[i].Sym, first, instr.wanted(spec, want))
	return false
}

// typeInVector returns the type of a number in a vector whose registers have the given width; bits is 0 for a vector
// without registers.
func (i Imm) typeInVector(bits int) Type {
	list := []Type{S8, S16, S32, S64}
	if i.Kind != IntImm {
		list = []Type{F32, F64}
	}
	for _, t := range list {
		if t.Bits() == bits || t.Bits() == 32 && bits == 0 {
			return t
		}
	}
	return bitsOf(bits)
}
