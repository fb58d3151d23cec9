package main

// This file finds the mutants of a function, and the change of the text for each. A mutant only inserts text around
// or next to a piece of the source, so a text can contain many mutants: "a < b" becomes "mutant.Up(1, a) <
// mutant.Down(2, b) != mutant.On(3)".

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Mutant is a change of the code that a check must notice.
type Mutant struct {
	ID        int // from 1; the value of the environment variable
	File      string
	Line      int
	Func      string // "pkg.name" or "pkg.(*type).name"
	Op        string // operator, see the command's documentation
	Text      string // the code → its replacement
	Ordinal   int    // number among mutants of the function with the same operator and text, from 1
	CostOnly  bool   // the function affects costs only, by a tilde in the scope
	insertion []insertion
}

// key identifies a mutant up to its ordinal. It has no line, because lines change with every change of the file.
func (m *Mutant) key() string { return m.Func + "\t" + m.Op + "\t" + m.Text }

// insertion is text before and after a piece of the source.
type insertion struct {
	before, after token.Pos // the piece
	open, close   string
}

// masks are the names of variables and fields with lane sets; a mutant makes them all lanes.
var masks = regexp.MustCompile(`^(m|n|mask|Mask|lanes|live|Live|Clean|Materialised|need|missing|rest|others|remaining|pending|active|taken|takenLanes)$`)

// messages lists functions whose arguments are parts of messages.
var messages = regexp.MustCompile(`^(panic|fmt\..*|errors\..*|(.*\.)?(fail|mismatch|refuse))$`)

// commutative lists functions whose arguments commute.
var commutative = map[string]bool{"bits.Mul64": true, "bits.Mul32": true, "bits.Add64": true, "bits.Add32": true}

// hook is the name under which instrumented code imports package mutant.
const hook = "mutant__"

// finder finds the mutants of a function.
type finder struct {
	pkg       *packages.Package
	src       []byte // text of the file
	base      int    // offset of the file in the file set
	fn        string
	file      string
	tailStmts map[ast.Stmt]bool // returns after which the function ends anyway
	parent    ast.Node          // the expression or statement around the present operand
	found     []*Mutant
}

func (f *finder) text(from, to token.Pos) string {
	return string(f.src[int(from)-f.base : int(to)-f.base])
}

func (f *finder) describe(n ast.Node) string { return f.text(n.Pos(), n.End()) }

// snippet returns source as a line of limited length.
func snippet(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 90 {
		s = string(r[:88]) + " …"
	}
	return s
}

// add records a mutant that inserts text; @@ in the text stands for its number.
func (f *finder) add(op string, node ast.Node, from, to string, list ...insertion) {
	if f.parent != nil {
		switch op {
		case "const", "widen":
			if _, ok := ast.Unparen(node.(ast.Expr)).(*ast.BinaryExpr); !ok || f.constant(node.(ast.Expr)) != nil {
				from = snippet(f.describe(f.parent)) + ": " + from
			}
		}
	}
	f.found = append(f.found, &Mutant{
		File: f.file, Line: f.pkg.Fset.Position(node.Pos()).Line, Func: f.fn, Op: op, Text: snippet(from) + " → " + snippet(to), insertion: list,
	})
}

// around returns an insertion around a node.
func around(n ast.Node, open, close string) insertion {
	return insertion{n.Pos(), n.End(), open, close}
}

// call makes an expression an argument of a call of package mutant. It writes the type if the type has a name: an
// untyped constant would get another type there.
func (f *finder) call(e ast.Expr, name string) insertion {
	if t, ok := f.typeName(f.typeOf(e), e.Pos()); ok {
		name += "[" + t + "]"
	}
	return around(e, hook+"."+name+"(@@, ", ")")
}

// function finds the mutants of a function's body.
func (f *finder) function(body *ast.BlockStmt) {
	f.mutateEnds(body.List)
	f.block(body.List)
}

