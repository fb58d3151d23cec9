package ptx

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx/internal/syntax"
)

// resolveOperands assigns the written operands to the operands of the form, and resolves them. It reports whether all are
// valid.
func (b *funcBuilder) resolveOperands(instr *Instr, s *syntax.Instr) bool {
	specs := instr.Form.Operands
	// A pair d|p counts as two operands.
	written := make([]*syntax.Operand, 0, 8)
	for i := range s.Operands {
		o := &s.Operands[i]
		written = append(written, o)
		paired := len(specs) > len(written) && specs[len(written)].Pair
		switch {
		case o.PairWith != nil && !paired:
			b.errorf(Pos(o.PairWith.Pos), "%s: operand %d must not be a pair a|b", instr.Text, i+1)
			return false
		case o.PairWith != nil && o.Sym == "_" && o.PairWith.Sym == "_":
			b.errorf(Pos(o.Pos), "%s: at least one operand of a pair must be a register", instr.Text)
			return false
		case o.PairWith != nil:
			written = append(written, o.PairWith)
		case paired && !specs[len(written)].Optional:
			b.errorf(Pos(o.Pos), "%s: operand %d must be a pair a|b", instr.Text, i+1)
			return false
		case paired:
			written = append(written, nil)
		}
	}
	if b.mod.Version.Less(bracketsRequired) {
		written = bracketed(specs, written)
	}
	places, ok := instr.place(make([]int, 0, 16), specs, written)
	if !ok {
		b.errorf(Pos(s.Pos), "%s: %d operands, want %s", instr.Text, len(s.Operands), operandList(instr.Form))
		return false
	}
	instr.Ops = b.newOps(len(specs))
	for i, position := range places {
		if position < 0 || written[position] == nil {
			continue
		}
		if !b.resolveOperand(&instr.Ops[i], written[position], instr, &specs[i], instr.OperandType(i)) {
			ok = false
		}
	}
	return ok
}

// bracketsRequired is the first version in which an address must be in brackets.
var bracketsRequired = Version{1, 2}

// bracketed returns the operands of an old version with brackets around each name that is an address. The brackets of a
// texture include its coordinates, which are the next written operand (manual 9.7.10.3).
func bracketed(specs []OperandSpec, written []*syntax.Operand) []*syntax.Operand {
	var list []*syntax.Operand
	for remaining := written; len(remaining) > 0; {
		operand, i := remaining[0], len(list)
		remaining = remaining[1:]
		if i < len(specs) && specs[i].Address && operand != nil && operand.Kind == syntax.Name && !operand.Element && operand.Index == "" {
			address := *operand
			address.Kind = syntax.Address
			if operand = &address; len(specs[i].AddressParts) > 0 && len(remaining) > 0 && remaining[0] != nil {
				address.Elems = []syntax.Operand{*remaining[0]}
				remaining = remaining[1:]
			}
		}
		list = append(list, operand)
	}
	return list
}

// place appends to places, for each operand of specs, the index of its written operand, or -1 if it is optional and left out.
// ok is false if too few or too many are written. An operand that depends on a modifier is present exactly if the
// modifier is. The other optional operands are filled from the left. If not all of them are written, each takes only an
// operand of a suitable kind (mayBe).
func (v *Variant) place(places []int, specs []OperandSpec, written []*syntax.Operand) (_ []int, ok bool) {
	spare := len(written) // written operands for optional operands without a modifier
	for i := range specs {
		if o := &specs[i]; !o.Optional || o.Pair || v.HasModifierOf(o) {
			spare--
		}
	}
	if spare < 0 {
		return nil, false
	}
	free := 0 // optional operands without a modifier
	for i := range specs {
		if o := &specs[i]; o.Optional && !o.Pair && o.requires == "" {
			free++
		}
	}
	next := 0
	for i := range specs {
		o := &specs[i]
		present := true
		switch {
		case !o.Optional || o.Pair:
		case o.requires != "":
			present = v.HasModifierOf(o)
		default:
			if present = spare > 0 && (spare == free || written[next] != nil && o.mayBe(written[next].Kind)); present {
				spare--
			}
			free--
		}
		place := -1
		if present {
			place = next
			next++
		}
		places = append(places, place)
	}
	return places, next >= len(written)
}

// mayBe reports whether an optional operand can have the written kind.
func (o *OperandSpec) mayBe(kind syntax.OperandKind) bool {
	return (kind == syntax.Vector) == o.Vector && (kind != syntax.Address || o.Address)
}

