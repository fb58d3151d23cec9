package native

// This file reads the tables of stencils.

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"gemu/interp/internal/code"
)

// stencil is machine code with holes.
type stencil struct {
	code          []byte
	refs          []ref
	flips         []flip
	neverConstant operandSet // that cannot be constants
	cost          int        // as long as so many instructions, besides itself
}

// operandSet is a set of source operands.
type operandSet uint8

// operandBit is the set of one, by its letter.
func operandBit(letter byte) operandSet { return 1 << (letter - 'A') }

// ref is four bytes of code to fill in.
type ref struct {
	offset, addend int32
	pool           int32 // of a constant: its number in the library
	kind           holeKind
}

// holeKind goes into a hole.
type holeKind uint8

// The places and numbers are in the order of holes.
const (
	holeD holeKind = iota
	holeF
	holeA
	holeB
	holeC
	holeE
	hole0
	hole1
	toNext // jumps
	toOther
	toLeave
	toPool // a constant
)

// flip is what changes where an operand is a constant.
type flip struct {
	offset  int32
	xor     byte
	operand operandSet // one
}

// Library is stencils by name. What is in a line of its table is read when it is needed first.
type Library struct {
	Level *Level

	lines   map[string]*line
	kernels map[string]string // of operations, by their names

	mu        sync.Mutex
	used      []*line
	poolIndex map[string]int32 // of constants
	pool      []string         // constants by number

	cache bodyCache
}

// line is that of a stencil.
type line struct {
	name, columns string
	parsed        atomic.Pointer[stencil]
	used          atomic.Bool // since Take
}

// HostLibrary is the library of this host.
var HostLibrary = sync.OnceValue(func() *Library {
	l := HostLevel().Library()
	l.cache.capacity = cacheBytes
	return l
})

// Level is what stencils are compiled for: the processors of a kind that have so much at least.
type Level struct {
	Name string // as compilers call it
	Mark string // how the names of the files end, but for .txt, whose tables only it has; of the first level there is none

	// PartialVectors says that they load and store some elements of a vector whatever their size.
	PartialVectors bool

	// Tables are the texts that a library is made of: a line for each stencil, which says its name, its code and its holes, with
	// tabs between them, and lines of the form "=operation, tab, name".
	Tables []string
}

// Levels are those of the host's kind of processor, from the one that all have up to that of this host.
func Levels() []*Level { return levels }

// LevelByMark is the level of a mark; nil if the host has none.
func LevelByMark(mark string) *Level {
	i := slices.IndexFunc(levels, func(l *Level) bool { return l.Mark == mark })
	if i < 0 {
		return nil
	}
	return levels[i]
}

// HostLevel is the level of this host.
func HostLevel() *Level { return levels[len(levels)-1] }

// Library is the stencils of a level's tables and of others; of one name, the last. What is wrong with one comes out when it is
// needed.
func (v *Level) Library(others ...string) *Library {
	l := &Library{Level: v, lines: map[string]*line{}, kernels: map[string]string{}, poolIndex: map[string]int32{}}
	l.add(slices.Concat(v.Tables, others))
	return l
}

// WithSubstitute is a library with the same stencils but that those of some names are as another one.
func (l *Library) WithSubstitute(stencil string, replaced func(name string) bool) *Library {
	copied := &Library{Level: l.Level, lines: map[string]*line{}, kernels: l.kernels, poolIndex: map[string]int32{}}
	for name, line := range l.lines {
		from := line
		if replaced(name) {
			from = l.lines[stencil]
		}
		copied.lines[name] = newLine(name, from.columns)
	}
	return copied
}

// add adds tables.
func (l *Library) add(tables []string) {
	for _, table := range tables {
		for text := range strings.Lines(table) {
			switch name, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\t"); name[0] {
			case '#':
			case '=':
				l.kernels[name[1:]] = rest
			default:
				l.lines[name] = newLine(name, rest)
			}
		}
	}
}

