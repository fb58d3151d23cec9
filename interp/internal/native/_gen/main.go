// Command _gen compiles the stencils of the native backend and writes their machine code, with the
// holes in it, to tables, for each host: for amd64 operations on rows to lanes_amd64.txt, those of fewer lanes at a time to
// narrow_amd64.txt, those that compare what they compute to agreed_amd64.txt, on single values to scalar_amd64.txt, what accesses
// memory to memory_amd64.txt, patterns_amd64.txt and vectors_amd64.txt, and what is between and around them to machine_amd64.txt. It
// needs clang 19. What a processor with AVX-512 does faster is in *_amd64_v4.txt, which have precedence there.
//
// The C of the arithmetic is made of the functions of package alu (translate.go); that of
// memory and control is in c, whose stencil.h says what a stencil is.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu/directive"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
)

const compiler = "clang-19"

// flags are those of the compiler: no tables of jumps, no libm, nothing that a result
// depends on but the operations of C.
func (t *target) flags() []string {
	return slices.Concat([]string{
		"-O3", t.march, "-std=gnu17", "-fno-pic", t.model, "-ffunction-sections", "-ffreestanding", "-fwrapv",
		"-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-fno-stack-protector", "-fno-asynchronous-unwind-tables",
		"-fno-jump-tables",
	}, t.extraFlags, []string{
		"-Wall", "-Wno-unused-function",
		fmt.Sprintf("-DSHARED_WINDOW=%#xul", mem.SharedWindow),
		fmt.Sprintf("-DALLOCATION_BASE=%d", unsafe.Offsetof(mem.Allocation{}.Base)), fmt.Sprintf("-DALLOCATION_SIZE=%d", unsafe.Offsetof(mem.Allocation{}.Size)),
		fmt.Sprintf("-DALLOCATION_PTR=%d", unsafe.Offsetof(mem.Allocation{}.Ptr)), fmt.Sprintf("-DCONTEXT_NOTIFY_EVERY_BLOCK=%d", native.NotifyEveryBlockAt),
		"-Wno-pass-failed", "-Wno-unused-variable", "-Wno-unused-parameter", "-Wno-bitwise-op-parentheses", "-Wno-shift-op-parentheses", "-Wno-unused-but-set-variable",
	})
}

// bound is how many bytes of stack a stencil may take, callers how many one that calls another, which calls none.
const (
	stackBound       = 1024
	callerStackBound = 256
)

// longest is how many bytes of code a stencil may have of which there is another for all processors: what is longer is of
// rare operations.
const maxVariantBytes = 4096

// tables are the files written for a host, each of some stencils.
var tables = []string{lanes, narrow, agreed, scalar, machine, memory, patterns, vectors}

