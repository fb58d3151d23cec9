package syntax

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// parser is the grammar of a module-level statement. A statement is known by its
// first word, so nothing is looked ahead.
var parser = participle.MustBuild[Item](participle.Lexer(Definition{}), participle.UseLookahead(0))

// maxErrors bounds the problems reported of one file.
const maxErrors = 50

// Parse reads a whole source but for what stands in function bodies. It goes on after
// a bad statement, so the file it returns holds all that could be read, and the errors
// (at most 50) all that could not.
func Parse(name, src string) (*File, []*Error) {
	f := &File{Name: name}
	var errs []*Error
	s := newScanner(name, src)
	for s.nextChunk() && len(errs) < maxErrors {
		lex, err := lexer.Upgrade(s)
		if err != nil {
			panic("BUG: the scanner does not fail: " + err.Error())
		}
		errs = append(errs, s.errs...)
		s.errs = nil
		// Directives without a terminator gather in front of the statement that has one.
		for !lex.Peek().EOF() {
			first := *lex.Peek()
			item, err := parser.ParseFromLexer(lex, participle.AllowTrailing(true))
			if err != nil {
				errs = append(errs, asError(err))
				f.Broken = append(f.Broken, item.names()...)
				resync(lex, first.Pos.Offset)
				continue
			}
			f.Items = append(f.Items, item)
		}
	}
	if len(errs) > maxErrors {
		errs = errs[:maxErrors]
	}
	return f, errs
}

// Load reads the function bodies of the file, too, and returns their problems.
func (f *File) Load() (errs []*Error) {
	for _, item := range f.Items {
		if b := item.body(); b != nil {
			errs = append(errs, b.load()...)
		}
		if d := item.Decl; d != nil && d.Var != nil {
			errs = append(errs, d.Var.load()...)
		}
	}
	return errs[:min(len(errs), maxErrors)]
}

// load reads the initialisers of the variables.
func (v *Var) load() (errs []*Error) {
	for i := range v.Names {
		if init := v.Names[i].Init; init != nil {
			errs = append(errs, init.load(0)...)
		}
	}
	return errs
}

// resync moves past a bad statement that begins at an offset: to the next word
// that can only begin another.
func resync(lex *lexer.PeekingLexer, start int) {
	for t := lex.Peek(); !t.EOF(); t = lex.Peek() {
		if t.Pos.Offset > start && t.Type == tokDot && slices.Contains(leaders, t.Value) {
			return
		}
		lex.Next()
	}
}

// leaders are the directives that can stand nowhere but at the beginning of a
// module-level statement.
var leaders = []string{".version", ".target", ".address_size", ".file", ".section", ".nv_intermediate_source_section", ".alias", ".extern", ".visible", ".weak", ".common", ".entry", ".func"}

// directives may begin a module-level statement.
var directives = []string{
	".version", ".target", ".address_size", ".file", ".section", ".nv_intermediate_source_section", ".pragma", ".alias",
	".extern", ".visible", ".weak", ".common", ".entry", ".func",
	".global", ".const", ".shared", ".tex", ".local", ".param", ".reg", ".align", ".attribute",
}

// asError is an error of the parser. They are made by the nodes that parse themselves.
func asError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		panic("BUG: the grammar leaves an error to participle: " + err.Error())
	}
	return e
}

// reader is the hand-written half of the parser. It reads from participle's
// stream or from a scanner, with one token of lookahead.
type reader struct {
	lex  *lexer.PeekingLexer // either this
	scan *scanner            // or this
	tok  token               // the next token
	ops  []Operand           // slab that instructions' operands are cut from

	reuse       bool // statements are done with once they were given out
	instruction Instr
}

// fromStream reads from participle's stream.
func fromStream(lex *lexer.PeekingLexer) *reader {
	r := &reader{lex: lex}
	r.load()
	return r
}

// fromBraces reads the text of the next token of the stream, and takes it away.
func fromBraces(lex *lexer.PeekingLexer) *reader {
	t := lex.Next()
	r := &reader{scan: rescan(t.Value, posOf(t.Pos))}
	r.load()
	return r
}

// load makes the next token of the stream that of the reader.
func (r *reader) load() {
	if r.scan != nil {
		r.tok = r.scan.next()
		return
	}
	t := r.lex.Peek()
	r.tok = token{t.Type, t.Value, posOf(t.Pos)}
}

// peek is the next token.
func (r *reader) peek() token { return r.tok }

