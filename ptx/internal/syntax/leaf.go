package syntax

// This file contains the leaves of the module-level grammar. Each reads one token. If it finds a different token, it
// reports the expected one. All messages about module-level statements come from these leaves and from the other nodes
// that parse themselves.

import (
	"fmt"
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"gemu/internal/notation"
)

type (
	Word    string // an identifier
	Dotted  string // a word with its dot, such as .debug_info
	Text    string // a string, with its quotes
	Integer string // 64
	Decimal string // 8.5, or an integer

	Comma     struct{}
	Close     struct{} // ")"
	Semicolon struct{}

	// Stray matches any token where a declaration is missing, and always reports an error.
	Stray struct{}
	// NoBody matches any token where a kernel's body or semicolon is missing, and always reports an error.
	NoBody struct{}
)

// Parse implements participle.Parseable.
func (w *Word) Parse(lex *lexer.PeekingLexer) error { return leaf(w, lex, "a name", tokIdent) }

// Parse implements participle.Parseable.
func (d *Dotted) Parse(lex *lexer.PeekingLexer) error {
	return leaf(d, lex, "a word that begins with a dot", tokDot)
}

// Parse implements participle.Parseable.
func (t *Text) Parse(lex *lexer.PeekingLexer) error { return leaf(t, lex, "a string", tokString) }

// Parse implements participle.Parseable.
func (i *Integer) Parse(lex *lexer.PeekingLexer) error { return leaf(i, lex, "a number", tokInt) }

// Parse implements participle.Parseable.
func (d *Decimal) Parse(lex *lexer.PeekingLexer) error {
	return leaf(d, lex, "a number", tokInt, tokFloat)
}

// leaf reads a token of one of the kinds and stores its text in node; want names the token in messages.
func leaf[T ~string](node *T, lex *lexer.PeekingLexer, want string, kinds ...lexer.TokenType) error {
	r := fromStream(lex)
	if !slices.Contains(kinds, r.peek().typ) {
		return r.unexpected(want)
	}
	*node = T(r.next().text)
	return nil
}

// Parse implements participle.Parseable.
func (*Comma) Parse(lex *lexer.PeekingLexer) error { return result(fromStream(lex).expect(",")) }

// Parse implements participle.Parseable.
func (*Close) Parse(lex *lexer.PeekingLexer) error { return result(fromStream(lex).expect(")")) }

// Parse implements participle.Parseable.
func (*Semicolon) Parse(lex *lexer.PeekingLexer) error { return result(fromStream(lex).expect(";")) }

// Parse implements participle.Parseable.
func (*Stray) Parse(lex *lexer.PeekingLexer) error {
	r := fromStream(lex)
	if t := r.peek(); t.typ == tokDot && !slices.Contains(directives, t.text) {
		return unknownDirective(t)
	}
	return r.unexpected("a declaration")
}

// Parse implements participle.Parseable.
func (*NoBody) Parse(lex *lexer.PeekingLexer) error {
	return fromStream(lex).unexpected(`"{" or ";"`)
}

// unknownDirective returns the error for a word at the place of a module-level directive.
func unknownDirective(t token) *Error {
	return &Error{Pos: t.pos, Msg: fmt.Sprintf("unknown directive %s", t.text), Hint: notation.Nearest(t.text, directives)}
}