// resolveOperand checks the written operand parsed against its spec, and stores it in o. want is its required type. It reports
// whether the operand is valid.
func (b *funcBuilder) resolveOperand(o *Operand, parsed *syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	pos := Pos(parsed.Pos)
	fail := func(format string, args ...any) bool {
		b.errorf(pos, "%s: %s", instr.Text, fmt.Sprintf(format, args...))
		return false
	}
	if spec.Label {
		if parsed.Kind != syntax.Name || parsed.Const.Bits != 0 || parsed.Element || parsed.Index != "" || parsed.Not || parsed.Minus {
			return fail("operand %s must be a label", spec.Name)
		}
		o.Kind = LabelOperand
		if e, ok := b.scope.lookup(parsed.Sym); ok && e.kind == entTable {
			o.extra().table = e.table
			return true
		}
		b.fixups = append(b.fixups, fixup{scope: b.scope, pos: pos, name: parsed.Sym, op: o})
		return true
	}
	if a := spec.Alt; a != nil && (parsed.Kind == syntax.Vector && a.Vector && (!spec.Vector || b.startsWithWidth(parsed, instr.specType(a))) || parsed.Kind == syntax.Address && a.Address) {
		spec, want = a, instr.specType(a)
	}
	if parsed.Not || parsed.Minus {
		if !spec.Negate || parsed.Not != (want == Pred || want == NoType) {
			return fail("operand %s cannot be negated", spec.Name)
		}
		o.Neg = true
	}
	switch parsed.Kind {
	case syntax.Address:
		if !spec.Address {
			return fail("operand %s is not an address", spec.Name)
		}
		return b.resolveAddress(o, parsed, instr, spec)
	case syntax.Vector:
		if !spec.Vector {
			return fail("operand %s is not a vector", spec.Name)
		}
		if !b.resolveVector(o, parsed, instr, spec, want) {
			return false
		}
		if spec.single() {
			*o = o.Elems()[0] // {a} means a
		}
		return true
	case syntax.List:
		return fail("operand %s: a list in parentheses is allowed only in a call", spec.Name)
	}
	switch {
	case parsed.Index != "" || spec.Address && parsed.Element: // an array element means its address
		if !spec.Address {
			return fail("operand %s: %s[%s] is allowed only in an address", spec.Name, parsed.Sym, parsed.Index)
		}
		return b.resolveAddress(o, parsed, instr, spec)
	case spec.Address:
		return fail("operand %s must be an address in brackets", spec.Name)
	}
	if parsed.Kind == syntax.Number {
		if spec.Writes() {
			return fail("operand %s is a destination, not a constant", spec.Name)
		}
		if k := spec.count.kind; spec.Vector && !spec.single() && instr.Form.Family != FamilyMove && k != countAny && (k != countVec || instr.VecLen() > 1) {
			return fail("operand %s must be a vector {…}", spec.Name)
		}
		o.Kind, o.Imm = ImmOperand, immOf(parsed.Const)
		switch {
		case spec.Register:
			return fail("operand %s must be a register", spec.Name)
		case spec.Const && o.Imm.Kind != IntImm:
			return fail("operand %s is a float, want an integer", spec.Name)
		case !spec.allows(o.Imm):
			return fail("operand %s must be %s", spec.Name, spec.Allowed)
		}
		return b.checkImmediate(o, instr, spec, want, pos)
	}
	// A name.
	if parsed.Sym == "_" {
		switch {
		case spec.Reads() && !(spec.element && instr.allowsSinkElement(want)):
			return fail("the sink _ cannot be a source")
		case !spec.Sink:
			return fail("operand %s cannot be the sink _", spec.Name)
		}
		o.Kind = SinkOperand
		return true
	}
	if spec.Const {
		return fail("operand %s must be a constant", spec.Name)
	}
	return b.resolveName(o, parsed, instr, spec, want)
}

// startsWithWidth reports whether the first element of a vector is a register with the width of t.
func (b *funcBuilder) startsWithWidth(parsed *syntax.Operand, t Type) bool {
	if len(parsed.Elems) == 0 || parsed.Elems[0].Kind != syntax.Name {
		return false
	}
	e, found := b.scope.lookup(parsed.Elems[0].Sym)
	return found && e.kind == entReg && e.typ.Bits() == t.Bits()
}

// allowsSinkElement reports whether an element of a source vector may be the sink _; element is its type. A 256-bit store such
// as st.v8 leaves the bytes of such an element unchanged. mov.b32 writes zeros there: ptxas accepts it, and the manual
// does not mention it.
func (v *Variant) allowsSinkElement(element Type) bool {
	return v.Form.Effects.HasAll(Writes) && v.VecLen()*element.Bits() == 256 || v.Form.Family == FamilyMove && v.Type() == B32
}