// next takes the next token.
func (r *reader) next() token {
	t := r.tok
	if r.lex != nil {
		r.lex.Next()
	}
	r.load()
	return t
}

func (r *reader) isNext(text string) bool {
	return r.tok.text == text && r.tok.typ != tokString
}

func (r *reader) accept(text string) bool {
	if r.isNext(text) {
		r.next()
		return true
	}
	return false
}

func (r *reader) unexpected(want string) *Error {
	t := r.peek()
	switch t.typ {
	case lexer.EOF:
		return &Error{Pos: t.pos, Msg: "unexpected end of statement, want " + want}
	case tokBraces:
		t.text = t.text[:1]
	}
	return &Error{Pos: t.pos, Msg: fmt.Sprintf("unexpected %q, want %s", t.text, want)}
}

func (r *reader) expect(value string) *Error {
	if !r.accept(value) {
		return r.unexpected(strconv.Quote(value))
	}
	return nil
}

func (r *reader) ident(what string) (string, Pos, *Error) {
	t := r.peek()
	if t.typ != tokIdent {
		return "", Pos{}, r.unexpected(what)
	}
	r.next()
	return t.text, t.pos, nil
}

// Parse implements participle.Parseable.
func (i *Ident) Parse(lex *lexer.PeekingLexer) (err error) {
	r := fromStream(lex)
	var syntaxErr *Error
	i.Text, i.Pos, syntaxErr = r.ident("a name")
	return result(syntaxErr)
}

// result turns a typed nil into an untyped one.
func result(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

// Parse implements participle.Parseable.
func (b *SectionBody) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != tokBraces {
		return fromStream(lex).unexpected(`"{"`)
	}
	r := fromBraces(lex)
	r.next()
	for !r.accept("}") {
		t := r.peek()
		line := SectionLine{Pos: t.pos}
		var err *Error
		switch t.typ {
		case tokIdent:
			r.next()
			line.Label = t.text
			err = r.expect(":")
		case tokDot:
			err = r.data(&line)
		default:
			err = r.unexpected("a label or a data directive")
		}
		if err != nil {
			return err
		}
		b.Lines = append(b.Lines, line)
	}
	return nil
}

// Parse implements participle.Parseable.
func (b *SourcesBody) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != tokBraces {
		return fromStream(lex).unexpected(`"{"`)
	}
	r := fromBraces(lex)
	r.next()
	for !r.accept("}") {
		block := SourceBlock{Pos: r.peek().pos}
		if err := r.sourceBlock(&block); err != nil {
			return err
		}
		b.Blocks = append(b.Blocks, block)
	}
	return nil
}

// sourceBlock reads ".code_block { .ir_name: "name" .sourceFileName: 2 .source_begin … .source_end }".
func (r *reader) sourceBlock(b *SourceBlock) *Error {
	for _, want := range []string{".code_block", "{", ".ir_name", ":", "", ".sourceFileName", ":"} {
		switch {
		case want != "":
			if err := r.expect(want); err != nil {
				return err
			}
		case r.peek().typ != tokString:
			return r.unexpected("a string")
		default:
			b.Name = r.next().text
		}
	}
	n := r.peek()
	if n.typ != tokInt {
		return r.unexpected("a number")
	}
	r.next()
	c, ok := integer(n.text)
	if b.File = int32(c.Bits); !ok || c.Bits > math.MaxInt32 {
		return &Error{Pos: n.pos, Msg: fmt.Sprintf("%s is no index of a .file", n.text)}
	}
	const begin = ".source_begin"
	if !r.isNext(begin) {
		return r.unexpected(strconv.Quote(begin))
	}
	text, ok := sourceText(r.scan.src, r.scan.offset-len(begin))
	if !ok {
		return &Error{Pos: r.peek().pos, Msg: "want .source_begin at the end of a line, and .source_end in a line of its own"}
	}
	r.scan.skip(len(text) - len(begin))
	r.load()
	lines := strings.SplitAfter(text, "\n")
	for last := len(lines) - 1; lines[last] == "" || strings.TrimSpace(lines[last]) == ".source_end"; last-- {
		lines = lines[:last]
	}
	b.Text = strings.Join(lines[1:], "")
	return r.expect("}")
}

// dataBits are the sizes of the data directives of a debug section.
var dataBits = map[string]int{".b8": 8, ".b16": 16, ".b32": 32, ".b64": 64, ".byte": 8, ".4byte": 32, ".quad": 64}

