package ptx

// This file builds the body of a function: scopes are flattened, names
// resolved, operands checked against the instruction table.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/spell"
	"gemu/ptx/internal/syntax"
)

// entity is what a name within a function stands for.
type entity struct {
	kind  entityKind
	typ   Type   // of registers
	reg   RegID  // first register
	count int    // of a register range %r<N>: N
	vec   int    // components of a vector register, which are reg, reg+1 …; else 1
	v     *Var   // variable or parameter
	table *Table // label of a table
	block *Block // label
}

type entityKind uint8

const (
	entReg entityKind = iota + 1
	entVar
	entTable
	entLabel
)

// nameScope is a { } of a function.
type nameScope struct {
	parent *nameScope
	names  map[string]entity
	ranges map[string]entity // %r<N> by its prefix
}

func (s *nameScope) lookup(name string) (entity, bool) {
	prefix, n, isRange := splitRange(name)
	for ; s != nil; s = s.parent {
		if e, ok := s.names[name]; ok {
			return e, true
		}
		if isRange {
			if e, ok := s.ranges[prefix]; ok && n < e.count {
				e.reg += RegID(n * e.vec)
				return e, true
			}
		}
	}
	return entity{}, false
}

// splitRange splits "%r12" into "%r" and 12.
func splitRange(name string) (prefix string, n int, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || len(name)-i > 8 || name[i] == '0' && len(name)-i > 1 {
		return name, 0, false
	}
	for _, c := range name[i:] {
		n = 10*n + int(c-'0')
	}
	return name[:i], n, true
}

// funcBuilder builds the body of one function.
type funcBuilder struct {
	*checker
	fn            *Func
	scope         *nameScope
	usedNames     map[string]int  // names of the flattened function, with how many it has of each: x, x$1 …
	ranges        map[string]int  // ranges of registers that it has: of %r<N> by %r, N
	numberedNames map[string]bool // what stands before the number in those of taken that end in one
	cur           *Block
	curLoc        *syntax.Loc // the .loc in force
	curMid        *syntax.Loc // the .loc_intermediate in force since; nil without
	locs          map[Loc]int32
	fixups        []fixup
}

// fixup is a label operand to be resolved when all labels are known.
type fixup struct {
	scope *nameScope
	pos   Pos
	name  string
	op    *Operand // gets Block
	list  **Block  // or an element of a table
}

func newScope(parent *nameScope) *nameScope {
	return &nameScope{parent: parent, names: map[string]entity{}, ranges: map[string]entity{}}
}

func (b *funcBuilder) build(body *syntax.Body) {
	f := b.fn
	b.scope = newScope(newScope(nil))
	b.usedNames, b.ranges, b.numberedNames = map[string]int{}, map[string]int{}, map[string]bool{}
	b.locs = map[Loc]int32{}
	for _, list := range [][]*Var{f.Rets, f.Params} {
		for _, v := range list {
			if _, dup := b.scope.names[v.Name]; dup {
				b.errorf(v.Pos, "parameter %s is declared twice", v.Name)
			}
			switch {
			case v.Space != RegSpace:
				b.addName(v.Name)
				b.scope.names[v.Name] = entity{kind: entVar, v: v}
			default:
				v.Reg = b.newReg(v.Name, v.Type)
				b.scope.names[v.Name] = entity{kind: entReg, reg: v.Reg, vec: 1, typ: v.Type}
			}
		}
	}
	for _, v := range f.vectors {
		first := b.scope.names[component(v.Name, 0)]
		b.enter(v.Pos, v.Name, entity{kind: entReg, reg: first.reg, vec: v.Vec, typ: v.Type})
	}
	b.statics()
	b.startBlock()
	for _, e := range body.Each(b.stmt) {
		b.report(Pos(e.Pos), e.Hint, "%s", e.Msg)
	}
	f.End = Pos(body.End)
	b.resolve()
	for _, blk := range f.Blocks {
		if term := blk.Terminator(); term != nil {
			b.target(term)
		}
	}
	if last := f.Blocks[len(f.Blocks)-1]; len(last.Instrs) == 0 && len(last.Labels) == 0 && len(f.Blocks) > 1 {
		f.Blocks = f.Blocks[:len(f.Blocks)-1]
	}
	if len(b.errs) == 0 {
		f.connect()
	}
}

// target checks what a jump names: a label or a list, as its form wants.
func (b *funcBuilder) target(instr *Instr) {
	for i := range instr.Ops {
		o := &instr.Ops[i]
		switch list := instr.Form.Operands[i].Targets; {
		case o.Kind != LabelOperand:
		case !list && o.Table() != nil:
			b.errorf(instr.Pos, "%s: %s is a list, not a label", instr.Text, o.Table().Name)
		case list && (o.Block() != nil || o.Table() != nil && o.Table().Blocks == nil):
			b.errorf(instr.Pos, "%s: want the name of a .branchtargets list", instr.Text)
		}
	}
}

// statics copies the variables that the module has in .local and .reg space.
func (b *funcBuilder) statics() {
	inner, regs := b.scope, len(b.fn.Regs)
	b.scope = inner.parent
	for _, s := range b.mod.statics {
		if _, dup := inner.names[s.v.Name]; dup {
			b.errorf(s.v.Pos, "%s is a parameter of %s, too", s.v.Name, b.fn.Name)
			continue
		}
		v := *s.v
		if v.Space == RegSpace {
			b.registers(&v, s.d)
		} else {
			b.localVar(&v, s.d)
		}
	}
	b.scope = inner
	for r := regs; r < len(b.fn.Regs); r++ {
		b.fn.staticRegs = append(b.fn.staticRegs, RegID(r))
	}
	b.fn.staticVars = len(b.fn.Vars)
}

func (b *funcBuilder) startBlock() {
	b.cur = &Block{Index: len(b.fn.Blocks)}
	b.fn.Blocks = append(b.fn.Blocks, b.cur)
}

// unique returns the name, altered if the flattened function already uses it.
func (b *funcBuilder) unique(name string) string {
	u := name
	for b.uses(u) || u != name && b.mod.symbols[u] != nil {
		b.usedNames[name] = max(b.usedNames[name], 1)
		u = name + "$" + strconv.Itoa(b.usedNames[name])
		b.usedNames[name]++
	}
	b.addName(u)
	return u
}

// uses reports whether the flattened function has the name.
func (b *funcBuilder) uses(name string) bool {
	if b.usedNames[name] > 0 {
		return true
	}
	prefix, n, ok := splitRange(name)
	return ok && n < b.ranges[prefix]
}

// addName notes a name of the flattened function.
func (b *funcBuilder) addName(name string) {
	b.usedNames[name]++
	if prefix, _, ok := splitRange(name); ok {
		b.numberedNames[prefix] = true
	}
}

// newRange makes the registers of a range, which may be a million.
func (b *funcBuilder) newRange(prefix string, n int, t Type) {
	b.fn.Regs = slices.Grow(b.fn.Regs, n)
	if b.ranges[prefix] > 0 || b.numberedNames[prefix] {
		for i := range n {
			b.newReg(prefix+strconv.Itoa(i), t)
		}
		return
	}
	b.ranges[prefix] = n
	// The names are cut from one text.
	text := make([]byte, 0, n*(len(prefix)+len(strconv.Itoa(n-1))))
	ends := make([]int32, n)
	for i := range n {
		text = strconv.AppendInt(append(text, prefix...), int64(i), 10)
		ends[i] = int32(len(text))
	}
	names, place := string(text), int32(0)
	for _, end := range ends {
		b.fn.Regs = append(b.fn.Regs, Reg{names[place:end], t})
		place = end
	}
}

