package trace

// This file implements the text format: a line per entry, words separated by blanks.

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// magic begins a text log; the version follows.
const magic = "gemu-trace"

// textual is the codec of the text format.
type textual struct{}

// append appends an entry as a line.
func (textual) append(b []byte, e Entry, code *Code) []byte {
	switch e := e.(type) {
	case *Header:
		b = append(b, magic...)
		b = append(b, ' ')
		b = strconv.AppendUint(b, e.Version, 10)
		b = appendText(b, "by", e.Simulator)
		b = appendText(b, "lacks", strings.Join(e.Missing, ","))
		f := &e.Filter
		b = appendText(b, "kernel", f.Kernel)
		b = appendText(b, "ctas", f.CTAs.String())
		b = appendText(b, "warps", f.Warps.String())
		b = appendText(b, "lines", f.Lines.String())
		b = appendText(b, "classes", strings.Join(f.Classes, ","))
	case *Launch:
		b = fmt.Appendf(b, "launch %d", e.Number)
		b = appendText(b, "kernel", e.Kernel)
		b = appendText(b, "file", e.File)
		b = appendText(b, "grid", extent(e.Grid))
		b = appendText(b, "block", extent(e.Block))
		b = appendText(b, "cluster", extent(e.Cluster))
		b = fmt.Appendf(b, " warp=%d", e.WarpSize)
		b = appendText(b, "reconverge", e.Reconverge)
	case *Code:
		b = fmt.Appendf(b, "code %d %s %d:%d", e.Index, quoted(e.Func), e.Line, e.Column)
		b = appendText(b, "class", e.Class)
		b = appendText(b, "text", e.Text)
		b = appendRegisters(b, "writes", e.Writes)
		b = appendRegisters(b, "reads", e.Reads)
		b = appendText(b, "flags", strings.Join(e.Flags, ","))
	case *CTA:
		b = fmt.Appendf(b, "cta %d %s", e.Number, extent(e.ID))
	case *Record:
		b = appendRecord(b, e, code)
	case *End:
		b = fmt.Appendf(b, "end %d", e.Number)
		b = appendText(b, "error", e.Error)
	case *Finish:
		b = fmt.Appendf(b, "finish %d", e.Records)
	}
	return append(b, '\n')
}

// quoted returns a text as a single word, in quotes if necessary.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \"\\\t\r\n") || strconv.Quote(s) != `"`+s+`"` {
		return strconv.Quote(s)
	}
	return s
}

// appendText appends the word name=s, unless s is empty.
func appendText(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, ' ')
	b = append(b, name...)
	b = append(b, '=')
	return append(b, quoted(s)...)
}

func appendRegisters(b []byte, name string, list []Register) []byte {
	var words []string
	for _, r := range list {
		words = append(words, fmt.Sprintf("%s:%d%s", r.Name, r.Bits, r.Type))
	}
	return appendText(b, name, strings.Join(words, ","))
}

func appendHex(b []byte, v uint64) []byte { return strconv.AppendUint(append(b, "0x"...), v, 16) }