// data reads a data directive: numbers, or one address.
func (r *reader) data(l *SectionLine) *Error {
	t := r.next()
	l.Type = t.text
	bits, ok := dataBits[l.Type]
	if !ok {
		return &Error{Pos: t.pos, Msg: fmt.Sprintf("%s is no type of debug data, want .b8, .b16, .b32 or .b64", l.Type)}
	}
	if first := r.peek(); first.typ == tokIdent || first.typ == tokDot {
		if bits < 32 {
			return &Error{Pos: first.pos, Msg: fmt.Sprintf("%s does not hold an address", l.Type)}
		}
		v, err := r.distance()
		l.Values = append(l.Values, v)
		return err
	}
	for {
		sign := ""
		if r.accept("-") {
			sign = "-"
		}
		n := r.peek()
		if n.typ != tokInt {
			return r.unexpected("a number")
		}
		r.next()
		c, ok := integer(n.text)
		if max := uint64(1) << (bits - 1); !ok || sign != "" && c.Bits > max || bits <= 16 && c.Bits >= 2*max {
			return &Error{Pos: n.pos, Msg: fmt.Sprintf("%s%s is out of the range of %s", sign, n.text, l.Type)}
		}
		l.Values = append(l.Values, sign+n.text)
		if !r.accept(",") {
			return nil
		}
	}
}

// distance reads an address: a label or a section, plus bytes or minus a label.
func (r *reader) distance() (string, *Error) {
	base := r.next()
	switch {
	case r.accept("+"):
		n := r.peek()
		if n.typ != tokInt {
			return "", r.unexpected("a number")
		}
		r.next()
		return base.text + "+" + n.text, nil
	case base.typ == tokIdent && r.accept("-"):
		from, _, err := r.ident("a label")
		return base.text + "-" + from, err
	}
	return base.text, nil
}

// Parse implements participle.Parseable.
func (d *Dwarf) Parse(lex *lexer.PeekingLexer) error {
	r := fromStream(lex)
	if !r.isNext("@@") {
		return participle.NextMatch
	}
	d.Pos = r.next().pos
	if word, _, err := r.ident("DWARF"); err != nil || word != "DWARF" {
		return &Error{Pos: d.Pos, Msg: "want @@DWARF"}
	}
	t := r.peek()
	switch {
	case t.typ != tokDot:
		return r.unexpected("a data directive")
	case t.text != ".section":
		d.Line = &SectionLine{Pos: t.pos}
		if err := r.data(d.Line); err != nil {
			return err
		}
		for _, v := range d.Line.Values {
			if strings.ContainsAny(v, "+-") {
				return &Error{Pos: t.pos, Msg: fmt.Sprintf("%s: @@DWARF has no signs", v)}
			}
		}
		return nil
	}
	r.next()
	name := r.peek()
	if name.typ != tokDot {
		return r.unexpected("the name of a section")
	}
	r.next()
	d.Section = name.text
	for _, want := range []string{",", "", ",", "@", "progbits"} { // , "flags", @progbits
		switch {
		case want != "":
			if err := r.expect(want); err != nil {
				return err
			}
		case r.peek().typ != tokString:
			return r.unexpected("a string")
		default:
			r.next()
		}
	}
	return nil
}

// Parse implements participle.Parseable. A prototype may end without a semicolon:
// what begins a statement is no directive of a function.
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

func (r *reader) directive(d *Directive) *Error {
	t := r.next()
	d.Pos, d.Name = t.pos, t.text
	for r.peek().typ == tokInt || r.peek().typ == tokString {
		d.Args = append(d.Args, r.next().text)
		if !r.accept(",") {
			break
		}
		if t := r.peek().typ; t != tokInt && t != tokString {
			return r.unexpected("a number")
		}
	}
	if d.Name == ".pragma" {
		return r.expect(";")
	}
	return nil
}

// parenthesised reads the words up to the parenthesis that closes the one just
// read, nested ones included.
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

// MaxRange bounds how many names a range "name<N>" of variables or labels stands
// for, each of which takes memory. Registers have a bound of their own.
const MaxRange = 1 << 16

// count reads the "<N>" of a range of at most max names (manual 5.4.6).
func (r *reader) count(name string, pos Pos, max uint64) (int, *Error) {
	r.next()
	c, err := r.binary(precedence["<<"], 0) // no comparison, which would take the ">"
	if err != nil {
		return 0, err
	}
	if c.Kind >= F32 || c.Bits > max {
		return 0, &Error{Pos: pos, Msg: fmt.Sprintf("%s: a range <N> has at most %d names", name, max)}
	}
	return int(c.Bits), r.expect(">")
}

