package main

// This file translates function bodies and their statements.

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// reserved has the names forbidden for variables in C.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("auto char const default double enum extern float inline int long register restrict short signed sizeof static struct typedef union unsigned void volatile while do bool u8 u16 u32 u64 s8 s16 s32 s64 f32 f64") {
		m[n] = true
	}
	return m
}()

// name returns a new C name for a variable.
func (c *context) name(o types.Object) string { return c.fresh(o.Name()) }

func (c *context) fresh(name string) string {
	n := name
	for i := 2; c.names[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	c.names[n] = true
	return n
}

// body writes the C function.
func (c *context) body(body *ast.BlockStmt, sig *types.Signature, typ string, params []string) {
	count := func(e ast.Expr) {
		if id := root(e); id != nil {
			o := c.info().Defs[id]
			if o == nil {
				o = c.info().Uses[id]
			}
			c.sets[o]++
		}
	}
	assignments(body, count)
	for r := range sig.Results().Variables() {
		if r.Name() == "" {
			continue
		}
		c.named = append(c.named, r)
		c.define(r, value{typ: c.subst(r.Type()), c: "0"}, body.Pos())
	}
	// Known parameters become variables if the function assigns to them.
	for _, o := range slices.SortedFunc(maps.Keys(c.env), func(a, b types.Object) int { return cmp.Compare(a.Pos(), b.Pos()) }) {
		if v := c.env[o]; c.sets[o] > 0 && v.num != nil {
			c.define(o, value{typ: v.typ, c: c.text(v, body.Pos())}, body.Pos())
		}
	}
	if !c.block(body.List) && len(c.results) > 0 {
		c.refuse(body, "a function that ends without return")
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	c.inst.text = fmt.Sprintf("GO %s %s(%s)\n{\n%s}\n", typ, c.inst.name, strings.Join(params, ", "), c.out.String())
}

// define declares a variable. No C variable is needed while the value is known.
func (c *context) define(o types.Object, v value, pos token.Pos) {
	_, function := o.Type().Underlying().(*types.Signature)
	if function || v.c == "" && (v.num == nil || c.sets[o] <= 1) {
		c.env[o] = v
		return
	}
	typ := c.subst(o.Type())
	n := c.name(o)
	init := c.text(v, pos)
	if _, ok := typ.Underlying().(*types.Struct); ok && init == "0" {
		init = "{}"
	}
	c.line("%s %s = %s;", c.ctype(typ, pos), n, init)
	c.env[o] = value{typ: typ, c: n}
}

// block translates statements. It reports whether they end in a return or another jump.
func (c *context) block(list []ast.Stmt) bool {
	for _, s := range list {
		if c.stmt(s) {
			return true
		}
	}
	return false
}

// scope translates statements in braces.
func (c *context) scope(head string, list func() bool) bool {
	c.line("%s{", head)
	c.depth++
	end := list()
	c.depth--
	c.line("}")
	return end
}

func (c *context) stmt(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return c.scope("", func() bool { return c.block(s.List) })
	case *ast.ReturnStmt:
		c.returns(s)
		return true
	case *ast.AssignStmt:
		c.assign(s)
	case *ast.IncDecStmt:
		one := value{typ: c.typeOf(s.X), num: constant.MakeInt64(1)}
		op := token.ADD
		if s.Tok == token.DEC {
			op = token.SUB
		}
		c.set(s.X, c.binary(s, op, c.expr(s.X), one, c.typeOf(s.X)))
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && s.Decl.(*ast.GenDecl).Tok == token.VAR {
				for i, n := range v.Names {
					o := c.info().Defs[n]
					x := value{typ: c.subst(o.Type()), c: "0"}
					if i < len(v.Values) {
						x = c.expr(v.Values[i])
					}
					c.sets[o] += 2 // var declares a variable whose value changes: it needs a C variable
					c.define(o, x, n.Pos())
				}
			}
		}
	case *ast.IfStmt:
		return c.scopeIf(s.Init, func() bool { return c.ifs(s) })
	case *ast.SwitchStmt:
		return c.scopeIf(s.Init, func() bool { return c.switches(s) })
	case *ast.ForStmt:
		return c.scopeIf(s.Init, func() bool { return c.loop(s) })
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok == token.BREAK && c.inside > 0 || s.Tok != token.BREAK && s.Tok != token.CONTINUE {
			c.refuse(s, "jumps such as this %s", s.Tok)
		}
		c.line("%s;", s.Tok)
		return true
	case *ast.ExprStmt:
		c.expr(s.X)
		c.refuse(s, "a call without result")
	case *ast.EmptyStmt:
	default:
		c.refuse(s, "statements such as this")
	}
	return false
}