// mutateEnds finds the returns after which the function ends anyway.
func (f *finder) mutateEnds(list []ast.Stmt) {
	if len(list) == 0 {
		return
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		f.tailStmts[s] = true
	case *ast.BlockStmt:
		f.mutateEnds(s.List)
	case *ast.IfStmt:
		f.mutateEnds(s.Body.List)
		if s.Else != nil {
			f.mutateEnds([]ast.Stmt{s.Else})
		}
	case *ast.SwitchStmt:
		f.clauses(s.Body)
	case *ast.TypeSwitchStmt:
		f.clauses(s.Body)
	}
}

func (f *finder) clauses(body *ast.BlockStmt) {
	for _, c := range body.List {
		f.mutateEnds(c.(*ast.CaseClause).Body)
	}
}

func (f *finder) block(list []ast.Stmt) {
	for _, s := range list {
		f.stmt(s)
	}
}

// drop records the mutant without a statement.
func (f *finder) drop(op string, s ast.Stmt, text string) {
	f.add(op, s, text, "nothing", around(s, "if !"+hook+".On(@@) { ", " }"))
}

// stmt finds the mutants of a statement in a list of them.
func (f *finder) stmt(s ast.Stmt) {
	f.parent = nil
	switch s.(type) {
	case *ast.ReturnStmt, *ast.AssignStmt, *ast.DeclStmt:
		f.parent = s
	}
	switch s := s.(type) {
	case *ast.ReturnStmt:
		if !f.tailStmts[s] {
			f.drop("return", s, f.describe(s))
		}
		for i, r := range s.Results {
			if i < len(s.Results)-1 && f.constant(r) != nil && f.returnsError(s) {
				continue
			}
			f.value(r)
		}
	case *ast.BranchStmt:
		if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
			f.drop("control", s, f.describe(s))
		}
	case *ast.ExprStmt:
		if c, ok := ast.Unparen(s.X).(*ast.CallExpr); !ok || f.describe(c.Fun) != "panic" {
			f.drop("drop", s, f.describe(s))
		}
		f.mutateParts(s.X)
	case *ast.IncDecStmt:
		f.drop("drop", s, f.describe(s))
		f.place(s.X)
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			f.drop("drop", s, f.describe(s))
		}
		f.assign(s)
	case *ast.SendStmt:
		f.drop("drop", s, f.describe(s))
		f.value(s.Value)
	case *ast.GoStmt:
		f.mutateParts(s.Call)
	case *ast.DeferStmt:
		f.drop("drop", s, f.describe(s))
		f.mutateParts(s.Call)
	case *ast.DeclStmt:
		f.declaration(s.Decl)
	case *ast.BlockStmt:
		f.block(s.List)
	case *ast.LabeledStmt:
		f.inner(s.Stmt)
	case *ast.ForStmt:
		if s.Cond != nil {
			f.drop("drop", s, f.text(s.Pos(), s.Body.Lbrace)+"{…}")
		}
		f.inner(s)
	case *ast.RangeStmt:
		f.drop("drop", s, f.text(s.Pos(), s.Body.Lbrace)+"{…}")
		f.inner(s)
	case *ast.IfStmt:
		f.conditional(s)
	case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		f.inner(s)
	}
}

// returnsError reports whether the last value of a return is false, which makes its remaining values meaningless.
func (f *finder) returnsError(s *ast.ReturnStmt) bool {
	last := f.constant(s.Results[len(s.Results)-1])
	return last != nil && last.Kind() == constant.Bool && !constant.BoolVal(last)
}