func newLine(name, text string) *line { return &line{name: name, columns: text} }

// Names are those of all stencils, in no order.
func (l *Library) Names() iter.Seq[string] { return maps.Keys(l.lines) }

// TakeUsed is the names of the stencils that code has wanted since the last call, in no order. Code that is kept is forgotten,
// so that the same code wants them again.
func (l *Library) TakeUsed() (names []string) {
	l.ClearCache()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.used {
		line.used.Store(false)
		names = append(names, line.name)
	}
	l.used = l.used[:0]
	return names
}

// ClearCache forgets the machine code that it keeps.
func (l *Library) ClearCache() { l.cache.clear() }

// HasKernel reports whether there is machine code of an operation that computes.
func HasKernel(op code.Op) bool {
	_, ok := HostLibrary().kernels[op.Signature().Name]
	return ok
}

// stencil is the stencil of a name; nil if there is none.
func (l *Library) stencil(name string) *stencil {
	line := l.lines[name]
	if line == nil {
		return nil
	}
	if !line.used.Load() && line.used.CompareAndSwap(false, true) {
		l.mu.Lock()
		l.used = append(l.used, line)
		l.mu.Unlock()
	}
	s := line.parsed.Load()
	if s == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		s = l.parse(line.columns)
		line.parsed.Store(s)
	}
	return s
}

// constants are those of the stencils that have been read, by number.
func (l *Library) constants() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pool
}

// parse reads what is behind the name of a stencil. The library is locked.
func (l *Library) parse(line string) *stencil {
	text, holes, _ := strings.Cut(line, "\t")
	code, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	s := &stencil{code: code, refs: make([]ref, 0, strings.Count(holes, " ")+1)}
	for holes != "" {
		var h string
		h, holes, _ = strings.Cut(holes, " ")
		if n, ok := strings.CutPrefix(h, "!takes"); ok {
			if s.cost, err = strconv.Atoi(n); err != nil {
				panic("BUG: " + err.Error())
			}
			continue
		}
		letter, rest := h[0], h[1:]
		if rest == "!no" {
			s.neverConstant |= operandBit(letter)
			continue
		}
		r := ref{}
		if letter == '_' { // a jump or a constant
			letter, rest = rest[0], rest[1:]
			at := strings.IndexByte("nolp", letter)
			if at < 0 {
				panic("BUG: " + h)
			}
			r.kind = toNext + holeKind(at)
		} else if at := strings.IndexByte("DFABCE01", letter); at >= 0 {
			r.kind = holeD + holeKind(at)
		} else { // a small letter
			f := flip{operand: operandBit(letter - 'a' + 'A')}
			f.offset, rest = parseNumber(rest)
			xor, _ := parseNumber(rest[1:])
			f.xor = byte(xor)
			s.flips = append(s.flips, f)
			continue
		}
		if r.offset, rest = parseNumber(rest); rest != "" && rest[0] != ':' {
			minus := rest[0] == '-'
			var n int32
			if n, rest = parseNumber(rest[1:]); minus {
				n = -n
			}
			r.addend += n
		}
		if r.kind == toPool {
			r.pool = l.addConstant(rest[1:])
		}
		s.refs = append(s.refs, r)
	}
	return s
}

// addConstant is the number of a constant, given in hexadecimal.
func (l *Library) addConstant(text string) int32 {
	bytes, err := hex.DecodeString(text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	n, ok := l.poolIndex[string(bytes)]
	if !ok {
		n = int32(len(l.pool))
		l.pool = append(l.pool, string(bytes))
		l.poolIndex[l.pool[n]] = n
	}
	return n
}

// parseNumber is the number that a text begins with, and what is behind it.
func parseNumber(text string) (n int32, rest string) {
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		n = 10*n + int32(text[i]-'0')
	}
	if i == 0 {
		panic("BUG: a number is missing before " + text)
	}
	return n, text[i:]
}
