package main

// This file has the values that the translator knows of, and the function that it is writing.

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

// value is the value of an expression: of the C expression c, or, if that is empty, known here: one of
// the others.
type value struct {
	typ   types.Type
	c     string
	num   constant.Value // a number, bool or string
	fn    *function
	table *table
	alt   *alternative
	tag   bool // of a switch
}

// function is a function to be called.
type function struct {
	obj   *types.Func
	decl  *ast.FuncDecl // nil outside of alu and fp
	targs []types.Type
	recv  *value

	lit *ast.FuncLit // of a literal
	in  *context     // the function that it is in
}

// table is a composite literal: an array, or a struct that is a variable of a package.
type table struct {
	key string
	lit *ast.CompositeLit
	in  *context
}

// alternative is one function or another.
type alternative struct {
	cond      string
	then, els value
}

// key tells known values apart.
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

// context is a Go function that is being translated.
type context struct {
	t       *translator
	pkg     *packages.Package
	id      string // tells instances apart
	inst    *instance
	targs   map[*types.TypeParam]types.Type
	env     map[types.Object]value
	names   map[string]bool
	sets    map[types.Object]int  // how often variables are assigned to, defined included
	outer   map[types.Object]bool // variables of the function around
	results []types.Type
	named   []types.Object // results that have names
	out     strings.Builder
	depth   int
	inside  int // switch statements between here and the next loop
}

func (c *context) line(format string, args ...any) {
	fmt.Fprintf(&c.out, "%s%s\n", strings.Repeat("\t", c.depth+1), fmt.Sprintf(format, args...))
}

// info is what is known of the package's syntax.
func (c *context) info() *types.Info { return c.pkg.TypesInfo }

func (c *context) refuse(n ast.Node, format string, args ...any) {
	c.t.refuse(n.Pos(), format, args...)
}

// subst is a type with type arguments put in.
func (c *context) subst(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		return c.targs[p]
	}
	return t
}

func (c *context) typeOf(e ast.Expr) types.Type {
	return types.Default(c.subst(c.info().TypeOf(e)))
}

// need makes the function need a type or function, which is thus written before it.
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

// result is the type of a call.
func result(sig *types.Signature) types.Type {
	if sig.Results().Len() == 1 {
		return sig.Results().At(0).Type()
	}
	return sig.Results()
}

// bound reports whether an argument makes an instance of the function called: it is known here, and of a
// type whose values functions decide on.
func (c *context) bound(v value) bool {
	if v.c != "" {
		return false
	}
	_, named := types.Unalias(v.typ).(*types.Named)
	return v.num == nil || v.num.Kind() == constant.String || named && isInt(v.typ)
}
