package main

// This file translates calls. A Go function becomes one C function for each set of type arguments and known arguments.

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"strings"

	"gemu/interp/internal/fp"
)

// flush returns v with a subnormal replaced by zero.
func (c *context) flush(v value) value {
	fn := c.t.alu.Imports["gemu/interp/internal/fp"].Types.Scope().Lookup("FTZ32").(*types.Func)
	return c.apply(&function{obj: fn, decl: c.t.decls[fn]}, []value{v}, fn.Pos())
}

// call translates a call, conversion or builtin.
func (c *context) call(e *ast.CallExpr) value {
	fun := c.info().Types[ast.Unparen(e.Fun)]
	if fun.IsType() {
		return c.convert(e, c.typeOf(e), c.expr(e.Args[0]))
	}
	if fun.IsBuiltin() {
		return c.builtin(e)
	}
	f := c.expr(e.Fun)
	var args []value
	for _, a := range e.Args {
		args = append(args, c.expr(a))
	}
	return c.applyAny(f, args, e.Pos())
}

// applyAny translates f(args), where f may be one of two functions by a condition.
func (c *context) applyAny(f value, args []value, pos token.Pos) value {
	switch {
	case f.fn != nil:
		return c.apply(f.fn, args, pos)
	case f.alt != nil:
		a, b := c.applyAny(f.alt.then, args, pos), c.applyAny(f.alt.els, args, pos)
		return value{typ: a.typ, c: fmt.Sprintf("(%s ? %s : %s)", f.alt.cond, c.text(a, pos), c.text(b, pos))}
	}
	c.t.refuse(pos, "a call of a function that is not known here")
	return value{}
}

// better has the functions of package fp with a faster counterpart in go.h or half.h, which uses instructions of the host or handles more
// lanes at once. Comments there say why the results are the same. when is a condition on the arguments known in translation.
var better = map[string]struct {
	name string
	when func(args []value) bool
}{
	"Result64":      {"fp_Result64", func([]value) bool { return true }},
	"F32ToF64":      {"fp_F32ToF64", func([]value) bool { return true }},
	"NarrowF64":     {"fp_NarrowF64", func([]value) bool { return true }},
	"FmaRN32":       {"fp_FmaRN32", func([]value) bool { return true }},
	"RsqrtApprox32": {"fp_RsqrtApprox32", func([]value) bool { return true }},
	"FmaFTZ32":      {"fp_FmaFTZ32RN", func(a []value) bool { return a[3].is(fp.RN) }},
	"MulFTZ32":      {"fp_MulFTZ32RN", func(a []value) bool { return a[2].is(fp.RN) }},
	"DivFTZ32":      {"fp_DivFTZ32RN", func(a []value) bool { return a[2].is(fp.RN) }},
	"SqrtRN32":      {"fp_SqrtRN32", func([]value) bool { return true }},
	"F16ToF32":      {"fp_F16ToF32", func([]value) bool { return true }},
	"F32ToF16":      {"half_F32ToF16RN", func(a []value) bool { return a[1].is(fp.RN) }},
	"WidenF16":      {"half_WidenF16", func([]value) bool { return true }},
	"FmaHalf":       {"half_FmaHalfRN", func(a []value) bool { return a[3].is(fp.RN) }},
}

// is reports whether a value is known to be r.
func (v value) is(r fp.Rounding) bool {
	return v.num != nil && constant.Compare(v.num, token.EQL, constant.MakeInt64(int64(r)))
}

// helper returns the name of the replacement of f in go.h or half.h, or "" if there is none.
func (f *function) helper(args []value) string {
	if f.obj == nil || f.recv != nil || len(f.targs) > 0 {
		return ""
	}
	name := f.obj.Name()
	if f.decl != nil {
		b, ok := better[name]
		if !ok || f.obj.Pkg().Name() != "fp" || !b.when(args) {
			return ""
		}
		name = b.name
	} else if p := f.obj.Pkg().Path(); p != "math" && p != "math/bits" {
		return ""
	}
	name = "go_" + name
	if !strings.Contains(helpers+halfHelpers, " "+name+"(") {
		return ""
	}
	return name
}