func (b *funcBuilder) newReg(name string, t Type) RegID {
	b.fn.Regs = append(b.fn.Regs, Reg{b.unique(name), t})
	return RegID(len(b.fn.Regs) - 1)
}

// newVector makes the registers of a vector and returns the first.
func (b *funcBuilder) newVector(name string, t Type, n int) RegID {
	first := RegID(len(b.fn.Regs))
	for i := range n {
		b.newReg(component(name, i), t)
	}
	return first
}

// component is the name of a component of a vector register.
func component(name string, i int) string { return name + "_" + "xyzw"[i:i+1] }

func (b *funcBuilder) enter(pos Pos, name string, e entity) {
	_, dup := b.scope.names[name]
	if prefix, i, ok := splitRange(name); ok && i < b.scope.ranges[prefix].count {
		dup = true
	}
	if dup {
		b.errorf(pos, "%s is declared twice in this scope", name)
		return
	}
	b.scope.names[name] = e
}

// table enters a list of targets or a prototype.
func (b *funcBuilder) table(pos Pos, name string) *Table {
	t := &Table{Pos: pos, Name: b.unique(name)}
	b.enter(pos, name, entity{kind: entTable, table: t})
	b.fn.Tables = append(b.fn.Tables, t)
	return t
}

func (b *funcBuilder) stmt(s syntax.Stmt) {
	if b.full() {
		return
	}
	switch s := s.(type) {
	case *syntax.OpenScope:
		b.scope = newScope(b.scope)
	case *syntax.CloseScope:
		b.scope = b.scope.parent
	case *syntax.Label:
		if len(b.cur.Instrs) > 0 {
			b.startBlock()
		}
		b.enter(Pos(s.Pos), s.Name, entity{kind: entLabel, block: b.cur})
		b.cur.Labels = append(b.cur.Labels, b.unique(s.Name))
	case *syntax.Var:
		b.declaration(s)
	case *syntax.Targets:
		b.targets(s)
	case *syntax.Prototype:
		proto := &Func{Pos: Pos(s.Pos), Name: "_", module: b.mod}
		proto.Rets = b.params(proto, s.Rets)
		proto.Params = b.params(proto, s.Params)
		for _, d := range s.Directives {
			w := strings.Fields(d)
			proto.Directives = append(proto.Directives, FuncDirective{w[0], w[1:]})
		}
		b.table(Pos(s.Pos), s.Name).Proto = proto
	case *syntax.Loc:
		if s.Intermediate {
			if b.curLoc != nil { // it says more of the place that .loc names
				b.curMid = s
			}
			return
		}
		b.curLoc, b.curMid = s, nil
		if s.InlinedAt != nil { // what is inlined there may name it, even if it is in force for no instruction
			b.loc()
		}
	case *syntax.PragmaStmt:
		var p Pragma
		for _, t := range s.Text {
			p = append(p, unquote(t))
		}
		b.fn.Pragmas = append(b.fn.Pragmas, p)
	case *syntax.Instr:
		b.instr(s)
	}
}

// loc is the index in Func.Locs of the .loc in force, -1 if there is none.
func (b *funcBuilder) loc() int32 {
	s := b.curLoc
	if s == nil {
		return -1
	}
	l := Loc{File: s.File, Line: s.Line, Col: s.Col, Function: s.Function}
	if s.InlinedAt != nil {
		l.AtFile, l.AtLine, l.AtCol = s.InlinedAt.File, s.InlinedAt.Line, s.InlinedAt.Col
	}
	if m := b.curMid; m != nil {
		l.MidFile, l.MidLine, l.MidCol = m.File, m.Line, m.Col
	}
	i, ok := b.locs[l]
	if !ok {
		i = int32(len(b.fn.Locs))
		b.locs[l] = i
		b.fn.Locs = append(b.fn.Locs, l)
	}
	return i
}

func (b *funcBuilder) declaration(d *syntax.Var) {
	for i := range d.Names {
		n := &d.Names[i]
		if !d.IsRegister() {
			for _, v := range b.variables(d, i, Internal) {
				b.localVar(v, n)
			}
		} else if v := b.variable(d, i, Internal); v != nil {
			b.registers(v, n)
		}
	}
}

// parameterLists is the first version in which a kernel has a list of parameters. Before, its body
// declares them (manual 11.1.1).
var parameterLists = Version{1, 4}

func (b *funcBuilder) localVar(v *Var, n *syntax.Declarator) {
	switch v.Space {
	case Local, Shared, Param, Global, Const:
	default:
		b.errorf(v.Pos, "%s: want a state space (.reg, .local, .shared, .param …)", v.Name)
		return
	}
	if v.Type.Kind() == Opaque {
		b.errorf(v.Pos, "%s: a %s stands at module level or as a kernel parameter", v.Name, v.Type)
		return
	}
	if v.Space == Param && v.Unbounded() {
		b.errorf(v.Pos, "%s: only a parameter of the function can be that", v.Name)
		return
	}
	b.enter(v.Pos, v.Name, entity{kind: entVar, v: v})
	v.Name = b.unique(v.Name)
	if b.fn.Entry && v.Space == Param && n.Init == nil && b.mod.Version.Less(parameterLists) {
		b.fn.Params = append(b.fn.Params, v)
		return
	}
	b.fn.Vars = append(b.fn.Vars, v)
	if n.Init != nil {
		b.initialiser(v, n.Init, b.scope)
	}
}

// maxRegs bounds the registers of a function, which a single line can declare any
// number of.
const maxRegs = 1 << 20

func (b *funcBuilder) registers(v *Var, n *syntax.Declarator) {
	switch {
	case n.Init != nil:
		b.errorf(v.Pos, "%s: a register has no initialiser", v.Name)
		return
	case len(b.fn.Regs)+max(n.Count, 1)*v.Vec > maxRegs:
		b.errorf(v.Pos, "%s: more than %d registers in a function", v.Name, maxRegs)
		b.broken[v.Name] = true
		return
	}
	e := entity{kind: entReg, vec: v.Vec, typ: v.Type, reg: RegID(len(b.fn.Regs))}
	if !n.Range {
		b.enter(v.Pos, v.Name, e)
		b.declareReg(v, v.Name)
		return
	}
	if _, dup := b.scope.ranges[v.Name]; dup {
		b.errorf(v.Pos, "%s<%d> is declared twice in this scope", v.Name, n.Count)
		return
	}
	for name := range b.scope.names {
		if prefix, i, ok := splitRange(name); ok && prefix == v.Name && i < n.Count {
			b.errorf(v.Pos, "%s<%d> has %s, which is declared in this scope", v.Name, n.Count, name)
			return
		}
	}
	e.count = n.Count
	if v.Vec == 1 {
		b.newRange(v.Name, n.Count, v.Type)
	} else {
		for j := range n.Count {
			b.declareReg(v, v.Name+strconv.Itoa(j))
		}
	}
	b.scope.ranges[v.Name] = e
}

