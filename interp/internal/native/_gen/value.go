package main

// This file defines the values of the translator, and the context of the function in translation.

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// value is the value of an expression: the C expression c, or, if expr is empty, a value known in translation: one of num,
// fn, table and alt.
type value struct {
	typ   types.Type
	c     string
	num   constant.Value // a number, bool or string
	fn    *function
	table *table
	alt   *alternative
	tag   bool // value is the tag of a switch
}

// function is a callable function.
type function struct {
	obj   *types.Func
	decl  *ast.FuncDecl // nil outside of alu and fp
	targs []types.Type
	recv  *value

	lit *ast.FuncLit // for a function literal
	in  *context     // for a function literal: the enclosing function
}

// table is a composite literal: an array, or a struct in a package variable.
type table struct {
	key string
	lit *ast.CompositeLit
	in  *context
}

// alternative is one of two functions, chosen by a condition at run time.
type alternative struct {
	cond      string
	then, els value
}

// key returns the identifying text of a known value.
func (c *context) key(v value, pos token.Pos) string {
	switch {
	case v.num != nil:
		return v.num.ExactString()
	case v.fn != nil && v.fn.lit == nil && v.fn.recv == nil:
		return v.fn.obj.FullName() + fmt.Sprint(v.fn.targs)
	case v.table != nil:
		return v.table.key
	}
	c.t.refuse(pos, "a function that is not a plain one is an argument")
	return ""
}

// context is a Go function during its translation.
type context struct {
	t       *translator
	pkg     *packages.Package
	id      string // identifies the instance
	inst    *instance
	targs   map[*types.TypeParam]types.Type
	env     map[types.Object]value
	names   map[string]bool
	sets    map[types.Object]int  // number of assignments of each variable, with its definition
	outer   map[types.Object]bool // variables of the enclosing function
	results []types.Type
	named   []types.Object // named results
	out     strings.Builder
	depth   int
	inside  int // number of switch statements inside the innermost loop
}

func (c *context) line(format string, args ...any) {
	fmt.Fprintf(&c.out, "%s%s\n", strings.Repeat("\t", c.depth+1), fmt.Sprintf(format, args...))
}

// info returns the type information of the package.
func (c *context) info() *types.Info { return c.pkg.TypesInfo }

func (c *context) refuse(n ast.Node, format string, args ...any) {
	c.t.refuse(n.Pos(), format, args...)
}

// subst replaces a type parameter by its argument.
func (c *context) subst(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		return c.targs[p]
	}
	return t
}

func (c *context) typeOf(e ast.Expr) types.Type {
	return types.Default(c.subst(c.info().TypeOf(e)))
}

// need records a type or function on which this function depends; it must be written first.
func (c *context) need(i *instance) *instance {
	c.inst.needs = append(c.inst.needs, i)
	return i
}

func (f *function) signature() *types.Signature {
	if f.lit != nil {
		return f.in.info().TypeOf(f.lit).(*types.Signature)
	}
	return f.obj.Type().(*types.Signature)
}

// result returns the type of a call.
func result(sig *types.Signature) types.Type {
	if sig.Results().Len() == 1 {
		return sig.Results().At(0).Type()
	}
	return sig.Results()
}

// bound reports whether an argument needs an own instance of the called function: it is known, and of a type whose values
// select code (functions, tables, strings, named integers).
func (c *context) bound(v value) bool {
	if v.c != "" {
		return false
	}
	_, named := types.Unalias(v.typ).(*types.Named)
	return v.num == nil || v.num.Kind() == constant.String || named && isInt(v.typ)
}
