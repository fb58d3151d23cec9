package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"gemu/interp/internal/alu/directive"
)

// helpers is the text of go.h, which the translator's C includes.
//
//go:embed go.h
var helpers string

// halfHelpers is the text of half.h, which the C of kernels on f16 and bf16 includes.
//
//go:embed half.h
var halfHelpers string

// translator writes functions of packages alu and fp in C, from their typed syntax.
//
// A Go function becomes a C function for each set of its type arguments and of its arguments with a value
// known in translation: functions, strings, tables, and constants of named types such as fp.Rounding.
// Conditions on known values are decided, and loops over tables are unrolled. Constructs without a
// counterpart in C (state of packages, pointers, maps, reachable panics) are refused with an error and their
// place.
//
// Variables of packages are translated as their initial values. A variable with an assignment is
// refused.
type translator struct {
	fset  *token.FileSet
	alu   *packages.Package
	of    map[*types.Package]*packages.Package // alu and fp
	decls map[types.Object]*ast.FuncDecl
	vars  map[types.Object]ast.Expr // initial values of packages' variables
	state
}

// state is the C translated so far.
type state struct {
	done  map[string]*instance // by key; nil while it is being translated
	order []*instance          // callees before callers
	names map[string]bool
}

func newState() state { return state{done: map[string]*instance{}, names: map[string]bool{}} }

// instance is a C function or type.
type instance struct {
	name, text string
	lane       bool
	needs      []*instance
}

// refusal is the reason for which a function cannot be translated.
type refusal struct{ error }

// newTranslator reads package alu in a directory, and package fp.
func newTranslator(dir string) (*translator, error) {
	cfg := &packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedImports,
		Fset: token.NewFileSet(),
	}
	pkgs, err := packages.Load(cfg, ".", "../fp")
	if err != nil {
		return nil, err
	}
	t := &translator{
		fset:  cfg.Fset,
		of:    map[*types.Package]*packages.Package{},
		decls: map[types.Object]*ast.FuncDecl{},
		vars:  map[types.Object]ast.Expr{},
		state: newState(),
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		t.of[p.Types] = p
		if p.Name == "alu" {
			t.alu = p
		}
		for _, f := range p.Syntax {
			t.declare(p, f)
		}
	}
	if len(pkgs) != 2 || t.alu == nil {
		return nil, fmt.Errorf("%s is not the directory of package alu", dir)
	}
	for name, b := range better {
		if t.alu.Imports["gemu/interp/internal/fp"].Types.Scope().Lookup(name) == nil || !strings.Contains(helpers+halfHelpers, " go_"+b.name+"(") {
			return nil, fmt.Errorf("there is no fp.%s, or nothing for it in go.h and half.h", name)
		}
	}
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			assignments(f, func(e ast.Expr) {
				if id := root(e); id != nil {
					delete(t.vars, p.TypesInfo.Uses[id])
				}
			})
		}
	}
	return t, nil
}

// declare records the functions and variables of a file.
func (t *translator) declare(p *packages.Package, f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			t.decls[p.TypesInfo.Defs[d.Name]] = d
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(s.Values) == len(s.Names) {
					for i, n := range s.Names {
						t.vars[p.TypesInfo.Defs[n]] = s.Values[i]
					}
				}
			}
		}
	}
}

// assignments calls f for each target of an assignment or definition in n.
func assignments(n ast.Node, f func(ast.Expr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				f(e)
			}
		case *ast.IncDecStmt:
			f(n.X)
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					f(e)
				}
			}
		}
		return true
	})
}

// root returns the variable of which an expression is a part, or nil if there is no such variable.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// lane translates a kernel on one lane, with all functions called by it, unless it is translated already, and
// returns its C name:
//
//	static inline RESULT lane_KERNEL(OPERAND…, u64 imm)
//
// It has imm if the Go function has such a parameter. Two results are a struct of r and c.
func (t *translator) lane(k directive.Kernel) (name string, err error) {
	return t.laneFor(k, "lane_"+k.Name, nil)
}

// ownImm is the type of a known Instr.Imm: values of named integers select code.
var ownImm = types.NewNamed(types.NewTypeName(token.NoPos, nil, "imm", nil), types.Typ[types.Uint64], nil)

