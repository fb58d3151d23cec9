package syntax

import (
	"fmt"
	"strconv"

	"github.com/alecthomas/participle/v2/lexer"
)

// reader is the hand-written half of the parser. It reads from participle's stream (lex) or from a scanner (scan), with
// one token of lookahead.
type reader struct {
	lex  *lexer.PeekingLexer // nil if scan is set
	scan *scanner            // nil if lex is set
	tok  token               // the next token
	ops  []Operand           // memory for the operands of instructions

	reuse       bool  // an instruction overwrites the previous one: the callback of Body.Each must not keep them
	instruction Instr // the instruction, if reuse is set
}

// fromStream returns a reader of participle's stream.
func fromStream(lex *lexer.PeekingLexer) *reader {
	r := &reader{lex: lex}
	r.load()
	return r
}

// fromBraces takes the next token of the stream, a text in braces, and returns a reader of this text.
func fromBraces(lex *lexer.PeekingLexer) *reader {
	t := lex.Next()
	r := &reader{scan: rescan(t.Value, posOf(t.Pos))}
	r.load()
	return r
}

// load sets tok to the next token of the source.
func (r *reader) load() {
	if r.scan != nil {
		r.tok = r.scan.next()
		return
	}
	t := r.lex.Peek()
	r.tok = token{t.Type, t.Value, posOf(t.Pos)}
}

// peek returns the next token.
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

// isNext reports whether the next token is text, and no string.
func (r *reader) isNext(text string) bool {
	return r.tok.text == text && r.tok.typ != tokString
}

// accept takes the next token if it is text, and reports whether it is.
func (r *reader) accept(text string) bool {
	if r.isNext(text) {
		r.next()
		return true
	}
	return false
}

// unexpected returns an error about the next token; want names the expected token.
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

// expect takes the next token, which must be value.
func (r *reader) expect(value string) *Error {
	if !r.accept(value) {
		return r.unexpected(strconv.Quote(value))
	}
	return nil
}

// ident takes the next token, which must be an identifier, and returns its text and place; want names it in messages.
func (r *reader) ident(want string) (string, Pos, *Error) {
	t := r.peek()
	if t.typ != tokIdent {
		return "", Pos{}, r.unexpected(want)
	}
	r.next()
	return t.text, t.pos, nil
}

// list reads elements separated by commas, and the token end after them.
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

// braces takes and returns the text from the next token, which must be "{", to the matching "}".
func (r *reader) braces() (text string) {
	if r.lex != nil { // participle's stream has it as a single token
		return r.next().text
	}
	text, _ = r.scan.braces()
	r.load()
	return text
}
