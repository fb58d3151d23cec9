package syntax

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse implements participle.Parseable. A prototype may end without a semicolon, so a directive that begins a statement
// does not belong to it.
func (d *Directive) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); t.Type != tokDot || slices.Contains(directives, t.Value) {
		return participle.NextMatch
	}
	return result(fromStream(lex).directive(d))
}

// Parse implements participle.Parseable.
func (d *KernelDirective) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); t.Type != tokDot || slices.Contains(directives, t.Value) && t.Value != ".pragma" {
		return participle.NextMatch
	}
	return result(fromStream(lex).directive(&d.Directive))
}

// Parse implements participle.Parseable.
func (a *Attribute) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Value != ".attribute" {
		return participle.NextMatch
	}
	r := fromStream(lex)
	t := r.next()
	a.Pos, a.Name = t.pos, t.text
	err := r.expect("(")
	if err == nil {
		a.Args, err = r.parenthesised()
	}
	return result(err)
}

// directive reads a directive with its arguments, numbers or strings; .pragma ends with a semicolon.
func (r *reader) directive(d *Directive) *Error {
	t := r.next()
	d.Pos, d.Name = t.pos, t.text
	for r.peek().typ == tokInt || r.peek().typ == tokString {
		d.Args = append(d.Args, r.next().text)
		if !r.accept(",") {
			break
		}
		if t := r.peek().typ; t != tokInt && t != tokString {
			return r.unexpected("a number or a string")
		}
	}
	if d.Name == ".pragma" {
		return r.expect(";")
	}
	return nil
}

// parenthesised reads up to the matching closing parenthesis and returns the tokens before it, which may include nested
// parentheses. The opening parenthesis must have been read.
func (r *reader) parenthesised() (words []string, err *Error) {
	for depth := 1; ; {
		t := r.next()
		switch {
		case t.typ == lexer.EOF:
			return nil, r.unexpected(`")"`)
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		}
		if depth == 0 {
			return words, nil
		}
		words = append(words, t.text)
	}
}

// Parse implements participle.Parseable.
func (v *Var) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); t.Type != tokDot || slices.Contains(leaders, t.Value) {
		return participle.NextMatch
	}
	r := fromStream(lex)
	first := r.peek()
	err := r.variable(v)
	if err != nil && !slices.Contains(directives, first.text) {
		err = unknownDirective(first)
	}
	return result(err)
}

// Parse implements participle.Parseable.
func (p *Param) Parse(lex *lexer.PeekingLexer) error {
	r := fromStream(lex)
	if r.peek().typ != tokDot {
		return r.unexpected("a parameter")
	}
	return result(r.param(p))
}

// param reads a parameter: the words before its name, and the name.
func (r *reader) param(p *Param) *Error {
	p.Pos = r.peek().pos
	if err := r.qualifiers(&p.Var); err != nil {
		return err
	}
	d, err := r.declarator()
	if err != nil {
		return err
	}
	p.Names = []Declarator{d}
	return nil
}

// variable reads a declaration of variables or registers, with its semicolon.
func (r *reader) variable(v *Var) *Error {
	v.Pos = r.peek().pos
	if err := r.qualifiers(v); err != nil {
		return err
	}
	for {
		d, err := r.declarator()
		if err != nil {
			return err
		}
		v.Names = append(v.Names, d)
		if !r.accept(",") {
			return r.expect(";")
		}
	}
}

// qualifiers reads the words before the first name of a declaration.
func (r *reader) qualifiers(v *Var) *Error {
	for r.peek().typ == tokDot {
		t := r.next()
		q := Qualifier{Pos: t.pos, Name: t.text}
		switch {
		case t.text == ".align":
			c, err := r.integer()
			if err != nil {
				return err
			}
			q.Args = []string{strconv.FormatUint(c.Bits, 10)}
		case t.text == ".attribute": // .attribute(.managed, .unified(1, 2))
			if err := r.expect("("); err != nil {
				return err
			}
			args, err := r.parenthesised()
			if err != nil {
				return err
			}
			q.Args = args
		}
		v.Quals = append(v.Quals, q)
	}
	return nil
}

// MaxRange bounds N in a range "name<N>" of variables or labels, because each name takes memory. For registers, package
// ptx checks a bound of its own.
const MaxRange = 1 << 16