// laneFor is lane for a value of Instr.Imm, or for all values if n is nil, as a C function with the given name.
func (t *translator) laneFor(k directive.Kernel, cname string, n *uint64) (name string, err error) {
	return t.laneCalling(k, k.Decl.Name.Name, cname, n)
}

// laneOf is lane with another function, as a C function with the name cname. The function has the operands of the kernel.
func (t *translator) laneOf(k directive.Kernel, goName, cname string) (string, error) {
	return t.laneCalling(k, goName, cname, nil)
}

// laneCalling is laneFor with the function that the C function calls.
func (t *translator) laneCalling(k directive.Kernel, goName, cname string, n *uint64) (name string, err error) {
	before := state{maps.Clone(t.done), slices.Clone(t.order), maps.Clone(t.names)}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			t.state = before
			name, err = "", r.error
		default:
			panic(r)
		}
	}()
	fn, ok := t.alu.Types.Scope().Lookup(goName).(*types.Func)
	if !ok {
		return "", fmt.Errorf("%s: package alu has no function %s", k.Name, goName)
	}
	c := &context{t: t, pkg: t.alu, inst: &instance{name: cname, lane: true}, env: map[types.Object]value{}}
	f := &function{obj: fn, decl: t.decls[fn]}
	for p := range fn.Type().(*types.Signature).TypeParams().TypeParams() {
		f.targs = append(f.targs, basic(k.Types[p.Obj().Name()]))
	}
	var params []string
	var args []value
	imm := false
	for i, p := range k.Params {
		switch {
		case p.Type != "":
			typ := basic(p.Type)
			if k.Halves {
				typ = types.Typ[types.Uint16]
			}
			name := string("abcde"[i])
			params = append(params, t.ctype(typ, fn.Pos())+" "+name)
			v := value{typ: typ, c: name}
			if k.FTZ && p.Type == "float32" {
				v = c.flush(v)
			}
			args = append(args, v)
		case p.Value == "instr.Imm" && n != nil:
			args = append(args, value{typ: ownImm, num: constant.MakeUint64(*n)})
		case p.Value == "instr.Imm":
			imm = true
			args = append(args, value{typ: types.Typ[types.Uint64], c: "imm"})
		case strings.HasPrefix(p.Value, `"`):
			s, err := strconv.Unquote(p.Value)
			if err != nil {
				return "", err
			}
			args = append(args, value{typ: types.Typ[types.String], num: constant.MakeString(s)})
		default:
			o, ok := t.alu.Types.Scope().Lookup(p.Value).(*types.Const)
			if !ok {
				return "", fmt.Errorf("%s: no constant %s", k.Name, p.Value)
			}
			args = append(args, value{typ: o.Type(), num: o.Val()})
		}
	}
	if imm {
		params = append(params, "u64 imm")
	}
	r := c.apply(f, args, fn.Pos())
	if k.FTZ && k.Results[0] == "float32" {
		r = c.flush(r)
	}
	c.inst.text = fmt.Sprintf("GO %s %s(%s) { return %s; }\n", c.ctype(r.typ, fn.Pos()), c.inst.name, strings.Join(params, ", "), c.text(r, fn.Pos()))
	t.order = append(t.order, c.inst)
	return c.inst.name, nil
}

// text returns the C of all translated functions, callees before callers. It needs go.h.
func (t *translator) text() string {
	wanted := map[*instance]bool{}
	for _, i := range slices.Backward(t.order) {
		if i.lane || wanted[i] {
			wanted[i] = true
			for _, n := range i.needs {
				wanted[n] = true
			}
		}
	}
	var b strings.Builder
	for _, i := range t.order {
		if wanted[i] {
			b.WriteString(i.text)
		}
	}
	return b.String()
}

// refuse ends the translation of a kernel: it panics with a refusal.
func (t *translator) refuse(pos token.Pos, format string, args ...any) {
	p := t.fset.Position(pos)
	p.Filename = filepath.Join(filepath.Base(filepath.Dir(p.Filename)), filepath.Base(p.Filename))
	p.Column = 0
	panic(refusal{fmt.Errorf("%s: %s", p, fmt.Sprintf(format, args...))})
}

// unique returns a new C name made from name, which must not end in a number.
func (s *state) unique(name string) string {
	n := name
	for i := 2; s.names[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	s.names[n] = true
	return n
}

// basic returns the predeclared Go type with this name.
func basic(name string) types.Type { return types.Universe.Lookup(name).Type() }
