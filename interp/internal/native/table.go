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
	neverConstant operandSet // operands for which a constant is not possible
	cost          int        // duration, in instructions beyond the first
}

// operandSet is a set of source operands.
type operandSet uint8

// operandBit returns the set of the operand with this letter.
func operandBit(letter byte) operandSet { return 1 << (letter - 'A') }

// ref is a hole: four bytes of code to fill in.
type ref struct {
	offset, addend int32
	pool           int32 // for toPool: the constant's number in the library
	kind           holeKind
}

// holeKind is the kind of a hole's value.
type holeKind uint8

// The kinds of operand places and numbers are in the order of the fields of holes.
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
	toPool // address of a constant
)

// flip is a byte of code whose value depends on whether an operand is a constant.
type flip struct {
	offset  int32
	xor     byte
	operand operandSet // exactly one operand
}

// Library has stencils by name. It parses the line of a stencil at the first use.
type Library struct {
	Level *Level

	lines   map[string]*line
	kernels map[string]string // names of kernels by the names of operations

	mu        sync.Mutex
	used      []*line
	poolIndex map[string]int32 // numbers of constants
	pool      []string         // constants by number

	cache bodyCache
}

// line is the line of a stencil in its table.
type line struct {
	name, columns string
	parsed        atomic.Pointer[stencil]
	used          atomic.Bool // since the last TakeUsed
}

// HostLibrary returns the library for this host's level. It keeps assembled code.
var HostLibrary = sync.OnceValue(func() *Library {
	l := HostLevel().Library()
	l.cache.capacity = cacheBytes
	return l
})

// Level is a level of instruction-set extensions: its stencils run on all processors with at least these extensions.
type Level struct {
	Name string // name in compilers' options
	Mark string // suffix, before .txt, of the files with this level's own tables; empty for the first level

	// PartialVectors reports whether the processors load and store single elements of a vector (masked), of any element
	// size.
	PartialVectors bool

	// Tables has the texts of a library's tables. A stencil has one line: its name, its code and its holes, separated by tabs.
	// A line "=operation, tab, name" gives the kernel of an operation.
	Tables []string
}

// Levels returns the levels supported by this host, from the baseline of its architecture up.
func Levels() []*Level { return levels }

// LevelByMark returns the level with this mark, or nil if the host does not support it.
func LevelByMark(mark string) *Level {
	i := slices.IndexFunc(levels, func(l *Level) bool { return l.Mark == mark })
	if i < 0 {
		return nil
	}
	return levels[i]
}

// HostLevel returns the highest level supported by this host.
func HostLevel() *Level { return levels[len(levels)-1] }

// Library returns the stencils of the level's tables and of others. Of stencils with the same name the last counts. A
// malformed line panics at its first use.
func (v *Level) Library(others ...string) *Library {
	l := &Library{Level: v, lines: map[string]*line{}, kernels: map[string]string{}, poolIndex: map[string]int32{}}
	l.add(slices.Concat(v.Tables, others))
	return l
}

// WithSubstitute returns a copy of the library in which a stencil's code replaces the code of all stencils selected by
// replaced.
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

// add adds the lines of tables.
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

// Names returns the names of all stencils, in no order.
func (l *Library) Names() iter.Seq[string] { return maps.Keys(l.lines) }

// TakeUsed returns the names of the stencils used since the last call, in no order. It clears the cache, to make the next
// program use its stencils anew.
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

// ClearCache drops all cached machine code.
func (l *Library) ClearCache() { l.cache.clear() }

// HasKernel reports whether this host has a kernel for an arithmetic operation.
func HasKernel(op code.Op) bool {
	_, ok := HostLibrary().kernels[op.Signature().Name]
	return ok
}

// stencil returns the stencil with this name, or nil if there is none.
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

// constants returns the constants of all parsed stencils, by number.
func (l *Library) constants() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pool
}

// parse parses the columns after a stencil's name. The caller must hold l.mu.
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
		if letter == '_' { // jump or constant
			letter, rest = rest[0], rest[1:]
			at := strings.IndexByte("nolp", letter)
			if at < 0 {
				panic("BUG: " + h)
			}
			r.kind = toNext + holeKind(at)
		} else if at := strings.IndexByte("DFABCE01", letter); at >= 0 {
			r.kind = holeD + holeKind(at)
		} else { // lower-case letter: a flip
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

// addConstant returns the number of a constant, written in hexadecimal, and adds it if it is new. The caller must hold l.mu.
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

// parseNumber returns the decimal number at the beginning of text, and the remaining text.
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
