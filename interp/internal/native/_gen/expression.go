package main

// This file translates expressions.

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// expr translates an expression.
func (c *context) expr(e ast.Expr) value {
	e = ast.Unparen(e)
	if tv := c.info().Types[e]; tv.Value != nil {
		return value{typ: c.typeOf(e), num: tv.Value}
	}
	switch e := e.(type) {
	case *ast.Ident:
		return c.object(c.info().Uses[e], e)
	case *ast.SelectorExpr:
		if s := c.info().Selections[e]; s != nil {
			return c.selection(e, s)
		}
		return c.object(c.info().Uses[e.Sel], e.Sel)
	case *ast.CallExpr:
		return c.call(e)
	case *ast.UnaryExpr:
		x := c.expr(e.X)
		if e.Op == token.AND && x.table != nil {
			return x // tables are not changed
		}
		return c.unary(e, x)
	case *ast.BinaryExpr:
		return c.binary(e, e.Op, c.expr(e.X), c.expr(e.Y), c.typeOf(e))
	case *ast.IndexExpr:
		x := c.expr(e.X)
		if x.fn != nil { // instance of a generic function
			return x
		}
		return c.index(e, x, c.expr(e.Index))
	case *ast.IndexListExpr:
		return c.expr(e.X)
	case *ast.SliceExpr:
		if x := c.expr(e.X); x.table != nil && e.Low == nil && e.High == nil {
			return x
		}
	case *ast.CompositeLit:
		return c.composite(e)
	case *ast.FuncLit:
		return value{typ: c.info().TypeOf(e), fn: &function{lit: e, in: c}}
	}
	c.refuse(e, "expressions such as %s", types.ExprString(e))
	return value{}
}

// object returns the value of a variable or function.
func (c *context) object(o types.Object, id *ast.Ident) value {
	if v, ok := c.env[o]; ok {
		return v
	}
	switch o := o.(type) {
	case *types.Func:
		f := &function{obj: o, decl: c.t.decls[o]}
		if inst, ok := c.info().Instances[id]; ok {
			for a := range inst.TypeArgs.Types() {
				f.targs = append(f.targs, c.subst(a))
			}
		}
		return value{typ: o.Type(), fn: f}
	case *types.Var:
		if e := c.t.vars[o]; e != nil {
			p := c.t.of[o.Pkg()]
			v := (&context{t: c.t, pkg: p, inst: c.inst, env: map[types.Object]value{}}).expr(e)
			if v.table != nil {
				v.table.key = o.Pkg().Name() + "." + o.Name()
			}
			if v.c == "" {
				return v
			}
		}
	}
	c.refuse(id, "%s, which is not known here", id.Name)
	return value{}
}

// selection translates a field or method of a value.
func (c *context) selection(e *ast.SelectorExpr, s *types.Selection) value {
	x := c.expr(e.X)
	path := s.Index()
	if s.Kind() == types.MethodVal {
		path = path[:len(path)-1]
	}
	for _, i := range path {
		t := x.typ.Underlying()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
		}
		st, ok := t.(*types.Struct)
		if !ok {
			c.refuse(e, "a field of what is no struct")
		}
		f := st.Field(i)
		if x.table == nil {
			x = value{typ: f.Type(), c: fmt.Sprintf("%s.%s", c.text(x, e.Pos()), f.Name())}
			continue
		}
		x = x.table.field(f, i)
	}
	if s.Kind() == types.FieldVal {
		return x
	}
	m := s.Obj().(*types.Func)
	if _, ok := m.Type().(*types.Signature).Recv().Type().(*types.Pointer); ok && x.table == nil {
		c.refuse(e, "a pointer to a variable, for %s", m.Name())
	}
	return value{typ: m.Type(), fn: &function{obj: m, decl: c.t.decls[m], recv: &x}}
}

// field returns the value of a struct's field.
func (t *table) field(f *types.Var, i int) value {
	for j, e := range t.lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if kv.Key.(*ast.Ident).Name == f.Name() {
				return t.named(t.in.expr(kv.Value), f.Name())
			}
		} else if i == j {
			return t.named(t.in.expr(e), f.Name())
		}
	}
	switch {
	case isInt(f.Type()), isFloat(f.Type()):
		return value{typ: f.Type(), num: constant.MakeInt64(0)}
	case widthOf(f.Type()) > 0:
		return boolean(false)
	}
	t.in.refuse(t.lit, "no %s", f.Name())
	return value{}
}

// named returns v, a part of the table, with a key if it is a table without a name of its own.
func (t *table) named(v value, part string) value {
	if v.table != nil && v.table.in == t.in { // otherwise it has a name of its own
		v.table.key = t.key + "." + part
	}
	return v
}

