package fuzz

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/ptx"
)

// bug is a fault of a simulator: one opcode is executed wrongly.
type bug struct {
	features string
	opcode   string // opcode with the bug
	becomes  string // effect: $g is the guard, $0 the first operand …; %zz, %zzd are spare registers
	culprit  string // if the first wrong value is another instruction's
}

// bugs has the bugs by name. Each is a fault that simulators have had, or could have.
var bugs = map[string]bug{
	"add":     {"arith", "add.s32", "$g sub.s32 $0, $1, $2;", ""},
	"sub":     {"arith", "sub.s32", "$g sub.s32 $0, $2, $1;", ""},
	"mul.hi":  {"arith", "mul.hi.s32", "$g mul.hi.u32 $0, $1, $2;", ""},
	"mad":     {"arith", "mad.lo.s32", "$g mul.lo.s32 $0, $1, $2;", ""},
	"shl":     {"arith", "shl.b32", "and.b32 %zz, $2, 31; $g shl.b32 $0, $1, %zz;", ""},
	"shr":     {"arith", "shr.s32", "$g shr.u32 $0, $1, $2;", ""},
	"bfe":     {"arith", "bfe.s32", "$g bfe.u32 $0, $1, $2, $3;", ""},
	"bfi":     {"arith", "bfi.b32", "$g bfi.b32 $0, $2, $1, $3, $4;", ""},
	"prmt":    {"arith", "prmt.b32", "$g prmt.b32 $0, $2, $1, $3;", ""},
	"selp":    {"arith", "selp.b32", "$g selp.b32 $0, $2, $1, $3;", ""},
	"slct":    {"arith", "slct.b32.s32", "$g slct.b32.s32 $0, $2, $1, $3;", ""},
	"setp":    {"arith", "setp.lt.u32", "$g setp.lt.s32 $0, $1, $2;", ""},
	"cvt":     {"arith,convert", "cvt.s32.s8", "$g cvt.s32.u8 $0, $1;", ""},
	"min":     {"arith", "min.s32", "$g min.u32 $0, $1, $2;", ""},
	"max":     {"arith", "max.u32", "$g max.s32 $0, $1, $2;", ""},
	"popc":    {"arith", "popc.b32", "$g clz.b32 $0, $1;", ""},
	"clz":     {"arith", "clz.b64", "$g popc.b64 $0, $1;", ""},
	"lop3":    {"arith", "lop3.b32", "$g lop3.b32 $0, $3, $2, $1, $4;", ""},
	"shf":     {"arith", "shf.l.wrap.b32", "$g shf.r.wrap.b32 $0, $1, $2, $3;", ""},
	"addc":    {"carry", "addc.u32", "$g add.u32 $0, $1, $2;", ""},
	"load":    {"memory,variables", "ld.global.s8", "$g ld.global.u8 $0, $1;", ""},
	"store":   {"memory,variables", "st.global.v2.u32", "$g st.global.u32 $0, 7;", ""},
	"barrier": {"shared,variables", "bar.sync", "", "ld.shared.u32"},
	"fma":     {"float", "fma.rn.f32", "$g fma.rz.f32 $0, $1, $2, $3;", ""},
	"branch":  {"arith,divergence", "@!bra", "", ""},
	"call":    {"calls", "st.param.b64", "$g st.param.b64 $0, 3;", "ld.param.b64"},
}

// planted returns a program as a simulator with a bug runs it: registers, local and shared memory begin with garbage.
func planted(name string, src []byte) ([]byte, error) {
	b, ok := bugs[name]
	if !ok {
		return nil, fmt.Errorf("no bug %q", name)
	}
	text := string(src)
	m, err := ptx.ParseString("program.ptx", text)
	if err != nil {
		return nil, err
	}
	if b.opcode == "@!bra" { // negated guards of branches are not seen
		text = regexp.MustCompile(`@!(%\w+ bra )`).ReplaceAllString(text, "@$1")
	} else {
		statement := regexp.MustCompile(`(@!?%\w+ )?(?:\b)` + regexp.QuoteMeta(b.opcode) + ` ([^;]*);`)
		text = statement.ReplaceAllStringFunc(text, func(s string) string {
			match := statement.FindStringSubmatch(s)
			pairs := []string{"$g ", match[1]}
			for i, op := range operandsOf(match[2]) {
				pairs = append(pairs, fmt.Sprintf("$%d", i), op)
			}
			return strings.NewReplacer(pairs...).Replace(b.becomes)
		})
	}
	for _, d := range m.Decls {
		f, ok := d.(*ptx.Func)
		if !ok || !f.Defined {
			continue
		}
		head := strings.Index(text, map[bool]string{true: ".entry ", false: ") "}[f.Entry]+f.Name+"(")
		body := head + strings.Index(text[head:], "{\n") + 1
		length := strings.Index(text[body:], "\n}")
		at := body // after the declarations
		for _, m := range regexp.MustCompile(`(?m)^\t\.(reg|local|shared)[^\n]*$`).FindAllStringIndex(text[body:body+length], -1) {
			at = body + m[1]
		}
		text = text[:at] + garbage(f) + text[at:]
	}
	return []byte(text), nil
}

