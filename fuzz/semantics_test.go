package fuzz

import (
	"context"
	"encoding/binary"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/interp"
	"gemu/ptx"
)

var update = flag.Bool("update", false, "write the table of differences to docs/fuzz.md")

// TestDifferencesDocumented: docs/fuzz.md has the list of the generator.
func TestDifferencesDocumented(t *testing.T) {
	const file, begin, end = "../docs/fuzz.md", "<!-- differences -->\n", "<!-- end of differences -->"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(doc), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	if want := DifferencesTable(); table != want {
		if !*update {
			t.Fatalf("%s has another table: -update writes it", file)
		}
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// manualDiffers are lines of programs whose result depends on whether an implementation follows the manual or GPUs.
// They are written separately here, from docs/design/arithmetic.md and testdata/hw/known.txt.
var manualDiffers = map[string]*regexp.Regexp{
	"carry flag of a subtraction":  regexp.MustCompile(`sub(c)?\.cc\S* [^;]*; (addc|madc)`),
	"carry flag of an addition":    regexp.MustCompile(`(add|addc|mad\.(lo|hi)|madc\.(lo|hi))\.cc\S* [^;]*; subc`),
	"amounts of bfe, bfi":          regexp.MustCompile(`bf[ei]\.[bus]64 [^;]*, %w\d+`),
	"scalar video instruction":     regexp.MustCompile(`\bv(add|sub|absdiff|min|max|shl|shr|set|mad)\.`),
	"fns":                          regexp.MustCompile(`\bfns\.`),
	"overflow of neg.s16":          regexp.MustCompile(`\bneg\.s16`),
	"guard of testp or set":        regexp.MustCompile(`@!?%p\d (testp|set)\.`),
	"amount of a shift of 16 bits": regexp.MustCompile(`sh[lr]\.[bus]16 %\w+, %\w+, (%w\d|\d{4})`),
	"negation beyond the manual":   regexp.MustCompile(`(selp|and\.pred|or\.pred|xor\.pred|not\.pred|lop3)\S* [^;]*!`),
	"form that the manual has not": regexp.MustCompile(`(addc|subc|madc\.\w+)\.[us]16|fma\.r[zmp]\.(relu\.)?bf16`),
	"result that is left open":     regexp.MustCompile(`\.(ftz|approx|full|satfinite|oob|rs)\b`),
	"constant where a register is": regexp.MustCompile(`\bcvt\.\S+ %\w+, [\d-]`),
}

// always are patterns that must also be absent from programs of --semantics hardware.
var always = map[string]bool{"negation beyond the manual": true, "form that the manual has not": true, "result that is left open": true, "constant where a register is": true}

// TestManualSemantics: programs have no place where the manual and GPUs differ; with Hardware they have.
func TestManualSemantics(t *testing.T) {
	part.SkipShort(t)
	for _, semantics := range []Semantics{Manual, Hardware} {
		seen := map[string]bool{}
		for _, sm := range []int{80, 100} {
			o := defaultOptions(random.AllFeatures)
			o.Semantics, o.Length, o.SM = semantics, 400, sm
			if sm > 80 {
				o.Version = ptx.Version{Major: 8, Minor: 8}
			}
			g, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(part.Count(30, 60, 300)) {
				source := g.Program(seed).Source
				for name, re := range manualDiffers {
					if m := re.FindString(source); m != "" {
						seen[name] = true
						if semantics == Manual || always[name] {
							t.Errorf("seed %d: %s: %s", seed, name, m)
						}
					}
				}
				if m, err := ptx.ParseString("program.ptx", source); err != nil {
					t.Fatal(err)
				} else if err := staticFault(m); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		}
		for name := range manualDiffers {
			if semantics == Hardware && !always[name] && !seen[name] {
				t.Errorf("no program has: %s", name)
			}
		}
	}
}

// TestEnginesAgreeOnHardwareSemantics: gemu's engines agree about programs of --semantics hardware.
func TestEnginesAgreeOnHardwareSemantics(t *testing.T) {
	o := defaultOptions(random.AllFeatures)
	o.Semantics = Hardware
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		if _, err := g.Program(seed).Verify(t.Context()); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestBitFields: with amounts of 8 bits, bfe and bfi on 64 bits give the manual's results. The expected values come
// from the manual's pseudocode (9.7.1.19, 9.7.1.20).
func TestBitFields(t *testing.T) {
	const a, b = 0x8123456789abcdef, 0x0fedcba987654321
	p := &Program{SM: 80, Grid: ptx.Dim(256), Block: ptx.Dim(256), Input: make([]byte, 8), OutBytes: 256 * 256 * 24, Source: `.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m)
{
	.reg .b64 %a, %b, %d, %out;
	.reg .b32 %pos, %len, %i;
	ld.param.u64 %out, [out];
	mov.u32 %pos, %ctaid.x;
	mov.u32 %len, %tid.x;
	mad.lo.u32 %i, %pos, 256, %len;
	mad.wide.u32 %out, %i, 24, %out;
	mov.b64 %a, 0x8123456789abcdef;
	mov.b64 %b, 0x0fedcba987654321;
	bfe.u64 %d, %a, %pos, %len;
	st.global.u64 [%out], %d;
	bfe.s64 %d, %a, %pos, %len;
	st.global.u64 [%out+8], %d;
	bfi.b64 %d, %a, %b, %pos, %len;
	st.global.u64 [%out+16], %d;
	ret;
}
`}
	m, err := ptx.ParseString("k.ptx", p.Source)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.run(context.Background(), m, &interp.Launch{Mode: interp.Vector}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bit := func(x uint64, i int) uint64 { return x >> i & 1 }
	for pos := range 256 {
		for length := range 256 {
			var unsigned, signed uint64
			sign := uint64(0)
			if length > 0 {
				sign = bit(a, min(pos+length-1, 63))
			}
			inserted := uint64(b)
			for i := range 64 {
				if i < length && pos+i <= 63 {
					unsigned |= bit(a, pos+i) << i
					signed |= bit(a, pos+i) << i
					inserted = inserted&^(1<<(pos+i)) | bit(a, i)<<(pos+i)
				} else {
					signed |= sign << i
				}
			}
			at := (pos*256 + length) * 24
			for i, want := range []uint64{unsigned, signed, inserted} {
				if got := binary.LittleEndian.Uint64(out[at+8*i:]); got != want {
					t.Fatalf("position %d, length %d, result %d: %#x, want %#x", pos, length, i, got, want)
				}
			}
		}
	}
}

// TestProgramsWithoutVariables: programs without variables or conversions have none.
func TestProgramsWithoutVariables(t *testing.T) {
	part.SkipShort(t)
	variable := regexp.MustCompile(`(?m)^\.(global|const|shared)`)
	for _, c := range []struct {
		without Features
		has     *regexp.Regexp
	}{
		{random.Variables, variable},
		{random.Convert, regexp.MustCompile(`\bcvt\.`)},
		{random.Variables | random.Convert, regexp.MustCompile(variable.String() + `|\bcvt\.`)},
	} {
		o := defaultOptions(random.AllFeatures &^ c.without)
		o.Length = 200
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			p := g.Program(seed)
			if m := c.has.FindString(p.Source); m != "" {
				t.Errorf("seed %d: %q", seed, m)
			}
			if seed < 3 {
				if _, err := p.Verify(t.Context()); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		}
	}
}