// appendRecord appends a record:
//
//	CTA WARP SEQ CODE@LINE LANES[/ACTIVE] NAME RESULT[.BITS]=VALUE … KIND:SPACE:BYTES@VALUE[=VALUE …]
func appendRecord(b []byte, r *Record, code *Code) []byte {
	b = append(strconv.AppendUint(b, r.CTA, 10), ' ')
	b = append(strconv.AppendUint(b, r.Warp, 10), ' ')
	b = append(strconv.AppendUint(b, r.Seq, 10), ' ')
	if r.Code > 0 {
		b = strconv.AppendUint(b, r.Code-1, 10)
	}
	b = append(b, '@')
	b = strconv.AppendUint(b, r.Line, 10)
	b = strconv.AppendUint(append(b, ' '), r.Lanes, 16)
	if r.Active != r.Lanes {
		b = strconv.AppendUint(append(b, '/'), r.Active, 16)
	}
	b = append(b, ' ')
	if r.Kind != Instruction {
		b = append(append(b, '+'), r.Kind.String()...)
	} else if r.Name == "" {
		b = append(b, '-')
	} else {
		b = append(b, r.Name...)
	}
	if r.Numbers != nil {
		b = appendValue(append(b, " number:"...), r.Numbers)
	}
	if r.Depth != 0 {
		b = strconv.AppendUint(append(b, " depth:"...), r.Depth, 10)
	}
	if r.Note != "" {
		b = append(append(b, " note:"...), quoted(r.Note)...)
	}
	for i := range r.Results {
		v := &r.Results[i]
		b = append(append(b, ' '), v.Name...)
		if v.Bits != code.width(v.Name) {
			b = strconv.AppendUint(append(b, '.'), v.Bits, 10)
		}
		b = appendValue(append(b, '='), v)
	}
	for i := range r.Accesses {
		a := &r.Accesses[i]
		b = append(append(b, ' '), a.Kind.String()...)
		if a.Lanes != 0 {
			b = strconv.AppendUint(append(b, '/'), a.Lanes, 16)
		}
		b = append(append(b, ':'), a.Space...)
		b = strconv.AppendUint(append(b, ':'), a.Bytes, 10)
		b = appendValue(append(b, '@'), &a.Addr)
		for k := range a.Compare {
			b = appendValue(append(b, '?'), &a.Compare[k])
		}
		for k := range a.Store {
			b = appendValue(append(b, '='), &a.Store[k])
		}
		if len(a.Data) > 0 {
			b = hex.AppendEncode(append(b, '=', 'x', ':'), a.Data)
		}
	}
	return b
}

// appendValue appends u:BASE, a:BASE±STRIDE, g:LIST or _. All numbers are hexadecimal, except the stride.
func appendValue(b []byte, v *Value) []byte {
	if v.Structure == NoValue {
		return append(b, structureLetters[NoValue]...)
	}
	b = append(append(b, structureLetters[v.Structure]...), ':')
	switch v.Structure {
	case Uniform:
		return appendWide(b, v.Base, v.High, v.Bits)
	case Affine:
		b = appendHex(b, v.Base)
		if v.Stride >= 0 {
			b = append(b, '+')
		}
		return strconv.AppendInt(b, v.Stride, 10)
	}
	for i, low := range v.List {
		if i > 0 {
			b = append(b, ',')
		}
		high := uint64(0)
		if len(v.ListHigh) > 0 {
			high = v.ListHigh[i]
		}
		b = appendWide(b, low, high, v.Bits)
	}
	return b
}

func appendWide(b []byte, low, high, bits uint64) []byte {
	if bits > 64 && high != 0 {
		return fmt.Appendf(appendHex(b, high), "%016x", low)
	}
	return appendHex(b, low)
}

// words splits a line into words. A word keeps its quotes and the blanks between quotes.
func words(line string) (list []string, err error) {
	for line != "" {
		end := strings.IndexAny(line, " \"")
		for end >= 0 && line[end] == '"' {
			q, err := strconv.QuotedPrefix(line[end:])
			if err != nil {
				return nil, errors.New("a quoted text is invalid, or its closing quote is missing")
			}
			next := strings.IndexAny(line[end+len(q):], " \"")
			if next < 0 {
				end = -1
				break
			}
			end += len(q) + next
		}
		if end < 0 {
			return append(list, line), nil
		}
		if end > 0 {
			list = append(list, line[:end])
		}
		line = line[end+1:]
	}
	return list, nil
}

// unquoted is the inverse of quoted.
func unquoted(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	t, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a valid quoted text", s)
	}
	return t, nil
}

