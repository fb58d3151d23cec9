package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse implements participle.Parseable.
func (b *Body) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokBraces {
		return participle.NextMatch
	}
	lex.Next()
	b.Pos, b.text = posOf(t.Pos), t.Value
	return nil
}

// Each reads a function body and calls do with each statement, which is valid until do returns. A scope is passed as an
// OpenScope, its statements, and a CloseScope. Each continues after a bad statement, and returns the errors.
func (b *Body) Each(do func(Stmt)) []*Error {
	r := &reader{scan: rescan(b.text, b.Pos), reuse: true}
	r.load()
	return b.read(r, do)
}

// load reads the body into Stmts, with scopes as Scope and the initialisers of variables.
func (b *Body) load() []*Error {
	r := &reader{scan: rescan(b.text, b.Pos)}
	r.load()
	stack := []*Body{b}
	var inits []*Error
	errs := b.read(r, func(s Stmt) {
		current := stack[len(stack)-1]
		switch s := s.(type) {
		case *OpenScope:
			scope := &Scope{Body{Pos: s.Pos}}
			current.Stmts = append(current.Stmts, scope)
			stack = append(stack, &scope.Body)
		case *CloseScope:
			current.End = s.Pos
			stack = stack[:len(stack)-1]
		default:
			if d, ok := s.(*Var); ok {
				inits = append(inits, d.load()...)
			}
			current.Stmts = append(current.Stmts, s)
		}
	})
	return append(errs, inits...)
}

// read reads the body from "{" to the matching "}", calls do with each statement, and returns the errors.
func (b *Body) read(r *reader, do func(Stmt)) (errs []*Error) {
	fail := func(err *Error) {
		if len(errs) < maxErrors {
			errs = append(errs, err)
		}
	}
	r.next()
	for depth := 0; ; {
		t := r.peek()
		switch {
		case t.typ == lexer.EOF:
			fail(&Error{Pos: b.Pos, Msg: `"{" is not closed`})
			b.End = t.pos
			return append(r.scan.errs, errs...)
		case t.text == "}" && depth == 0:
			b.End = t.pos
			return append(r.scan.errs, errs...)
		case t.text == "}":
			r.next()
			depth--
			do(&CloseScope{t.pos})
		case t.text == "{":
			r.next()
			depth++
			do(&OpenScope{t.pos})
		case t.text == ";":
			fail(r.unexpected("a statement"))
			r.next()
		default:
			stmt, err := r.statement(t)
			if err != nil {
				fail(err)
				r.resync()
				continue
			}
			do(stmt)
		}
	}
}

// newInstr returns an instruction without fields. If the reader reuses instructions, it is the previous one, emptied.
func (r *reader) newInstr() *Instr {
	if !r.reuse {
		return new(Instr)
	}
	r.instruction = Instr{}
	r.ops = r.ops[:0]
	return &r.instruction
}

// resync skips a bad statement: it reads past the next semicolon, or stops before a "}", or before a "{" in a later line.
func (r *reader) resync() {
	line := r.peek().pos.Line
	for {
		t := r.peek()
		switch {
		case t.typ == lexer.EOF || t.text == "}":
			return
		case t.text == ";":
			r.next()
			return
		case t.text == "{" && t.pos.Line != line:
			return
		}
		r.next()
	}
}

// statement reads a statement that begins with t, the next token, and is no scope.
func (r *reader) statement(t token) (Stmt, *Error) {
	switch t.typ {
	case tokIdent:
		r.next()
		if r.accept(":") {
			return r.labelled(t)
		}
		instr := r.newInstr()
		instr.Pos, instr.Op = t.pos, t.text
		return instr, r.instr(instr)
	case tokDot:
		switch t.text {
		case ".loc":
			return r.loc()
		case ".loc_intermediate":
			l := &Loc{Pos: r.next().pos, Intermediate: true}
			return l, r.place(l)
		case ".pragma":
			r.next()
			p := &PragmaStmt{Pos: t.pos}
			for {
				s := r.peek()
				if s.typ != tokString {
					return nil, r.unexpected("a string")
				}
				r.next()
				p.Text = append(p.Text, s.text)
				if !r.accept(",") {
					return p, r.expect(";")
				}
			}
		}
		v := &Var{}
		return v, r.variable(v)
	case tokPunct:
		if t.text == "@" {
			r.next()
			instr := r.newInstr()
			instr.GuardPos, instr.GuardNot = t.pos, r.accept("!")
			var err *Error
			if instr.Guard, _, err = r.ident("a predicate"); err != nil {
				return nil, err
			}
			if instr.Op, instr.Pos, err = r.ident("an instruction"); err != nil {
				return nil, err
			}
			return instr, r.instr(instr)
		}
	}
	return nil, r.unexpected("a statement")
}