func (r *reader) declarator() (d Declarator, err *Error) {
	if d.Name, d.Pos, err = r.ident("a name"); err != nil {
		return d, err
	}
	if strings.Contains(d.Name, ".") {
		return d, &Error{Pos: d.Pos, Msg: fmt.Sprintf("%s: a name has no dot", d.Name)}
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
				return d, &Error{Pos: d.Pos, Msg: fmt.Sprintf("%s: array of %d elements is too large", d.Name, c.Bits)}
			}
			if n = int(c.Bits); n == 0 && len(d.Dims) == 0 {
				n = -1 // [0] means the same as [] to NVIDIA's assembler
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

// list reads elements with commas between them, and what closes them.
func (r *reader) list(end string, element func() *Error) *Error {
	if r.accept(end) {
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch {
		case r.accept(end):
			return nil
		case !r.accept(","):
			return r.unexpected(fmt.Sprintf(`"," or %q`, end))
		}
	}
}

// maxNesting bounds how deep lists, scopes and expressions may nest, so that no
// input exhausts the stack.
const maxNesting = 200

// value reads an initialiser.
func (r *reader) value(v *Value, depth int) *Error {
	v.Pos = r.peek().pos
	if depth > maxNesting {
		return &Error{Pos: v.Pos, Msg: "initialiser nests too deeply"}
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

// braces takes the text from "{", which is the next token, to the "}" that closes it.
func (r *reader) braces() (text string) {
	if r.lex != nil { // a single token of participle's stream
		return r.next().text
	}
	text, _ = r.scan.braces()
	r.load()
	return text
}

// Each calls do with the elements of a list, each of which is good until do returns:
// there may be millions. It ends with the first that is bad, and returns the problems.
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

// load reads the value into List.
func (v *Value) load(depth int) []*Error {
	if !v.IsList() {
		return nil
	}
	if depth > maxNesting {
		return []*Error{{Pos: v.Pos, Msg: "initialiser nests too deeply"}}
	}
	errs := v.Each(func(e *Value) { v.List = append(v.List, *e) })
	for i := range v.List {
		errs = append(errs, v.List[i].load(depth+1)...)
	}
	return errs
}

// integer reads an integer literal.
func (r *reader) integer() (Const, *Error) {
	t := r.peek()
	if t.typ != tokInt {
		return Const{}, r.unexpected("an integer")
	}
	return r.unary(0)
}

// precedence of the binary operators (manual section 4.5.3), from loose to tight.
var precedence = map[string]int{
	"?": 1, "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7,
	"<": 8, "<=": 8, ">": 8, ">=": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}

// expr reads an address, or a constant expression and folds it.
func (r *reader) expr(depth int) (Expr, *Error) {
	if t := r.peek(); t.typ == tokIdent && t.text != "WARP_SZ" {
		return r.symbol(depth)
	}
	c, err := r.binary(1, depth)
	return Expr{Const: c}, err
}

// symbol reads what begins with a name: the name plus a constant, name[…], or
// generic(name) plus a constant.
func (r *reader) symbol(depth int) (e Expr, err *Error) {
	e.Sym = r.next().text
	if r.peek().typ == tokDot { // a component set apart by white space
		e.Sym += r.next().text
	}
	switch {
	case r.accept("["):
		return e, r.element(&e, depth)
	case e.Sym == "generic" && r.accept("("):
		e.Generic = true
		if e.Sym, _, err = r.ident("a name"); err == nil {
			err = r.expect(")")
		}
		if err != nil {
			return e, err
		}
	}
	switch {
	case r.isNext("-"):
		return e, r.unexpected(fmt.Sprintf(`"+" behind %s, as in %s+-4`, e.Sym, e.Sym))
	case r.accept("+"):
		e.Const, err = r.offset(depth)
	}
	return e, err
}

// offset reads an integer expression.
func (r *reader) offset(depth int) (Const, *Error) {
	pos := r.peek().pos
	c, err := r.binary(1, depth+1)
	if err == nil && c.Kind >= F32 {
		err = &Error{Pos: pos, Msg: "want an integer"}
	}
	return c, err
}

// element reads what follows "name[" (manual 6.4.2): the number of an element, or
// a register, which holds one, and a number to add to it.
func (r *reader) element(e *Expr, depth int) *Error {
	pos := r.peek().pos
	i, err := r.expr(depth + 1)
	switch {
	case err != nil:
		return err
	case i.Const.Kind >= F32 || i.Generic || i.Element || i.Index != "":
		return &Error{Pos: pos, Msg: "an index is an integer, or a register plus an integer"}
	}
	e.Element, e.Index, e.Const = i.Sym == "", i.Sym, i.Const
	return r.expect("]")
}

func (r *reader) binary(min, depth int) (Const, *Error) {
	left, err := r.unary(depth)
	if err != nil {
		return left, err
	}
	return r.binaryAfter(left, min, depth)
}

// binaryAfter goes on behind the first operand.
func (r *reader) binaryAfter(left Const, min, depth int) (Const, *Error) {
	var err *Error
	for err == nil {
		t := r.peek()
		if t.typ != tokPunct {
			return left, nil
		}
		prec := precedence[t.text]
		if prec < min {
			return left, nil
		}
		r.next()
		pos := t.pos
		if t.text == "?" {
			left, err = r.choice(left, pos, depth)
			continue
		}
		var right Const
		if right, err = r.binary(prec+1, depth+1); err != nil {
			return left, err
		}
		left, err = fold(t.text, left, right, pos)
	}
	return left, err
}

// choice reads "a : b" behind "cond ?" (manual 4.5.5): both are integers, and
// alike signed or unsigned, or both are floats.
func (r *reader) choice(cond Const, pos Pos, depth int) (Const, *Error) {
	a, err := r.binary(1, depth+1)
	if err != nil {
		return a, err
	}
	if err := r.expect(":"); err != nil {
		return a, err
	}
	b, err := r.binary(1, depth+1)
	switch {
	case err != nil:
		return b, err
	case cond.Kind >= F32:
		return a, &Error{Pos: pos, Msg: "operator ? wants an integer"}
	}
	kind, err := common("?", a, b, pos)
	if cond.Bits == 0 {
		a = b
	}
	a.Kind = kind
	return a, err
}

func (r *reader) unary(depth int) (Const, *Error) {
	t := r.peek()
	pos := t.pos
	if depth > maxNesting {
		return Const{}, &Error{Pos: pos, Msg: "expression nests too deeply"}
	}
	switch t.typ {
	case tokInt:
		r.next()
		c, ok := integer(t.text)
		if !ok {
			return c, &Error{Pos: pos, Msg: fmt.Sprintf("number %s is too long", t.text)}
		}
		return c, nil
	case tokFloat:
		r.next()
		return float(t.text), nil
	case tokIdent:
		if t.text != "WARP_SZ" {
			return Const{}, &Error{Pos: pos, Msg: fmt.Sprintf("%s is not a constant", t.text)}
		}
		r.next()
		return Const{Signed, 32}, nil
	case tokPunct:
		switch t.text {
		case "-", "+", "!", "~":
			r.next()
			c, err := r.unary(depth + 1)
			if err != nil {
				return c, err
			}
			return c, c.apply(t.text, pos)
		case "(":
			r.next()
			if t := r.peek(); t.typ == tokDot && (t.text == ".s64" || t.text == ".u64") { // cast
				r.next()
				if err := r.expect(")"); err != nil {
					return Const{}, err
				}
				c, err := r.unary(depth + 1)
				if err != nil {
					return c, err
				}
				return c, c.apply(t.text, pos)
			}
			c, err := r.binary(1, depth+1)
			if err != nil {
				return c, err
			}
			return c, r.expect(")")
		}
	}
	return Const{}, r.unexpected("an operand")
}

// apply folds a unary operator or a cast.
func (c *Const) apply(op string, pos Pos) *Error {
	switch {
	case op == "-" && c.Kind == F64:
		c.Bits ^= 1 << 63
	case op == "-" && c.Kind == F32:
		c.Bits ^= 1 << 31
	case op == "-":
		c.Bits = -c.Bits
	case c.Kind >= F32 && op != "+":
		return &Error{Pos: pos, Msg: fmt.Sprintf("operator %s wants an integer", op)}
	case op == "!":
		*c = truth(c.Bits == 0)
	case op == "~":
		*c = Const{Unsigned, ^c.Bits}
	case op == ".s64":
		c.Kind = Signed
	case op == ".u64":
		c.Kind = Unsigned
	}
	return nil
}

func truth(b bool) Const {
	if b {
		return Const{Signed, 1}
	}
	return Const{Signed, 0}
}

// integer reads an integer literal. It is cut to 64 bits, silently as by NVIDIA's
// assembler as long as no digit follows a number of 64 bits; then ok is false.
func integer(s string) (c Const, ok bool) {
	if strings.HasSuffix(s, "U") {
		c.Kind, s = Unsigned, s[:len(s)-1]
	}
	base := uint64(10)
	if len(s) > 1 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			base, s = 16, s[2:]
		case 'b', 'B':
			base, s = 2, s[2:]
		default:
			base, s = 8, s[1:]
		}
	}
	for i := range len(s) {
		if c.Bits > math.MaxInt64 {
			return c, false
		}
		digit := uint64(s[i] - '0')
		if s[i] > '9' {
			digit = uint64(s[i]|0x20-'a') + 10
		}
		c.Bits = c.Bits*base + digit
	}
	if c.Bits > math.MaxInt64 {
		c.Kind = Unsigned
	}
	return c, true
}

func float(s string) Const {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			v, _ := strconv.ParseUint(s[2:], 16, 32)
			return Const{F32, v}
		case 'd', 'D':
			v, _ := strconv.ParseUint(s[2:], 16, 64)
			return Const{F64, v}
		}
	}
	v, _ := strconv.ParseFloat(s, 64) // out of range gives ±Inf, as the manual wants
	return Const{F64, math.Float64bits(v)}
}