// count reads the "<N>" of a range (manual 5.4.6), which must be next; N is at most limit. name and pos are for messages.
func (r *reader) count(name string, pos Pos, limit uint64) (int, *Error) {
	r.next()
	c, err := r.binary(precedence["<<"], 0) // no comparison operators, which would take the ">"
	if err != nil {
		return 0, err
	}
	if c.Kind >= F32 || c.Bits > limit {
		return 0, &Error{Pos: pos, Msg: fmt.Sprintf("%s: the N of a range <N> must be an integer of at most %d", name, limit)}
	}
	return int(c.Bits), r.expect(">")
}

// declarator reads a declared name with its range, array extents and initialiser.
func (r *reader) declarator() (d Declarator, err *Error) {
	if d.Name, d.Pos, err = r.ident("a name"); err != nil {
		return d, err
	}
	if strings.Contains(d.Name, ".") {
		return d, &Error{Pos: d.Pos, Msg: fmt.Sprintf("%s: a name cannot contain a dot", d.Name)}
	}
	if d.Range = r.isNext("<"); d.Range {
		if d.Count, err = r.count(d.Name, d.Pos, math.MaxInt32); err != nil {
			return d, err
		}
	}
	for r.accept("[") {
		n := -1
		if !r.isNext("]") {
			c, err := r.integer()
			if err != nil {
				return d, err
			}
			if c.Bits > 1<<40 {
				return d, &Error{Pos: d.Pos, Msg: fmt.Sprintf("%s: array of %d elements is too large: at most 2^40 are allowed", d.Name, c.Bits)}
			}
			if n = int(c.Bits); n == 0 && len(d.Dims) == 0 {
				n = -1 // NVIDIA's assembler treats [0] as []
			}
		}
		d.Dims = append(d.Dims, n)
		if err := r.expect("]"); err != nil {
			return d, err
		}
	}
	if r.accept("=") {
		d.Init = new(Value)
		if err := r.value(d.Init, 0); err != nil {
			return d, err
		}
	}
	return d, nil
}

// maxNesting bounds the depth of nested lists, scopes and expressions: no input may exhaust the stack.
const maxNesting = 200

// nestingError returns the error of an expression, operand or initialiser that nests deeper than maxNesting.
func nestingError(pos Pos, noun string) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf("%s nests too deeply: at most %d levels are allowed", noun, maxNesting)}
}

// value reads an initialiser or an element of one. It stores a list as text, which Each reads.
func (r *reader) value(v *Value, depth int) *Error {
	v.Pos = r.peek().pos
	if depth > maxNesting {
		return nestingError(v.Pos, "initialiser")
	}
	if r.peek().typ == tokBraces || r.isNext("{") {
		if v.text = r.braces(); !closed(v.text) {
			return &Error{Pos: v.Pos, Msg: `"{" is not closed`}
		}
		return nil
	}
	e, err := r.expr(depth)
	if err == nil && v.Field == "" && e.Sym != "" && r.accept("=") {
		v.Field = e.Sym
		return r.value(v, depth+1)
	}
	if err != nil {
		return err
	}
	v.Expr = e
	// 0xFF(symbol): the mask operator (manual 5.4.4).
	if e.Sym == "" && r.accept("(") {
		v.Mask = e.Const.Bits
		if v.Expr, err = r.expr(depth); err != nil {
			return err
		}
		return r.expect(")")
	}
	return nil
}

// Each reads a list, which may have millions of elements, and calls do with each element. An element is valid until do
// returns. Each stops at the first bad element, and returns the errors.
func (v *Value) Each(do func(*Value)) []*Error {
	r := &reader{scan: rescan(v.text, v.Pos)}
	r.load()
	r.next()
	var e Value
	err := r.list("}", func() *Error {
		e = Value{}
		err := r.value(&e, 0)
		if err == nil {
			do(&e)
		}
		return err
	})
	if err != nil && len(r.scan.errs) == 0 {
		return []*Error{err}
	}
	return r.scan.errs
}

// load reads the elements of a list into List, and their elements.
func (v *Value) load(depth int) []*Error {
	if !v.IsList() {
		return nil
	}
	if depth > maxNesting {
		return []*Error{nestingError(v.Pos, "initialiser")}
	}
	errs := v.Each(func(e *Value) { v.List = append(v.List, *e) })
	for i := range v.List {
		errs = append(errs, v.List[i].load(depth+1)...)
	}
	return errs
}