// declareReg makes the register of a name, or the registers of a vector's
// components.
func (b *funcBuilder) declareReg(v *Var, name string) {
	if v.Vec > 1 {
		b.newVector(name, v.Type, v.Vec)
	} else {
		b.newReg(name, v.Type)
	}
}

func (b *funcBuilder) targets(s *syntax.Targets) {
	t := b.table(Pos(s.Pos), s.Name)
	if s.Kind == ".branchtargets" {
		t.Blocks = make([]*Block, len(s.Names))
		for i, n := range s.Names {
			b.fixups = append(b.fixups, fixup{scope: b.scope, pos: Pos(s.Pos), name: n, list: &t.Blocks[i]})
		}
		return
	}
	for _, n := range s.Names {
		f, ok := b.mod.symbols[n].(*Func)
		if !ok {
			if !b.broken[n] {
				b.report(Pos(s.Pos), spell.Nearest(n, b.symbolNames()), ".calltargets: %s is not a function", n)
			}
			continue
		}
		t.Funcs = append(t.Funcs, f)
	}
}

// resolve binds label operands.
func (b *funcBuilder) resolve() {
	for _, f := range b.fixups {
		if b.full() {
			return
		}
		e, ok := f.scope.lookup(f.name)
		switch {
		case ok && e.kind == entLabel && e.block != nil:
			if f.list != nil {
				*f.list = e.block
			} else {
				f.op.extra().block = e.block
			}
		case ok && e.kind == entTable:
			b.errorf(f.pos, "list %s stands behind its use", f.name)
		default:
			var labels []string
			for s := f.scope; s != nil; s = s.parent {
				for n, e := range s.names {
					if e.kind == entLabel || e.kind == entTable {
						labels = append(labels, n)
					}
				}
			}
			slices.Sort(labels)
			b.unknown(f.pos, "unknown label", f.name, spell.Nearest(f.name, labels))
		}
	}
}

// operandSlab is memory that many small things of a module are cut from.
type operandSlab[T any] struct {
	free []T
	size int // of the last piece
}

// cut gives room for n things.
func (s *operandSlab[T]) cut(n int) []T {
	if len(s.free) < n {
		s.size = min(max(2*s.size, 64), 2048)
		s.free = make([]T, max(n, s.size))
	}
	list := s.free[:n:n]
	s.free = s.free[n:]
	return list
}

func (b *funcBuilder) newInstr() *Instr { return &b.instrs.cut(1)[0] }

func (b *funcBuilder) newOps(n int) []Operand { return b.ops.cut(n) }

func (b *funcBuilder) instr(s *syntax.Instr) {
	v, oerr := lookupVariant(s.Op)
	if oerr == nil && !b.mod.supports(v.Form) {
		_, oerr = resolveVariant(s.Op, b.mod.supports)
	}
	if oerr != nil {
		b.report(Pos(s.Pos), oerr.hint, "%s", oerr.msg)
		return
	}
	instr := b.newInstr()
	*instr = Instr{Variant: v, Pos: Pos(s.Pos), Loc: b.loc(), Guard: Guard{Reg: NoReg}}
	if s.Guard != "" {
		e, ok := b.scope.lookup(s.Guard)
		switch {
		case !ok:
			b.unknown(Pos(s.GuardPos), "unknown predicate", s.Guard, b.nearestName(s.Guard))
			return
		case e.kind != entReg || e.typ != Pred || e.vec > 1:
			b.errorf(Pos(s.GuardPos), "guard %s is not a predicate register", s.Guard)
			return
		}
		instr.Guard = Guard{e.reg, s.GuardNot}
	}
	var ok bool
	if v.Form.Effects.HasAll(Calls) {
		ok = b.call(instr, s)
	} else {
		ok = b.operands(instr, s)
	}
	if !ok {
		return
	}
	if msg := checkRules(b.fn, instr); msg != "" {
		b.errorf(Pos(s.Pos), "%s: %s", v.Text, msg)
		return
	}
	switch {
	case v.Form.Family == FamilyMove && v.VecLen() > 1:
		b.moveVector(instr)
		return
	case v.Type() == Pred && v.Form.Effects.HasAll(Pure), v.Form.Affine == AffineSelect, v.Form.Family == FamilyAsync:
		b.complement(instr)
	}
	b.cur.Instrs = append(b.cur.Instrs, instr)
	if instr.EndsBlock() {
		b.startBlock()
	}
}

// emit adds an instruction that stands for part of in, under its guard.
func (b *funcBuilder) emit(instr *Instr, opcode string, ops ...Operand) {
	v, err := lookupVariant(opcode)
	if err != nil {
		panic("BUG: " + opcode + ": " + err.msg)
	}
	part := b.newInstr()
	*part = Instr{Variant: v, Pos: instr.Pos, Loc: instr.Loc, Guard: instr.Guard, Ops: ops}
	b.cur.Instrs = append(b.cur.Instrs, part)
}

// moveVector adds a mov of vectors as movs of their elements, which go through
// registers of their own, for the vectors may overlap.
func (b *funcBuilder) moveVector(instr *Instr) {
	opcode, t := "mov"+instr.Type().String(), instr.Type()
	d, a := instr.Ops[0].Elems(), instr.Ops[1].Elems()
	if a == nil { // a constant or an address: the other elements are zero
		a = make([]Operand, len(d))
		zero := Imm{Kind: IntImm}.convert(t)
		for i := range a {
			a[i] = Operand{Kind: ImmOperand, Imm: zero}
		}
		a[0] = instr.Ops[1]
	}
	first := len(b.fn.Regs)
	for range d {
		b.newReg("%move", t)
	}
	for i := range d {
		if a[i].Kind == SinkOperand {
			a[i] = Operand{Kind: ImmOperand, Imm: Imm{Kind: IntImm}.convert(t)}
		}
		b.emit(instr, opcode, Operand{Kind: RegOperand, Reg: RegID(first + i)}, a[i])
	}
	for i := range d {
		if d[i].Kind != SinkOperand {
			b.emit(instr, opcode, d[i], Operand{Kind: RegOperand, Reg: RegID(first + i)})
		}
	}
}

// complement replaces what logic on predicates or a choice by one negates, !p, by registers that
// hold it.
func (b *funcBuilder) complement(instr *Instr) {
	for i := range instr.Ops {
		o := &instr.Ops[i]
		if !o.Neg {
			continue
		}
		r := b.newReg("%not", Pred)
		b.emit(instr, "not.pred", Operand{Kind: RegOperand, Reg: r}, Operand{Kind: RegOperand, Reg: o.Reg})
		*o = Operand{Kind: RegOperand, Reg: r}
	}
}

// plus replaces a register by one that holds the sum of it and a constant: the
// assembler takes %r+4 wherever it takes %r.
func (b *funcBuilder) plus(o *Operand, instr *Instr, offset int64) bool {
	t := b.fn.Regs[o.Reg].Type
	sum := map[int]Type{16: U16, 32: U32, 64: U64}[t.Bits()]
	if sum == NoType || t.IsFloat() {
		return false
	}
	r := b.newReg("%sum", t)
	b.emit(instr, "add"+sum.String(), Operand{Kind: RegOperand, Reg: r}, *o, Operand{Kind: ImmOperand, Imm: Imm{IntImm, uint64(offset)}})
	o.Reg = r
	return true
}