// inner finds the mutants inside a loop or a switch.
func (f *finder) inner(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ForStmt:
		f.clause(s.Init)
		if s.Cond != nil {
			f.value(s.Cond)
		}
		f.clause(s.Post)
		f.block(s.Body.List)
	case *ast.RangeStmt:
		f.value(s.X)
		f.block(s.Body.List)
	case *ast.SwitchStmt:
		f.clause(s.Init)
		if s.Tag != nil {
			f.value(s.Tag)
		}
		for _, c := range s.Body.List {
			c := c.(*ast.CaseClause)
			for _, e := range c.List {
				f.value(e)
			}
			f.block(c.Body)
		}
	case *ast.TypeSwitchStmt:
		f.clause(s.Init)
		for _, c := range s.Body.List {
			f.block(c.(*ast.CaseClause).Body)
		}
	case *ast.SelectStmt:
		for _, c := range s.Body.List {
			f.block(c.(*ast.CommClause).Body)
		}
	default:
		f.stmt(s)
	}
}

// clause finds the mutants of a simple statement that cannot be removed, for instance in the head of a loop.
func (f *finder) clause(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.ExprStmt:
		f.mutateParts(s.X)
	}
}

// conditional finds the mutants of an if.
func (f *finder) conditional(s *ast.IfStmt) {
	f.clause(s.Init)
	if s.Else == nil && !f.dropsAlone(s.Body.List) {
		f.add("drop", s, f.text(s.Pos(), s.Body.Lbrace)+"{…}", "nothing", around(s.Cond, "(", ") && !"+hook+".On(@@)"))
	}
	f.value(s.Cond)
	f.block(s.Body.List)
	if s.Else != nil {
		f.inner(s.Else)
	}
}

// dropsAlone reports whether a body is a single statement, which a further mutant removes.
func (f *finder) dropsAlone(body []ast.Stmt) bool {
	if len(body) != 1 {
		return len(body) == 0
	}
	switch s := body[0].(type) {
	case *ast.ReturnStmt:
		return !f.tailStmts[s]
	case *ast.BranchStmt, *ast.IncDecStmt, *ast.RangeStmt, *ast.ExprStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.ForStmt:
		return s.Cond != nil
	}
	return false
}

func (f *finder) declaration(d ast.Decl) {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR {
		return
	}
	for _, s := range g.Specs {
		for _, v := range s.(*ast.ValueSpec).Values {
			f.value(v)
		}
	}
}

func (f *finder) assign(s *ast.AssignStmt) {
	for _, l := range s.Lhs {
		f.place(l)
	}
	for i, r := range s.Rhs {
		switch {
		case len(s.Lhs) != len(s.Rhs):
			f.mutateParts(r) // parts of several values
		case s.Tok == token.AND_ASSIGN || s.Tok == token.AND_NOT_ASSIGN:
			f.plain(r) // widening the mask is dropping the statement
		case s.Tok == token.ADD_ASSIGN && f.integer(r):
			f.add("sign", s, f.describe(s), f.describe(s.Lhs[i])+" -= "+f.describe(r), f.call(r, "Neg"))
			f.value(r)
		default:
			f.value(r)
		}
	}
}

// place finds the mutants inside the left side of an assignment.
func (f *finder) place(e ast.Expr) { f.mutateParts(e) }

func (f *finder) typeOf(e ast.Expr) types.Type {
	tv := f.pkg.TypesInfo.Types[e]
	return tv.Type
}

