package syntax

import (
	"errors"
	"slices"

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