// scopeIf translates an initial statement, if there is one, and the statements in its scope.
func (c *context) scopeIf(init ast.Stmt, f func() bool) bool {
	if init == nil {
		return f()
	}
	return c.scope("", func() bool {
		c.stmt(init)
		return f()
	})
}

func (c *context) returns(s *ast.ReturnStmt) {
	var parts []string
	for _, e := range s.Results {
		parts = append(parts, c.text(c.expr(e), e.Pos()))
	}
	if len(s.Results) == 0 {
		for _, o := range c.named {
			parts = append(parts, c.text(c.env[o], s.Pos()))
		}
	}
	if len(parts) == 1 {
		c.line("return %s;", parts[0])
		return
	}
	var tuple []*types.Var
	for _, t := range c.results {
		tuple = append(tuple, types.NewVar(0, nil, "", t))
	}
	c.line("return (%s){%s};", c.ctype(types.NewTuple(tuple...), s.Pos()), strings.Join(parts, ", "))
}

// set assigns to a variable or to a field of a variable.
func (c *context) set(to ast.Expr, v value) {
	id := root(to)
	if id == nil {
		c.refuse(to, "an assignment to %s", types.ExprString(to))
	}
	o := c.info().Uses[id]
	old, ok := c.env[o]
	switch {
	case !ok || c.outer[o]:
		c.refuse(to, "an assignment to %s, which is another function's", id.Name)
	case old.fn != nil || old.alt != nil:
		c.env[o] = v
	case old.c == "":
		c.refuse(to, "an assignment to %s", types.ExprString(to))
	default:
		l := c.expr(to)
		c.line("%s = %s;", l.c, c.text(v, to.Pos()))
	}
}

func (c *context) assign(s *ast.AssignStmt) {
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		op := map[token.Token]token.Token{
			token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
			token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
			token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
		}[s.Tok]
		c.set(s.Lhs[0], c.binary(s, op, c.expr(s.Lhs[0]), c.expr(s.Rhs[0]), c.typeOf(s.Lhs[0])))
		return
	}
	values := make([]value, len(s.Lhs))
	if len(s.Rhs) == 1 && len(s.Lhs) > 1 {
		v := c.expr(s.Rhs[0])
		tuple, ok := v.typ.(*types.Tuple)
		if !ok {
			c.refuse(s, "an assignment of two results")
		}
		n := c.fresh("results")
		c.line("%s %s = %s;", c.ctype(tuple, s.Pos()), n, c.text(v, s.Pos()))
		for i := range values {
			values[i] = value{typ: tuple.At(i).Type(), c: n + "." + tupleField(i)}
		}
	} else {
		fresh := !slices.ContainsFunc(s.Lhs, func(l ast.Expr) bool {
			id, ok := l.(*ast.Ident)
			return !ok || c.info().Defs[id] == nil
		})
		for i, e := range s.Rhs {
			values[i] = c.expr(e)
			if !fresh && len(s.Rhs) > 1 && values[i].c != "" {
				n := c.fresh("value")
				c.line("%s %s = %s;", c.ctype(values[i].typ, e.Pos()), n, values[i].c)
				values[i].c = n
			}
		}
	}
	for i, l := range s.Lhs {
		id, _ := l.(*ast.Ident)
		switch {
		case id != nil && id.Name == "_":
		case id != nil && c.info().Defs[id] != nil:
			c.define(c.info().Defs[id], values[i], l.Pos())
		default:
			c.set(l, values[i])
		}
	}
}