// basic returns the basic type of an expression; nil for all other types and for type parameters.
func (f *finder) basic(e ast.Expr) *types.Basic {
	t := f.typeOf(e)
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

func (f *finder) integer(e ast.Expr) bool {
	b := f.basic(e)
	return b != nil && b.Info()&types.IsInteger != 0
}

func (f *finder) boolean(e ast.Expr) bool {
	b := f.basic(e)
	return b != nil && b.Info()&types.IsBoolean != 0
}

func (f *finder) constant(e ast.Expr) constant.Value { return f.pkg.TypesInfo.Types[e].Value }

// value finds the mutants of an expression whose value is used.
func (f *finder) value(e ast.Expr) {
	if f.pkg.TypesInfo.Types[e].IsType() {
		return
	}
	switch {
	case f.boolean(e):
		f.add("negate", e, f.describe(e), "!("+f.describe(e)+")", around(e, "((", ") != "+hook+".On(@@))"))
		f.condition(e)
	case f.isMask(e):
		f.add("widen", e, f.describe(e), "all lanes", f.call(e, "All"))
		f.plain(e)
	default:
		f.plain(e)
	}
}

// isMask reports whether an expression is a variable or field with a lane set.
func (f *finder) isMask(e ast.Expr) bool {
	b := f.basic(e)
	if b == nil || b.Info()&types.IsUnsigned == 0 || f.constant(e) != nil {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return masks.MatchString(e.Name)
	case *ast.SelectorExpr:
		return masks.MatchString(e.Sel.Name)
	}
	return false
}

// condition finds the mutants inside a boolean; the whole boolean has been negated already.
func (f *finder) condition(e ast.Expr) {
	if f.constant(e) != nil {
		return
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		f.condition(x.X)
	case *ast.BinaryExpr:
		if x.Op != token.LAND && x.Op != token.LOR {
			f.mutateParts(x)
			return
		}
		other, neutral := "||", ") || "+hook+".On(@@))"
		if x.Op == token.LOR {
			other, neutral = "&&", ") && !"+hook+".On(@@))"
		}
		negation := ") != " + hook + ".On(@@)"
		f.add("logic", x, f.describe(x), f.describe(x.X)+" "+other+" "+f.describe(x.Y), around(x, "((", negation+")"), around(x.X, "((", negation+")"), around(x.Y, "((", negation+")"))
		for _, part := range []ast.Expr{x.X, x.Y} {
			if in, ok := ast.Unparen(part).(*ast.BinaryExpr); !ok || in.Op != x.Op {
				f.add("part", part, f.describe(x)+": "+f.describe(part), "nothing", around(part, "((", neutral))
				f.add("negate", part, f.describe(part), "!("+f.describe(part)+")", around(part, "((", negation+")"))
			}
			f.condition(part)
		}
	default:
		f.mutateParts(x)
	}
}

// plain finds the mutants of an expression without mask and boolean mutants.
func (f *finder) plain(e ast.Expr) {
	if f.constant(e) != nil {
		f.number(e)
		return
	}
	f.mutateParts(e)
}

// number finds the mutants of a constant.
func (f *finder) number(e ast.Expr) {
	if !f.integer(e) || !f.hasType(e) {
		return
	}
	f.add("const", e, f.describe(e), f.describe(e)+" + 1", f.call(e, "Up"))
	if _, enum := types.Unalias(f.typeOf(e)).(*types.Named); !enum { // a single further name is enough
		f.add("const", e, f.describe(e), f.describe(e)+" - 1", f.call(e, "Down"))
	}
}

// hasType reports whether an expression has its type without context, or the type has a name.
func (f *finder) hasType(e ast.Expr) bool {
	var name *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	}
	if c, ok := f.pkg.TypesInfo.ObjectOf(name).(*types.Const); f.constant(e) == nil || ok && !isUntyped(c.Type()) {
		return true
	}
	_, named := f.typeName(f.typeOf(e), e.Pos())
	return named
}

func isUntyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsUntyped != 0
}

// typeName returns the name of a type at a place; ok is false if it has none there.
func (f *finder) typeName(t types.Type, at token.Pos) (string, bool) {
	var obj types.Object
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		obj = types.Universe.Lookup(t.Name())
	case *types.TypeParam:
		obj = t.Obj()
	case *types.Named:
		if t.TypeArgs() == nil {
			obj = t.Obj()
		}
	case *types.Pointer:
		name, ok := f.typeName(t.Elem(), at)
		return "*" + name, ok
	}
	scope := f.pkg.Types.Scope().Innermost(at)
	if obj == nil || scope == nil {
		return "", false
	}
	if obj.Pkg() != nil && obj.Pkg() != f.pkg.Types {
		_, found := scope.LookupParent(obj.Pkg().Name(), at)
		imported, ok := found.(*types.PkgName)
		return obj.Pkg().Name() + "." + obj.Name(), ok && imported.Imported() == obj.Pkg() && obj.Exported()
	}
	_, found := scope.LookupParent(obj.Name(), at)
	return obj.Name(), found == obj
}

