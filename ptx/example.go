package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// Example returns a small module whose only kernel, "example", executes the variant once, with registers of the right
// types as operands. It measures coverage: the example of every variant of the table must parse, and gemu counts as
// running a variant if its example is lowered without an error.
func (v *Variant) Example() string {
	decls, text := v.Write(Writing{})
	version, sm := "8.8", "100a"
	if f := v.Form; f.Abolished() {
		version, sm = f.MaxPTX.String(), fmt.Sprint(f.MaxSM)
	}
	return exampleModule(version, sm, decls, text)
}

// ExampleModule returns the module of Example with any instruction: text, without its semicolon, and the declarations of
// its registers.
func ExampleModule(decls []string, text string) string {
	return exampleModule("8.8", "100a", decls, text)
}

// exampleModule is ExampleModule for a version and a target: the text after "sm_".
func exampleModule(version, sm string, decls []string, text string) string {
	return fmt.Sprintf(exampleText, version, sm, strings.Join(decls, "\n"), text)
}

// Writing selects how the operands of a variant are written. The zero Writing includes an optional operand only if it
// is part of a pair.
type Writing struct {
	Optional       bool // include optional operands
	NoPair         bool // leave out the optional part of a pair
	AlternateShape bool // use the second shape of operands with two shapes
	Length         int  // number of coordinates in vectors of coordinates; 0 for the shortest
	Operand        int  // number, from 1, of the operand whose registers have the type Type
	Type           Type // type of the registers of this operand
	// Text returns the text of an operand, or the base of an address; "" for what Write chooses. It may be nil.
	Text func(o *OperandSpec) string
}

// Write writes the variant with operands of the right types, for the kernel of Example. It returns the declarations of
// the registers and the instruction.
func (v *Variant) Write(w Writing) (decls []string, text string) {
	e := exampleWriter{v: v, Writing: w}
	ops := e.list(v.Form.Operands)
	return e.decls, strings.TrimSpace(v.Text + " " + ops)
}

const exampleText = `.version %s
.target sm_%s
.address_size 64
.global .align 32 .b8 g[64];
.const .align 32 .b8 c[64];
.shared .align 32 .b8 s[64];
.func f()
{
	ret;
}
.entry example(.param .align 16 .b8 p[64])
{
	.local .align 16 .b8 l[64];
%s
	%s;
end:
	ret;
}
`

// exampleWriter collects the declarations of an example.
type exampleWriter struct {
	v *Variant
	Writing
	decls []string
	nth   int // number of the operand being written, from 1
}

// isTypedOperand reports whether the current operand is the operand selected by Writing.Operand.
func (e *exampleWriter) isTypedOperand() bool { return e.Type != NoType && e.nth == e.Operand }

// reg declares a register and returns its name.
func (e *exampleWriter) reg(t Type) string {
	name := fmt.Sprintf("%%x%d", len(e.decls)+1)
	if e.isTypedOperand() {
		t = e.Type
	}
	if !t.IsFundamental() {
		t = bitsOf(max(t.Bits(), 16))
	}
	e.decls = append(e.decls, fmt.Sprintf("\t.reg %s %s;", t, name))
	return name
}

// addressParts writes the parts of an address after its base. It omits the sampler, which only modules with
// texmode_independent have.
func (e *exampleWriter) addressParts(specs []OperandSpec) string {
	all := e.Optional
	e.Optional = false
	defer func() { e.Optional = all }()
	return e.list(specs)
}

// list writes operands. It always writes the optional operands of present modifiers, and other optional operands as
// Writing says.
func (e *exampleWriter) list(specs []OperandSpec) string {
	var s strings.Builder
	hasAlternative := slices.ContainsFunc(specs, func(o OperandSpec) bool { return o.Alt != nil })
	for i := range specs {
		o := &specs[i]
		if e.AlternateShape && o.Alt != nil {
			o = o.Alt
		}
		e.nth++
		switch {
		case !o.Optional || e.v.HasModifierOf(o):
		case o.Const && hasAlternative && !e.AlternateShape: // it belongs to the first of the two alternatives
		case o.Pair && e.NoPair, !o.Pair && !(e.Optional && o.requires == ""):
			continue
		}
		switch {
		case o.Pair:
			s.WriteByte('|')
		case s.Len() > 0:
			s.WriteString(", ")
		}
		s.WriteString(e.operand(o))
	}
	return s.String()
}

// operand writes an operand, and declares its registers.
func (e *exampleWriter) operand(o *OperandSpec) string {
	t := e.v.specType(o)
	given := ""
	if e.Text != nil {
		given = e.Text(o)
	}
	switch {
	case given != "" && !o.Address:
		return given
	case o.Targets:
		e.decls = append(e.decls, "\ttable: .branchtargets end;")
		return "table"
	case o.Label:
		return "end"
	case e.v.Form.Effects.HasAll(Calls):
		return "f"
	case o.Address:
		s := ""
		switch {
		case given != "":
			s = given
		case o.Base != NoType:
			s = e.reg(o.Base)
		case e.isTypedOperand():
			s = e.reg(B64)
		default:
			s = exampleAddress(e.v.SpaceOf(o), e.reg)
		}
		if len(o.AddressParts) > 0 {
			s += ", " + e.addressParts(o.AddressParts)
		}
		return "[" + s + "]"
	case o.Const && o.Allowed != nil && !o.Allowed.contains(1):
		return fmt.Sprint(o.Allowed.Min)
	case o.Const:
		return "1"
	case t == NoType:
		t = B64
	}
	if n, maximum := e.v.Count(o); o.Vector && (n > 1 || o.braced() || o.count.kind == countSpatial || o.padded() && e.Length > 0) {
		switch {
		case !o.padded():
			n = maximum
		case e.Length > 0:
			n = e.Length
		}
		elems := make([]string, n)
		for i := range elems {
			if i < e.v.indices(o) {
				elems[i] = e.reg(U32)
			} else {
				elems[i] = e.reg(t)
			}
		}
		return "{" + strings.Join(elems, ", ") + "}"
	}
	return e.reg(t)
}

// exampleAddress returns the name of a variable of the space, or a new register.
func exampleAddress(s Space, reg func(Type) string) string {
	switch s {
	case Const:
		return "c"
	case Local:
		return "l"
	case Param:
		return "p"
	case Shared:
		return "s"
	case Global:
		return "g"
	}
	return reg(B64)
}
