package ptx

import (
	"fmt"
	"strings"
)

// Example writes a small module whose only kernel, "example", executes the
// variant once, with registers of the right types as operands. It is how
// coverage is found out: whatever the table has must parse, and what is lowered
// without complaint runs.
func (v *Variant) Example() string {
	e := example{v: v}
	ops := e.list(v.Form.Operands)
	version, sm := "8.8", "100a"
	if f := v.Form; f.Abolished() {
		version, sm = f.MaxPTX.String(), fmt.Sprint(f.MaxSM)
	}
	return fmt.Sprintf(exampleModule, version, sm, strings.Join(e.decls, "\n"), v.Text, ops)
}

const exampleModule = `.version %s
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
	%s %s;
end:
	ret;
}
`

// example collects the declarations of an example.
type example struct {
	v     *Variant
	decls []string
}

// reg declares a register.
func (e *example) reg(t Type) string {
	name := fmt.Sprintf("%%x%d", len(e.decls)+1)
	if !t.isFundamental() {
		t = bitsOf(max(t.Bits(), 16))
	}
	e.decls = append(e.decls, fmt.Sprintf("\t.reg %s %s;", t, name))
	return name
}

// list writes operands, of the optional ones those that go with a modifier and those
// that make a pair.
func (e *example) list(specs []OperandSpec) string {
	var s strings.Builder
	for i := range specs {
		o := &specs[i]
		switch {
		case o.Pair:
			s.WriteByte('|')
		case o.Optional && !e.v.with(o):
			continue
		case s.Len() > 0:
			s.WriteString(", ")
		}
		s.WriteString(e.operand(o))
	}
	return s.String()
}

func (e *example) operand(o *OperandSpec) string {
	t := e.v.specType(o)
	switch {
	case o.Targets:
		e.decls = append(e.decls, "\ttable: .branchtargets end;")
		return "table"
	case o.Label:
		return "end"
	case e.v.Form.Effects.Has(Calls):
		return "f"
	case o.Address:
		s := exampleAddress(e.v.SpaceOf(o), e.reg)
		if len(o.Parts) > 0 {
			s += ", " + e.list(o.Parts)
		}
		return "[" + s + "]"
	case o.Const:
		return "1"
	case t == NoType:
		t = B64
	}
	if n, _ := e.v.Count(o); o.Vector && n > 1 {
		elems := make([]string, n)
		for i := range elems {
			elems[i] = e.reg(t)
		}
		return "{" + strings.Join(elems, ", ") + "}"
	}
	return e.reg(t)
}

// exampleAddress names a variable of the space.
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