// labelled reads the text after "name:": a list of targets or a prototype; anything else is a statement of its own. t is
// the name.
func (r *reader) labelled(t token) (Stmt, *Error) {
	pos := t.pos
	switch kind := r.peek().text; kind {
	case ".branchtargets", ".calltargets":
		r.next()
		l := &Targets{Pos: pos, Name: t.text, Kind: kind}
		for {
			n, namePos, err := r.ident("a name")
			if err != nil {
				return nil, err
			}
			if kind == ".branchtargets" && r.isNext("<") { // L<3> means L0, L1, L2
				count, err := r.count(n, namePos, MaxRange)
				if err != nil {
					return nil, err
				}
				for i := range count {
					l.Names = append(l.Names, n+strconv.Itoa(i))
				}
			} else {
				l.Names = append(l.Names, n)
			}
			if !r.accept(",") {
				return l, r.expect(";")
			}
		}
	case ".callprototype":
		r.next()
		p := &Prototype{Pos: pos, Name: t.text}
		var err *Error
		if r.isNext("(") {
			if p.Rets, err = r.params(); err != nil {
				return nil, err
			}
		}
		if _, _, err = r.ident(`"_"`); err != nil {
			return nil, err
		}
		if r.isNext("(") {
			if p.Params, err = r.params(); err != nil {
				return nil, err
			}
		}
		for r.peek().typ == tokDot {
			p.Directives = append(p.Directives, r.next().text)
			for r.peek().typ == tokInt {
				p.Directives[len(p.Directives)-1] += " " + r.next().text
			}
		}
		return p, r.expect(";")
	}
	return &Label{Pos: pos, Name: t.text}, nil
}

// params reads the parameters of a prototype in parentheses, of which the first must be next.
func (r *reader) params() ([]*Param, *Error) {
	r.next()
	var list []*Param
	err := r.list(")", func() *Error {
		p := &Param{}
		list = append(list, p)
		return r.param(p)
	})
	return list, err
}

// loc reads ".loc file line column {, function_name label {+ n}, inlined_at file line column}".
func (r *reader) loc() (Stmt, *Error) {
	l := &Loc{Pos: r.next().pos}
	if err := r.place(l); err != nil {
		return nil, err
	}
	for r.accept(",") {
		switch r.peek().text {
		case "function_name":
			r.next()
			name := r.peek()
			if name.typ != tokIdent && name.typ != tokDot {
				return nil, r.unexpected("a label")
			}
			r.next()
			l.Function = name.text
			if r.accept("+") {
				c, err := r.integer()
				if err != nil {
					return nil, err
				}
				l.Function = fmt.Sprintf("%s+%d", name.text, c.Bits)
			}
		case "inlined_at":
			r.next()
			l.InlinedAt = &Loc{Pos: l.Pos}
			if err := r.place(l.InlinedAt); err != nil {
				return nil, err
			}
		default:
			return nil, r.unexpected("function_name or inlined_at")
		}
	}
	return l, nil
}

// place reads the three numbers of a place: file, line and column.
func (r *reader) place(l *Loc) *Error {
	for _, p := range []*int32{&l.File, &l.Line, &l.Col} {
		t := r.peek()
		if t.typ != tokInt {
			return r.unexpected("a number")
		}
		r.next()
		c, _ := integer(t.text)
		*p = int32(c.Bits)
	}
	return nil
}