// apply translates f(args).
func (c *context) apply(f *function, args []value, pos token.Pos) value {
	sig := f.signature()
	if sig.Variadic() {
		c.t.refuse(pos, "a call with any number of arguments")
	}
	if h := f.helper(args); h != "" {
		var list []string
		for _, a := range args {
			if !c.bound(a) {
				list = append(list, c.text(a, pos))
			}
		}
		return value{typ: result(sig), c: fmt.Sprintf("%s(%s)", h, strings.Join(list, ", "))}
	}
	if f.decl == nil && f.lit == nil {
		c.t.refuse(pos, "a call of %s", f.obj.FullName())
	}
	if f.lit != nil && f.in != c {
		c.t.refuse(pos, "a call of a function of the function around")
	}
	// The context of the called function.
	d := &context{t: c.t, inst: &instance{}, env: map[types.Object]value{}, names: maps.Clone(reserved), sets: map[types.Object]int{}, outer: map[types.Object]bool{}}
	var name string
	var body *ast.BlockStmt
	var params, list []string
	// bind gives a variable its value. It adds a parameter to the C function for an unknown value.
	bind := func(o types.Object, v value) {
		if c.bound(v) || v.c == "" && v.num == nil {
			d.id += ";" + o.Name() + "=" + c.key(v, pos)
			d.env[o] = v
			return
		}
		typ := d.subst(o.Type())
		n := d.name(o)
		params = append(params, d.ctype(typ, pos)+" "+n)
		list = append(list, c.text(v, pos))
		d.env[o] = value{typ: typ, c: n}
	}
	if f.lit != nil {
		d.pkg, d.targs, body = c.pkg, c.targs, f.lit.Body
		d.id = fmt.Sprint(c.id, "@", f.lit.Pos())
		name = c.inst.name + "_literal"
		c.captured(f.lit, func(o types.Object, v value) {
			d.outer[o] = true
			if v.c == "" && v.num == nil && v.fn != nil && v.fn.lit != nil {
				c.t.refuse(pos, "a function literal that another one uses")
			}
			bind(o, v)
		})
	} else {
		d.pkg, body = c.t.of[f.obj.Pkg()], f.decl.Body
		d.targs = map[*types.TypeParam]types.Type{}
		d.id = f.obj.FullName() + fmt.Sprint(f.targs)
		name = f.obj.Pkg().Name() + "_" + f.obj.Name()
		for i, a := range f.targs {
			d.targs[sig.TypeParams().At(i)] = a
			name += "_" + c.t.ctype(a, pos)
		}
		if f.recv != nil {
			if r := sig.Recv(); r.Name() != "" && r.Name() != "_" {
				bind(r, *f.recv)
			}
		}
	}
	for i, a := range args {
		bind(sig.Params().At(i), a)
	}
	results := make([]types.Type, sig.Results().Len())
	var tuple []*types.Var
	for i := range results {
		results[i] = d.subst(sig.Results().At(i).Type())
		tuple = append(tuple, types.NewVar(0, nil, "", results[i]))
	}
	var typ types.Type = types.NewTuple(tuple...)
	if len(results) == 1 {
		typ = results[0]
	}
	if v, ok := d.known(body, args); ok {
		return v
	}
	i, ok := c.t.done[d.id]
	if ok && i == nil {
		c.t.refuse(pos, "recursion")
	}
	if !ok {
		c.t.done[d.id] = nil
		i = d.inst
		i.name = c.t.unique(name)
		d.results = results
		d.body(body, sig, d.ctype(typ, pos), params)
		c.t.done[d.id] = i
		c.t.order = append(c.t.order, i)
	}
	c.ctype(typ, pos)
	return value{typ: typ, c: fmt.Sprintf("%s(%s)", c.need(i).name, strings.Join(list, ", "))}
}

// captured calls f for each captured variable of a function literal.
func (c *context) captured(lit *ast.FuncLit, f func(types.Object, value)) {
	seen := map[types.Object]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o, ok := c.info().Uses[id].(*types.Var)
		if v, local := c.env[o]; ok && local && !seen[o] {
			seen[o] = true
			f(o, v)
		}
		return true
	})
}

// known returns the value of a call if all arguments are known, the body is one return statement, and its value is known.
func (c *context) known(body *ast.BlockStmt, args []value) (value, bool) {
	for _, a := range args {
		if a.c != "" {
			return value{}, false
		}
	}
	if len(body.List) != 1 {
		return value{}, false
	}
	r, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return value{}, false
	}
	v := c.expr(r.Results[0])
	return v, v.num != nil
}
