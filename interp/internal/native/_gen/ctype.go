package main

// This file writes types and known values in C.

import (
	_ "embed"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"strconv"
	"strings"
)

// ctype returns the C name of a type without a declaration.
func (t *translator) ctype(typ types.Type, pos token.Pos) string {
	if b, ok := typ.Underlying().(*types.Basic); ok {
		if info, width := b.Info(), widthOf(b); width > 0 {
			switch {
			case info&types.IsBoolean != 0:
				return "bool"
			case info&types.IsFloat != 0:
				return fmt.Sprint("f", width)
			case info&types.IsUnsigned != 0:
				return fmt.Sprint("u", width)
			case info&types.IsInteger != 0:
				return fmt.Sprint("s", width)
			}
		}
	}
	t.refuse(pos, "values of type %s", typ)
	return ""
}

// widthOf returns the size of a type in bits, or 0 if it is not a type of numbers or booleans.
func widthOf(t types.Type) int {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsNumeric|types.IsBoolean) == 0 || b.Info()&(types.IsComplex|types.IsUntyped) != 0 {
		return 0
	}
	return 8 * int(types.SizesFor("gc", "amd64").Sizeof(b))
}

func isFloat(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

func isInt(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func isSigned(t types.Type) bool {
	return isInt(t) && t.Underlying().(*types.Basic).Info()&types.IsUnsigned == 0
}

// ctype returns the C name of a type. It declares structs and tuples.
func (c *context) ctype(typ types.Type, pos token.Pos) string {
	var name string
	var fields []string
	switch u := typ.Underlying().(type) {
	case *types.Tuple:
		name = "go"
		for i := range u.Len() {
			f := c.ctype(c.subst(u.At(i).Type()), pos)
			name += "_" + f
			fields = append(fields, f+" "+tupleField(i))
		}
	case *types.Struct:
		n, ok := types.Unalias(typ).(*types.Named)
		if !ok || n.TypeArgs().Len() > 0 {
			c.t.refuse(pos, "structs without plain names")
		}
		name = n.Obj().Pkg().Name() + "_" + n.Obj().Name()
		for f := range u.Fields() {
			fields = append(fields, c.ctype(f.Type(), pos)+" "+f.Name())
		}
	default:
		return c.t.ctype(typ, pos)
	}
	if strings.Contains(helpers, "} "+name+";") {
		return name
	}
	i := c.t.done[name]
	if i == nil {
		i = &instance{name: name, text: fmt.Sprintf("typedef struct { %s; } %s;\n", strings.Join(fields, "; "), name)}
		c.t.done[name] = i
		c.t.order = append(c.t.order, i)
	}
	return c.need(i).name
}

// tupleField returns the field name of result i: r, then c.
func tupleField(i int) string { return string("rcdefg"[i]) }

// text returns the C expression of a value.
func (c *context) text(v value, pos token.Pos) string {
	switch {
	case v.c != "":
		return v.c
	case v.num != nil:
		return c.number(v, pos)
	}
	c.t.refuse(pos, "a function or table that is not known here")
	return ""
}

// number returns the C constant of a number.
func (c *context) number(v value, pos token.Pos) string {
	typ := c.ctype(v.typ, pos)
	switch {
	case typ == "bool":
		return map[bool]string{true: "1", false: "0"}[constant.BoolVal(v.num)]
	case typ == "f32":
		f, _ := constant.Float32Val(constant.ToFloat(v.num))
		return strconv.FormatFloat(float64(f), 'x', -1, 32) + "f"
	case typ == "f64":
		f, _ := constant.Float64Val(constant.ToFloat(v.num))
		return strconv.FormatFloat(f, 'x', -1, 64)
	}
	n := wrap(v.num, v.typ)
	u, exact := constant.Uint64Val(n)
	switch {
	case !exact: // negative
		i, _ := constant.Int64Val(n)
		return fmt.Sprintf("((%s)0x%xull)", typ, uint64(i))
	case typ == "u64":
		return fmt.Sprintf("0x%xull", u)
	case typ == "s64":
		return fmt.Sprintf("%dll", u)
	case typ == "u32":
		return fmt.Sprintf("0x%xu", u)
	case typ == "s32":
		return fmt.Sprint(u)
	}
	return fmt.Sprintf("((%s)%d)", typ, u)
}

// wrap returns an integer reduced to the range of a type, with wrap-around.
func wrap(n constant.Value, t types.Type) constant.Value {
	w := uint(widthOf(t))
	v, ok := new(big.Int).SetString(constant.ToInt(n).ExactString(), 10)
	if !ok || w == 0 {
		return n
	}
	mod := new(big.Int).Lsh(big.NewInt(1), w)
	v.Mod(v, mod)
	if isSigned(t) && v.Bit(int(w)-1) == 1 {
		v.Sub(v, mod)
	}
	return constant.Make(v)
}

func boolean(b bool) value { return value{typ: types.Typ[types.Bool], num: constant.MakeBool(b)} }
