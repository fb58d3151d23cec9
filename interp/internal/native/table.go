package native

// This file reads the table of stencils.

import (
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
)

//go:embed stencils_amd64.txt
var table string

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
	what   string // H and a letter or digit: an operand, a number; next, other, leave: a jump; pool: a constant
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
	for line := range strings.Lines(table) {
		switch name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name[0] {
		case '#':
		case '=':
			l.kernels[name[1:]] = rest
		default:
			l.lines[name] = rest
		}
	}
	return l
})

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
		if what, rest, ok := strings.Cut(h, "@"); ok {
			r := ref{what: what}
			rest, pool, _ := strings.Cut(rest, ":")
			if _, err := fmt.Sscanf(rest, "%d%d", &r.off, &r.addend); err != nil {
				panic("BUG: " + h)
			}
			bytes, err := hex.DecodeString(pool)
			if err != nil {
				panic("BUG: " + h)
			}
			r.pool = string(bytes)
			s.refs = append(s.refs, r)
			continue
		}
		if op, ok := strings.CutSuffix(h, "!no"); ok {
			s.never += op
			continue
		}
		if h == "!one" {
			s.one = true
			continue
		}
		f := flip{operand: h[0]}
		if _, err := fmt.Sscanf(h[2:], "%d^%d", &f.off, &f.xor); err != nil {
			panic("BUG: " + h)
		}
		s.flips = append(s.flips, f)
	}
	return s
}