// operands places what is written in the operand list of the form.
func (b *funcBuilder) operands(instr *Instr, s *syntax.Instr) bool {
	specs := instr.Form.Operands
	// d|p counts as two.
	written := make([]*syntax.Operand, 0, 8)
	for i := range s.Operands {
		o := &s.Operands[i]
		written = append(written, o)
		paired := len(specs) > len(written) && specs[len(written)].Pair
		switch {
		case o.PairWith != nil && !paired:
			b.errorf(Pos(o.PairWith.Pos), "%s: operand %d is no pair", instr.Text, i+1)
			return false
		case o.PairWith != nil && o.Sym == "_" && o.PairWith.Sym == "_":
			b.errorf(Pos(o.Pos), "%s: one of a pair must be a register", instr.Text)
			return false
		case o.PairWith != nil:
			written = append(written, o.PairWith)
		case paired && !specs[len(written)].Optional:
			b.errorf(Pos(o.Pos), "%s: operand %d must be a pair a|b", instr.Text, i+1)
			return false
		case paired:
			written = append(written, nil)
		}
	}
	if b.mod.Version.Less(bracketsRequired) {
		written = bracketed(specs, written)
	}
	places := instr.place(specs, written)
	if places == nil {
		b.errorf(Pos(s.Pos), "%s: %d operands, want %s", instr.Text, len(s.Operands), operandList(instr.Form))
		return false
	}
	instr.Ops = b.newOps(len(specs))
	ok := true
	for i, at := range places {
		if at < 0 || written[at] == nil {
			continue
		}
		if w := written[at]; !b.operand(&instr.Ops[i], w, instr, &specs[i], instr.OperandType(i)) {
			ok = false
		}
	}
	return ok
}

// bracketsRequired is the first version in which an address stands in brackets.
var bracketsRequired = Version{1, 2}

// bracketed puts names that stand for addresses in brackets, which old versions leave out: a
// texture together with its coordinates, which are the next operand (manual 9.7.10.3).
func bracketed(specs []OperandSpec, written []*syntax.Operand) []*syntax.Operand {
	var list []*syntax.Operand
	for remaining := written; len(remaining) > 0; {
		w, i := remaining[0], len(list)
		remaining = remaining[1:]
		if i < len(specs) && specs[i].Address && w != nil && w.Kind == syntax.Name && !w.Element && w.Index == "" {
			address := *w
			address.Kind = syntax.Address
			if w = &address; len(specs[i].AddressParts) > 0 && len(remaining) > 0 && remaining[0] != nil {
				address.Elems = []syntax.Operand{*remaining[0]}
				remaining = remaining[1:]
			}
		}
		list = append(list, w)
	}
	return list
}

// place finds for each operand of a list what is written for it: its index, -1 for an
// optional one that is left out; nil if there are too few or too many. Operands that go
// with a modifier stand where it does; other optional ones are filled from the left,
// vectors with vectors unless all are there.
func (v *Variant) place(specs []OperandSpec, written []*syntax.Operand) []int {
	spare := len(written)
	for i := range specs {
		if o := &specs[i]; !o.Optional || o.Pair || v.HasModifierOf(o) {
			spare--
		}
	}
	if spare < 0 {
		return nil
	}
	free := 0 // optional operands that go with no modifier
	for i := range specs {
		if o := &specs[i]; o.Optional && !o.Pair && o.requires == "" {
			free++
		}
	}
	places := make([]int, len(specs))
	next := 0
	for i := range specs {
		o := &specs[i]
		take := true
		switch {
		case !o.Optional || o.Pair:
		case o.requires != "":
			take = v.HasModifierOf(o)
		default:
			if take = spare > 0 && (spare == free || written[next] != nil && o.mayBe(written[next].Kind)); take {
				spare--
			}
			free--
		}
		places[i] = -1
		if take {
			places[i] = next
			next++
		}
	}
	if next < len(written) {
		return nil
	}
	return places
}

// mayBe reports whether an optional operand can be of the kind that is written.
func (o *OperandSpec) mayBe(kind syntax.OperandKind) bool {
	return (kind == syntax.Vector) == o.Vector && (kind != syntax.Address || o.Address)
}

// operand checks one operand against its spec.
func (b *funcBuilder) operand(o *Operand, w *syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	pos := Pos(w.Pos)
	fail := func(format string, args ...any) bool {
		b.errorf(pos, "%s: %s", instr.Text, fmt.Sprintf(format, args...))
		return false
	}
	if spec.Label {
		if w.Kind != syntax.Name || w.Const.Bits != 0 || w.Element || w.Index != "" || w.Not || w.Minus {
			return fail("operand %s must be a label", spec.Name)
		}
		o.Kind = LabelOperand
		if e, ok := b.scope.lookup(w.Sym); ok && e.kind == entTable {
			o.extra().table = e.table
			return true
		}
		b.fixups = append(b.fixups, fixup{scope: b.scope, pos: pos, name: w.Sym, op: o})
		return true
	}
	if a := spec.Alt; a != nil && (w.Kind == syntax.Vector && a.Vector && (!spec.Vector || b.holds(w, instr.specType(a))) || w.Kind == syntax.Address && a.Address) {
		spec, want = a, instr.specType(a)
	}
	if w.Not || w.Minus {
		if !spec.Negate || w.Not != (want == Pred || want == NoType) {
			return fail("operand %s cannot be negated", spec.Name)
		}
		o.Neg = true
	}
	switch w.Kind {
	case syntax.Address:
		if !spec.Address {
			return fail("operand %s is not an address", spec.Name)
		}
		return b.address(o, w, instr, spec)
	case syntax.Vector:
		if !spec.Vector {
			return fail("operand %s is not a vector", spec.Name)
		}
		if !b.vector(o, w, instr, spec, want) {
			return false
		}
		if spec.single() {
			*o = o.Elems()[0] // {a} is a
		}
		return true
	case syntax.List:
		return fail("unexpected list")
	}
	switch {
	case w.Index != "" || spec.Address && w.Element: // an array element stands for its address
		if !spec.Address {
			return fail("operand %s: %s[%s] stands only where memory is accessed", spec.Name, w.Sym, w.Index)
		}
		return b.address(o, w, instr, spec)
	case spec.Address:
		return fail("operand %s must be an address in brackets", spec.Name)
	}
	if w.Kind == syntax.Number {
		if spec.Writes() {
			return fail("operand %s is a destination, not a constant", spec.Name)
		}
		if k := spec.count.kind; spec.Vector && !spec.single() && instr.Form.Family != FamilyMove && k != countAny && (k != countVec || instr.VecLen() > 1) {
			return fail("operand %s must be a vector {…}", spec.Name)
		}
		o.Kind, o.Imm = ImmOperand, immOf(w.Const)
		switch {
		case spec.Register:
			return fail("operand %s must be a register", spec.Name)
		case spec.Const && o.Imm.Kind != IntImm:
			return fail("operand %s is a float, want an integer", spec.Name)
		case !spec.allows(o.Imm):
			return fail("operand %s must be %s", spec.Name, spec.Only)
		}
		return b.immediate(o, instr, spec, want, pos)
	}
	// A name.
	if w.Sym == "_" {
		switch {
		case spec.Reads() && !(spec.element && instr.omitsType(want)):
			return fail("the sink _ cannot be a source")
		case !spec.Sink:
			return fail("operand %s cannot be the sink _", spec.Name)
		}
		o.Kind = SinkOperand
		return true
	}
	if spec.Const {
		return fail("operand %s must be a constant", spec.Name)
	}
	return b.name(o, w, instr, spec, want)
}

