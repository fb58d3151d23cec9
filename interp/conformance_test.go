package interp

// This file runs the cases of testdata/insn, testdata/control and testdata/nvcc (see
// testdata/README.md) on every engine.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/interp/internal/oracle"
	"gemu/ptx"
)

// testCase is a "run" or "trap" line.
type testCase struct {
	line   int
	kernel string
	args   []string
	typ    ptx.Type
	want   []string
	trap   string
	blocks []Dim3
	grid   Dim3
	shared int
	widths []int
}

var caseLine = regexp.MustCompile(`^//\s*(run|trap)((?:\s+\w+=\d+(?:x\d+)*)*):\s*([\w$]+)\((.*)\)\s*(==\s*(\w+)\s+(.*)|"(.*)")\s*$`)

// cases reads the case lines of a source.
func cases(t *testing.T, src string) []testCase {
	var list []testCase
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		m := caseLine.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "// run") || strings.HasPrefix(line, "// trap") {
				t.Fatalf("line %d: cannot read %q", i+1, line)
			}
			continue
		}
		c := testCase{line: i + 1, kernel: m[3], trap: m[8], blocks: []Dim3{Dim(1), Dim(7), Dim(32)}, grid: Dim(1), widths: []int{32, 4, 8, 16, 64, 1}}
		for _, opt := range strings.Fields(m[2]) {
			name, value, _ := strings.Cut(opt, "=")
			n, _ := strconv.Atoi(value)
			switch name {
			case "block":
				c.blocks = []Dim3{dims(value)}
			case "grid":
				c.grid = dims(value)
			case "shared":
				c.shared = n
			case "warp":
				c.widths = []int{n}
			default:
				t.Fatalf("line %d: unknown option %s", i+1, name)
			}
		}
		c.args = splitArgs(m[4])
		if m[6] != "" {
			if c.typ = ptx.TypeByName(m[6]); c.typ == ptx.NoType {
				t.Fatalf("line %d: no type %s", i+1, m[6])
			}
			c.want = expandValues(m[7])
		}
		list = append(list, c)
	}
	return list
}

// dims reads "32", "8x4" or "4x3x2".
func dims(s string) Dim3 {
	var n []int
	for _, f := range strings.Split(s, "x") {
		v, _ := strconv.Atoi(f)
		n = append(n, v)
	}
	return Dim(n...)
}

// splitArgs splits at commas outside braces.
func splitArgs(s string) []string {
	var args []string
	depth, start := 0, 0
	for i, c := range s + "," {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			if a := strings.TrimSpace(s[start:i]); a != "" {
				args = append(args, a)
			}
			start = i + 1
		}
	}
	return args
}

// expandValues spells out repetitions and ranges.
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

// valueBits reads a value as bits of a type.
func valueBits(t testing.TB, s string, typ ptx.Type) uint64 {
	t.Helper()
	if len(s) > 2 && s[0] == '0' && (s[1] == 'f' || s[1] == 'd') {
		v, err := strconv.ParseUint(s[2:], 16, 64)
		if err != nil {
			t.Fatalf("bad value %q", s)
		}
		return v
	}
	if typ.IsFloat() {
		f, err := strconv.ParseFloat(s, typ.Bits())
		if err != nil {
			t.Fatalf("bad value %q", s)
		}
		switch typ {
		case ptx.F32:
			return uint64(math.Float32bits(float32(f)))
		case ptx.F16:
			return uint64(Float16Bits(f))
		}
		return math.Float64bits(f)
	}
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v) & (1<<(typ.Bits()-1)<<1 - 1)
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatalf("bad value %q", s)
	}
	return v
}

// engine runs a launch some way.
type engine struct {
	name string
	run  func(m *Module, l *Launch) error
}

// engines are all ways to run a kernel: on vectors, on compact operands under every
// policy, on both, and on the oracle. The first policy has two engines for affine
// mode: one of its own, and one for launches that somebody looks at.
func engines() []engine {
	list := []engine{inMode(Vector, nil), {"affine counted", func(m *Module, l *Launch) error {
		l.Mode, l.Stats = Affine, true
		_, err := m.Run(context.Background(), l)
		return err
	}}}
	for _, p := range affinetrack.Policies {
		list = append(list, inMode(Check, p))
		if !p.Ideal {
			list = append(list, inMode(Affine, p))
		}
	}
	return append(list, engine{"oracle", runOracle})
}

func inMode(mode Mode, p *affinetrack.Policy) engine {
	name := mode.String()
	if p != nil {
		name += " " + p.Name
	}
	return engine{name, func(m *Module, l *Launch) error {
		l.Mode, l.Policy = mode, p
		_, err := m.Run(context.Background(), l)
		return err
	}}
}

