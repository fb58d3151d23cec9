package syntax

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse implements participle.Parseable.
func (b *Body) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Value != "{" {
		return participle.NextMatch
	}
	r := &reader{PeekingLexer: lex}
	r.body(b, b, 0)
	return nil
}

// body reads from "{" to "}". Problems go to root.Errors.
func (r *reader) body(b, root *Body, depth int) {
	b.Pos = posOf(r.Peek().Pos)
	r.Next()
	fail := func(err *Error) {
		if len(root.Errors) < maxErrors {
			root.Errors = append(root.Errors, err)
		}
	}
	for {
		t := r.Peek()
		switch {
		case t.EOF():
			b.End = posOf(t.Pos)
			fail(&Error{Pos: b.Pos, Msg: `"{" is not closed`})
			return
		case t.Value == "}":
			b.End = posOf(t.Pos)
			r.Next()
			return
		case t.Value == "{":
			s := &Scope{}
			if depth > maxNesting {
				fail(&Error{Pos: posOf(t.Pos), Msg: "scopes nest too deeply"})
				r.resync()
				continue
			}
			r.body(&s.Body, root, depth+1)
			b.Stmts = append(b.Stmts, s)
		case t.Value == ";": // an empty statement
			r.Next()
		default:
			stmt, err := r.statement(t)
			if err != nil {
				fail(err)
				r.resync()
				continue
			}
			b.Stmts = append(b.Stmts, stmt)
		}
	}
}

// resync moves past the end of a bad statement: its semicolon, or the line
// before a brace or the next label.
func (r *reader) resync() {
	line := r.Peek().Pos.Line
	for {
		t := r.Peek()
		switch {
		case t.EOF() || t.Value == "}":
			return
		case t.Value == ";":
			r.Next()
			return
		case t.Value == "{" && t.Pos.Line != line:
			return
		}
		r.Next()
	}
}

func (r *reader) statement(t *lexer.Token) (Stmt, *Error) {
	switch t.Type {
	case tokIdent:
		r.Next()
		if r.accept(":") {
			return r.labelled(t)
		}
		in := &Instr{Pos: posOf(t.Pos), Op: t.Value}
		return in, r.instr(in)
	case tokDot:
		switch t.Value {
		case ".loc":
			return r.loc()
		case ".pragma":
			r.Next()
			p := &PragmaStmt{Pos: posOf(t.Pos)}
			for {
				s := r.Peek()
				if s.Type != tokString {
					return nil, r.unexpected("a string")
				}
				r.Next()
				p.Text = append(p.Text, s.Value)
				if !r.accept(",") {
					return p, r.expect(";")
				}
			}
		}
		v := &Var{}
		return v, r.variable(v)
	case tokPunct:
		if t.Value == "@" {
			r.Next()
			in := &Instr{GuardPos: posOf(t.Pos)}
			in.GuardNot = r.accept("!")
			var err *Error
			if in.Guard, _, err = r.ident("a predicate"); err != nil {
				return nil, err
			}
			if in.Op, in.Pos, err = r.ident("an instruction"); err != nil {
				return nil, err
			}
			return in, r.instr(in)
		}
	}
	return nil, r.unexpected("a statement")
}

func (r *reader) labelled(t *lexer.Token) (Stmt, *Error) {
	pos := posOf(t.Pos)
	switch kind := r.Peek().Value; kind {
	case ".branchtargets", ".calltargets":
		r.Next()
		l := &Targets{Pos: pos, Name: t.Value, Kind: kind}
		for {
			n, _, err := r.ident("a name")
			if err != nil {
				return nil, err
			}
			l.Names = append(l.Names, n)
			if !r.accept(",") {
				return l, r.expect(";")
			}
		}
	case ".callprototype":
		r.Next()
		p := &Prototype{Pos: pos, Name: t.Value}
		var err *Error
		if r.is("(") {
			if p.Rets, err = r.params(); err != nil {
				return nil, err
			}
		}
		if _, _, err = r.ident(`"_"`); err != nil {
			return nil, err
		}
		if r.is("(") {
			if p.Params, err = r.params(); err != nil {
				return nil, err
			}
		}
		for r.Peek().Type == tokDot {
			p.Directives = append(p.Directives, r.Next().Value)
			for r.Peek().Type == tokInt {
				p.Directives[len(p.Directives)-1] += " " + r.Next().Value
			}
		}
		return p, r.expect(";")
	}
	return &Label{Pos: pos, Name: t.Value}, nil
}

func (r *reader) params() ([]*Param, *Error) {
	r.Next()
	var list []*Param
	for !r.accept(")") {
		p := &Param{}
		if err := r.param(p); err != nil {
			return nil, err
		}
		list = append(list, p)
		if !r.accept(",") && !r.is(")") {
			return nil, r.unexpected(`"," or ")"`)
		}
	}
	return list, nil
}