// instr reads the operands of an instruction, and its semicolon. The opcode must have been read.
func (r *reader) instr(instr *Instr) *Error {
	for r.peek().typ == tokDot { // modifiers separated by white space
		instr.Op += r.next().text
	}
	if strings.HasPrefix(instr.Op, "call") && (len(instr.Op) == 4 || instr.Op[4] == '.') {
		return r.call(instr)
	}
	start := len(r.ops)
	if cap(r.ops)-start < 16 {
		r.ops = make([]Operand, 0, min(max(2*cap(r.ops), 64), 1024))
		start = 0
	}
	for !r.accept(";") {
		if len(r.ops) > start {
			if err := r.expect(","); err != nil {
				return r.unexpected(`"," or ";"`)
			}
		}
		var o Operand
		if err := r.operand(&o, 0); err != nil {
			if len(r.ops) == start && r.peek().text == "}" {
				return r.unexpected(`an operand or ";"`)
			}
			return err
		}
		r.ops = append(r.ops, o)
	}
	instr.Operands = r.ops[start:len(r.ops):len(r.ops)]
	return nil
}

// call reads the operands of a call, as in "(ret), f, (args), prototype;". Lists in parentheses are operands of kind List.
func (r *reader) call(instr *Instr) *Error {
	for !r.accept(";") {
		if len(instr.Operands) > 0 {
			if err := r.expect(","); err != nil {
				return r.unexpected(`"," or ";"`)
			}
		}
		o := Operand{Pos: r.peek().pos}
		if r.accept("(") {
			o.Kind = List
			if err := r.elements(&o, ")", 0); err != nil {
				return err
			}
		} else if err := r.operand(&o, 0); err != nil {
			return err
		}
		instr.Operands = append(instr.Operands, o)
	}
	return nil
}

// operand reads an operand, and the second operand of a pair; depth is the depth of nesting.
func (r *reader) operand(o *Operand, depth int) *Error {
	t := r.peek()
	o.Pos = t.pos
	if depth > maxNesting {
		return nestingError(o.Pos, "operand")
	}
	if t.typ == tokPunct {
		switch t.text {
		case "{":
			r.next()
			o.Kind = Vector
			if err := r.elements(o, "}", depth); err != nil {
				return err
			}
			return r.pipe(o, depth)
		case "[":
			r.next()
			o.Kind = Address
			if err := r.address(o, depth); err != nil {
				return err
			}
			if r.peek().typ == tokDot {
				o.Selector = r.next().text
			}
			return r.pipe(o, depth)
		case "!", "-": // !p, -a of vmad, or a number
			r.next()
			if n := r.peek(); n.typ == tokIdent && n.text != "WARP_SZ" {
				if err := r.operand(o, depth+1); err != nil {
					return err
				}
				o.Not, o.Minus = t.text == "!", t.text == "-"
				return nil
			}
			c, err := r.unary(depth + 1)
			if err == nil {
				err = c.apply(t.text, o.Pos)
			}
			if err == nil {
				c, err = r.binaryAfter(c, 1, depth)
			}
			if err != nil {
				return err
			}
			o.Const, o.Kind = c, Number
			return r.pipe(o, depth)
		}
	}
	e, err := r.expr(depth)
	if err != nil {
		return err
	}
	o.Expr = e
	o.Kind = Number
	if e.Sym != "" {
		o.Kind = Name
	}
	return r.pipe(o, depth)
}

// pipe reads "|p", the second half of a pair d|p, if it follows.
func (r *reader) pipe(o *Operand, depth int) *Error {
	if !r.accept("|") {
		return nil
	}
	o.PairWith = new(Operand)
	return r.operand(o.PairWith, depth+1)
}

// elements reads the elements of a vector or list, and the token end after them.
func (r *reader) elements(o *Operand, end string, depth int) *Error {
	o.Elems = make([]Operand, 0, 4)
	return r.list(end, func() *Error {
		o.Elems = append(o.Elems, Operand{})
		return r.operand(&o.Elems[len(o.Elems)-1], depth+1)
	})
}

// address reads the text of an address after "[", with its "]": a base with an offset and, for textures and tensors,
// further parts after commas.
func (r *reader) address(o *Operand, depth int) *Error {
	e, err := r.expr(depth)
	if err != nil {
		return err
	}
	o.Expr = e
	for r.accept(",") {
		var part Operand
		if err := r.operand(&part, depth+1); err != nil {
			return err
		}
		o.Elems = append(o.Elems, part)
	}
	return r.expect("]")
}