// holds reports whether the first element of a vector is a register as wide as the type.
func (b *funcBuilder) holds(w *syntax.Operand, t Type) bool {
	if len(w.Elems) == 0 || w.Elems[0].Kind != syntax.Name {
		return false
	}
	e, found := b.scope.lookup(w.Elems[0].Sym)
	return found && e.kind == entReg && e.typ.Bits() == t.Bits()
}

// omitsType reports whether elements of a source may be the sink: st.v8 and its like leave those
// parts of memory as they are, and mov.b32 has zeros there, which the assembler takes and the manual
// does not mention.
func (v *Variant) omitsType(element Type) bool {
	return v.Form.Effects.HasAll(Writes) && v.VecLen()*element.Bits() == 256 || v.Form.Family == FamilyMove && v.Type() == B32
}

// immediate checks a constant. Integers of any size may stand for an integer,
// being cut to its size, and for a predicate (manual 4.5.1, 4.5.3).
func (b *funcBuilder) immediate(o *Operand, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	isInt := o.Imm.Kind == IntImm
	switch {
	case want == NoType:
	case want == Pred:
		if !isInt {
			b.errorf(pos, "%s: operand %s is a float, want a predicate", instr.Text, spec.Name)
			return false
		}
		o.Imm.Bits = min(o.Imm.Bits, 1)
	case instr.elementType(spec).packed() && !spec.element:
		b.errorf(pos, "%s: operand %s: a constant is no %s", instr.Text, spec.Name, instr.elementType(spec))
		return false
	case !isInt && spec.typ.Kind() == Bits && spec.typ != NoType && !spec.element:
		b.errorf(pos, "%s: operand %s is a float, want an integer", instr.Text, spec.Name)
		return false
	case !isInt && want.Kind() == Bits && want.Bits() >= 32 && want.Bits() != map[ImmKind]int{F32Imm: 32, F64Imm: 64}[o.Imm.Kind]:
		b.errorf(pos, "%s: operand %s: a float of another width than %s", instr.Text, spec.Name, want)
		return false
	case isInt && want.IsFloat():
		b.errorf(pos, "%s: operand %s is an integer, want a float such as %d.0", instr.Text, spec.Name, int64(o.Imm.Bits))
		return false
	case !isInt && want.IsInt():
		b.errorf(pos, "%s: operand %s is a float, want %s", instr.Text, spec.Name, want)
		return false
	case !isInt && want.Bits() < 32:
		b.errorf(pos, "%s: operand %s: a float constant has 32 or 64 bits, want %s", instr.Text, spec.Name, want)
		return false
	}
	return true
}

// name resolves a register, a special register, or the address of a variable
// or function.
func (b *funcBuilder) name(o *Operand, w *syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	pos := Pos(w.Pos)
	name := w.Sym
	e, ok := b.scope.lookup(name)
	comp := ""
	if !ok {
		if sr, isSreg := sregByName[name]; isSreg {
			if w.Const.Bits != 0 {
				b.errorf(pos, "%s: a special register takes no offset", instr.Text)
				return false
			}
			return b.special(o, sr, instr, spec, want, pos)
		}
		if x, isVector := sregByName[name+".x"]; isVector {
			return b.specialVector(o, x, instr, spec, want, pos)
		}
		if base, c, found := strings.Cut(name, "."); found {
			e, ok = b.scope.lookup(base)
			comp = c
			name = base
		}
	}
	if ok && e.kind == entReg {
		if !b.register(o, name, comp, e, instr, spec, want, pos) {
			return false
		}
		if w.Element || w.Const.Bits != 0 && (comp != "" || spec.element || spec.NoSum || spec.Writes() || o.Kind != RegOperand || !b.plus(o, instr, int64(w.Const.Bits))) {
			b.errorf(pos, "%s: %s takes no offset here", instr.Text, name)
			return false
		}
		return true
	}
	if comp != "" && ok {
		b.errorf(pos, "%s: %s has no component .%s", instr.Text, name, comp)
		return false
	}
	var sym Symbol
	switch {
	case ok && e.kind == entVar:
		sym = e.v
	case ok:
		b.errorf(pos, "%s: label %s cannot be operand %s", instr.Text, name, spec.Name)
		return false
	default:
		sym = b.mod.symbols[name]
	}
	if sym == nil {
		b.unknown(pos, instr.Text+": unknown name", name, b.nearestName(name))
		return false
	}
	if spec.Writes() {
		b.errorf(pos, "%s: operand %s is a destination, %s is not a register", instr.Text, spec.Name, name)
		return false
	}
	// The address of a variable or function.
	if !spec.Symbol {
		b.errorf(pos, "%s: operand %s must be in a register, not the address of %s", instr.Text, spec.Name, name)
		return false
	}
	if want != NoType && (want.Bits() < 32 || want.IsFloat()) {
		b.errorf(pos, "%s: the address of %s does not fit in %s", instr.Text, name, want)
		return false
	}
	switch _, isVar := sym.(*Var); {
	case w.Element && !isVar:
		b.errorf(pos, "%s: %s is no array", instr.Text, name)
		return false
	case w.Const.Bits != 0 && !isVar:
		b.errorf(pos, "%s: the address of function %s takes no offset", instr.Text, name)
		return false
	case spec.element && spec != &callOperand:
		b.errorf(pos, "%s: an element of a vector is a register or a number, not the address of %s", instr.Text, name)
		return false
	}
	o.Kind, o.Imm.Bits = SymOperand, uint64(offset(sym, &w.Expr))
	o.extra().sym = sym
	return true
}

// special checks the use of a special register: mov and cvt read them (manual
// chapter 10).
func (b *funcBuilder) special(o *Operand, r SpecialReg, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	o.Kind, o.SReg = SRegOperand, r
	t := r.Type()
	// PTX 1.x had 16-bit special registers where there are 32-bit ones now.
	narrow := want.Bits() == 16 && t == U32 || want.Bits() == 32 && r == GridID
	switch {
	case spec.Writes():
		b.errorf(pos, "%s: special register %s is read-only", instr.Text, r)
	case instr.Op.Name != "mov" && instr.Op.Name != "cvt":
		b.errorf(pos, "%s: operand %s: only mov and cvt read a special register, want %s in a register", instr.Text, spec.Name, r)
	case !narrow && !want.agrees(t, false):
		b.errorf(pos, "%s: %s is %s, want %s", instr.Text, r, t, want)
	case r.PerCTAMemory() && b.fn.Entry && !b.fn.has(".minperctamemory"):
		b.errorf(pos, "%s: a kernel that reads %s needs the directive .minperctamemory", instr.Text, r)
	default:
		return true
	}
	return false
}

