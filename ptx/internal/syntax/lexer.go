package syntax

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// Pos is a place in the source: line and column, both from 1, the column in bytes.
type Pos struct{ Line, Col int32 }

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// posOf returns a place of participle as a Pos.
func posOf(p lexer.Position) Pos { return Pos{int32(p.Line), int32(p.Column)} }

// The kinds of token.
const (
	tokIdent  lexer.TokenType = iota + 1 // name, register or whole opcode: mad.lo.s32, %r1, $L__BB0_2, %tid.x
	tokDot                               // .visible, .b32, .shared::cta
	tokInt                               // 42, 0x2a, 052, 0b101, 42U
	tokFloat                             // 1.5, .5, 1e-3, 0f3F800000, 0d3FF0000000000000
	tokString                            // "text", with its quotes
	tokPunct                             // one or two characters of punctuation, such as ";" or "<<"
	tokBraces                            // for participle: the whole text from { to the matching }
	tokBad                               // an invalid token; the error is in scanner.errs
)

// Definition is the lexer of PTX, for participle.
type Definition struct{}

// Symbols returns the token kinds by their names in the grammar.
func (Definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Ident": tokIdent, "Dot": tokDot, "Int": tokInt, "Float": tokFloat, "String": tokString, "Punct": tokPunct, "Braces": tokBraces, "Bad": tokBad,
	}
}

// Lex reads all of r.
func (d Definition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	src, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(filename, string(src))
}

// LexString lexes a source in memory.
func (Definition) LexString(filename, src string) (lexer.Lexer, error) {
	return newScanner(filename, src), nil
}

// token is a token of the scanner; its type is lexer.EOF at the end.
type token struct {
	typ  lexer.TokenType
	text string
	pos  Pos
}

// scanner is the lexer.
//
// For participle (Next) it splits a file into chunks: the stream ends (EOF) after each module-level statement, so an error
// in a statement does not hide errors in the next. The text in braces (a body, an initialiser, a section) is a single token
// for participle. A node that parses itself scans the text again. So participle never sees most of a file.
type scanner struct {
	file      string // name, for participle's positions
	src       string
	offset    int  // offset in src of the next byte to read
	line      int  // number of the line at offset
	lineStart int  // offset of the first byte of the line; may be negative
	atEnd     bool // the chunk is complete
	equals    bool // the chunk has an initialiser, whose braces do not end it
	function  bool // the chunk has an .entry or .func
	pragma    bool // in a .pragma of this function, whose semicolon does not end the chunk
	sources   bool // the chunk is a .nv_intermediate_source_section, whose texts contain no tokens
	fileName  bool // after .file: its string may span several lines
	operand   bool // the previous token ends an operand of an expression, so % is the modulus and begins no name
	errs      []*Error
}

// newScanner returns a scanner of a whole source.
func newScanner(filename, src string) *scanner {
	return &scanner{file: filename, src: src, line: 1}
}

// rescan returns a scanner of text, a part of a source that begins at pos.
func rescan(text string, pos Pos) *scanner {
	return &scanner{src: text, line: int(pos.Line), lineStart: 1 - int(pos.Col)}
}

// nextChunk prepares the scanner for the next module-level statement. It returns false at the end of the source.
func (s *scanner) nextChunk() bool {
	s.atEnd, s.equals, s.function, s.pragma, s.fileName, s.sources = false, false, false, false, false, false
	for s.offset < len(s.src) {
		switch c := s.src[s.offset]; {
		case c == '\n':
			s.offset++
			s.line++
			s.lineStart = s.offset
		case c == ' ' || c == '\t' || c == '\r':
			s.offset++
		default:
			return true
		}
	}
	return false
}