const (
	lanes    = "lanes"
	narrow   = "narrow"
	agreed   = "agreed"
	scalar   = "scalar"
	machine  = "machine"
	memory   = "memory"
	patterns = "patterns"
	vectors  = "vectors"
)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "only see whether the tables are of these sources")
	only := flag.String("only", "", "the tables of this `host` only, as Go calls it")
	flag.Parse()
	if *only != "" && !slices.ContainsFunc(targets, func(t *target) bool { return t.name == *only }) {
		log.Fatalf("there are no stencils for %q", *only)
	}
	for _, t := range targets {
		if *only != "" && *only != t.name {
			continue
		}
		sources, err := readSources("_gen", t)
		if err != nil {
			log.Fatal(err)
		}
		if *check {
			err = sources.checkCurrent()
		} else {
			err = sources.generate()
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// current is an error unless the tables are of these sources.
func (s *sources) checkCurrent() error {
	for _, name := range s.target.tables {
		table, err := os.ReadFile(s.target.table(name))
		if err != nil {
			return err
		}
		if first, _, _ := strings.Cut(string(table), "\n"); !strings.HasSuffix(first, s.heading()) {
			return fmt.Errorf("%s is not of these sources: go generate ./interp/internal/native, with %s", s.target.table(name), compiler)
		}
	}
	return nil
}

// generate writes the tables.
func (s *sources) generate() error {
	stencils, refused, err := s.compile()
	if err != nil {
		return err
	}
	for _, r := range append(s.inGo, refused...) {
		log.Print(r)
	}
	for _, name := range s.target.tables {
		text, err := s.text(name, stencils)
		if err == nil {
			err = os.WriteFile(s.target.table(name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	total := 0
	for _, st := range stencils {
		total += len(st.code)
	}
	log.Printf("%v: %d stencils, %d bytes of code", s.target, len(stencils), total)
	return nil
}

// sources are the C that the stencils are made of, for a host.
type sources struct {
	target *target
	dir    string
	files  []file      // headers first
	ops    [][2]string // operations and their kernels
	inGo   []string    // why kernels run in Go
}

type file struct {
	name, text string
	table      string   // of its stencils; headers have none
	operands   string   // sources that its stencils have at most
	weak       bool     // a stencil that cannot be had is left out: its operation runs in Go
	kernels    []kernel // that it is of; none: only the file as a whole
	flags      []string // besides those of all
}

// kernel is the C of a kernel's stencils.
type kernel struct {
	name, text string
	cost       int // as long as so many instructions, besides itself; narrow ones take longer
}

// readSources reads and generates the C.
func readSources(dir string, t *target) (*sources, error) {
	s := &sources{target: t, dir: dir}
	for _, name := range append(slices.Clone(t.headers), "go.h", "c/stencil.h", "c/vector.h", "c/all.h", "c/some.h", "c/some256.h", "c/some512.h", "c/rows.h", "c/ways.h", "c/narrow.h", "c/numbers.h", "c/control.c", "c/ways.c", "c/team.c", "c/compact.c", "c/check.c", "c/row.c", "c/access.h", "c/memory.c", "c/pattern.c", "c/fixed.c", "c/warp.c", "c/atomic.c") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f := file{name: filepath.Base(name), text: string(text), table: machine, operands: "ABC"}
		switch f.name {
		case "memory.c":
			f.table, f.operands = memory, "AB" // it takes longest
		case "pattern.c":
			f.table, f.operands = patterns, "AB"
		case "fixed.c":
			f.table, f.operands = vectors, "AB"
		case "atomic.c":
			f.table = vectors
		}
		s.files = append(s.files, f)
	}
	return s, s.arithmetic(filepath.Join(dir, "../../alu"))
}

// sum is what all depends on but the compiler's version: sources and flags.
func (s *sources) sum() string {
	h := sha256.New()
	for _, f := range s.files {
		fmt.Fprintf(h, "%s %d\n%s", f.name, len(f.text), f.text)
		for _, k := range f.kernels {
			if k.cost > 0 {
				fmt.Fprintln(h, k.name, k.cost)
			}
		}
	}
	fmt.Fprintln(h, compiler, s.target.flags())
	if b := s.target.baseline(); b != nil { // see text
		fmt.Fprintln(h, b.flags(), maxVariantBytes)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// heading is the end of the table's first line, which says what it is of.
func (s *sources) heading() string {
	return fmt.Sprintf(" from sources of sum %s. DO NOT EDIT.", s.sum())
}

// version is that of the compiler.
var version = sync.OnceValue(func() string {
	text, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		log.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return first
})

// text is a table; that of operations on lanes has the operations' names too. One beside others leaves out what is the same
// there, and what is long. What there are fewer lanes at a time is for all at once, and said to take as long.
func (s *sources) text(table string, stencils []*stencil) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Code generated by _gen with %s%s\n", version(), s.heading())
	same := map[string]bool{}     // lines
	narrower := map[string]bool{} // stencils
	most := math.MaxInt           // bytes
	if t := s.target.baseline(); t != nil {
		most = maxVariantBytes
		for _, beneath := range []string{table, narrow} {
			text, err := os.ReadFile(t.table(beneath))
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				name, _, _ := strings.Cut(line, "\t")
				same[line] = true
				narrower[name] = beneath == narrow
			}
		}
	} else if table == lanes {
		for _, op := range s.ops {
			fmt.Fprintf(&b, "=%s\t%s\n", op[0], op[1])
		}
	}
	for _, st := range stencils {
		as := *st
		if narrower[st.name] {
			as.cost = native.SlowCost
		}
		if line := as.String(); st.table == table && !same[line] && len(st.code) <= most {
			b.WriteString(line)
		}
	}
	return b.Bytes(), nil
}

// arithmetic is the C of the kernels of package alu.
func (s *sources) arithmetic(dir string) error {
	t, err := newTranslator(dir)
	if err != nil {
		return err
	}
	var scalars [len(letters) + 1]strings.Builder // by how many operands
	var wrappers [len(letters) + 1][]kernel
	for _, k := range directive.Read(dir) {
		lane, err := t.lane(k)
		if err != nil {
			s.inGo = append(s.inGo, fmt.Sprintf("%s runs in Go: %v", k.Name, err))
			continue
		}
		n := len(operandsOf(&k))
		var text strings.Builder
		stencilsOf(&text, &k, lane)
		wrappers[n] = append(wrappers[n], kernel{strings.TrimPrefix(k.Name, "k_"), text.String(), k.Takes})
		scalarOf(&scalars[n], &k, lane)
		for _, o := range k.Ops {
			s.ops = append(s.ops, [2]string{o.Key, strings.TrimPrefix(k.Name, "k_")})
		}
	}
	s.files = append(s.files, file{name: "lanes.h", text: t.text()})
	const head = "#include \"stencil.h\"\n#include \"lanes.h\"\n"
	for n := range wrappers {
		f := file{name: fmt.Sprintf("arithmetic%d.c", n), text: head, table: lanes, operands: letters[:n], weak: true, kernels: wrappers[n]}
		f.text += "#include \"numbers.h\"\n"
		for _, k := range f.kernels {
			f.text += k.text
		}
		s.files = append(s.files, f,
			file{name: fmt.Sprintf("scalar%d.c", n), text: head + "#ifndef MASKED\n" + scalars[n].String() + "#endif\n", table: scalar, operands: letters[:n], weak: true})
	}
	return nil
}

// letters name source operands.
const letters = "ABCE"

// operandsOf is the types of a kernel's source operands.
func operandsOf(k *directive.Kernel) (types []string) {
	for _, p := range k.Params {
		if p.Type != "" {
			types = append(types, p.Type)
		}
	}
	return types
}

var cTypes = map[string]string{
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
	"float32": "f32", "float64": "f64", "bool": "bool",
}

// in is the C type of the elements of a row that holds operands of a Go type.
func rowType(t string) string {
	switch directive.Slot(t) {
	case "Q":
		return cTypes[t]
	case "P":
		return "u32"
	}
	if t == "float32" || t == "int32" {
		return cTypes[t]
	}
	return "u32"
}

// element is an element of a row that holds operands of a Go type. Numbers are zero of lanes that do not execute: what such a lane
// has may be a denormal, with which a processor takes ten times as long for all.
func activeElement(t, of string) string {
	if c := rowType(t); strings.HasPrefix(c, "f") {
		return fmt.Sprintf("ACTIVE_%s(%s)", c, of)
	}
	return of
}

// stencilsOf writes the stencils of a kernel.
func stencilsOf(w *strings.Builder, k *directive.Kernel, lane string) {
	var rows, args strings.Builder
	i := 0
	for _, p := range k.Params {
		if p.Type == "" {
			if p.Value == "instr.Imm" {
				args.WriteString(", (u64)NUMBER(H0)")
			}
			continue
		}
		x := string(letters[i])
		v := strings.ToLower(x)
		switch directive.Slot(p.Type) {
		case "P":
			fmt.Fprintf(&rows, "\tu32 %s = PREDICATE(%s);\n", v, x)
			fmt.Fprintf(&args, ", (bool)(%s >> i & 1)", v)
		case "Q":
			fmt.Fprintf(&rows, "\tconst %s *%s = WIDE(%[1]s, %[3]s);\n", rowType(p.Type), v, x)
			fmt.Fprintf(&args, ", %s", activeElement(p.Type, v+"[i]"))
		default:
			fmt.Fprintf(&rows, "\tconst %s *%s = ROW(%[1]s, %[3]s);\n", rowType(p.Type), v, x)
			fmt.Fprintf(&args, ", (%s)%s", cTypes[p.Type], activeElement(p.Type, v+"[i]"))
		}
		i++
	}
	call := lane + "(" + strings.TrimPrefix(args.String(), ", ") + ")"
	name := strings.TrimPrefix(k.Name, "k_")
	d := k.Results[0]
	row := "ROW"
	if directive.Slot(d) == "Q" {
		row = "WIDE"
	}
	// Narrow results are kept zero-extended.
	value := "v"
	if rowType(d) == "u32" && d != "uint32" && d != "bool" {
		value = fmt.Sprintf("(u32)(u%s)v", strings.TrimLeft(cTypes[d], "us"))
	}
	keep := "BLEND"
	if strings.HasPrefix(rowType(d), "f") {
		keep = "KEEP_" + rowType(d)
	}
	lanes := "LANES"
	if k.Short {
		lanes = "SHORT_LANES"
		if isWide(k) {
			lanes = "SHORT_WIDE_LANES"
		}
		if mayBeAffine(k) {
			comparingOf(w, k, rows.String(), call, value)
		}
	}
	switch {
	case k.Compare: // what is done with the outcome is a stencil of its own
		fmt.Fprintf(w, "#ifndef MASKED\nSTENCIL(%s) {\n%s\ts8 t[32];\n\t%s t[i] = %s ? -1 : 0;\n\toutcome = packed(t);\n\tNEXT;\n}\n#endif\n", name, rows.String(), lanes, call)
	case d == "bool" && allPredicates(k):
		// all lanes at once, by the table of the function
		word := fmt.Sprintf("WORD1(%s, a)", lane)
		if len(k.Params) == 2 {
			word = fmt.Sprintf("WORD2(%s, a, b)", lane)
		}
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\tu32 v = %s;\n\tu32 *d = AT(u32, D, P);\n\t*d = MERGE(*d, v);\n\tNEXT;\n}\n", name, rows.String(), word)
	case d == "bool":
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\ts8 t[32] = {0};\n\t%s t[i] = %s ? -1 : 0;\n\tu32 v = packed(t);\n\tu32 *d = AT(u32, D, P);\n\t*d = MERGE(*d, v);\n\tNEXT;\n}\n", name, rows.String(), lanes, call)
	case len(k.Results) == 2:
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\t%s *d = %s(%[3]s, D);\n\ts8 t[32];\n\tLANES {\n\t\t__auto_type r = %[5]s;\n\t\t__auto_type v = r.r;\n\t\tt[i] = r.c ? -1 : 0;\n\t\td[i] = %[7]s(d[i], %[6]s);\n\t}\n\tu32 v = packed(t);\n\tu32 *f = AT(u32, F, P);\n\t*f = MERGE(*f, v);\n\tNEXT;\n}\n", name, rows.String(), rowType(d), row, call, value, keep)
	default:
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\t%s *d = %s(%[3]s, D);\n\t%[7]s {\n\t\t__auto_type v = %[5]s;\n\t\td[i] = %[8]s(d[i], %[6]s);\n\t}\n\tNEXT;\n}\n", name, rows.String(), rowType(d), row, call, value, lanes, keep)
	}
}

// wide reports whether a kernel has operands or a result of 64 bits.
func isWide(k *directive.Kernel) bool {
	return slices.ContainsFunc(append(operandsOf(k), k.Results...), func(t string) bool { return directive.Slot(t) == "Q" })
}

// progresses reports whether a kernel may have progressions for results.
func mayBeAffine(k *directive.Kernel) bool {
	return slices.ContainsFunc(k.Ops, func(o directive.Op) bool {
		return affinetrack.Rules[code.OpNamed(o.Key).Signature().Rule].AffineOperands != affinetrack.NoOperand
	})
}

// comparing is what names of stencils end in that compare what they compute.
const comparingSuffix = "_agreed"

// comparingOf writes the stencil of a kernel that compares its results with those that shadow F has of all lanes, in check mode. H0
// and others are the kernel's; if the shadow has them not, or not alone, it has done nothing.
func comparingOf(w *strings.Builder, k *directive.Kernel, rows, call, value string) {
	d := k.Results[0]
	if k.Compare || d == "bool" || len(k.Results) > 1 {
		return
	}
	row, kind, bits := "ROW", "r", "u32"
	if directive.Slot(d) == "Q" {
		row, kind, bits = "WIDE", "q", "u64"
	}
	fmt.Fprintf(w, `#ifndef MASKED
STENCIL(%s%s) {
	struct compact *want = SHADOW(F, %s_shadows);
	if (want->both != 0xffffffff)
		OTHER;
%s	%[5]s *d = %[6]s(%[5]s, D);
	%[7]s expected = want->base, stride = want->stride, diff = 0;
	SHORT_LANES {
		__auto_type v = %[8]s;
		%[5]s result = %[9]s;
		d[i] = result;
		diff |= __builtin_bit_cast(%[7]s, result) ^ expected;
		expected += stride;
	}
	if (diff || (want->base | want->stride) != (%[7]s)(want->base | want->stride))
		LEAVE;
	ctx->compared_compact += 32;
	NEXT;
}
#endif
`, strings.TrimPrefix(k.Name, "k_"), comparingSuffix, kind, rows, rowType(d), row, bits, call, value)
}

// scalarOf writes the stencil of a kernel that executes it once, on the bases of shadows and predicates that are the
// same in all lanes: for compact.c. There is none of those whose result is a predicate, but for comparisons.
func scalarOf(w *strings.Builder, k *directive.Kernel, lane string) {
	d := k.Results[0]
	if d == "bool" && !k.Compare {
		return
	}
	var args []string
	i := 0
	for _, p := range k.Params {
		if p.Type == "" {
			if p.Value == "instr.Imm" {
				args = append(args, "(u64)NUMBER(H0)")
			}
			continue
		}
		x, kind := letters[i], "r_shadows"
		switch directive.Slot(p.Type) {
		case "P":
			args = append(args, fmt.Sprintf("(PREDICATE(%c) & (u32)m) != 0", x))
			i++
			continue
		case "Q":
			kind = "q_shadows"
		}
		args = append(args, fmt.Sprintf("(%s)*(const %s *)&SHADOW(%c, %s)->base", cTypes[p.Type], rowType(p.Type), x, kind))
		i++
	}
	fmt.Fprintf(w, "STENCIL(scalar_%s) {\n\t__auto_type r = %s(%s);\n", strings.TrimPrefix(k.Name, "k_"), lane, strings.Join(args, ", "))
	v := "r"
	if len(k.Results) == 2 {
		v = "r.r"
		fmt.Fprintf(w, "\tu32 *f = AT(u32, F, P);\n\t*f = *f & ~(u32)m | -(u32)r.c & (u32)m;\n")
	}
	switch {
	case k.Compare:
		v = "r ? 0xffffffff : 0"
	case d == "float32":
		v = "__builtin_bit_cast(u32, " + v + ")"
	case d == "float64":
		v = "__builtin_bit_cast(u64, " + v + ")"
	case directive.Slot(d) == "Q":
		v = "(u64)" + v
	default:
		v = fmt.Sprintf("(u32)(u%s)%s", strings.TrimLeft(cTypes[d], "us"), v)
	}
	fmt.Fprintf(w, "\toutcome = %s;\n\tspare = 0;\n\tNEXT;\n}\n", v)
}

// allPredicates reports whether all operands are predicates.
func allPredicates(k *directive.Kernel) bool {
	return !slices.ContainsFunc(k.Params, func(p directive.Param) bool { return p.Type != "bool" })
}

// stencil is machine code with holes.
type stencil struct {
	name          string
	table         string
	cost          int // as long as so many instructions, besides itself
	calls         bool
	code          []byte
	refs          []ref
	flips         []flip
	neverConstant []string // "A!no": A cannot be a constant
}

// String is its line in the table.
func (s *stencil) String() string {
	return fmt.Sprintf("%s\t%s\t%s\n", s.name, base64.RawStdEncoding.EncodeToString(s.code), strings.Join(s.holes(), " "))
}

// ref is four bytes of code that the patcher fills in.
type ref struct {
	offset int
	symbol string // the symbol, or "pool"
	addend int64
	pool   string // the constant, in hexadecimal
}

// flip is what to change for an operand that is a constant.
type flip struct {
	operand byte
	offset  int
	xor     byte
}

// holes is the table's third column: the first letter of what goes into a hole (of an operand or number its own),
// its offset, and what is to be added if that is not 0; of a constant its bytes. A small
// letter says what is to be changed if that operand is a constant.
func (s *stencil) holes() (list []string) {
	for _, r := range s.refs {
		letter := strings.TrimPrefix(r.symbol, "H")
		if letter == r.symbol {
			letter = "_" + r.symbol[:1]
		}
		t := fmt.Sprintf("%s%d", letter, r.offset)
		if r.addend != 0 {
			t += fmt.Sprintf("%+d", r.addend)
		}
		if r.pool != "" {
			t += ":" + r.pool
		}
		list = append(list, t)
	}
	for _, f := range s.flips {
		list = append(list, fmt.Sprintf("%c%d^%d", f.operand+'a'-'A', f.offset, f.xor))
	}
	if s.cost > 0 {
		list = append(list, fmt.Sprintf("!takes%d", s.cost))
	}
	return append(list, s.neverConstant...)
}

// compile compiles all, in all forms, and finds what changes with constants.
func (s *sources) compile() (all []*stencil, refused []string, err error) {
	tmp, err := os.MkdirTemp("", "stencils")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(tmp)
	for _, f := range s.files {
		if err := os.WriteFile(filepath.Join(tmp, f.name), []byte(f.text), 0o644); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range s.files {
		if !strings.HasSuffix(f.name, ".c") || !slices.Contains(s.target.tables, f.table) {
			continue
		}
		learned, err := s.compileForms(tmp, f)
		if err != nil {
			return nil, nil, err
		}
		for _, k := range f.kernels {
			for _, form := range []string{"_full", "_masked"} {
				if st := learned[k.name+form].stencil; st != nil {
					st.cost = k.cost
				}
			}
		}
		if err := s.compileNarrow(tmp, f, learned); err != nil {
			return nil, nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(learned)) {
			switch o := learned[name]; {
			case o.err == nil:
				if o.stencil.table = cmp.Or(o.stencil.table, f.table); strings.HasSuffix(name, comparingSuffix) {
					o.stencil.table = agreed
				}
				all = append(all, o.stencil)
			case f.weak:
				refused = append(refused, fmt.Sprintf("%s runs in Go: %v", name, o.err))
			default:
				return nil, nil, fmt.Errorf("%s: %v", name, o.err)
			}
		}
	}
	slices.SortFunc(all, func(a, b *stencil) int { return strings.Compare(a.name, b.name) })
	return all, refused, nil
}

// outcome is a stencil, or why there is none.
type compiledStencil struct {
	stencil *stencil
	err     error
}

// poor reports whether there is none, or none of all constants.
func (o compiledStencil) isIncomplete() bool {
	return o.err != nil || o.stencil != nil && len(o.stencil.neverConstant) > 0
}

// learned compiles a file in all forms and gives its stencils by name.
func (s *sources) compileForms(tmp string, f file) (map[string]compiledStencil, error) {
	out := map[string]compiledStencil{}
	for _, form := range []string{"", "-DMASKED"} {
		objects, err := s.objects(tmp, f, form)
		if err != nil {
			return nil, err
		}
		for name, st := range objects[""] {
			why := st.learn(f.operands, objects)
			out[name] = compiledStencil{st, why}
		}
	}
	return out, nil
}

// narrowed compiles again the kernels of a file whose stencils are poor: with bases that are read from the context,
// which are the same code for constants, and then of fewer lanes at a time, which takes less of the stack.
func (s *sources) compileNarrow(tmp string, f file, learned map[string]compiledStencil) error {
	for _, width := range []int{32, 8, 4, 1} {
		n := file{name: fmt.Sprintf("narrow%d_%s", width, f.name), operands: f.operands, flags: []string{fmt.Sprintf("-DWIDTH=%d", width)}}
		n.text = "#include \"rows.h\" // and \"stencil.h\"\n#include \"lanes.h\"\n#include \"narrow.h\"\n#include \"numbers.h\"\n"
		any := false
		for _, k := range f.kernels {
			if learned[k.name].isIncomplete() || learned[k.name+"_full"].isIncomplete() || learned[k.name+"_masked"].isIncomplete() {
				n.text += k.text
				any = true
			}
		}
		if !any {
			return nil
		}
		if err := os.WriteFile(filepath.Join(tmp, n.name), []byte(n.text), 0o644); err != nil {
			return err
		}
		others, err := s.compileForms(tmp, n)
		if err != nil {
			return err
		}
		for name, o := range others {
			if was := learned[name]; was.isIncomplete() && o.err == nil && (was.err != nil || !o.isIncomplete()) {
				o.stencil.table, o.stencil.cost = narrow, native.SlowCost
				learned[name] = o
			}
		}
	}
	return nil
}

// objects compiles a file for each set of operands that are constants: none, each, all.
func (s *sources) objects(tmp string, f file, form string) (map[string]map[string]*stencil, error) {
	sets := append(strings.Split(f.operands, ""), "", f.operands)
	slices.Sort(sets)
	sets = slices.Compact(sets)
	read, errs := make([]map[string]*stencil, len(sets)), make([]error, len(sets))
	var all sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for i, bases := range sets {
		all.Go(func() {
			slots <- true
			defer func() { <-slots }()
			read[i], errs[i] = s.object(tmp, f, form, bases)
		})
	}
	all.Wait()
	objects := map[string]map[string]*stencil{}
	for i, bases := range sets {
		objects[bases] = read[i]
	}
	return objects, errors.Join(errs...)
}

// object compiles a file and reads the stencils in it. One that cannot be used has no code.
func (s *sources) object(tmp string, f file, form, bases string) (map[string]*stencil, error) {
	args := append(s.target.flags(), "-fstack-usage")
	args = append(args, f.flags...)
	if strings.Contains(f.text, `"rows.h"`) {
		args = append(args, fmt.Sprintf("-DCONTEXT_PARALLEL=%d", native.ParallelAt), fmt.Sprintf("-DALLOCATIONS_KNOWN=%d", code.HitsPerAccess), fmt.Sprintf("-DGATHER_COST=%d", native.GatherCost))
	}
	if strings.Contains(f.text, `"ways.h"`) {
		args = append(args, fmt.Sprintf("-DBUDGET_USED=%d", native.BudgetUsed), fmt.Sprintf("-DRECONVERGES=%d", native.Reconverges), fmt.Sprintf("-DNO_SPLIT=%d", native.NoSplit),
			fmt.Sprintf("-DSWITCHED_WARP=%d", native.SwitchedWarp), fmt.Sprintf("-DCONTEXT_BARRIER_BLOCK=%d", native.BarrierBlockAt), fmt.Sprintf("-DSCHEDULER_EXIT_BRANCHES=%d", native.ExitBranchesAt))
	}
	if f.name == "compact.c" || f.name == "check.c" {
		// What is written in two halves and read as one vector does not come from the store buffer.
		args = append(args, "-fno-slp-vectorize")
	}
	if form != "" {
		args = append(args, form)
	}
	for _, b := range bases {
		args = append(args, fmt.Sprintf("-DCONSTANT_%c", b))
	}
	o, err := s.compiled(tmp, f, args)
	if err != nil {
		return nil, err
	}
	stencils, err := s.target.readObject(o)
	if err != nil {
		return nil, err
	}
	usage, err := os.ReadFile(strings.TrimSuffix(o, ".o") + ".su")
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(strings.TrimSpace(string(usage)), "\n") {
		cols := strings.Split(line, "\t")
		if len(cols) != 3 {
			continue
		}
		name := cols[0][strings.LastIndex(cols[0], ":")+1:]
		st := stencils[name]
		if n, err := strconv.Atoi(cols[1]); st != nil && err == nil && (n > stackBound || st.calls && n > callerStackBound || cols[2] != "static") {
			stencils[name] = &stencil{name: fmt.Sprintf("%d bytes of stack", n)}
		}
	}
	return stencils, nil
}

// compiled is the object file of a source, beside what the compiler says of the stack. What has been compiled
// once is kept in the user's cache: a file takes minutes in all forms.
func (s *sources) compiled(tmp string, f file, args []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, version(), args, f.name, f.text)
	for _, header := range s.headersOf(f) {
		fmt.Fprintln(h, header.name, header.text)
	}
	dir := tmp
	if cache, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(cache, "gemu-stencils")
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", err
		}
	}
	name := fmt.Sprintf("%x", h.Sum(nil)[:16])
	o := filepath.Join(dir, name+".o")
	if _, err := os.Stat(o); err == nil {
		return o, nil
	}
	cmd := exec.Command(compiler, append(args, "-c", "-o", name+".o", f.name)...)
	cmd.Dir = tmp
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %v\n%s", f.name, err, text)
	} else if len(text) > 0 {
		log.Printf("%s", text)
	}
	for _, ext := range []string{".su", ".o"} {
		if err := move(filepath.Join(tmp, name+ext), filepath.Join(dir, name+ext)); err != nil {
			return "", err
		}
	}
	return o, nil
}