// operandsOf splits operands at commas outside braces.
func operandsOf(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			list, from = append(list, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}

// garbage writes numbers to all registers and memory without a value at a function's beginning.
func garbage(f *ptx.Func) string {
	var b strings.Builder
	b.WriteString("\n\t.reg .b32 %zz; .reg .b64 %zzd;\n")
	number := func(name string) uint64 {
		h := fnv.New64a()
		h.Write([]byte(f.Name + name))
		return h.Sum64()
	}
	for _, r := range f.Regs {
		n := number(r.Name)
		switch {
		case strings.HasPrefix(r.Name, "%fuzz_"):
		case r.Type == ptx.Pred:
			fmt.Fprintf(&b, "setp.ne.u32 %s, %d, 0;\n", r.Name, n&1)
		default:
			fmt.Fprintf(&b, "mov.b%d %s, %d;\n", r.Type.Bits(), r.Name, int64(n)>>(64-r.Type.Bits()))
		}
	}
	for _, v := range f.Vars {
		for i := 0; v.Space == ptx.Local && i+4 <= v.Size(); i += 4 {
			fmt.Fprintf(&b, "st.local.u32 [%s+%d], %d;\n", v.Name, i, uint32(number(fmt.Sprint(v.Name, i))))
		}
	}
	for _, v := range f.Rets {
		fmt.Fprintf(&b, "st.param.b32 [%s], %d;\n", v.Name, uint32(number(v.Name)))
	}
	for _, v := range f.Module().Vars() {
		for i := 0; f.Entry && v.Space == ptx.Shared && i+4 <= v.Size(); i += 4 {
			fmt.Fprintf(&b, "st.shared.u32 [%s+%d], %d;\n", v.Name, i, uint32(number(fmt.Sprint(v.Name, i))))
		}
	}
	if f.Entry {
		b.WriteString("barrier.sync 0;\n")
	}
	return b.String()
}

// TestPlantedBugs: a simulator whose registers and memory begin with garbage has one bug. The reduced program of a failure is
// still defined and has the same wrong word, and the culprit is the bug's opcode. Without GEMU_TEST one bug is tried, and a sixth in CI.
func TestPlantedBugs(t *testing.T) {
	part.SkipShort(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, len(bugs), 12, 1)
	for i, name := range slices.Sorted(maps.Keys(bugs)) {
		b := bugs[name]
		t.Run(name, func(t *testing.T) {
			if !isTried(i) {
				t.Skip("a part of the bugs is enough")
			}
			t.Parallel()
			r := &Rival{Command: "GEMU_RIVAL=plant:" + name + " " + self + " {json} {out}", Timeout: time.Minute, RefusalStatus: 3}
			f, err := ParseFeatures(b.features)
			if err != nil {
				t.Fatal(err)
			}
			o := defaultOptions(f)
			o.Length, o.Block, o.Grid = 40, ptx.Dim(8), 1
			if name == "barrier" { // which takes several warps
				o.Block = ptx.Dim(64)
			}
			opcode := b.opcode + " "
			if b.opcode == "@!bra" {
				opcode = "@!"
			}
			p, first := findFailure(t, r, o, opcode)
			want := b.culprit
			if want == "" {
				want = strings.TrimPrefix(b.opcode, "@!")
			}
			if first.Kind != Difference || first.Culprit == nil || !first.Culprit.Measured || first.Culprit.Instr.Text != want {
				t.Fatalf("seed %d: %s, %s, by %v; want %s\n%s", p.Seed, first.Kind, first.Reason, first.Culprit, want, first.Stderr)
			}
			at := first.Offset
			small, last := reduced(t, r, p, first)
			if last.Kind != Difference || last.Offset != at || last.Culprit == nil || last.Culprit.Instr.Text != want {
				t.Errorf("left is %s, %s, by %v; want %s in the word at byte %d\n%s", last.Kind, last.Reason, last.Culprit, want, at, small.Source)
			}
			m, err := ptx.ParseString("small.ptx", small.Source)
			if err != nil {
				t.Fatal(err)
			}
			if err := staticFault(m); err != nil {
				t.Errorf("%v\n%s", err, small.Source)
			}
			n := len(instructions(small))
			t.Logf("%d instructions are left, grid %s of blocks %s", n, small.Grid, small.Block)
			if n > 30 {
				t.Errorf("%d instructions are left:\n%s", n, small.Source)
			}
		})
	}
}