// Next implements lexer.Lexer.
func (s *scanner) Next() (lexer.Token, error) {
	position := func(p Pos) lexer.Position {
		return lexer.Position{Filename: s.file, Offset: s.offset, Line: int(p.Line), Column: int(p.Col)}
	}
	if s.atEnd {
		return lexer.EOFToken(position(s.pos(s.offset))), nil
	}
	t := s.next()
	switch t.text {
	case ";":
		s.atEnd = !s.pragma
		s.pragma = false
	case ".entry", ".func":
		s.function = true
	case ".pragma":
		s.pragma = s.function
	case ".file":
		s.fileName = true
	case ".nv_intermediate_source_section":
		s.sources = true
	case "=":
		s.equals = true
	case "{":
		t.typ = tokBraces
		t.text, _ = s.braces()
		s.atEnd = !s.equals
	case "}":
		s.atEnd = true
	}
	return lexer.Token{Type: t.typ, Value: t.text, Pos: position(t.pos)}, nil
}

// braces moves past the brace that closes the brace just read, and returns the text from the one to the other, both
// included. Without a matching brace it returns the rest of the source, and ok is false.
func (s *scanner) braces() (text string, ok bool) {
	start := s.offset - 1
	src := s.src
	depth := 1
	i := s.offset
	for i < len(src) && depth > 0 {
		switch src[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '\n':
			s.line++
			s.lineStart = i + 1
		case '.':
			if text, ok := sourceText(src, i); ok && s.sources {
				s.line += strings.Count(src[i:i+len(text)], "\n")
				i += len(text)
				s.lineStart = i
				continue
			}
		case '"':
			for i++; i < len(src) && src[i] != '"' && src[i] != '\n'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
			if i < len(src) && src[i] == '\n' {
				continue
			}
		case '/':
			if i+1 < len(src) && src[i+1] == '/' {
				for i < len(src) && src[i] != '\n' {
					i++
				}
				continue
			}
			if i+1 < len(src) && src[i+1] == '*' {
				for i += 2; i < len(src) && !(src[i] == '*' && i+1 < len(src) && src[i+1] == '/'); i++ {
					if src[i] == '\n' {
						s.line++
						s.lineStart = i + 1
					}
				}
				i++
			}
		}
		i++
	}
	s.offset = min(i, len(src))
	return src[start:s.offset], depth == 0
}

// sourceText returns the text from .source_begin at i to the end of the line of the next .source_end; ok is false if there
// is none. Nothing may follow .source_begin in its line, and .source_end must be alone in its line.
func sourceText(src string, i int) (text string, ok bool) {
	const begin = ".source_begin"
	if !strings.HasPrefix(src[i:], begin) {
		return "", false
	}
	n := i + len(begin)
	for line := range strings.Lines(src[n:]) {
		first := n == i+len(begin)
		n += len(line)
		switch word := strings.TrimSpace(line); {
		case first && word != "":
			return "", false
		case word == ".source_end" && !first:
			return src[i:n], true
		}
	}
	return "", false
}

// closed reports whether the text, which begins with a brace, contains the matching brace.
func closed(text string) bool {
	s := scanner{src: text, offset: 1}
	_, ok := s.braces()
	return ok
}

// skip moves past n bytes without tokens.
func (s *scanner) skip(n int) {
	text := s.src[s.offset : s.offset+n]
	if last := strings.LastIndexByte(text, '\n'); last >= 0 {
		s.line += strings.Count(text, "\n")
		s.lineStart = s.offset + last + 1
	}
	s.offset += n
}

// Byte classes.
const (
	cSpace = 1 << iota
	cIdentStart
	cIdent
	cDigit
	cHex
	cOctal
	cBinary
)

var class [256]uint8 // a set of byte classes for each byte

func init() {
	for _, c := range " \t\r\n\f\v" {
		class[c] |= cSpace
	}
	for c := range 256 {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		digit := c >= '0' && c <= '9'
		if letter || c == '_' || c == '$' || c == '%' {
			class[c] |= cIdentStart
		}
		if letter || digit || c == '_' || c == '$' {
			class[c] |= cIdent
		}
		if digit {
			class[c] |= cDigit
		}
		if c >= '0' && c <= '7' {
			class[c] |= cOctal
		}
		if c == '0' || c == '1' {
			class[c] |= cBinary
		}
		if digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			class[c] |= cHex
		}
	}
}

