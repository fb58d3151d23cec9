package syntax

import (
	"errors"
	"slices"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// parser is the grammar of a module-level statement. The first word of a statement determines its kind, so the parser
// needs no lookahead.
var parser = participle.MustBuild[Item](participle.Lexer(Definition{}), participle.UseLookahead(0))

// maxErrors bounds the number of problems reported for a file.
const maxErrors = 50

// Parse reads the module-level statements of a source. It does not read function bodies and lists of initial values: see
// Body.Each, Value.Each and File.Load. It continues after a bad statement and stops after 50 errors, so the returned file
// contains all valid statements up to there.
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
		// Directives without a terminator share a chunk with the next terminated statement.
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

// Load also reads the function bodies and initialisers of the file, and returns their errors.
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

// resync skips a bad statement that begins at offset start: it moves to the next of leaders, or to the end of the chunk.
func resync(lex *lexer.PeekingLexer, start int) {
	for t := lex.Peek(); !t.EOF(); t = lex.Peek() {
		if t.Pos.Offset > start && t.Type == tokDot && slices.Contains(leaders, t.Value) {
			return
		}
		lex.Next()
	}
}

// leaders are the directives permitted only at the beginning of a module-level statement.
var leaders = []string{".version", ".target", ".address_size", ".file", ".section", ".nv_intermediate_source_section", ".alias", ".extern", ".visible", ".weak", ".common", ".entry", ".func"}

// directives may begin a module-level statement.
var directives = []string{
	".version", ".target", ".address_size", ".file", ".section", ".nv_intermediate_source_section", ".pragma", ".alias",
	".extern", ".visible", ".weak", ".common", ".entry", ".func",
	".global", ".const", ".shared", ".tex", ".local", ".param", ".reg", ".align", ".attribute",
}

// asError returns an error of participle's parser as an Error. Every error comes from a node that parses itself.
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

// result returns err as an error, which is nil if err is nil.
func result(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}
