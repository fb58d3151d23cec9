package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"gemu/interp/internal/alu/directive"
	"gemu/interp/internal/fp"
)

// helpers is what the C that a translator writes is to be compiled with.
//
//go:embed go.h
var helpers string

// translator writes functions of packages alu and fp in C, from their typed syntax.
//
// A Go function becomes a C function for each set of its type arguments and of those arguments
// that are known here: functions, strings, tables, and constants of named types such as
// fp.Rounding. Conditions on what is known are decided here, loops over tables are unrolled. What has no
// counterpart (state of packages, pointers, maps, reachable panics) is refused with an error that says
// where it is.
//
// Variables of packages are taken for their initial values; those that anything assigns to
// are refused.
type translator struct {
	fset  *token.FileSet
	alu   *packages.Package
	of    map[*types.Package]*packages.Package // alu and fp
	decls map[types.Object]*ast.FuncDecl
	vars  map[types.Object]ast.Expr // initial values of variables of packages
	state
}

// state is what has been translated.
type state struct {
	done  map[string]*instance // by key; nil while it is being translated
	order []*instance          // callees before callers
	names map[string]bool
}

// instance is a C function or type.
type instance struct {
	name, text string
	lane       bool
	needs      []*instance
}

// refusal is why something cannot be translated.
type refusal struct{ error }

// newTranslator reads package alu in a directory, and fp beside it.
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
		state: state{map[string]*instance{}, nil, map[string]bool{}},
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
		if t.alu.Imports["gemu/interp/internal/fp"].Types.Scope().Lookup(name) == nil || !strings.Contains(helpers, " go_"+b.name+"(") {
			return nil, fmt.Errorf("there is no fp.%s, or nothing for it in go.h", name)
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

// declare notes the functions and variables of a file.
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

// assignments calls f on all that is assigned to in n, definitions of variables included.
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

// root is the variable that an expression is a part of; nil if that is not plain.
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

// lane makes sure that the C function of a kernel on one lane is there, with all that it calls:
//
//	static inline RESULT lane_KERNEL(OPERAND…, u64 imm)
//
// with imm if the Go function has such a parameter. Two results are a struct of r and c.
func (t *translator) lane(k directive.Kernel) (name string, err error) {
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
	fn := t.alu.Types.Scope().Lookup(k.Decl.Name.Name).(*types.Func)
	c := &context{t: t, pkg: t.alu, inst: &instance{name: "lane_" + k.Name, lane: true}, env: map[types.Object]value{}}
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
			name := string("abcde"[i])
			params = append(params, t.ctype(typ, fn.Pos())+" "+name)
			v := value{typ: typ, c: name}
			if k.FTZ && p.Type == "float32" {
				v = c.flush(v)
			}
			args = append(args, v)
		case p.Value == "in.Imm":
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

// flush is v made zero if it is subnormal.
func (c *context) flush(v value) value {
	fn := c.t.alu.Imports["gemu/interp/internal/fp"].Types.Scope().Lookup("FTZ32").(*types.Func)
	return c.apply(&function{obj: fn, decl: c.t.decls[fn]}, []value{v}, fn.Pos())
}

// text is the C of all lanes so far, callees before callers. It wants go.h.
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

// refuse ends the translation of a lane.
func (t *translator) refuse(pos token.Pos, format string, args ...any) {
	p := t.fset.Position(pos)
	p.Filename = filepath.Join(filepath.Base(filepath.Dir(p.Filename)), filepath.Base(p.Filename))
	p.Column = 0
	panic(refusal{fmt.Errorf("%s: %s", p, fmt.Sprintf(format, args...))})
}

// unique makes a C name of one that is taken for granted not to end in a number.
func (s *state) unique(name string) string {
	n := name
	for i := 2; s.names[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	s.names[n] = true
	return n
}

// basic is the Go type of a name.
func basic(name string) types.Type { return types.Universe.Lookup(name).Type() }

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

// ctype is the C name of a type that needs no declaration.
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

// widthOf is how many bits a type has; 0 if it is not of numbers or booleans.
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

// ctype is the C name of a type, of structs and tuples too.
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

// tupleField is the name of a result: r, then c.
func tupleField(i int) string { return string("rcdefg"[i]) }

// text is the C expression of a value.
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

// number is the C constant of a number.
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

// wrap is an integer as a type holds it.
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
		if x.fn != nil { // an instance of a generic function
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

// object is the value of a variable or function.
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

// selection is a field or method of a value.
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

// field is a field of a struct.
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

// named is v, a part of the table.
func (t *table) named(v value, part string) value {
	if v.table != nil && v.table.in == t.in { // not one with a name of its own
		v.table.key = t.key + "." + part
	}
	return v
}

// composite is a composite literal.
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
		if c.names == nil { // of a variable of a package
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

// mostChoices bounds the tables of which an element is chosen at run time.
const maxChoices = 8

// index is an element of a table. One that is not known here is chosen by comparisons, not
// loaded: vectors have no other loads than of rows. (Go panics if it is out of range.)
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

// narrow is the value of a C expression that may be of a type wider than typ.
func (c *context) narrow(typ types.Type, text string, pos token.Pos) value {
	if isInt(typ) && widthOf(typ) < 32 {
		text = fmt.Sprintf("((%s)%s)", c.ctype(typ, pos), text)
	}
	return value{typ: typ, c: text}
}

// binary is x op y, which is of type typ if it is not a comparison.
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

// equality is a comparison with a constant of a type, or a case of a switch, that go.h has a better
// function for; "" if there is none.
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

// fold is binary of what is known and no float.
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
			op = token.QUO_ASSIGN // of integers
		}
	}
	return value{typ: typ, num: wrap(constant.BinaryOp(x.num, op, y.num), typ)}
}

// call is a call, conversion or builtin.
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

// applyAny is f(args) of one function or another.
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

// better are the functions of package fp with a counterpart in go.h, of which the host has instructions or has more at once; there it
// says why they give the same results. Those with a condition have it on the arguments known here.
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
	"F32ToF16":      {"fp_F32ToF16RN", func(a []value) bool { return a[1].is(fp.RN) }},
}

// is reports whether a value is known here to be r.
func (v value) is(r fp.Rounding) bool {
	return v.num != nil && constant.Compare(v.num, token.EQL, constant.MakeInt64(int64(r)))
}

// helper is the function of go.h that stands for f; "" if there is none.
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
	if !strings.Contains(helpers, " "+name+"(") {
		return ""
	}
	return name
}