// composite translates a composite literal.
func (c *context) composite(e *ast.CompositeLit) value {
	typ := c.typeOf(e)
	switch u := typ.Underlying().(type) {
	case *types.Array, *types.Slice:
		for _, x := range e.Elts {
			if _, ok := x.(*ast.KeyValueExpr); !ok && c.names != nil && c.expr(x).c != "" {
				c.refuse(x, "a table with elements that are not known here")
			}
		}
	case *types.Struct:
		if c.names == nil { // initial value of a package's variable
			break
		}
		var parts []string
		for i, x := range e.Elts {
			name := u.Field(min(i, u.NumFields()-1)).Name()
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				name, x = kv.Key.(*ast.Ident).Name, kv.Value
			}
			parts = append(parts, fmt.Sprintf(".%s = %s", name, c.text(c.expr(x), x.Pos())))
		}
		return value{typ: typ, c: fmt.Sprintf("(%s){%s}", c.ctype(typ, e.Pos()), strings.Join(parts, ", "))}
	default:
		c.refuse(e, "literals of type %s", typ)
	}
	return value{typ: typ, table: &table{fmt.Sprint(c.id, "@", e.Pos()), e, c}}
}

// maxChoices bounds the length of tables indexed at run time.
const maxChoices = 8

// index translates an element of a table. If the index is not known, the C compares it with each index instead of loading the
// element: vectors load only rows. (Go panics if the index is out of range.)
func (c *context) index(e *ast.IndexExpr, x, i value) value {
	if x.table == nil {
		c.refuse(e, "indexing of %s", types.ExprString(e.X))
	}
	elem := func(i int) value {
		v := x.table.lit.Elts[i]
		if _, ok := v.(*ast.KeyValueExpr); ok {
			c.refuse(e, "indexing of a table with keys")
		}
		return x.table.in.expr(v)
	}
	n := len(x.table.lit.Elts)
	if i.num != nil {
		k, ok := constant.Int64Val(i.num)
		if !ok || k < 0 || k >= int64(n) {
			c.refuse(e, "an index out of range")
		}
		return elem(int(k))
	}
	if n == 0 || n > maxChoices {
		c.refuse(e, "a choice of %d elements", n)
	}
	last := elem(n - 1)
	text := c.text(last, e.Pos())
	for k := n - 2; k >= 0; k-- {
		text = fmt.Sprintf("(go_equal_u8((u8)%s, %d) ? %s : %s)", c.text(i, e.Pos()), k, c.text(elem(k), e.Pos()), text)
	}
	return value{typ: last.typ, c: text}
}

func (c *context) unary(e *ast.UnaryExpr, x value) value {
	if x.num != nil && !isFloat(x.typ) {
		n := constant.UnaryOp(e.Op, x.num, 0)
		if e.Op != token.NOT {
			n = wrap(n, x.typ)
		}
		return value{typ: x.typ, num: n}
	}
	op, ok := map[token.Token]string{token.SUB: "-", token.XOR: "~", token.NOT: "!", token.ADD: "+"}[e.Op]
	if !ok {
		c.refuse(e, "operator %s", e.Op)
	}
	return c.narrow(x.typ, fmt.Sprintf("(%s%s)", op, c.text(x, e.Pos())), e.Pos())
}

// narrow returns the value of a C expression, converted to typ if C may compute it in a wider type.
func (c *context) narrow(typ types.Type, text string, pos token.Pos) value {
	if isInt(typ) && widthOf(typ) < 32 {
		text = fmt.Sprintf("((%s)%s)", c.ctype(typ, pos), text)
	}
	return value{typ: typ, c: text}
}