// parse parses a line without its line end. It returns a nil entry for empty lines and lines of an index.
func (t textual) parse(line []byte) (Entry, error) {
	list, err := words(string(line))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	p := &textParser{words: list}
	var e Entry
	switch word := p.next(); word {
	case magic:
		h := &Header{Version: p.number(10)}
		p.fields(func(name, value string) {
			switch name {
			case "by":
				h.Simulator = value
			case "lacks":
				h.Missing = strings.Split(value, ",")
			case "kernel":
				h.Filter.Kernel = value
			case "ctas":
				p.ranges(&h.Filter.CTAs, value)
			case "warps":
				p.ranges(&h.Filter.Warps, value)
			case "lines":
				p.ranges(&h.Filter.Lines, value)
			case "classes":
				h.Filter.Classes = strings.Split(value, ",")
			}
		})
		e = h
	case "launch":
		l := &Launch{Number: p.number(10)}
		p.fields(func(name, value string) {
			switch name {
			case "kernel":
				l.Kernel = value
			case "file":
				l.File = value
			case "grid":
				l.Grid = p.extent(value)
			case "block":
				l.Block = p.extent(value)
			case "cluster":
				l.Cluster = p.extent(value)
			case "warp":
				l.WarpSize = p.uint(value, 10)
			case "reconverge":
				l.Reconverge = value
			}
		})
		e = l
	case "code":
		c := &Code{Index: p.number(10), Func: p.text(p.next())}
		line, column, _ := strings.Cut(p.next(), ":")
		c.Line, c.Column = p.uint(line, 10), p.uint(column, 10)
		p.fields(func(name, value string) {
			switch name {
			case "class":
				c.Class = value
			case "text":
				c.Text = value
			case "writes":
				c.Writes = p.registers(value)
			case "reads":
				c.Reads = p.registers(value)
			case "flags":
				c.Flags = strings.Split(value, ",")
			}
		})
		e = c
	case "cta":
		e = &CTA{Number: p.number(10), ID: p.extent(p.next())}
	case "end":
		x := &End{Number: p.number(10)}
		p.fields(func(name, value string) {
			if name == "error" {
				x.Error = value
			}
		})
		e = x
	case "finish":
		e = &Finish{p.number(10)}
	case indexWord:
		return nil, nil
	default:
		if word == "" || word[0] < '0' || word[0] > '9' {
			return nil, fmt.Errorf("unknown entry %s: want launch, code, cta, end, finish or the number of a CTA", quoted(word))
		}
		r := &Record{CTA: p.uint(word, 10)}
		p.record(r)
		e = r
	}
	if p.err == nil && len(p.words) > 0 {
		p.fail("unexpected word %s at the end of the line", quoted(p.words[0]))
	}
	return e, p.err
}

// textParser holds the unread words of a line and the first error.
type textParser struct {
	words []string
	err   error
}

func (p *textParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *textParser) next() string {
	if len(p.words) == 0 {
		p.fail("the line is incomplete")
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

func (p *textParser) uint(s string, base int) uint64 {
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		p.fail("%s is not a number", quoted(s))
	}
	return v
}

func (p *textParser) number(base int) uint64 { return p.uint(p.next(), base) }

func (p *textParser) text(s string) string {
	t, err := unquoted(s)
	if err != nil {
		p.fail("%v", err)
	}
	return t
}

// fields calls set for each remaining word name=value.
func (p *textParser) fields(set func(name, value string)) {
	for len(p.words) > 0 {
		name, value, ok := strings.Cut(p.next(), "=")
		if !ok {
			p.fail("%s: want NAME=VALUE", quoted(name))
			return
		}
		set(name, p.text(value))
	}
}

func (p *textParser) ranges(r *Ranges, s string) {
	if err := r.UnmarshalText([]byte(s)); err != nil {
		p.fail("%v", err)
	}
}

func (p *textParser) extent(s string) (d []uint64) {
	for _, n := range strings.Split(s, ",") {
		d = append(d, p.uint(n, 10))
	}
	if len(d) != 3 {
		p.fail("%s: want X,Y,Z", quoted(s))
	}
	return d
}

func (p *textParser) registers(s string) (list []Register) {
	for _, w := range strings.Split(s, ",") {
		name, rest, ok := strings.Cut(w, ":")
		bits, typ, dotted := strings.Cut(rest, ".")
		if !ok || name == "" {
			p.fail("%s: want NAME:BITS.TYPE", quoted(w))
			return nil
		}
		r := Register{Name: name, Bits: p.uint(bits, 10)}
		if dotted {
			r.Type = "." + typ
		}
		list = append(list, r)
	}
	return list
}

// hex parses a hexadecimal number of up to 128 bits.
func (p *textParser) hex(s string) (low, high uint64) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok || digits == "" || len(digits) > 32 {
		p.fail("%s is not a hexadecimal number such as 0x1f", quoted(s))
		return 0, 0
	}
	if n := len(digits) - 16; n > 0 {
		high = p.uint(digits[:n], 16)
		digits = digits[n:]
	}
	return p.uint(digits, 16), high
}