// mutateParts finds the mutants of an expression's operands and operators.
func (f *finder) mutateParts(e ast.Expr) {
	if _, ok := e.(*ast.ParenExpr); !ok {
		defer func(n ast.Node) { f.parent = n }(f.parent)
		f.parent = e
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		f.mutateParts(x.X)
	case *ast.UnaryExpr:
		switch x.Op {
		case token.AND, token.ARROW:
			f.mutateParts(x.X)
		default:
			f.value(x.X)
		}
	case *ast.StarExpr:
		f.mutateParts(x.X)
	case *ast.SelectorExpr:
		if f.pkg.TypesInfo.Selections[x] != nil {
			f.mutateParts(x.X)
		}
	case *ast.IndexExpr:
		f.mutateParts(x.X)
		if !f.pkg.TypesInfo.Types[x.Index].IsType() {
			f.value(x.Index)
		}
	case *ast.SliceExpr:
		f.mutateParts(x.X)
		for _, i := range []ast.Expr{x.Low, x.High, x.Max} {
			if i != nil {
				f.value(i)
			}
		}
	case *ast.TypeAssertExpr:
		f.mutateParts(x.X)
	case *ast.CompositeLit:
		for _, v := range x.Elts {
			if kv, ok := v.(*ast.KeyValueExpr); ok {
				v = kv.Value
			}
			f.value(v)
		}
	case *ast.FuncLit:
		f.function(x.Body)
	case *ast.BinaryExpr:
		f.binary(x)
	case *ast.CallExpr:
		f.called(x)
	}
}

// binary finds the mutants of an operator except && and ||.
func (f *finder) binary(x *ast.BinaryExpr) {
	a, b := f.describe(x.X), f.describe(x.Y)
	switch x.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.value(x.X)
		if !f.integer(x.X) || f.basic(x.Y) == nil || f.constant(x.Y) != nil {
			f.value(x.Y)
			return
		}
		f.add("bound", x, f.describe(x), a+" "+x.Op.String()+" "+b+" + 1", f.call(x.Y, "Up"))
		f.add("bound", x, f.describe(x), a+" "+x.Op.String()+" "+b+" - 1", f.call(x.Y, "Down"))
		f.value(x.Y)
		return
	case token.AND:
		if !f.isHint(x) {
			f.mutateMask(x, x.Y, a, "All")
		}
		f.mutateMask(x, x.X, b, "All")
		f.plain(x.X)
		if !f.isHint(x) {
			f.plain(x.Y)
		}
		return
	case token.AND_NOT:
		f.swap(x)
		f.mutateMask(x, x.Y, a, "None")
		f.mutateMask(x, x.X, "all &^ "+b, "All")
		f.plain(x.X)
		f.plain(x.Y)
		return
	case token.ADD:
		if f.integer(x) && f.constant(x.Y) == nil {
			f.add("sign", x, f.describe(x), a+" - "+b, f.call(x.Y, "Neg"))
		}
	case token.SUB, token.QUO, token.REM, token.SHL, token.SHR:
		f.swap(x)
	}
	f.value(x.X)
	f.value(x.Y)
}

// isHint reports whether a mask is only a hint for the compiler, which removes a check of bounds.
func (f *finder) isHint(x *ast.BinaryExpr) bool {
	c, ok := ast.Unparen(x.X).(*ast.CallExpr)
	return ok && f.constant(x.Y) != nil && strings.HasPrefix(f.describe(c.Fun), "bits.")
}

// mutateMask records that an operand of a mask operation becomes all bits, or none.
func (f *finder) mutateMask(x *ast.BinaryExpr, operand ast.Expr, rest, helper string) {
	if !f.integer(operand) || !f.hasType(operand) {
		return
	}
	f.add("widen", x, f.describe(x), rest, f.call(operand, helper))
}