// apply is f(args).
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
	// The context of the function called.
	d := &context{t: c.t, inst: &instance{}, env: map[types.Object]value{}, names: maps.Clone(reserved), sets: map[types.Object]int{}, outer: map[types.Object]bool{}}
	var name string
	var body *ast.BlockStmt
	var params, list []string
	// bind gives a variable a value: a parameter of the C function if it is not known here.
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

// captured calls f on the variables of the function around that a literal uses.
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

// known is the value that a function returns if it does nothing else, and that is known here.
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

// reserved are names that variables cannot have in C.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("auto char const default double enum extern float inline int long register restrict short signed sizeof static struct typedef union unsigned void volatile while do bool u8 u16 u32 u64 s8 s16 s32 s64 f32 f64") {
		m[n] = true
	}
	return m
}()

// name is a new C name for a variable.
func (c *context) name(o types.Object) string { return c.fresh(o.Name()) }

func (c *context) fresh(name string) string {
	n := name
	for i := 2; c.names[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	c.names[n] = true
	return n
}

// body writes the function.
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
	// Parameters known here that are assigned to become variables.
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

// define declares a variable. One that keeps a value known here needs no C variable.
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

// block translates statements. It reports whether they end in a return, or another jump.
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
					c.sets[o] += 2 // it is one that changes, or Go would not declare it so
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

// scopeIf translates an initial statement, if there is one, and what is in its scope.
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

// set assigns to a variable or a field of one.
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

// branches translates one of two ways, each with what is known before them, and afterwards knows
// what both or the one that goes on have left.
func (c *context) branches(cond value, pos token.Pos, then, els func() bool) bool {
	if cond.num != nil {
		if constant.BoolVal(cond.num) {
			return c.scope("", then)
		}
		if els == nil {
			return false
		}
		return c.scope("", els)
	}
	name := c.fresh("cond")
	c.line("bool %s = %s;", name, cond.c)
	before := maps.Clone(c.env)
	end := c.scope("if ("+name+") ", then)
	after := c.env
	c.env = before
	endElse := false
	if els != nil {
		endElse = c.scope("else ", els)
	}
	switch {
	case end:
	case endElse:
		c.env = after
	default:
		for o := range before {
			a, b := after[o], c.env[o]
			if a.fn != b.fn || a.alt != b.alt {
				c.env[o] = value{typ: a.typ, alt: &alternative{name, a, b}}
			}
		}
	}
	return end && endElse
}

func (c *context) ifs(s *ast.IfStmt) bool {
	var els func() bool
	if s.Else != nil {
		els = func() bool { return c.stmt(s.Else) }
	}
	return c.branches(c.expr(s.Cond), s.Pos(), func() bool { return c.block(s.Body.List) }, els)
}

func (c *context) switches(s *ast.SwitchStmt) bool {
	tag := boolean(true)
	if s.Tag != nil {
		if tag = c.expr(s.Tag); tag.c != "" {
			n := c.fresh("tag")
			c.line("%s %s = %s;", c.ctype(tag.typ, s.Pos()), n, tag.c)
			tag.c, tag.tag = n, true
		}
	}
	var cases []*ast.CaseClause
	var last *ast.CaseClause
	for _, b := range s.Body.List {
		if b := b.(*ast.CaseClause); b.List == nil {
			last = b
		} else {
			cases = append(cases, b)
		}
	}
	c.inside++
	defer func() { c.inside-- }()
	var rest func(i int) bool
	rest = func(i int) bool {
		if i == len(cases) {
			if last == nil {
				return false
			}
			return c.block(last.Body)
		}
		cond := boolean(false)
		for _, e := range cases[i].List {
			x := c.expr(e)
			if s.Tag != nil {
				x = c.binary(e, token.EQL, tag, x, nil)
			}
			cond = c.binary(e, token.LOR, cond, x, nil)
		}
		els := func() bool { return rest(i + 1) }
		if i+1 == len(cases) && last == nil {
			els = nil
		}
		return c.branches(cond, cases[i].Pos(), func() bool { return c.block(cases[i].Body) }, els)
	}
	return rest(0)
}

// mostTurns bounds the loops that are unrolled here.
const maxIterations = 64

// loop translates a loop whose initial statement is done. If its variable is known, and only its own
// statements change it, its turns are written one by one.
func (c *context) loop(s *ast.ForStmt) bool {
	if s.Init != nil && s.Post != nil && s.Cond != nil {
		if c.unrolled(s) {
			return false
		}
	}
	inside := c.inside
	c.inside = 0
	defer func() { c.inside = inside }()
	// What is in the env now holds in every turn: functions do not change in loops.
	before := maps.Clone(c.env)
	c.scope("for (;;) ", func() bool {
		if s.Cond != nil {
			c.line("if (!%s) break;", c.text(c.expr(s.Cond), s.Cond.Pos()))
		}
		if s.Post != nil && jumps(s.Body, token.CONTINUE) {
			c.refuse(s, "a loop with continue")
		}
		if !c.block(s.Body.List) && s.Post != nil {
			c.stmt(s.Post)
		}
		return false
	})
	for o, v := range before {
		if a := c.env[o]; a.fn != v.fn || a.alt != v.alt {
			c.refuse(s, "a loop that changes a function")
		}
	}
	c.env = before
	return s.Cond == nil && !jumps(s.Body, token.BREAK)
}

// jumps reports whether there is such a jump in n.
func jumps(n ast.Node, tok token.Token) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Tok == tok
		return true
	})
	return found
}