func TestConformance(t *testing.T) {
	var files []string
	for _, dir := range []string{"insn", "control", "nvcc"} {
		list, err := filepath.Glob("../testdata/" + dir + "/*.ptx")
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			t.Errorf("no cases in testdata/%s", dir)
		}
		files = append(files, list...)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mod, err := ptx.Parse(filepath.Base(file), src)
			if err != nil {
				for _, e := range err.(ptx.ErrorList) {
					t.Errorf("%v\n%s", e, e.Snippet())
				}
				return
			}
			list := cases(t, string(src))
			if len(list) == 0 {
				t.Fatal("no cases")
			}
			for _, c := range list {
				for _, e := range engines() {
					runCase(t, mod, c, e)
				}
			}
		})
	}
}

// runCase runs a case on an engine with every block size and warp width.
func runCase(t *testing.T, m *ptx.Module, c testCase, e engine) {
	for _, block := range c.blocks {
		for i, width := range c.widths {
			if e.name == "oracle" && i > 0 && testing.Short() {
				continue
			}
			name := fmt.Sprintf("line %d %s on %s, block %s, warp %d", c.line, c.kernel, e.name, block, width)
			err := tryCase(t, m, c, e, block, width, name)
			var u *ptx.Unsupported
			if errors.As(err, &u) && width != 32 && strings.Contains(u.What, "instead of 32") {
				continue
			}
			checkError(t, name, c, err)
		}
	}
}

func checkError(t *testing.T, name string, c testCase, err error) {
	t.Helper()
	switch {
	case c.trap == "" && err != nil:
		if trap, ok := err.(*Trap); ok {
			t.Errorf("%s: %s", name, trap.Report())
		} else {
			t.Errorf("%s: %v", name, err)
		}
	case c.trap != "" && err == nil:
		t.Errorf("%s: no trap", name)
	case c.trap != "" && !strings.Contains(err.Error(), c.trap):
		var ot *oracle.Trap
		if errors.As(err, &ot) {
			return // the oracle words its traps its own way
		}
		t.Errorf("%s: got %v, want a trap %q", name, err, c.trap)
	}
}

func tryCase(t *testing.T, m *ptx.Module, c testCase, e engine, block Dim3, width int, name string) error {
	t.Helper()
	mod, err := NewDevice(Config{}).LoadModule(m)
	if err != nil {
		return err
	}
	k, err := mod.Kernel(c.kernel)
	if err != nil {
		t.Fatalf("line %d: %v", c.line, err)
	}
	var args []any
	var out *Buffer
	buffer := func(typ ptx.Type, values []string) *Buffer {
		size := typ.Size()
		b, err := mod.dev.Alloc(size * len(values))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			putBits(b.Bytes()[i*size:], size, valueBits(t, v, typ))
		}
		return b
	}
	for i, a := range c.args {
		if i >= len(k.Params) {
			t.Fatalf("line %d: too many arguments", c.line)
		}
		text, isOut := strings.CutPrefix(a, "@")
		if typ, values, ok := strings.Cut(text, "{"); ok {
			b := buffer(ptx.TypeByName(typ), expandValues(strings.TrimSuffix(values, "}")))
			args = append(args, b)
			if isOut {
				out = b
			}
			continue
		}
		p := k.Params[i]
		raw := make([]byte, p.Size())
		pt := p.Type
		if pt.Kind() == ptx.Bits && strings.ContainsAny(text, ".n") {
			pt = map[int]ptx.Type{16: ptx.F16, 32: ptx.F32, 64: ptx.F64}[pt.Bits()]
		}
		putBits(raw, len(raw), valueBits(t, text, pt))
		args = append(args, raw)
	}
	if out == nil && c.trap == "" || len(args) < len(k.Params) {
		size := max(c.typ.Size(), 8)
		out, err = mod.dev.Alloc(max(size*len(c.want), 8))
		if err != nil {
			t.Fatal(err)
		}
		for i := range out.Bytes() {
			out.Bytes()[i] = 0xa5
		}
		args = append(args, out)
	}
	err = e.run(mod, &Launch{Kernel: c.kernel, Grid: c.grid, Block: block, Args: args, Shared: c.shared, WarpSize: width, MaxSteps: 1 << 22})
	if err != nil || c.trap != "" {
		return err
	}
	size := c.typ.Size()
	for i, w := range c.want {
		got := uint64(0)
		for j := range size {
			got |= uint64(out.Bytes()[i*size+j]) << (8 * j)
		}
		if w == "nan" {
			f := math.Float64frombits(got)
			switch c.typ {
			case ptx.F32:
				f = float64(math.Float32frombits(uint32(got)))
			case ptx.F16:
				f = Float16(uint16(got))
			}
			if f == f {
				t.Errorf("%s: element %d is %#x, want a NaN", name, i, got)
			}
			continue
		}
		if want := valueBits(t, w, c.typ); got != want {
			t.Errorf("%s: element %d is %#0*x, want %#0*x (%s)", name, i, 2+2*size, got, 2+2*size, want, w)
		}
	}
	return nil
}
