package ptx

import (
	"fmt"
	"strings"
)

// Example writes a small module whose only kernel, "example", executes the
// variant once, with registers of the right types as operands. It is how
// coverage is found out: whatever the table has must parse, and what is lowered
// without complaint runs. Forms with open operands ("...") have no example: the
// text is then "".
func (v *Variant) Example() string {
	if v.Form.variadic {
		return ""
	}
	var decls, ops []string
	n := 0
	reg := func(t Type) string {
		n++
		name := fmt.Sprintf("%%x%d", n)
		if !t.isFundamental() {
			t = bitsOf(max(t.Bits(), 16))
		}
		decls = append(decls, fmt.Sprintf("\t.reg %s %s;", t, name))
		return name
	}
	space, _ := v.Space()
	for i, o := range v.Form.Operands {
		t := v.types[i]
		text := ""
		switch {
		case o.Optional && !o.Pair && !(o.Name == "e" && v.Slot("hint") != ""):
			continue
		case o.Label && v.Op.Name == "brx":
			decls = append(decls, "\ttable: .branchtargets end;")
			text = "table"
		case o.Label:
			text = "end"
		case o.Address:
			text = "[" + exampleAddress(space, reg) + "]"
		case o.Const:
			text = "1"
		case o.Vector && v.VecLen() > 1 || o.Vector && v.Op.Name == "cvt":
			k := v.VecLen()
			if k == 1 {
				k = 4
			}
			var elems []string
			for range k {
				elems = append(elems, reg(t))
			}
			text = "{" + strings.Join(elems, ", ") + "}"
		case t == NoType:
			text = reg(B64)
		default:
			text = reg(t)
		}
		if o.Pair {
			ops[len(ops)-1] += "|" + text
		} else {
			ops = append(ops, text)
		}
	}
	version, sm := "8.8", "100a"
	if f := v.Form; f.Abolished() {
		version, sm = f.MaxPTX.String(), fmt.Sprint(f.MaxSM)
	}
	return fmt.Sprintf(".version %s\n.target sm_%s\n.address_size 64\n.global .align 32 .b8 g[64];\n.const .align 32 .b8 c[64];\n.shared .align 32 .b8 s[64];\n.entry example(.param .align 16 .b8 p[64])\n{\n\t.local .align 16 .b8 l[64];\n%s\n\t%s %s;\nend:\n\tret;\n}\n",
		version, sm, strings.Join(decls, "\n"), v.Text, strings.Join(ops, ", "))
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