// pos returns the place of an offset in the current line.
func (s *scanner) pos(offset int) Pos { return Pos{int32(s.line), int32(offset - s.lineStart + 1)} }

// Error is a problem of the text with its place.
type Error struct {
	Pos  Pos
	Msg  string
	Hint string // the probably intended word, "" if unknown
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Msg) }

// bad records an error and returns the invalid text, from start to end, as a token. The parser rejects the statement with
// this token, and continues with the next statement.
func (s *scanner) bad(start, end int, format string, args ...any) token {
	if len(s.errs) < maxErrors {
		s.errs = append(s.errs, &Error{Pos: s.pos(start), Msg: fmt.Sprintf(format, args...)})
	}
	s.offset = min(end, len(s.src))
	return token{tokBad, s.src[start:s.offset], s.pos(start)}
}

// next returns the next token.
func (s *scanner) next() token {
	src := s.src
	i := s.offset
	// White space, comments, and preprocessor lines.
	for i < len(src) {
		c := src[i]
		if class[c]&cSpace != 0 {
			i++
			if c == '\n' {
				s.line++
				s.lineStart = i
			}
			continue
		}
		if c == '/' && i+1 < len(src) && src[i+1] == '/' || c == '#' && s.lineStartsWith(i) {
			j := strings.IndexByte(src[i:], '\n')
			if j < 0 {
				j = len(src) - i
			}
			i += j
			continue
		}
		if c == '/' && i+1 < len(src) && src[i+1] == '*' {
			j := strings.Index(src[i+2:], "*/")
			if j < 0 {
				return s.bad(i, len(src), "comment is not closed")
			}
			for k := i; k < i+2+j; k++ {
				if src[k] == '\n' {
					s.line++
					s.lineStart = k + 1
				}
			}
			i += j + 4
			continue
		}
		break
	}
	start := i
	if i >= len(src) {
		s.offset = i
		return token{typ: lexer.EOF, pos: s.pos(i)}
	}
	afterOperand := s.operand
	s.operand = false
	var typ lexer.TokenType
	c := src[i]
	switch {
	case class[c]&cIdentStart != 0 && !(c == '%' && (afterOperand || i+1 >= len(src) || class[src[i+1]]&cIdent == 0)):
		typ = tokIdent
		i = identEnd(src, i+1)
	case c == '.' && leadsFraction(src, i):
		typ, i = numberEnd(src, i)
		s.operand = true
	case c == '.' && i+1 < len(src) && class[src[i+1]]&cIdent != 0:
		typ = tokDot
		i++
		for i < len(src) && (class[src[i]]&cIdent != 0 || src[i] == ':' && i+2 < len(src) && src[i+1] == ':' && class[src[i+2]]&cIdent != 0) {
			if src[i] == ':' {
				i++
			}
			i++
		}
	case class[c]&cDigit != 0:
		typ, i = numberEnd(src, i)
		s.operand = true
		if i < len(src) && class[src[i]]&cIdent != 0 {
			end := identEnd(src, i)
			return s.bad(start, end, "malformed number %q", src[start:end])
		}
	case c == '"':
		pos := s.pos(start)
		line, lineStart := s.line, s.lineStart
		i++
		for i < len(src) && src[i] != '"' && (src[i] != '\n' || s.fileName) {
			switch {
			case src[i] == '\n':
				s.line++
				s.lineStart = i + 1
			case src[i] == '\\' && i+1 < len(src) && src[i+1] != '\n':
				i++
			}
			i++
		}
		if i >= len(src) || src[i] != '"' { // assume that it ends with its line
			s.line, s.lineStart = line, lineStart
			if n := strings.IndexByte(src[start:], '\n'); n >= 0 {
				i = start + n
			}
			return s.bad(start, i, "string is not closed")
		}
		i++
		s.offset, s.fileName = i, false
		return token{tokString, src[start:i], pos}
	default:
		typ = tokPunct
		i++
		switch c {
		case '{', '}', ';':
		case '=':
			i = pair(src, i, '=')
		case '!', '<', '>':
			if c != '!' {
				i = pair(src, i, c)
			}
			if i == start+1 {
				i = pair(src, i, '=')
			}
		case '&', '|', '@':
			i = pair(src, i, c)
		case ')', ']':
			s.operand = true
		case '(', '[', ',', ':', '+', '-', '*', '/', '%', '~', '^', '?':
		default:
			r, n := utf8.DecodeRuneInString(src[start:])
			if r == utf8.RuneError && n == 1 {
				return s.bad(start, i, "unexpected byte %#x", c)
			}
			return s.bad(start, start+n, "unexpected character %q", r)
		}
	}
	s.offset = i
	return token{typ, src[start:i], s.pos(start)}
}

