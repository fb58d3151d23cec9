package native

// This file reads the tables of stencils.

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"gemu/interp/internal/code"
)

// stencil is machine code with holes.
type stencil struct {
	code  []byte
	refs  []ref
	flips []flip
	never string // operands that cannot be constants
	one   bool   // no two operands can be constants
}

// ref is four bytes of code to fill in.
type ref struct {
	off    int
	what   byte // the letter of an operand, the digit of a number; n, o, l: a jump to next, other, leave; p: a constant
	addend int
	pool   string // the constant's bytes
}

// flip is what changes where an operand is a constant.
type flip struct {
	operand byte
	off     int
	xor     byte
}

// library is the stencils by name. What is in a line is read when it is needed first.
type library struct {
	lines   map[string]string
	kernels map[string]string // of operations, by their names
	mu      sync.Mutex
	read    map[string]*stencil
}

// stencils is the library of this host.
var stencils = sync.OnceValue(func() *library {
	l := &library{lines: map[string]string{}, kernels: map[string]string{}, read: map[string]*stencil{}}
	for _, table := range tables {
		for line := range strings.Lines(table) {
			switch name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name[0] {
			case '#':
			case '=':
				l.kernels[name[1:]] = rest
			default:
				l.lines[name] = rest
			}
		}
	}
	return l
})

// Has reports whether there is machine code of an operation that computes.
func Has(op code.Op) bool {
	_, ok := stencils().kernels[op.Signature().Name]
	return ok
}

// get is the stencil of a name; nil if there is none.
func (l *library) get(name string) *stencil {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.read[name]
	if line, has := l.lines[name]; !ok && has {
		s = parse(line)
		l.read[name] = s
	}
	return s
}

// parse reads what is behind the name of a stencil.
func parse(line string) *stencil {
	text, holes, _ := strings.Cut(line, "\t")
	code, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	s := &stencil{code: code}
	for _, h := range strings.Fields(holes) {
		if op, ok := strings.CutSuffix(h, "!no"); ok {
			s.never += op
			continue
		}
		if h == "!one" {
			s.one = true
			continue
		}
		letter, rest := h[0], h[1:]
		if off, xor, ok := strings.Cut(rest, "^"); ok {
			s.flips = append(s.flips, flip{letter - 'a' + 'A', number(off), byte(number(xor))})
			continue
		}
		r := ref{what: letter}
		if letter == '_' { // a jump or a constant: relative to the end of its four bytes, if nothing else is said
			r.what, rest, r.addend = rest[0], rest[1:], -4
		}
		rest, pool, _ := strings.Cut(rest, ":")
		if at := strings.IndexAny(rest, "+-"); at >= 0 {
			r.addend += number(rest[at:])
			rest = rest[:at]
		}
		r.off = number(rest)
		bytes, err := hex.DecodeString(pool)
		if err != nil {
			panic("BUG: " + h)
		}
		r.pool = string(bytes)
		s.refs = append(s.refs, r)
	}
	return s
}

// number is a number of the table.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return n
}