// specialVector reads %tid and its like as a whole, which mov.v4 does.
func (b *funcBuilder) specialVector(o *Operand, x SpecialReg, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	if instr.Form.Family != FamilyMove || instr.VecLen() != 4 {
		b.errorf(pos, "%s: a special register of four components, want one of them or mov.v4", instr.Text)
		return false
	}
	o.Kind = VecOperand
	elems := b.newOps(4)
	o.extra().elems = elems
	for i, r := range []SpecialReg{x, x + 1, x + 2, ZeroReg} {
		if !b.special(&elems[i], r, instr, spec, want, pos) {
			return false
		}
	}
	return true
}

func (b *funcBuilder) register(o *Operand, name, comp string, e entity, instr *Instr, spec *OperandSpec, want Type, pos Pos) bool {
	reg := e.reg
	switch {
	case e.vec > 1 && comp == "":
		if !spec.Vector {
			b.errorf(pos, "%s: %s is a vector register, want one of its components", instr.Text, name)
			return false
		}
		if spec.count.kind == countVec && want != NoType && !want.agrees(e.typ, spec.Wider) {
			b.errorf(pos, "%s: %s has elements of type %s, want %s", instr.Text, name, e.typ, want)
			return false
		}
		if spec.padded() && !(e.typ.Bits() == 32 && (want.IsFloat() || !e.typ.IsFloat())) {
			b.errorf(pos, "%s: %s has elements of type %s, want %s", instr.Text, name, e.typ, want)
			return false
		}
		o.Kind = VecOperand
		elems := b.newOps(e.vec)
		for i := range e.vec {
			elems[i] = Operand{Kind: RegOperand, Reg: reg + RegID(i)}
		}
		o.extra().elems = elems
		return b.vectorLen(len(elems), instr, spec, pos)
	case e.vec > 1:
		i := slices.Index([]string{"x", "y", "z", "w"}, comp)
		if i < 0 {
			i = slices.Index([]string{"r", "g", "b", "a"}, comp)
		}
		if i < 0 || i >= e.vec {
			b.errorf(pos, "%s: %s has no component .%s", instr.Text, name, comp)
			return false
		}
		reg += RegID(i)
	case comp != "":
		if !spec.Selector || !isSelector(comp) {
			b.errorf(pos, "%s: %s has no component .%s", instr.Text, name, comp)
			return false
		}
		o.extra().sel = comp
	}
	o.Kind, o.Reg = RegOperand, reg
	if spec.Vector {
		if n, _ := instr.Count(spec); n > 1 || spec.braced() {
			b.errorf(pos, "%s: operand %s must be a vector {…} of %d", instr.Text, spec.Name, n)
			return false
		}
	}
	if !spec.element && !instr.acceptsType(spec, want, e.typ) {
		b.errorf(pos, "%s: %s is %s, %s", instr.Text, name, e.typ, instr.wanted(spec, want))
		return false
	}
	return true
}

// wanted says what registers takes wants.
func (v *Variant) wanted(o *OperandSpec, want Type) string {
	switch t := v.fragmentType(o); {
	case o.Integer:
		return "want an integer of 32 or 64 bits"
	case t != NoType:
		return fmt.Sprintf("for %s want an untyped register", t)
	}
	return "want " + want.String()
}

// isSelector reports whether s chooses bytes or halves: b0 … b3, h1, b3210, h10 …
// (manual 9.7.18).
func isSelector(s string) bool {
	return len(s) >= 2 && (s[0] == 'b' || s[0] == 'h') && strings.Trim(s[1:], "01234567") == ""
}

// vectorLen checks the number of registers in a vector.
func (b *funcBuilder) vectorLen(n int, instr *Instr, spec *OperandSpec, pos Pos) bool {
	if list := instr.lengths(spec); !slices.Contains(list, n) {
		want := strconv.Itoa(list[0])
		if spec.padded() {
			for i, more := range list[1:] {
				want += []string{", ", " or "}[(i+2)/len(list)] + strconv.Itoa(more)
			}
		}
		b.errorf(pos, "%s: vector of %d, want %s", instr.Text, n, want)
		return false
	}
	return true
}

func (b *funcBuilder) vector(o *Operand, w *syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	pos := Pos(w.Pos)
	if !b.vectorLen(len(w.Elems), instr, spec, pos) {
		return false
	}
	elem := want
	if spec.count.kind == countAny && instr.Form.Family == FamilyMove && want.Bits()%max(len(w.Elems), 1) == 0 && want != NoType {
		elem = bitsOf(want.Bits() / max(len(w.Elems), 1)) // mov packs and unpacks
	}
	o.Kind = VecOperand
	elems := b.newOps(len(w.Elems))
	o.extra().elems = elems
	inner := *spec
	inner.Vector, inner.Sink, inner.element = false, true, true
	index, n := inner, instr.indices(spec)
	index.typ, index.slot = U32, ""
	used := instr.coordinates(spec, len(w.Elems))
	ok := true
	if !slices.ContainsFunc(w.Elems, func(e syntax.Operand) bool { return e.Kind != syntax.Name || e.Sym != "_" }) {
		b.errorf(pos, "%s: a vector of nothing but sinks", instr.Text)
		return false
	}
	for i := range w.Elems {
		e, single, t := &w.Elems[i], &inner, elem
		switch {
		case i < n:
			single, t = &index, U32
		case i >= used: // ignored
			t = NoType
		}
		if !b.operand(&elems[i], e, instr, single, t) || i < n && !b.packElements(elems[i:i+1], w.Elems[i:], instr, single, t) {
			ok = false
		}
	}
	return ok && b.packElements(elems[n:], w.Elems[n:], instr, spec, elem)
}

// packElements checks the types of the registers in a vector. They make one type, which has to
// agree with what is wanted: that of all, or an untyped one of their width. The manual does not
// say how they do; this is what the assembler takes, which moves integers as floats, too, but for .bf16. A number
// is an integer or a float, as it is written. Alone it is that in a fragment, and in what else tensor
// cores have in untyped registers.
func (b *funcBuilder) packElements(elems []Operand, written []syntax.Operand, instr *Instr, spec *OperandSpec, want Type) bool {
	bits := 0 // of the registers
	for i := range elems {
		if t := registerOf(b.fn, &elems[i]); t != NoType {
			bits = t.Bits()
			break
		}
	}
	var all, first, last Type
	integers := false // written as numbers
	pos := Pos(written[0].Pos)
	for i := range elems {
		t, name := registerOf(b.fn, &elems[i]), written[i].Sym
		if imm := elems[i].Imm; elems[i].Kind == ImmOperand {
			t, name = imm.typeBeside(bits), "a number"
			integers = integers || imm.Kind == IntImm
		}
		switch {
		case t == NoType:
			continue
		case all == NoType:
			all, first = t, t
		case !last.overlaps(t):
			b.errorf(Pos(written[i].Pos), "%s: %s is %s, beside %s", instr.Text, name, t, last)
			return false
		case t != all:
			all = bitsOf(t.Bits())
		}
		last = t
	}
	fragment := spec.count.kind == countFragment
	if bits == 0 {
		written := func(e Operand) bool { return e.Kind == ImmOperand && (want != F32 || e.Imm.Kind == F64Imm) }
		inFragment := fragment && (instr.fragmentType(spec) != NoType || want == F32) && slices.ContainsFunc(elems, written)
		wmma4 := instr.Form.Family == FamilyWmma && instr.elementType(spec).Bits() == 4 // which the assembler takes
		if inFragment || integers && want == B32 && instr.Form.Class == ClassTensor && !wmma4 {
			b.errorf(pos, "%s: operand %s: numbers alone are no %s", instr.Text, spec.Name, instr.elementType(spec))
			return false
		}
		return true
	}
	moves := spec.count.kind == countVec && instr.Form.Effects.Any(Reads|Writes) || spec.count.slot == "geom" || fragment && instr.Form.Family == FamilyMma && want == F64
	if moves && want.IsFloat() && want != BF16 && all.IsInt() && all.Bits() == want.Bits() || instr.acceptsType(spec, want, all) {
		return true
	}
	i := slices.IndexFunc(elems, func(e Operand) bool { return registerOf(b.fn, &e) != NoType })
	b.errorf(Pos(written[i].Pos), "%s: %s is %s, %s", instr.Text, written[i].Sym, first, instr.wanted(spec, want))
	return false
}