// lineStartsWith reports whether only white space precedes offset in its line.
func (s *scanner) lineStartsWith(offset int) bool {
	return strings.TrimLeft(s.src[max(s.lineStart, 0):offset], " \t") == ""
}

// pair returns i + 1 if byte i of src is c, else i.
func pair(src string, i int, c byte) int {
	if i < len(src) && src[i] == c {
		return i + 1
	}
	return i
}

// identEnd returns the end of an identifier whose first byte is before i. Dotted parts belong to it (an opcode or a special
// register is one token), and so do qualifiers with "::" after a dot, which may have a ratio, as in .sp::2:4.
func identEnd(src string, i int) int {
	dotted, qualified := false, false // after a dot, after "::"
	for i < len(src) {
		c := src[i]
		switch {
		case class[c]&cIdent != 0:
			i++
		case c == '.' && i+1 < len(src) && class[src[i+1]]&cIdent != 0:
			dotted, qualified = true, false
			i += 2
		case dotted && c == ':' && i+2 < len(src) && src[i+1] == ':' && class[src[i+2]]&cIdent != 0:
			qualified = true
			i += 3
		case qualified && c == ':' && class[src[i-1]]&cDigit != 0 && i+1 < len(src) && class[src[i+1]]&cDigit != 0:
			i += 2
		default:
			return i
		}
	}
	return i
}

// leadsFraction reports whether the dot at i begins a number such as .05, rather than a word such as .2d or .16x64b.
func leadsFraction(src string, i int) bool {
	if i+1 >= len(src) || class[src[i+1]]&cDigit == 0 {
		return false
	}
	_, end := numberEnd(src, i)
	return end >= len(src) || class[src[end]]&cIdent == 0
}

// digits returns the end of the run of bytes of a class from i on.
func digits(src string, i int, cls uint8) int {
	for i < len(src) && class[src[i]]&cls != 0 {
		i++
	}
	return i
}

// numberEnd returns the kind and the end of the number literal at i (manual section 4.5). A malformed literal ends before
// the first invalid byte.
func numberEnd(src string, i int) (lexer.TokenType, int) {
	if src[i] == '0' && i+1 < len(src) {
		switch src[i+1] {
		case 'x', 'X':
			if j := digits(src, i+2, cHex); j > i+2 {
				return tokInt, pair(src, j, 'U')
			}
			return tokInt, i + 1 // the x makes it malformed
		case 'b', 'B':
			if j := digits(src, i+2, cBinary); j > i+2 {
				return tokInt, pair(src, j, 'U')
			}
			return tokInt, i + 1
		case 'f', 'F':
			if j := digits(src, i+2, cHex); j-i-2 == 8 {
				return tokFloat, j
			}
		case 'd', 'D':
			if j := digits(src, i+2, cHex); j-i-2 == 16 {
				return tokFloat, j
			}
		}
	}
	j := digits(src, i, cDigit)
	float := false
	if j < len(src) && src[j] == '.' {
		float = true
		j = digits(src, j+1, cDigit)
	}
	if j < len(src) && (src[j] == 'e' || src[j] == 'E') {
		k := j + 1
		if k < len(src) && (src[k] == '+' || src[k] == '-') {
			k++
		}
		if end := digits(src, k, cDigit); end > k {
			return tokFloat, end
		}
	}
	switch {
	case float:
		return tokFloat, j
	case src[i] == '0':
		j = digits(src, i, cOctal)
	}
	return tokInt, pair(src, j, 'U')
}