// swap records that an operator's operands are exchanged.
func (f *finder) swap(x *ast.BinaryExpr) {
	t := f.typeOf(x.X)
	if t == nil || !f.integer(x.X) || f.constant(x) != nil || !types.Identical(t, f.typeOf(x.Y)) || f.describe(x.X) == f.describe(x.Y) {
		return
	}
	f.exchange(x, x.X, x.Y)
}

// exchange records that two operands of e are exchanged. Operands without side effects are selected separately;
// otherwise the expression is written twice.
func (f *finder) exchange(e, a, b ast.Expr) {
	to := f.text(e.Pos(), a.Pos()) + f.describe(b) + f.text(a.End(), b.Pos()) + f.describe(a) + f.text(b.End(), e.End())
	if f.pure(a) && f.pure(b) {
		name, ok := f.typeName(f.typeOf(a), e.Pos())
		if ok {
			name = "[" + name + "]"
		} else if f.constant(a) != nil || f.constant(b) != nil {
			return
		}
		pick := func(a, b ast.Expr) insertion {
			return around(a, hook+".Pick"+name+"(@@, ", ", "+f.describe(b)+")")
		}
		f.add("swap", e, f.describe(e), to, pick(a, b), pick(b, a))
		return
	}
	if name, ok := f.resultTypes(e); ok {
		f.add("swap", e, f.describe(e), to, around(e, "func() "+name+"{ if "+hook+".On(@@) { return "+to+" }; return ", " }()"))
	}
}

// resultTypes returns the types of an expression's values.
func (f *finder) resultTypes(e ast.Expr) (string, bool) {
	tuple, ok := f.typeOf(e).(*types.Tuple)
	if !ok {
		return f.typeName(f.typeOf(e), e.Pos())
	}
	var list []string
	for v := range tuple.Variables() {
		name, ok := f.typeName(v.Type(), e.Pos())
		if !ok {
			return "", false
		}
		list = append(list, name)
	}
	return "(" + strings.Join(list, ", ") + ")", len(list) > 0
}

// pure reports whether an expression has no side effects.
func (f *finder) pure(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return f.pkg.TypesInfo.Selections[x] == nil || f.pure(x.X)
	case *ast.IndexExpr:
		return f.pure(x.X) && f.pure(x.Index)
	case *ast.StarExpr:
		return f.pure(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && f.pure(x.X)
	case *ast.BinaryExpr:
		return f.pure(x.X) && f.pure(x.Y)
	case *ast.CallExpr:
		fun := f.pkg.TypesInfo.Types[x.Fun]
		if !fun.IsType() && !fun.IsBuiltin() && !strings.HasPrefix(f.describe(x.Fun), "bits.") {
			return false
		}
		for _, a := range x.Args {
			if !f.pkg.TypesInfo.Types[a].IsType() && !f.pure(a) {
				return false
			}
		}
		return true
	}
	return false
}

// called finds the mutants of a call.
func (f *finder) called(x *ast.CallExpr) {
	if f.constant(x) != nil || messages.MatchString(f.describe(x.Fun)) {
		return
	}
	fun := f.pkg.TypesInfo.Types[x.Fun]
	if fun.IsBuiltin() {
		switch f.describe(x.Fun) {
		case "len", "cap", "clear", "new", "delete", "copy", "append":
			for _, a := range x.Args {
				f.mutateParts(a)
			}
			return
		}
	}
	if !fun.IsBuiltin() && !fun.IsType() && !commutative[f.describe(x.Fun)] {
		for i := range len(x.Args) - 1 {
			a, b := x.Args[i], x.Args[i+1]
			if ta := f.typeOf(a); ta != nil && !isUntyped(ta) && types.Identical(ta, f.typeOf(b)) && f.describe(a) != f.describe(b) {
				f.exchange(x, a, b)
			}
		}
	}
	f.mutateParts(x.Fun)
	for _, a := range x.Args {
		f.value(a)
	}
}