// binary translates x op y. typ is the result type, unless op is a comparison.
func (c *context) binary(at ast.Node, op token.Token, x, y value, typ types.Type) value {
	pos := at.Pos()
	shift := op == token.SHL || op == token.SHR
	switch {
	case op == token.LAND || op == token.LOR:
		for _, v := range []*value{&x, &y} {
			if v.num == nil {
				continue
			}
			if constant.BoolVal(v.num) == (op == token.LOR) {
				return boolean(op == token.LOR)
			}
			if v == &x {
				return y
			}
			return x
		}
	case x.num != nil && y.num != nil && !isFloat(x.typ):
		return c.fold(at, op, x, y, typ)
	}
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
		if e := c.equality(op, x, y, pos); e != "" {
			return value{typ: types.Typ[types.Bool], c: e}
		}
		return value{typ: types.Typ[types.Bool], c: fmt.Sprintf("(%s %s %s)", c.text(x, pos), op, c.text(y, pos))}
	}
	ct, w := c.ctype(typ, pos), widthOf(typ)
	a := c.text(x, pos)
	if shift && y.num != nil {
		n, ok := constant.Uint64Val(constant.ToInt(y.num))
		switch {
		case !ok:
			c.t.refuse(pos, "a shift by less than 0")
		case n >= uint64(w) && (op == token.SHL || !isSigned(typ)):
			return value{typ: typ, num: constant.MakeInt64(0)}
		}
		n = min(n, uint64(w)-1)
		if op == token.SHL && isSigned(typ) {
			a = fmt.Sprintf("(u%d)%s", w, a)
		}
		return value{typ: typ, c: fmt.Sprintf("((%s)(%s %s %d))", ct, a, op, n)}
	}
	b := c.text(y, pos)
	if shift {
		n := 32
		if widthOf(y.typ) > 32 {
			n = 64
		}
		return value{typ: typ, c: fmt.Sprintf("go_%s_%s_u%d(%s, %s)", map[token.Token]string{token.SHL: "shl", token.SHR: "shr"}[op], ct, n, a, b)}
	}
	switch op {
	case token.AND_NOT:
		return c.narrow(typ, fmt.Sprintf("(%s & ~%s)", a, b), pos)
	case token.QUO, token.REM:
		if isInt(typ) {
			return value{typ: typ, c: fmt.Sprintf("go_%s_%s(%s, %s)", map[token.Token]string{token.QUO: "div", token.REM: "rem"}[op], ct, a, b)}
		}
	case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR:
	default:
		c.t.refuse(pos, "operator %s", op)
	}
	return c.narrow(typ, fmt.Sprintf("(%s %s %s)", a, op, b), pos)
}

// equality returns the call of a function of go.h for a comparison of a named integer or a switch tag with a constant, or "" if
// there is none.
func (c *context) equality(op token.Token, x, y value, pos token.Pos) string {
	if op != token.EQL && op != token.NEQ || x.num == nil == (y.num == nil) || !isInt(x.typ) {
		return ""
	}
	_, named := types.Unalias(x.typ).(*types.Named)
	name := "go_equal_" + c.ctype(x.typ, pos)
	if !named && !x.tag || !strings.Contains(helpers, " "+name+"(") {
		return ""
	}
	not := ""
	if op == token.NEQ {
		not = "!"
	}
	return fmt.Sprintf("%s%s(%s, %s)", not, name, c.text(x, pos), c.text(y, pos))
}

// fold is binary for two known values; it does not fold floats.
func (c *context) fold(at ast.Node, op token.Token, x, y value, typ types.Type) value {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return boolean(constant.Compare(x.num, op, y.num))
	case token.SHL, token.SHR:
		n, ok := constant.Uint64Val(constant.ToInt(y.num))
		if !ok {
			c.refuse(at, "a shift by less than 0")
		}
		return value{typ: typ, num: wrap(constant.Shift(constant.ToInt(x.num), op, uint(min(n, 64))), typ)}
	case token.QUO, token.REM:
		if constant.Sign(y.num) == 0 {
			c.refuse(at, "a division by 0")
		}
		if op == token.QUO {
			op = token.QUO_ASSIGN // integer division
		}
	}
	return value{typ: typ, num: wrap(constant.BinaryOp(x.num, op, y.num), typ)}
}

func (c *context) convert(e *ast.CallExpr, to types.Type, x value) value {
	if x.num != nil && isInt(to) && isInt(x.typ) {
		return value{typ: to, num: wrap(x.num, to)}
	}
	if widthOf(to) == 0 || widthOf(x.typ) == 0 {
		c.refuse(e, "a conversion of %s to %s", x.typ, to)
	}
	return value{typ: to, c: fmt.Sprintf("((%s)%s)", c.ctype(to, e.Pos()), c.text(x, e.Pos()))}
}

func (c *context) builtin(e *ast.CallExpr) value {
	var name string
	switch f := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	switch name {
	case "panic":
		c.refuse(e, "a panic that may be reached")
	case "Sizeof":
		if w := widthOf(c.typeOf(e.Args[0])); w > 0 {
			return value{typ: types.Typ[types.Uintptr], num: constant.MakeInt64(int64(w / 8))}
		}
	case "len":
		if x := c.expr(e.Args[0]); x.table != nil {
			return value{typ: types.Typ[types.Int], num: constant.MakeInt64(int64(len(x.table.lit.Elts)))}
		}
	case "min", "max":
		typ := c.typeOf(e)
		if isFloat(typ) {
			c.refuse(e, "%s of floats", name)
		}
		r := c.expr(e.Args[0])
		for _, a := range e.Args[1:] {
			r = value{typ: typ, c: fmt.Sprintf("go_%s_%s(%s, %s)", name, c.ctype(typ, e.Pos()), c.text(r, e.Pos()), c.text(c.expr(a), e.Pos()))}
		}
		return r
	}
	c.refuse(e, "%s", types.ExprString(e))
	return value{}
}