// typeBeside is the type of a number beside registers of so many bits, or 0 beside none.
func (i Imm) typeBeside(bits int) Type {
	list := []Type{S8, S16, S32, S64}
	if i.Kind != IntImm {
		list = []Type{F32, F64}
	}
	for _, t := range list {
		if t.Bits() == bits || t.Bits() == 32 && bits == 0 {
			return t
		}
	}
	return bitsOf(bits)
}

// address resolves [base+offset].
func (b *funcBuilder) address(o *Operand, w *syntax.Operand, instr *Instr, spec *OperandSpec) bool {
	pos := Pos(w.Pos)
	o.Kind, o.Reg, o.Imm.Bits, o.Unified = AddrOperand, NoReg, w.Const.Bits, w.Selector == ".unified"
	if w.Selector != "" && !o.Unified {
		b.errorf(pos, "%s: unknown suffix %s of an address", instr.Text, w.Selector)
		return false
	}
	if w.Const.Kind >= syntax.F32 {
		b.errorf(pos, "%s: a float is not an address", instr.Text)
		return false
	}
	if w.Kind == syntax.Address && (w.Element || w.Index != "") {
		b.errorf(pos, "%s: an element %s[…] is an address without brackets around it", instr.Text, w.Sym)
		return false
	}
	space := instr.SpaceOf(spec)
	if w.Sym == "" && space != Local {
		b.errorf(pos, "%s: a number is an address only in .local space", instr.Text)
		return false
	}
	ok := true
	if w.Index != "" {
		if o.Reg, ok = b.addressRegister(w.Index, instr, pos); !ok {
			return false
		}
	}
	if w.Sym != "" {
		e, found := b.scope.lookup(w.Sym)
		switch {
		case found && e.kind == entReg && !w.Element && w.Index == "":
			if o.Reg, ok = b.addressRegister(w.Sym, instr, pos); !ok {
				return false
			}
			if t := b.fn.Regs[o.Reg].Type; spec.Base != NoType && t != spec.Base && !(spec.Base.IsInt() && spec.Base.agrees(t, false)) {
				b.errorf(pos, "%s: %s is %s, want %s as the address", instr.Text, w.Sym, t, spec.Base)
				return false
			}
		case spec.Base != NoType && (found && e.kind == entVar || !found && b.mod.symbols[w.Sym] != nil):
			b.errorf(pos, "%s: operand %s must be in a register, not the address of %s", instr.Text, spec.Name, w.Sym)
			return false
		case found && e.kind == entVar:
			o.extra().sym = e.v
		case !found && b.mod.symbols[w.Sym] != nil:
			o.extra().sym = b.mod.symbols[w.Sym]
		case found:
			b.errorf(pos, "%s: %s is no variable", instr.Text, w.Sym)
			return false
		default:
			b.unknown(pos, instr.Text+": unknown name", w.Sym, b.nearestName(w.Sym))
			return false
		}
		v, isVar := o.Sym().(*Var)
		if !isVar && (w.Element || w.Index != "") {
			b.errorf(pos, "%s: %s is no array", instr.Text, w.Sym)
			return false
		}
		if _, isFunc := o.Sym().(*Func); isFunc {
			b.errorf(pos, "%s: %s is a function, not memory", instr.Text, w.Sym)
			return false
		}
		if isVar && instr.Form.Class == ClassTexture && v.Type.Kind() != Opaque {
			b.errorf(pos, "%s: %s is no texture, sampler or surface", instr.Text, w.Sym)
			return false
		}
		if isVar {
			valid := space == v.Space || space == Param && v.Space == Local
			if space == Generic {
				valid = v.Space == Global || v.Space == Shared || v.Space == Local || v.Type.Kind() == Opaque
			}
			if !valid {
				b.errorf(pos, "%s: %s is in .%s space", instr.Text, w.Sym, v.Space)
				return false
			}
			o.Imm.Bits = uint64(offset(v, &w.Expr))
		}
	}
	if len(w.Elems) == 0 && len(spec.AddressParts) == 0 {
		return ok
	}
	parts := make([]*syntax.Operand, len(w.Elems))
	for i := range parts {
		parts[i] = &w.Elems[i]
	}
	places := instr.place(spec.AddressParts, parts)
	if places == nil {
		b.errorf(pos, "%s: an address of %d parts, want %s", instr.Text, 1+len(parts), spec)
		return false
	}
	elems := b.newOps(len(parts))
	o.extra().elems = elems
	for i, at := range places {
		part := &spec.AddressParts[i]
		if at >= 0 && !b.operand(&elems[at], parts[at], instr, part, instr.specType(part)) {
			ok = false
		}
	}
	return ok
}

// addressRegister finds a register that can hold an address.
func (b *funcBuilder) addressRegister(name string, instr *Instr, pos Pos) (RegID, bool) {
	e, found := b.scope.lookup(name)
	switch {
	case !found && b.mod.symbols[name] == nil:
		b.unknown(pos, instr.Text+": unknown name", name, b.nearestName(name))
	case e.kind != entReg:
		b.errorf(pos, "%s: %s is no register", instr.Text, name)
	case e.vec > 1 || !e.typ.holdsAddress():
		b.errorf(pos, "%s: %s (%s) cannot hold an address", instr.Text, name, e.typ)
	case instr.Form.Class == ClassTexture && e.typ.Bits() != 64:
		b.errorf(pos, "%s: %s (%s) cannot hold a texture, sampler or surface", instr.Text, name, e.typ)
	default:
		return e.reg, true
	}
	return NoReg, false
}

// nearestName suggests a name in sight.
func (b *funcBuilder) nearestName(name string) string {
	var names []string
	for s := b.scope; s != nil; s = s.parent {
		for n := range s.names {
			names = append(names, n)
		}
		for p, e := range s.ranges {
			// A range offers its neighbours in spelling, not all its members.
			_, n, ok := splitRange(name)
			if ok && n < e.count {
				names = append(names, p+strconv.Itoa(n))
			}
		}
	}
	names = append(names, b.symbolNames()...)
	slices.Sort(names)
	return spell.Nearest(name, names)
}