// included is the headers that a file includes, those that they include among them.
func (s *sources) headersOf(f file) (list []file) {
	has := map[string]bool{}
	var add func(text string)
	add = func(text string) {
		for _, h := range s.files {
			if !has[h.name] && strings.HasSuffix(h.name, ".h") && (strings.Contains(text, strconv.Quote(h.name)) || strings.Contains(text, "<"+h.name+">")) {
				has[h.name] = true
				add(h.text)
			}
		}
	}
	add(f.text)
	for _, h := range s.files {
		if has[h.name] {
			list = append(list, h)
		}
	}
	return list
}

// move moves a file, which may be to another file system.
func move(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // of no functions, nothing is said of the stack
		return err
	}
	part := to + ".part"
	if err := os.WriteFile(part, text, 0o666); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// learn finds which bytes say that an operand is a row, by the same with constants; an operand with
// which it is other code cannot be one.
func (s *stencil) learn(operands string, objects map[string]map[string]*stencil) error {
	if s.code == nil {
		return fmt.Errorf("%s", s.name)
	}
	all := slices.Clone(s.code)
	for _, op := range strings.Split(operands, "") {
		o := objects[op][s.name]
		if !slices.Equal(o.refs, s.refs) || len(o.code) != len(s.code) {
			s.neverConstant = append(s.neverConstant, op+"!no")
			continue
		}
		for i := range s.code {
			if x := o.code[i] ^ s.code[i]; x != 0 {
				s.flips = append(s.flips, flip{op[0], i, x})
				all[i] ^= x
			}
		}
	}
	// Two that change the same byte have something in common, which with both is something else.
	o := objects[operands][s.name]
	if overlap(s.flips) || len(s.neverConstant) == 0 && (!slices.Equal(o.refs, s.refs) || !bytes.Equal(o.code, all)) {
		return fmt.Errorf("%s: two operands change what only one can", s.name)
	}
	return nil
}

// overlap reports whether different operands change the same byte.
func overlap(flips []flip) bool {
	by := map[int]byte{}
	for _, f := range flips {
		if operand, ok := by[f.offset]; ok && operand != f.operand {
			return true
		}
		by[f.offset] = f.operand
	}
	return false
}
