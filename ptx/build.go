package ptx

// This file builds the body of a function: it flattens scopes, resolves names and checks operands against the
// instruction table. Read next: build_names.go (scopes and names), build_decl.go (local declarations), build_instr.go
// (instructions), build_operand.go, build_vector.go and build_address.go (operands), and build_call.go (calls).

import (
	"slices"
	"strings"

	"gemu/internal/notation"
	"gemu/ptx/internal/syntax"
)

// funcBuilder builds the body of one function.
type funcBuilder struct {
	*checker
	fn              *Func
	scope           *nameScope
	usedNames       map[string]int  // not 0 for the names of the flattened function; of x, the next suffix N to try for x$N
	ranges          map[string]int  // declared register ranges: for %r<N> the key is %r and the value N
	numberedNames   map[string]bool // prefixes of used names that end in a number
	cur             *Block          // block to which instructions are added
	curLoc          *syntax.Loc     // the .loc in force; nil before the first
	curIntermediate *syntax.Loc     // the latest .loc_intermediate after curLoc; nil if there is none
	locs            map[Loc]int32   // index in Func.Locs
	fixups          []fixup
}

// fixup is a label operand to be resolved when all labels are known.
type fixup struct {
	scope *nameScope
	pos   Pos
	name  string
	op    *Operand // the label operand to set; nil if list is set
	list  **Block  // the element of a table to set; nil if op is set
}

// build builds the body of the function: its statements in order, then the labels and the edges of the control-flow graph.
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
		b.declareName(v.Pos, v.Name, entity{kind: entReg, reg: first.reg, vec: v.Vec, typ: v.Type})
	}
	b.copyStatics()
	b.startBlock()
	for _, e := range body.Each(b.addStatement) {
		b.report(Pos(e.Pos), e.Hint, "%s", e.Msg)
	}
	f.End = Pos(body.End)
	b.resolveLabels()
	for _, blk := range f.Blocks {
		if term := blk.Terminator(); term != nil {
			b.checkTarget(term)
		}
	}
	if last := f.Blocks[len(f.Blocks)-1]; len(last.Instrs) == 0 && len(last.Labels) == 0 && len(f.Blocks) > 1 {
		f.Blocks = f.Blocks[:len(f.Blocks)-1]
	}
	if len(b.errs) == 0 {
		f.connect()
	}
}

// startBlock begins a new block, which becomes the current block.
func (b *funcBuilder) startBlock() {
	b.cur = &Block{Index: len(b.fn.Blocks)}
	b.fn.Blocks = append(b.fn.Blocks, b.cur)
}

// addStatement handles one statement of the body.
func (b *funcBuilder) addStatement(s syntax.Stmt) {
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
		b.declareName(Pos(s.Pos), s.Name, entity{kind: entLabel, block: b.cur})
		b.cur.Labels = append(b.cur.Labels, b.unique(s.Name))
	case *syntax.Var:
		b.declareLocals(s)
	case *syntax.Targets:
		b.declareTargets(s)
	case *syntax.Prototype:
		proto := &Func{Pos: Pos(s.Pos), Name: "_", module: b.mod}
		proto.Rets = b.params(proto, s.Rets)
		proto.Params = b.params(proto, s.Params)
		for _, d := range s.Directives {
			w := strings.Fields(d)
			proto.Directives = append(proto.Directives, FuncDirective{Name: w[0], Args: w[1:]})
		}
		b.declareTable(Pos(s.Pos), s.Name).Proto = proto
	case *syntax.Loc:
		if s.Intermediate {
			if b.curLoc != nil { // .loc_intermediate completes the preceding .loc
				b.curIntermediate = s
			}
			return
		}
		b.curLoc, b.curIntermediate = s, nil
		if s.InlinedAt != nil { // keep this place even if no instruction has it: another inlined .loc may refer to it
			b.currentLoc()
		}
	case *syntax.PragmaStmt:
		p := Pragma{Pos: Pos(s.Pos)}
		for _, t := range s.Text {
			p.Text = append(p.Text, unquote(t))
		}
		b.fn.Pragmas = append(b.fn.Pragmas, p)
	case *syntax.Instr:
		b.addInstr(s)
	}
}

// currentLoc returns the index in Func.Locs of the .loc in force, which it adds if necessary; -1 if there is none.
func (b *funcBuilder) currentLoc() int32 {
	s := b.curLoc
	if s == nil {
		return -1
	}
	l := Loc{File: s.File, Line: s.Line, Col: s.Col, Function: s.Function}
	if s.InlinedAt != nil {
		l.InlinedAtFile, l.InlinedAtLine, l.InlinedAtCol = s.InlinedAt.File, s.InlinedAt.Line, s.InlinedAt.Col
	}
	if m := b.curIntermediate; m != nil {
		l.IntermediateFile, l.IntermediateLine, l.IntermediateCol = m.File, m.Line, m.Col
	}
	i, ok := b.locs[l]
	if !ok {
		i = int32(len(b.fn.Locs))
		b.locs[l] = i
		b.fn.Locs = append(b.fn.Locs, l)
	}
	return i
}

// declareTargets declares a list of branch or call targets.
func (b *funcBuilder) declareTargets(s *syntax.Targets) {
	t := b.declareTable(Pos(s.Pos), s.Name)
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
				b.report(Pos(s.Pos), notation.Nearest(n, b.symbolNames()), ".calltargets: %s is not a function", n)
			}
			continue
		}
		t.Funcs = append(t.Funcs, f)
	}
}

// declareTable declares a list of targets or a prototype.
func (b *funcBuilder) declareTable(pos Pos, name string) *Table {
	t := &Table{Pos: pos, Name: b.unique(name)}
	b.declareName(pos, name, entity{kind: entTable, table: t})
	b.fn.Tables = append(b.fn.Tables, t)
	return t
}

// resolveLabels sets the blocks of the label operands and target lists in fixups.
func (b *funcBuilder) resolveLabels() {
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
			b.errorf(f.pos, "list %s must be declared before its use", f.name)
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
			b.unknown(f.pos, "unknown label", f.name, notation.Nearest(f.name, labels))
		}
	}
}

// checkTarget checks whether the operand of a jump is a label or a list, as its form requires.
func (b *funcBuilder) checkTarget(instr *Instr) {
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
