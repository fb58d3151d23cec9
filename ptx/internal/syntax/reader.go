package syntax

import (
	"fmt"
	"strconv"

	"github.com/alecthomas/participle/v2/lexer"
)

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

// braces takes the text from "{", which is the next token, to the "}" that closes it.
func (r *reader) braces() (text string) {
	if r.lex != nil { // a single token of participle's stream
		return r.next().text
	}
	text, _ = r.scan.braces()
	r.load()
	return text
}
