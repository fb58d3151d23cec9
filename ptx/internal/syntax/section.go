package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

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

// data reads a data directive with its values: numbers, or one address.
func (r *reader) data(l *SectionLine) *Error {
	t := r.next()
	l.Type = t.text
	bits, ok := dataBits[l.Type]
	if !ok {
		return &Error{Pos: t.pos, Msg: fmt.Sprintf("%s is not a type of debug data, want .b8, .b16, .b32 or .b64", l.Type)}
	}
	if first := r.peek(); first.typ == tokIdent || first.typ == tokDot {
		if bits < 32 {
			return &Error{Pos: first.pos, Msg: fmt.Sprintf("%s does not hold an address, want .b32 or .b64", l.Type)}
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

// dataBits contains the sizes in bits of the data directives in a debug section.
var dataBits = map[string]int{".b8": 8, ".b16": 16, ".b32": 32, ".b64": 64, ".byte": 8, ".4byte": 32, ".quad": 64}

// distance reads an address and returns it as text: a label or section, a label or section plus a number of bytes, or the
// difference of two labels.
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
				return &Error{Pos: t.pos, Msg: fmt.Sprintf("%s: a number of @@DWARF cannot have a sign", v)}
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
		return &Error{Pos: n.pos, Msg: fmt.Sprintf("%s is not the index of a .file", n.text)}
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