// loc reads ".loc file line column {, function_name label {+ n}, inlined_at file line column}".
func (r *reader) loc() (Stmt, *Error) {
	l := &Loc{Pos: posOf(r.Next().Pos)}
	if err := r.place(l); err != nil {
		return nil, err
	}
	for r.accept(",") {
		switch r.Peek().Value {
		case "function_name":
			r.Next()
			pos := posOf(r.Peek().Pos)
			e, err := r.expr(0)
			if err != nil {
				return nil, err
			}
			if e.Sym == "" {
				return nil, &Error{Pos: pos, Msg: "function_name wants a label"}
			}
			l.Function = e.Sym
			if e.Const.Bits != 0 {
				l.Function = fmt.Sprintf("%s+%d", e.Sym, e.Const.Bits)
			}
		case "inlined_at":
			r.Next()
			l.At = &Loc{Pos: l.Pos}
			if err := r.place(l.At); err != nil {
				return nil, err
			}
		default:
			return nil, r.unexpected("function_name or inlined_at")
		}
	}
	r.accept(";")
	return l, nil
}

func (r *reader) place(l *Loc) *Error {
	for _, p := range []*int32{&l.File, &l.Line, &l.Col} {
		t := r.Peek()
		if t.Type != tokInt {
			return r.unexpected("a number")
		}
		r.Next()
		c, _ := integer(t.Value)
		*p = int32(c.Bits)
	}
	return nil
}

// instr reads the operands of an instruction whose opcode has been read.
func (r *reader) instr(in *Instr) *Error {
	for r.Peek().Type == tokDot { // modifiers set apart by white space
		in.Op += r.Next().Value
	}
	if strings.HasPrefix(in.Op, "call") && (len(in.Op) == 4 || in.Op[4] == '.') {
		return r.call(in)
	}
	start := len(r.ops)
	if cap(r.ops)-start < 16 {
		r.ops = make([]Operand, 0, 2048)
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
			return err
		}
		r.ops = append(r.ops, o)
	}
	in.Operands = r.ops[start:len(r.ops):len(r.ops)]
	return nil
}

// call reads "call (ret), f, (args), prototype;": lists stay lists.
func (r *reader) call(in *Instr) *Error {
	for !r.accept(";") {
		if len(in.Operands) > 0 {
			if err := r.expect(","); err != nil {
				return r.unexpected(`"," or ";"`)
			}
		}
		o := Operand{Pos: posOf(r.Peek().Pos)}
		if r.accept("(") {
			o.Kind = List
			o.Elems = []Operand{}
			for !r.accept(")") {
				var e Operand
				if err := r.operand(&e, 0); err != nil {
					return err
				}
				o.Elems = append(o.Elems, e)
				if !r.accept(",") && !r.is(")") {
					return r.unexpected(`"," or ")"`)
				}
			}
		} else if err := r.operand(&o, 0); err != nil {
			return err
		}
		in.Operands = append(in.Operands, o)
	}
	return nil
}

func (r *reader) operand(o *Operand, depth int) *Error {
	t := r.Peek()
	o.Pos = posOf(t.Pos)
	if depth > maxNesting {
		return &Error{Pos: o.Pos, Msg: "operand nests too deeply"}
	}
	if t.Type == tokPunct {
		switch t.Value {
		case "{":
			r.Next()
			o.Kind = Vector
			if err := r.elements(o, "}", depth); err != nil {
				return err
			}
			return r.pipe(o, depth)
		case "[":
			r.Next()
			o.Kind = Address
			if err := r.address(o, depth); err != nil {
				return err
			}
			if r.Peek().Type == tokDot {
				o.Tail = r.Next().Value
			}
			return r.pipe(o, depth)
		case "!":
			r.Next()
			if err := r.operand(o, depth+1); err != nil {
				return err
			}
			if o.Kind == Number {
				o.Const = truth(o.Const.Bits == 0)
				return nil
			}
			o.Not = !o.Not
			return nil
		case "-":
			// -a of vmad; a negative number is an expression.
			cp := r.MakeCheckpoint()
			r.Next()
			if n := r.Peek(); n.Type == tokIdent && n.Value != "WARP_SZ" {
				if err := r.operand(o, depth+1); err != nil {
					return err
				}
				o.Minus = true
				return nil
			}
			r.LoadCheckpoint(cp)
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

// pipe reads the second half of d|p.
func (r *reader) pipe(o *Operand, depth int) *Error {
	if !r.accept("|") {
		return nil
	}
	o.Pair = new(Operand)
	return r.operand(o.Pair, depth+1)
}

func (r *reader) elements(o *Operand, end string, depth int) *Error {
	o.Elems = make([]Operand, 0, 4)
	for !r.accept(end) {
		var e Operand
		if err := r.operand(&e, depth+1); err != nil {
			return err
		}
		o.Elems = append(o.Elems, e)
		if !r.accept(",") && !r.is(end) {
			return r.unexpected(fmt.Sprintf("\",\" or %q", end))
		}
	}
	return nil
}

// address reads what stands between [ and ]: a base with an offset, and for
// textures and tensors more parts behind commas.
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
