// Package cases reads test cases from the comments of PTX modules: a kernel, its arguments and the expected result.
// testdata/README.md describes the notation.
package cases

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/notation"
	"gemu/internal/tensormap"
	"gemu/ptx"
)

// Extent is the size of a grid, block or cluster in three dimensions.
type Extent [3]int

func (e Extent) String() string { return fmt.Sprintf("%dx%dx%d", e[0], e[1], e[2]) }

// Shape is a way to run a case: the size of the CTAs and the number of lanes of a warp.
type Shape struct {
	Block Extent
	Width int
}

// Case is a "run", "trap" or "sanitize" line.
type Case struct {
	Line     int
	Kernel   string
	Args     []string
	Type     ptx.Type // type of the result
	Want     []string // elements of the result
	Trap     string   // text of the expected trap; "": none
	Sanitize bool     // the case is about findings of sanitizers, which the lines of the kernel state

	Blocks  []Extent // sizes of CTAs, all of which must give the same result
	Grid    Extent
	Cluster Extent // zero: none
	Shared  int    // dynamic shared memory, in bytes
	Widths  []int  // widths of warps; the case is written for the first
	SM      int    // compute capability of the device, times 10; 0: the default

	Cooperative         bool     // the CTAs may wait for each other
	EarlyOnly, LateOnly bool     // the case is only for asynchronous effects at their instruction, or as late as possible
	Policies            []string // reconvergence policies that the case is for; nil: all
}

// Shapes lists the ways to run the case: each width once, starting with the width for which the case is written, with
// alternating blocks. Cases without explicit blocks test single instructions. There are many of them, so three widths
// are enough for each, and the start depends on the case, but not on the text of a message: together the files have all
// pairs. With allPairs, the list has all pairs for this case.
func (c *Case) Shapes(allPairs bool) []Shape {
	var list []Shape
	if allPairs {
		for _, width := range c.Widths {
			for _, block := range c.Blocks {
				list = append(list, Shape{block, width})
			}
		}
		return list
	}
	h := fnv.New32a()
	fmt.Fprint(h, c.Kernel, c.Args, c.Want)
	start := int(h.Sum32() >> 1)
	widths := slices.Clone(c.Widths)
	if others := widths[1:]; len(c.Blocks) > 1 && len(others) > 2 {
		i := start / len(c.Blocks) % len(others)
		widths = append(widths[:1], c.Widths[1+i], c.Widths[1+(i+1)%len(others)])
	}
	for i, width := range widths {
		list = append(list, Shape{c.Blocks[(start+i)%len(c.Blocks)], width})
	}
	return list
}

var caseLine = regexp.MustCompile(`^//\s*(run|trap|sanitize)((?:\s+\w+(?:=[\w,-]+)?)*):\s*([\w$]+)\((.*)\)\s*(==\s*(\w+)\s+(.*)|"(.*)"|)\s*$`)

// Read reads the cases of a source.
func Read(src string) ([]Case, error) {
	var list []Case
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		m := caseLine.FindStringSubmatch(line)
		if m == nil {
			if !strings.HasPrefix(line, "// run") && !strings.HasPrefix(line, "// trap") && !strings.HasPrefix(line, "// sanitize") {
				continue
			}
			if _, result, _ := strings.Cut(line, "=="); startsWithValue(result) {
				return nil, missingTypeError(i+1, result)
			}
			return nil, fmt.Errorf("line %d: cannot read %q", i+1, line)
		}
		if (m[1] == "sanitize") != (m[5] == "") {
			return nil, fmt.Errorf("line %d: %q should say what comes of it if, and only if, it is a run or a trap", i+1, line)
		}
		c := Case{
			Line: i + 1, Kernel: m[3], Args: notation.Fields(m[4]), Trap: m[8], Sanitize: m[1] == "sanitize",
			Blocks: []Extent{{1, 1, 1}, {7, 1, 1}, {32, 1, 1}}, Grid: Extent{1, 1, 1}, Widths: []int{32, 4, 8, 16, 64, 1},
		}
		for _, opt := range strings.Fields(m[2]) {
			name, value, _ := strings.Cut(opt, "=")
			n, _ := strconv.Atoi(value)
			switch name {
			case "block":
				c.Blocks = []Extent{extent(value)}
			case "grid":
				c.Grid = extent(value)
			case "cluster":
				c.Cluster = extent(value)
			case "shared":
				c.Shared = n
			case "cooperative":
				c.Cooperative = true
			case "early":
				c.EarlyOnly = true
			case "late":
				c.LateOnly = true
			case "warp":
				c.Widths = []int{n}
			case "sm":
				c.SM = n
			case "policies":
				c.Policies = strings.Split(value, ",")
			default:
				return nil, fmt.Errorf("line %d: unknown option %s", i+1, name)
			}
		}
		if m[6] != "" {
			if c.Type = ptx.TypeByName(m[6]); c.Type == ptx.NoType {
				if startsWithValue(m[6]) {
					return nil, missingTypeError(i+1, m[6]+" "+m[7])
				}
				return nil, fmt.Errorf("line %d: no type %s", i+1, m[6])
			}
			c.Want = expandValues(m[7])
		}
		list = append(list, c)
	}
	return list, nil
}