// unrolled writes the turns of a loop one by one. It reports whether it did.
func (c *context) unrolled(s *ast.ForStmt) bool {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return false
	}
	o := c.info().Defs[init.Lhs[0].(*ast.Ident)]
	v := c.expr(init.Rhs[0])
	if v.num == nil || !isInt(v.typ) || c.sets[o] != 2 || jumps(s.Body, token.BREAK) || jumps(s.Body, token.CONTINUE) {
		return false
	}
	// next is the variable behind the last statement.
	next := func() (value, bool) {
		switch p := s.Post.(type) {
		case *ast.IncDecStmt:
			op := token.ADD
			if p.Tok == token.DEC {
				op = token.SUB
			}
			return c.binary(p, op, c.env[o], value{typ: v.typ, num: constant.MakeInt64(1)}, v.typ), true
		case *ast.AssignStmt:
			if p.Tok == token.ADD_ASSIGN {
				return c.binary(p, token.ADD, c.env[o], c.expr(p.Rhs[0]), v.typ), true
			}
		}
		return value{}, false
	}
	saved := c.env[o]
	var turns []value
	for {
		c.env[o] = v
		cond := c.expr(s.Cond)
		n, ok := next()
		if cond.num == nil || !ok || n.num == nil || len(turns) > maxIterations {
			c.env[o] = saved
			return false
		}
		if !constant.BoolVal(cond.num) {
			break
		}
		turns = append(turns, v)
		v = n
	}
	for _, v := range turns {
		c.env[o] = v
		if c.scope("", func() bool { return c.block(s.Body.List) }) {
			break
		}
	}
	return true
}