// call resolves a call: {(rets),} target {, (args)} {, list}.
func (b *funcBuilder) call(instr *Instr, s *syntax.Instr) bool {
	ops := s.Operands
	call := &Call{}
	instr.Call = call
	ok := true
	if len(ops) > 0 && ops[0].Kind == syntax.List {
		call.Rets = make([]Operand, 0, len(ops[0].Elems))
		for i := range ops[0].Elems {
			var o Operand
			if !b.result(&o, &ops[0].Elems[i], instr) {
				ok = false
			}
			call.Rets = passedOperands(call.Rets, o)
		}
		ops = ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != syntax.Name {
		b.errorf(Pos(s.Pos), "%s: want a function or a register that holds its address", instr.Text)
		return false
	}
	target := &ops[0]
	if !b.operand(&call.Target, target, instr, &callTarget, NoType) {
		return false
	}
	ops = ops[1:]
	if len(ops) > 0 && ops[0].Kind == syntax.List {
		call.Args = make([]Operand, 0, len(ops[0].Elems))
		for i := range ops[0].Elems {
			var o Operand
			if !b.argument(&o, &ops[0].Elems[i], instr) {
				ok = false
			}
			call.Args = passedOperands(call.Args, o)
		}
		ops = ops[1:]
	}
	var heads []*Func // that arguments and results must suit
	switch call.Target.Kind {
	case SymOperand:
		f, isFunc := call.Target.Sym().(*Func)
		if !isFunc {
			b.errorf(Pos(target.Pos), "%s: %s is not a function", instr.Text, target.Sym)
			return false
		}
		heads = []*Func{f}
		if f.Entry {
			b.errorf(Pos(target.Pos), "%s: %s is a kernel", instr.Text, target.Sym)
			return false
		}
		if len(ops) > 0 {
			b.errorf(Pos(ops[0].Pos), "%s: %s is a function: a prototype or a list of targets goes with a register that holds an address", instr.Text, target.Sym)
			return false
		}
	case RegOperand:
		if t := b.fn.Regs[call.Target.Reg].Type; !t.holdsAddress() {
			b.errorf(Pos(target.Pos), "%s: %s (%s) cannot hold an address", instr.Text, target.Sym, t)
			return false
		}
		if len(ops) == 0 {
			b.errorf(Pos(s.Pos), "%s: an indirect call needs its prototype or list of targets", instr.Text)
			return false
		}
	default:
		b.errorf(Pos(target.Pos), "%s: bad call target", instr.Text)
		return false
	}
	var listed *syntax.Operand // the prototype, list or table
	if len(ops) > 0 {
		listed = &ops[0]
		w := listed
		e, found := b.scope.lookup(w.Sym)
		switch {
		case found && e.kind == entTable:
			call.List = e.table
			if p := e.table.Proto; p != nil {
				heads = []*Func{p}
			}
		case found && e.kind == entVar:
			call.Var = e.v
		case b.mod.symbols[w.Sym] != nil:
			v, isVar := b.mod.symbols[w.Sym].(*Var)
			if !isVar {
				b.errorf(Pos(w.Pos), "%s: %s is no call table", instr.Text, w.Sym)
				return false
			}
			call.Var = v
		default:
			b.unknown(Pos(w.Pos), instr.Text+": unknown prototype or target list", w.Sym, b.nearestName(w.Sym))
			return false
		}
		ops = ops[1:]
	}
	if len(ops) > 0 {
		b.errorf(Pos(ops[0].Pos), "%s: too many operands", instr.Text)
		return false
	}
	if targets, known := call.Targets(); known {
		if heads = targets; len(heads) == 0 {
			b.errorf(Pos(listed.Pos), "%s: %s names no function", instr.Text, listed.Sym)
			return false
		}
	}
	for _, head := range heads {
		ok = ok && b.callTypes(instr, head, Pos(s.Pos))
	}
	return ok
}

// What a call names is checked against the callee's head.
var (
	callTarget  = OperandSpec{Name: "target", Symbol: true, Access: Read}
	callOperand = OperandSpec{Name: "argument", Symbol: true, element: true, Access: Read, Vector: true, count: count{kind: countAny}}
)

// passedOperands appends an argument or result of a call; a vector register goes by its
// components, as do vectors among the parameters.
func passedOperands(list []Operand, o Operand) []Operand {
	if o.Kind == VecOperand {
		return append(list, o.Elems()...)
	}
	return append(list, o)
}

// argument resolves what a call passes.
func (b *funcBuilder) argument(o *Operand, w *syntax.Operand, instr *Instr) bool {
	if w.Kind == syntax.Vector {
		b.errorf(Pos(w.Pos), "%s: a vector goes in a vector register", instr.Text)
		return false
	}
	return b.operand(o, w, instr, &callOperand, NoType)
}

// result resolves where a result of a call goes: a register, a .param variable, or
// nowhere.
func (b *funcBuilder) result(o *Operand, w *syntax.Operand, instr *Instr) bool {
	if w.Kind == syntax.Name && w.Sym == "_" {
		o.Kind = SinkOperand
		return true
	}
	if !b.argument(o, w, instr) {
		return false
	}
	v, _ := o.Sym().(*Var)
	if o.Kind != RegOperand && o.Kind != VecOperand && (v == nil || v.Space != Param || o.Offset() != 0) {
		b.errorf(Pos(w.Pos), "%s: a result goes to a register, to a .param variable or to _", instr.Text)
		return false
	}
	return true
}

// callTypes checks arguments and results against the callee's head, and gives
// constants the type of their parameter.
func (b *funcBuilder) callTypes(instr *Instr, head *Func, pos Pos) bool {
	check := func(noun string, ops []Operand, vars []*Var) bool {
		variadic := len(vars) > 0 && vars[len(vars)-1].Unbounded()
		if len(ops) != len(vars) && !(variadic && len(ops) >= len(vars)-1) {
			b.errorf(pos, "%s: %d %ss, %s has %d", instr.Text, len(ops), noun, head.Name, len(vars))
			return false
		}
		for i := range ops {
			if i >= len(vars) || vars[i].Unbounded() {
				break
			}
			o := &ops[i]
			size, alignment := vars[i].Size(), vars[i].Alignment()
			var got, aligned int
			var typ Type
			switch o.Kind {
			case ImmOperand:
				if !b.immediate(o, instr, &callOperand, vars[i].Type, pos) {
					return false
				}
				o.Imm = o.Imm.convert(vars[i].Type)
				continue
			case RegOperand:
				typ = b.fn.Regs[o.Reg].Type
				got = (typ.Bits() + 7) / 8
				aligned = got
			case SymOperand:
				v, isVar := o.Sym().(*Var)
				if !isVar || v.Space != Param && v.Space != Local {
					continue // an address as a value
				}
				typ, got, aligned = v.Type, v.Size(), v.Alignment()
			default:
				continue
			}
			if got != size {
				b.errorf(pos, "%s: %s %d has %d bytes, %s wants %d", instr.Text, noun, i+1, got, head.Name, size)
				return false
			}
			if aligned != alignment {
				b.errorf(pos, "%s: %s %d is aligned to %s, %s wants %d", instr.Text, noun, i+1, counted(aligned, "byte"), head.Name, alignment)
				return false
			}
			if !typ.passesTo(vars[i].Type) {
				b.errorf(pos, "%s: %s %d is of type %s, %s wants %s", instr.Text, noun, i+1, typ, head.Name, vars[i].Type)
				return false
			}
		}
		return true
	}
	return check("result", instr.Call.Rets, head.Rets) && check("argument", instr.Call.Args, head.Params)
}