// startsWithValue reports whether the text after "==" begins with a value: its type is missing.
func startsWithValue(result string) bool {
	values := expandValues(result)
	if len(values) == 0 {
		return false
	}
	_, intErr := valueBits(values[0], ptx.S64)
	_, floatErr := valueBits(values[0], ptx.F64)
	return intErr == nil || floatErr == nil
}

func missingTypeError(line int, result string) error {
	result = strings.TrimSpace(result)
	return fmt.Errorf("line %d: the type of the result %s is missing: write it after ==, as in \"== u32 %s\"", line, result, result)
}

// extent parses "32", "8x4" or "4x3x2".
func extent(s string) Extent {
	e := Extent{1, 1, 1}
	for i, f := range strings.SplitN(s, "x", 3) {
		e[i], _ = strconv.Atoi(f)
	}
	return e
}

// expandValues expands repetitions and ranges.
func expandValues(s string) []string {
	var out []string
	for _, f := range strings.Fields(s) {
		if v, n, ok := strings.Cut(f, "*"); ok {
			k, _ := strconv.Atoi(n)
			for range k {
				out = append(out, v)
			}
			continue
		}
		if lo, hi, ok := strings.Cut(f, ".."); ok {
			a, _ := strconv.Atoi(lo)
			b, _ := strconv.Atoi(hi)
			for v := a; v <= b; v++ {
				out = append(out, strconv.Itoa(v))
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// valueBits parses a value and returns its bits in a type.
func valueBits(s string, typ ptx.Type) (uint64, error) {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'f' || s[1] == 'd') {
		return strconv.ParseUint(s[2:], 16, 64)
	}
	if typ.IsFloat() {
		f, err := strconv.ParseFloat(s, max(typ.Bits(), 32))
		switch {
		case err != nil:
			return 0, err
		case typ == ptx.F64:
			return math.Float64bits(f), nil
		case typ == ptx.F32:
			return uint64(math.Float32bits(float32(f))), nil
		}
		return halfBits(f)
	}
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v) & (1<<(typ.Bits()-1)<<1 - 1), nil
	}
	return strconv.ParseUint(s, 0, 64)
}

// halfBits returns the IEEE binary16 of a value, which must be exact.
func halfBits(f float64) (uint64, error) {
	sign := math.Float64bits(f) >> 63 << 15
	switch {
	case f == 0:
		return sign, nil
	case f != f:
		return 0x7fff, nil
	case math.IsInf(f, 0):
		return sign | 0x7c00, nil
	}
	_, exp := math.Frexp(f)
	exp = max(exp-1, -14)
	frac := math.Ldexp(math.Abs(f), 10-exp) // at least 1024 if normal
	if exp > 15 || frac != math.Trunc(frac) {
		return 0, fmt.Errorf("%v is no binary16", f)
	}
	return sign | (uint64(exp+14)<<10 + uint64(frac)), nil
}

// halfValue returns the value of an IEEE binary16.
func halfValue(b uint64) float64 {
	exp, frac := int(b>>10&31), float64(b&1023)
	v := 0.0
	switch {
	case exp == 31 && frac != 0:
		v = math.NaN()
	case exp == 31:
		v = math.Inf(1)
	case exp == 0:
		v = math.Ldexp(frac, -24)
	default:
		v = math.Ldexp(1024+frac, exp-25)
	}
	if b>>15 != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

// putBits stores the low bytes of v.
func putBits(p []byte, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(p, b[:])
}

// Object is a texture, surface or sampler argument, in the notation of interp.ObjectText.
type Object struct {
	Name string // variable that it is bound to; "": it is an argument
	Text string
}

var objectText = regexp.MustCompile(`^(?:([\w$]+)=)?((?:tex|surf|sampler)[.\w]*\(.*)$`)

// Arguments makes the arguments of a case for a kernel with the given parameters: bytes for a number, the result of
// buffer for a buffer, and the result of object for a texture. result is the argument that receives the result; nil if
// the kernel has none.
func (c *Case) Arguments(params []*ptx.Var, buffer func(data []byte) (any, error), object func(Object) (any, error)) (args []any, result any, err error) {
	var maps []int // arguments that are tensor maps
	for _, a := range c.Args {
		text, isResult := strings.CutPrefix(a, "@")
		m := objectText.FindStringSubmatch(text)
		if m != nil && m[1] != "" {
			bound, err := object(Object{m[1], m[2]})
			if err != nil {
				return nil, nil, fmt.Errorf("line %d: %s: %w", c.Line, m[1], err)
			}
			if isResult {
				result = bound
			}
			continue
		}
		i := len(args)
		if i >= len(params) {
			return nil, nil, fmt.Errorf("line %d: too many arguments", c.Line)
		}
		var arg any
		if m != nil {
			if arg, err = object(Object{Text: text}); isResult {
				result = arg
			}
		} else if strings.HasPrefix(text, "tma(") {
			maps = append(maps, i)
			arg = text
		} else if name, values, ok := strings.Cut(text, "{"); ok {
			var data []byte
			if data, err = elements(ptx.TypeByName(name), expandValues(strings.TrimSuffix(values, "}"))); err == nil {
				arg, err = buffer(data)
			}
			if isResult {
				result = arg
			}
		} else {
			arg, err = scalar(params[i], text)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: argument %d: %w", c.Line, i, err)
		}
		args = append(args, arg)
	}
	if result == nil && c.Trap == "" && !c.Sanitize || len(args) < len(params) {
		data := make([]byte, max(max(c.Type.Size(), 8)*len(c.Want), 8))
		for i := range data {
			data[i] = 0xa5
		}
		arg, err := buffer(data)
		if err != nil {
			return nil, nil, err
		}
		result = arg
		args = append(args, arg)
	}
	for _, i := range maps {
		if args[i], err = tensorMap(args[i].(string), args); err != nil {
			return nil, nil, fmt.Errorf("line %d: argument %d: %w", c.Line, i, err)
		}
	}
	return args, result, nil
}

// tensorMap returns the memory of a parameter that is a tensor map over a buffer. An invalid map is made as well.
func tensorMap(text string, args []any) ([]byte, error) {
	name, rest, _ := tensormap.Cut(text)
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(args) {
		return nil, fmt.Errorf("%s: there is no argument %s", text, name)
	}
	m, err := tensormap.Parse(rest)
	if err != nil {
		return nil, err
	}
	buffer, ok := args[i].(interface{ Addr() uint64 })
	if !ok {
		return nil, fmt.Errorf("%s: argument %d is no buffer", text, i)
	}
	m.Address += buffer.Addr()
	b := m.Encode()
	return b[:], nil
}

// Values returns the memory of a list "{VALUE …}" of a type.
func Values(typ ptx.Type, text string) ([]byte, error) {
	list, ok := strings.CutPrefix(text, "{")
	if !ok || !strings.HasSuffix(list, "}") {
		return nil, fmt.Errorf("%q: want {VALUE …}", text)
	}
	return elements(typ, expandValues(strings.TrimSuffix(list, "}")))
}

// elements returns the memory of a buffer with the given elements.
func elements(typ ptx.Type, values []string) ([]byte, error) {
	size := typ.Size()
	data := make([]byte, size*len(values))
	for i, v := range values {
		b, err := valueBits(v, typ)
		if err != nil {
			return nil, err
		}
		putBits(data[i*size:][:size], b)
	}
	return data, nil
}

// scalar returns the memory of a parameter with a value. For a parameter of an untyped-bits type, a float has the size
// of the parameter.
func scalar(p *ptx.Var, text string) ([]byte, error) {
	typ := p.Type
	if typ.Kind() == ptx.Bits && strings.ContainsAny(text, ".n") {
		typ = map[int]ptx.Type{16: ptx.F16, 32: ptx.F32, 64: ptx.F64}[typ.Bits()]
	}
	b, err := valueBits(text, typ)
	data := make([]byte, p.Size())
	putBits(data, b)
	return data, err
}

// Compare compares a result with the expected result, and returns the differences.
func (c *Case) Compare(result []byte) (bad []error) {
	size := c.Type.Size()
	for i, w := range c.Want {
		var b [8]byte
		copy(b[:], result[i*size:][:size])
		got := binary.LittleEndian.Uint64(b[:])
		if w == "nan" {
			if !c.isNaN(got) {
				bad = append(bad, fmt.Errorf("element %d is %#x, want a NaN", i, got))
			}
			continue
		}
		want, err := valueBits(w, c.Type)
		if err != nil {
			return append(bad, fmt.Errorf("line %d: %w", c.Line, err))
		}
		if got != want {
			bad = append(bad, fmt.Errorf("element %d is %#0*x, want %#0*x (%s)", i, 2*size, got, 2*size, want, w))
		}
	}
	return bad
}

func (c *Case) isNaN(b uint64) bool {
	switch c.Type {
	case ptx.F16:
		return math.IsNaN(halfValue(b))
	case ptx.F32:
		return math.IsNaN(float64(math.Float32frombits(uint32(b))))
	}
	return math.IsNaN(math.Float64frombits(b))
}