// checkImmediate checks a constant. Where an integer is required, an integer of any size is accepted, and later cut to
// the width of the type. Where a predicate is required, an integer is accepted, and not 0 means true (manual 4.5.1, 4.5.3).
func (b *funcBuilder) checkImmediate(o *Operand, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	isInt := o.Imm.Kind == IntImm
	switch {
	case want == NoType:
	case want == Pred:
		if !isInt {
			b.errorf(pos, "%s: operand %s is a float, want a predicate", instr.Text, spec.Name)
			return false
		}
		o.Imm.Bits = min(o.Imm.Bits, 1)
	case instr.elementType(spec).packed() && !spec.element:
		b.errorf(pos, "%s: operand %s: a constant cannot have the packed type %s", instr.Text, spec.Name, instr.elementType(spec))
		return false
	case !isInt && spec.typ.Kind() == Bits && spec.typ != NoType && !spec.element:
		b.errorf(pos, "%s: operand %s is a float, want an integer", instr.Text, spec.Name)
		return false
	case !isInt && want.Kind() == Bits && want.Bits() >= 32 && want.Bits() != map[ImmKind]int{F32Imm: 32, F64Imm: 64}[o.Imm.Kind]:
		b.errorf(pos, "%s: operand %s: the width of the float differs from %s: 0f… has 32 bits, 0d… and decimal numbers have 64", instr.Text, spec.Name, want)
		return false
	case isInt && want.IsFloat():
		b.errorf(pos, "%s: operand %s is an integer, want a float such as %d.0", instr.Text, spec.Name, int64(o.Imm.Bits))
		return false
	case !isInt && want.IsInt():
		b.errorf(pos, "%s: operand %s is a float, want %s", instr.Text, spec.Name, want)
		return false
	case !isInt && want.Bits() < 32:
		b.errorf(pos, "%s: operand %s: a float constant has 32 or 64 bits, want %s", instr.Text, spec.Name, want)
		return false
	}
	return true
}

// resolveName resolves a register, a special register, or the address of a variable or function.
func (b *funcBuilder) resolveName(o *Operand, parsed *syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	pos := Pos(parsed.Pos)
	name := parsed.Sym
	e, ok := b.scope.lookup(name)
	suffix := ""
	if !ok {
		if sr, isSreg := sregByName[name]; isSreg {
			if parsed.Const.Bits != 0 {
				b.errorf(pos, "%s: a special register cannot have an offset", instr.Text)
				return false
			}
			return b.resolveSpecial(o, sr, instr, spec, want, pos)
		}
		if x, isVector := sregByName[name+".x"]; isVector {
			return b.resolveSpecialVector(o, x, instr, spec, want, pos)
		}
		if base, c, found := strings.Cut(name, "."); found {
			e, ok = b.scope.lookup(base)
			suffix = c
			name = base
		}
	}
	if ok && e.kind == entReg {
		if !b.resolveRegister(o, name, suffix, e, instr, spec, want, pos) {
			return false
		}
		if parsed.Element || parsed.Const.Bits != 0 && (suffix != "" || spec.element || spec.NoSum || spec.Writes() || o.Kind != RegOperand || !b.addOffset(o, instr, int64(parsed.Const.Bits))) {
			b.errorf(pos, "%s: %s cannot have an offset here", instr.Text, name)
			return false
		}
		return true
	}
	if suffix != "" && ok {
		b.errorf(pos, "%s: %s has no component .%s", instr.Text, name, suffix)
		return false
	}
	var sym Symbol
	switch {
	case ok && e.kind == entVar:
		sym = e.v
	case ok:
		b.errorf(pos, "%s: label %s cannot be operand %s", instr.Text, name, spec.Name)
		return false
	default:
		sym = b.mod.symbols[name]
	}
	if sym == nil {
		b.unknown(pos, instr.Text+": unknown name", name, b.nearestName(name))
		return false
	}
	if spec.Writes() {
		b.errorf(pos, "%s: operand %s is a destination, but %s is not a register", instr.Text, spec.Name, name)
		return false
	}
	// The address of a variable or function.
	if !spec.Symbol {
		b.errorf(pos, "%s: operand %s must be in a register, not the address of %s", instr.Text, spec.Name, name)
		return false
	}
	if want != NoType && (want.Bits() < 32 || want.IsFloat()) {
		b.errorf(pos, "%s: the address of %s does not fit in %s", instr.Text, name, want)
		return false
	}
	switch _, isVar := sym.(*Var); {
	case parsed.Element && !isVar:
		b.errorf(pos, "%s: %s is not an array", instr.Text, name)
		return false
	case parsed.Const.Bits != 0 && !isVar:
		b.errorf(pos, "%s: the address of function %s cannot have an offset", instr.Text, name)
		return false
	case spec.element && spec != &callOperand:
		b.errorf(pos, "%s: an element of a vector must be a register or a number, not the address of %s", instr.Text, name)
		return false
	}
	o.Kind, o.Imm.Bits = SymOperand, uint64(offset(sym, &parsed.Expr))
	o.extra().sym = sym
	return true
}