// fold applies a binary operator (manual section 4.5.5, 4.5.6).
func fold(op string, x, y Const, pos Pos) (Const, *Error) {
	kind, err := common(op, x, y, pos)
	if err != nil {
		return x, err
	}
	if kind == F64 {
		return foldFloat(op, x, y, pos)
	}
	signed := kind == Signed
	var v uint64
	p, q := x.Bits, y.Bits
	switch op {
	case "+":
		v = p + q
	case "-":
		v = p - q
	case "*":
		v = p * q
	case "/", "%":
		switch {
		case q == 0:
			return x, &Error{Pos: pos, Msg: "division by zero"}
		case op == "%": // of unsigned numbers, whatever the operands are
			v, kind = p%q, Signed
		case signed && int64(q) == -1:
			v = -p
		case signed:
			v = uint64(int64(p) / int64(q))
		default:
			v = p / q
		}
	case "<<":
		v, kind = p<<q, x.Kind
	case ">>":
		kind = x.Kind
		if kind == Signed {
			v = uint64(int64(p) >> q)
		} else {
			v = p >> q
		}
	case "&":
		v = p & q
	case "|":
		v = p | q
	case "^":
		v = p ^ q
	case "&&":
		return truth(p != 0 && q != 0), nil
	case "||":
		return truth(p != 0 || q != 0), nil
	case "==":
		return truth(p == q), nil
	case "!=":
		return truth(p != q), nil
	case "<":
		return truth(signed && int64(p) < int64(q) || !signed && p < q), nil
	case "<=":
		return truth(signed && int64(p) <= int64(q) || !signed && p <= q), nil
	case ">":
		return truth(signed && int64(p) > int64(q) || !signed && p > q), nil
	case ">=":
		return truth(signed && int64(p) >= int64(q) || !signed && p >= q), nil
	}
	return Const{kind, v}, nil
}