// value parses a value, without its Bits: Reader.complete sets them.
func (p *textParser) value(s string) (v Value) {
	letter, rest, _ := strings.Cut(s, ":")
	switch i := slices.Index(structureLetters[:], letter); Structure(max(i, 0)) {
	case Affine:
		position := strings.LastIndexAny(rest, "+-")
		if position < 0 {
			p.fail("%s: want a:BASE+STRIDE", quoted(s))
			return v
		}
		v.Structure = Affine
		v.Base, _ = p.hex(rest[:position])
		n, err := strconv.ParseInt(rest[position:], 10, 64)
		if err != nil {
			p.fail("%s is not a stride", quoted(rest[position:]))
		}
		v.Stride = n
	case Generic:
		v.Structure = Generic
		wide := false
		for _, w := range strings.Split(rest, ",") {
			low, high := p.hex(w)
			v.List, v.ListHigh = append(v.List, low), append(v.ListHigh, high)
			wide = wide || high != 0
		}
		if !wide {
			v.ListHigh = nil
		}
	case NoValue:
		v.Structure = NoValue
		if rest != "" {
			p.fail("%s: _ takes no value", quoted(s))
		}
	default:
		if i < 0 {
			p.fail("%s: want u:VALUE, a:BASE+STRIDE, g:VALUE,… or _", quoted(s))
			return v
		}
		v.Base, v.High = p.hex(rest)
	}
	return v
}

// record parses the words of a record after the number of the CTA.
func (p *textParser) record(r *Record) {
	r.Warp, r.Seq = p.number(10), p.number(10)
	code, line, ok := strings.Cut(p.next(), "@")
	if !ok {
		p.fail("%s: want CODE@LINE", quoted(code))
		return
	}
	if code != "" {
		r.Code = p.uint(code, 10) + 1
	}
	r.Line = p.uint(line, 10)
	lanes, active, hasActive := strings.Cut(p.next(), "/")
	if r.Lanes = p.uint(lanes, 16); hasActive {
		r.Active = p.uint(active, 16)
	}
	switch name := p.next(); {
	case strings.HasPrefix(name, "+"):
		k := slices.Index(kindNames[:], name[1:])
		if k < 0 {
			p.fail("unknown kind of record %s", quoted(name))
			return
		}
		r.Kind = Kind(k)
	case name != "-":
		r.Name = name
	}
	for len(p.words) > 0 {
		w := p.next()
		switch i := strings.IndexAny(w, ":="); {
		case i < 0:
			p.fail("%s: want NAME=VALUE or NAME:VALUE", quoted(w))
			return
		case w[i] == '=':
			v := p.value(w[i+1:])
			name, bits, present := strings.Cut(w[:i], ".")
			if v.Name = name; present {
				v.Bits = p.uint(bits, 10)
			}
			r.Results = append(r.Results, v)
		default:
			p.field(r, w[:i], w[i+1:])
		}
	}
}

// field parses a field of a record that is not a register: number, depth, note or an access.
func (p *textParser) field(r *Record, name, value string) {
	switch name {
	case "number":
		v := p.value(value)
		r.Numbers = &v
		return
	case "depth":
		r.Depth = p.uint(value, 10)
		return
	case "note":
		r.Note = p.text(value)
		return
	}
	kind, lanes, hasLanes := strings.Cut(name, "/")
	a := Access{Kind: AccessKind(slices.Index(accessNames[:], kind))}
	space, rest, _ := strings.Cut(value, ":")
	bytes, operands, ok := strings.Cut(rest, "@")
	if a.Kind >= accessKinds || !ok {
		p.fail("%s:%s: want an access, KIND:SPACE:BYTES@VALUE", quoted(name), quoted(value))
		return
	}
	if a.Space, a.Bytes = space, p.uint(bytes, 10); hasLanes {
		a.Lanes = p.uint(lanes, 16)
	}
	values := strings.Split(operands, "=")
	compare := strings.Split(values[0], "?")
	a.Addr = p.value(compare[0])
	for _, s := range compare[1:] {
		a.Compare = append(a.Compare, p.value(s))
	}
	for _, s := range values[1:] {
		if digits, ok := strings.CutPrefix(s, "x:"); ok {
			var err error
			if a.Data, err = hex.DecodeString(digits); err != nil {
				p.fail("written bytes: %v", err)
			}
			continue
		}
		a.Store = append(a.Store, p.value(s))
	}
	r.Accesses = append(r.Accesses, a)
}