// resolveSpecial checks the use of a special register: only mov and cvt read them (manual chapter 10).
func (b *funcBuilder) resolveSpecial(o *Operand, r SpecialReg, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	o.Kind, o.SReg = SRegOperand, r
	t := r.Type()
	// In PTX 1.x some special registers were narrower: 16 bits instead of 32, and %gridid 32 bits instead of 64.
	narrow := want.Bits() == 16 && t == U32 || want.Bits() == 32 && r == GridID
	switch {
	case spec.Writes():
		b.errorf(pos, "%s: special register %s is read-only", instr.Text, r)
	case instr.Op.Name != "mov" && instr.Op.Name != "cvt":
		b.errorf(pos, "%s: operand %s: only mov and cvt read a special register, want %s in a register", instr.Text, spec.Name, r)
	case !narrow && !want.agrees(t, false):
		b.errorf(pos, "%s: %s is %s, want %s", instr.Text, r, t, want)
	case r.PerCTAMemory() && b.fn.Entry && !b.fn.has(".minperctamemory"):
		b.errorf(pos, "%s: a kernel that reads %s needs the directive .minperctamemory", instr.Text, r)
	default:
		return true
	}
	return false
}

// resolveSpecialVector resolves a whole special vector such as %tid, the source of a mov.v4.
func (b *funcBuilder) resolveSpecialVector(o *Operand, x SpecialReg, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	if instr.Form.Family != FamilyMove || instr.VecLen() != 4 {
		b.errorf(pos, "%s: the special register has four components: use one of them, or mov.v4", instr.Text)
		return false
	}
	o.Kind = VecOperand
	elems := b.newOps(4)
	o.extra().elems = elems
	for i, r := range []SpecialReg{x, x + 1, x + 2, ZeroReg} {
		if !b.resolveSpecial(&elems[i], r, instr, spec, want, pos) {
			return false
		}
	}
	return true
}

// resolveRegister resolves a register, a vector register, or its component or selector comp.
func (b *funcBuilder) resolveRegister(o *Operand, name, suffix string, e entity, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	reg := e.reg
	switch {
	case e.vec > 1 && suffix == "":
		if !spec.Vector {
			b.errorf(pos, "%s: %s is a vector register: use one of its components", instr.Text, name)
			return false
		}
		if spec.count.kind == countVec && want != NoType && !want.agrees(e.typ, spec.MayBeWider) {
			b.errorf(pos, "%s: %s has elements of type %s, want %s", instr.Text, name, e.typ, want)
			return false
		}
		if spec.padded() && !(e.typ.Bits() == 32 && (want.IsFloat() || !e.typ.IsFloat())) {
			b.errorf(pos, "%s: %s has elements of type %s, want %s", instr.Text, name, e.typ, want)
			return false
		}
		o.Kind = VecOperand
		elems := b.newOps(e.vec)
		for i := range e.vec {
			elems[i] = Operand{Kind: RegOperand, Reg: reg + RegID(i)}
		}
		o.extra().elems = elems
		return b.checkVectorLength(len(elems), instr, spec, pos)
	case e.vec > 1:
		i := slices.Index([]string{"x", "y", "z", "w"}, suffix)
		if i < 0 {
			i = slices.Index([]string{"r", "g", "b", "a"}, suffix)
		}
		if i < 0 || i >= e.vec {
			b.errorf(pos, "%s: %s has no component .%s", instr.Text, name, suffix)
			return false
		}
		reg += RegID(i)
	case suffix != "":
		if !spec.Selector || !isSelector(suffix) {
			b.errorf(pos, "%s: %s has no component .%s", instr.Text, name, suffix)
			return false
		}
		o.extra().sel = suffix
	}
	o.Kind, o.Reg = RegOperand, reg
	if spec.Vector {
		if n, _ := instr.Count(spec); n > 1 || spec.braced() {
			b.errorf(pos, "%s: operand %s must be a vector {…} of %d", instr.Text, spec.Name, n)
			return false
		}
	}
	if !spec.element && !instr.acceptsType(spec, want, e.typ) {
		b.errorf(pos, "%s: %s is %s, %s", instr.Text, name, e.typ, instr.wanted(spec, want))
		return false
	}
	return true
}

// isSelector reports whether s selects bytes or halves: b0 … b3, h1, b3210, h10 … (manual 9.7.18).
func isSelector(s string) bool {
	return len(s) >= 2 && (s[0] == 'b' || s[0] == 'h') && strings.Trim(s[1:], "01234567") == ""
}

// wanted returns the part of a message that says which registers the operand accepts.
func (v *Variant) wanted(o *OperandSpec, want Type) string {
	switch t := v.fragmentType(o); {
	case o.Integer:
		return "want an integer of 32 or 64 bits"
	case t != NoType:
		return fmt.Sprintf("for %s want an untyped register", t)
	}
	return "want " + want.String()
}