// common is the kind that two operands are converted to: unsigned if one is.
// Integers and floats do not mix, and 0f constants take no part (manual 4.5.2,
// 4.5.4).
func common(op string, x, y Const, pos Pos) (ConstKind, *Error) {
	switch {
	case x.Kind == F32 || y.Kind == F32:
		return F64, &Error{Pos: pos, Msg: fmt.Sprintf("operator %s does not apply to a 0f constant", op)}
	case (x.Kind == F64) != (y.Kind == F64):
		return F64, &Error{Pos: pos, Msg: fmt.Sprintf("operator %s wants two integers or two floats", op)}
	}
	return max(x.Kind, y.Kind), nil
}

func foldFloat(op string, x, y Const, pos Pos) (Const, *Error) {
	p, q := math.Float64frombits(x.Bits), math.Float64frombits(y.Bits)
	var v float64
	switch op {
	case "+":
		v = p + q
	case "-":
		v = p - q
	case "*":
		v = p * q
	case "/":
		v = p / q
	case "==":
		return truth(p == q), nil
	case "!=":
		return truth(p != q), nil
	case "<":
		return truth(p < q), nil
	case "<=":
		return truth(p <= q), nil
	case ">":
		return truth(p > q), nil
	case ">=":
		return truth(p >= q), nil
	default:
		return Const{}, &Error{Pos: pos, Msg: fmt.Sprintf("operator %s wants integers", op)}
	}
	return Const{F64, math.Float64bits(v)}, nil
}
