package cli

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/internal/document"
	"gemu/internal/part"
	"gemu/kernels"
)

// structureOf runs "gemu structure … --json -".
func structureOf(t *testing.T, args ...string) *document.Structure {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"structure", "--json", "-"}, args...), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	var s document.Structure
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// TestLabelsOfKimsFigure1 compares the labels of the paper's example with its authors' labels in
// figure 1(c). They call %ctaid.x affine; within a warp it is uniform.
func TestLabelsOfKimsFigure1(t *testing.T) {
	s := structureOf(t, "../kernels/cuda/threshold.ptx", "-g", "4", "-b", "128", "-a", "u32[512]=rand:1", "3")
	labels := ""
	for _, in := range s.Instructions {
		labels += in.Class
		if pure := in.U + in.A + in.G; in.Execs != 16 || pure != 16 || max(in.U, in.A, in.G) != 16 {
			t.Errorf("line %d, %s: %d executions, %d u, %d a, %d g; want 16 of one class", in.Line, in.Text, in.Execs, in.U, in.A, in.G)
		}
	}
	const figure = "uuuuaaaaaagaguuuau"
	if want := strings.Replace(figure, "uuuua", "uuuuu", 1); labels != want {
		t.Errorf("labels %s, want %s", labels, want)
	}
	// Each load and store of y has an affine address; the loaded value is random, the stored value
	// is 3 times it, or the constant.
	const warps = 16
	want := map[string]document.Shares{
		"load_addresses": {Affine: warps}, "store_addresses": {Affine: 2 * warps},
		"load_data": {Generic: warps}, "store_data": {Uniform: warps, Generic: warps},
		"instructions":    {Uniform: 9 * warps, Affine: 7 * warps, Generic: 2 * warps},
		"register_reads":  {Uniform: 6 * warps, Affine: 6 * warps, Generic: 3 * warps},
		"register_writes": {Uniform: 6 * warps, Affine: 4 * warps, Generic: 2 * warps},
	}
	if diff := cmp.Diff(want, s.Bars); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
}

// TestStructureAddsUp checks, for a sixth of the workloads (GEMU_TEST=ci: a third, all: every workload), that the parts of a
// report agree with each other and with the counts of the launches.
func TestStructureAddsUp(t *testing.T) {
	part.SkipShort(t)
	isTried := part.Share(t, 6, 3, 1)
	for i, w := range kernels.All() {
		if !isTried(i) {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			f := launchFlags{sourceArg: sourceArg{"@" + w.Name}, kernelFlags: kernelFlags{programFlags{Size: min(w.N, 64)}, deviceFlags{Warp: 32}}}
			a := &app{Extensions: new(Extensions), ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
			j, err := f.open(a, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			policy, err := parsePolicy("ideal")
			if err != nil {
				t.Fatal(err)
			}
			if err := j.structure(a, policy, nil); err != nil {
				t.Fatal(err)
			}
			r := newStructureReport(j)
			s, total := r.json(), j.total()
			if s.Launches != len(j.results) {
				t.Errorf("%d launches, want %d", s.Launches, len(j.results))
			}
			var execs, lanes, byLanes, launches int64
			for _, in := range s.Instructions {
				execs += in.Execs
				lanes += int64(in.Lanes*float64(in.Execs) + 0.5)
				// A guard may be false in all lanes, but branches are uniform in any case.
				guard, opcode := guardAndOpcode(in.Text)
				sum, branch := in.U+in.A+in.G, strings.HasPrefix(opcode, "bra")
				if sum > in.Execs || sum < in.Execs && guard == "" || branch && in.U < in.Execs || (sum == 0) != (in.Class == "-") {
					t.Errorf("line %d, %s: class %s, %d u, %d a, %d g of %d executions", in.Line, in.Text, in.Class, in.U, in.A, in.G, in.Execs)
				}
			}
			for n, count := range s.ActiveLanes {
				byLanes += int64(n) * count
			}
			for _, g := range s.Groups {
				launches += int64(g.Count)
			}
			if execs != total.WarpInstructions || s.Summary.Instructions != execs {
				t.Errorf("%d executions listed, %d in the summary, want %d", execs, s.Summary.Instructions, total.WarpInstructions)
			}
			if lanes != total.LaneSlots || byLanes != total.LaneSlots {
				t.Errorf("%d active lanes listed, %d in the histogram, want %d", lanes, byLanes, total.LaneSlots)
			}
			if launches != int64(s.Launches) {
				t.Errorf("%d launches by kernel, want %d", launches, s.Launches)
			}
			checkPage(t, r)
		})
	}
}

// guardAndOpcode returns the guard and the opcode of a line of PTX.
func guardAndOpcode(text string) (guard, opcode string) {
	if strings.HasPrefix(text, "@") {
		guard, text, _ = strings.Cut(text, " ")
	}
	opcode, _, _ = strings.Cut(text, " ")
	return guard, strings.TrimSuffix(opcode, ";")
}

// checkPage checks that a page has all instructions, bars, numbers of lanes and rows of the summary.
func checkPage(t *testing.T, r *structureReport) {
	t.Helper()
	b, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, b)
	got, want := 0, 0
	for _, l := range page.Listings {
		for _, row := range l.Rows {
			if row.Kind == "instruction" {
				got++
			}
		}
	}
	for _, l := range r.listings {
		for i := range l.rows {
			if l.rows[i].counts != nil {
				want++
			}
		}
	}
	if got != want {
		t.Errorf("the page lists %d instructions, want %d", got, want)
	}
	lanes := int64(0)
	for i, n := range page.Lanes {
		lanes += int64(i+1) * n.Count
	}
	if len(page.Lanes) != r.Warp || lanes != r.structure.Total().Lanes {
		t.Errorf("the page has %d numbers of lanes with %d lanes, want %d with %d", len(page.Lanes), lanes, r.Warp, r.structure.Total().Lanes)
	}
	if len(page.Shares) != len(r.bars) || len(page.Summary) == 0 {
		t.Errorf("the page has %d bars and %d rows of the summary", len(page.Shares), len(page.Summary))
	}
	for i, s := range page.Shares {
		count := int64(0)
		for _, p := range s.Parts {
			count += p.Count
		}
		if count != r.bars[i].Shares.Total() {
			t.Errorf("the bar %s has %d, want %d", s.Name, count, r.bars[i].Shares.Total())
		}
	}
}

// locPTX has source lines, a device function, a branch table and code that is
// never executed.
const locPTX = `.version 7.0
.target sm_80
.address_size 64
.file 1 "code.cu"
.file 2 "gone.cu"
.func twice(.reg .u32 %in) {
	.reg .u32 %t;
	.loc 2 7 1
	add.u32 %t, %in, %in;
	ret;
}
.entry k(.param .u64 p, .param .u32 which) {
	.reg .u32 %r<4>;
	.loc 1 2 1
	ld.param.u32 %r1, [which];
	call twice, (%r1);
	T: .branchtargets ONE, TWO;
	brx.idx %r1, T;
DEBUG:
	.loc 1 99 1
	add.u32 %r2, %r1, 1;
ONE:
	ret;
TWO:
	ret;
}
`

// TestListingWithSource shows a report with source lines whose control characters and tabs are made visible.
func TestListingWithSource(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"k.ptx": locPTX, "code.cu": "line one\n\tif (a <b>&& \"c\")\x1b[31m  x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("COLUMNS", "60")
	page := filepath.Join(dir, "page.html")
	var out, errs bytes.Buffer
	args := []string{"structure", filepath.Join(dir, "k.ptx"), "-g", "1", "-b", "2", "-a", "0", "1", "--show", "listing", "--html", page}
	if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	_, listing, _ := strings.Cut(out.String(), "\n\n")
	const want = `kernel k, k.ptx:12
line  class  execs lanes
                             code.cu:2  if (a <b>&& "c")\x1…
  15  u          1   2.0      ld.param.u32 %r1, [which];
  16  u          1   2.0      call twice, (%r1);
  18  u          1   2.0 ╭┬── brx.idx %r1, T;
                         ││  code.cu:99
  21  -          -     - ││   add.u32 %r2, %r1, 1;
                         │╰▶ ONE:
  23  -          -     - │    ret;
                         ╰─▶ TWO:
  25  u          1   2.0      ret;

function twice, k.ptx:6
line  class  execs lanes
                           gone.cu:7
   9  u?         1   2.0    add.u32 %t, %in, %in;
  10  u          1   2.0    ret;
?: in most executions only one or two lanes, whose values
are always uniform or affine
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(strings.ReplaceAll(listing, dir+"/", ""), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, l := range pageOf(t, b).Listings {
		for _, row := range l.Rows {
			execs := ""
			if row.Counts != nil {
				execs = " " + stdcmp.Or(row.Counts.Execs, "-")
			}
			rows = append(rows, fmt.Sprintf("%s %s%s|%s", row.Kind, row.Letter, execs, row.Text))
		}
		rows = append(rows, fmt.Sprint(l.Jumps))
	}
	wantRows := []string{
		`source |code.cu:2  if (a <b>&& "c")\x1b[31m x`, "instruction A 1|ld.param.u32 %r1, [which];", "instruction  1|call twice, (%r1);", "instruction  1|brx.idx %r1, T;",
		"source |code.cu:99", "instruction B -|add.u32 %r2, %r1, 1;", "label |ONE:", "instruction C -|ret;", "label |TWO:", "instruction D 1|ret;", "[[3 6] [3 8]]",
		"source |gone.cu:7", "instruction E 1|add.u32 %t, %in, %in;", "instruction  1|ret;", "[]",
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	s := structureOf(t, filepath.Join(dir, "k.ptx"), "-g", "1", "-b", "2", "-a", "0", "1")
	var sources, functions []string
	for _, in := range s.Instructions {
		sources = append(sources, in.Source)
		functions = append(functions, in.Kernel+"/"+in.Func)
	}
	if want := []string{"code.cu:2", "code.cu:2", "code.cu:2", "code.cu:99", "code.cu:99", "code.cu:99", "gone.cu:7", "gone.cu:7"}; !slices.Equal(sources, want) {
		t.Errorf("sources %q, want %q", sources, want)
	}
	if want := []string{"k/", "k/", "k/", "k/", "k/", "k/", "/twice", "/twice"}; !slices.Equal(functions, want) {
		t.Errorf("functions %q, want %q", functions, want)
	}
}

// chipsPTX has a branch that half of the lanes take, loads and stores of all kinds of addresses and values, and instructions of
// a single lane. The functions have the name of a C++ function, and a line inlined from a header of a compiler.
const chipsPTX = `.version 8.0
.target sm_80
.address_size 64
.file 1 "code.cu"
.file 2 "/usr/lib/llvm/lib/clang/19/include/__clang_cuda_builtin_vars.h"
.entry _Z3runPj(.param .u64 out)
{
	.reg .pred %p, %q;
	.reg .u32 %t, %x;
	.reg .u64 %o, %at;
	.loc 2 53 3
	mov.u32 %t, %tid.x;
	.loc 1 1 0
	ld.param.u64 %o, [out];
	mad.wide.u32 %at, %t, 4, %o;
	ld.global.u32 %x, [%at];
	ld.global.u32 %x, [%o];
	st.global.u32 [%at], %t;
	setp.lt.u32 %p, %t, 16;
	@%p bra SKIP;
	add.u32 %x, %x, 1;
SKIP:
	setp.ne.u32 %q, %t, 3;
	@%q bra END;
	add.u32 %x, %x, %t;
END:
	ret;
}
`

// TestChips: a load or store has the class of its address and that of the value, a divergent branch is marked, and so are classes
// of one or two lanes; names are demangled, and lines of compilers' headers are left out.
func TestChips(t *testing.T) {
	file := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(file, []byte(chipsPTX), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := []string{"structure", file, "-g", "1", "-b", "32", "-a", "u32[32]=rand:1", "--show", "listing"}
	if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	_, listing, _ := strings.Cut(out.String(), "\n\n")
	var got []string
	for _, line := range strings.Split(listing, "\n") {
		if strings.Contains(line, "clang") {
			t.Errorf("a header of the compiler: %s", line)
		}
		if f := strings.Fields(line); len(f) > 4 && f[0] >= "10" && f[0] <= "99" {
			got = append(got, f[1])
		}
	}
	// mov, ld.param, mad, ld of generic values, ld of one word, st of the index, setp with two results, a branch, add,
	// setp with two results, a branch, add of one lane, ret
	if want := []string{"a", "u", "a", "a→g", "u→u", "a←a", "g", "d", "u", "g", "d", "u?", "u"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q\n%s", got, want, listing)
	}
	for _, want := range []string{"kernel run(unsigned int*), ", "d: the lanes of the warp take different paths", "?: in most executions only one or two lanes"} {
		if !strings.Contains(listing, want) {
			t.Errorf("%q is not in\n%s", want, listing)
		}
	}
}

// TestReportFitsScreen prints a report on screens of several widths: lines fit, except on the
// narrowest.
func TestReportFitsScreen(t *testing.T) {
	const narrowest = 70 // numbers, control flow, and a little for text and bars
	for _, columns := range []int{1, 20, 70, 80, 120, 300} {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		var out, errs bytes.Buffer
		args := []string{"structure", "@mfilt", "--size", "32", "--show", "listing,bars,lanes"}
		if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitGood {
			t.Fatalf("%d columns: status %d: %s", columns, status, &errs)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > max(columns, narrowest) {
				t.Errorf("%d columns, a line of %d: %s", columns, n, line)
			}
		}
	}
}

// TestClassText shows the letter of an instruction's classes and its most frequent class.
func TestClassText(t *testing.T) {
	for _, c := range []struct {
		shares affinetrack.ClassCounts
		text   string
		main   affinetrack.Class
	}{
		{affinetrack.ClassCounts{}, "-", affinetrack.Unknown},
		{affinetrack.ClassCounts{Affine: 7}, "a", affinetrack.Affine},
		{affinetrack.ClassCounts{Uniform: 12, Affine: 80, Generic: 8}, "u 12 a 80 g 8", affinetrack.Affine},
		{affinetrack.ClassCounts{Uniform: 1, Generic: 999}, "u <1 g >99", affinetrack.Generic},
		{affinetrack.ClassCounts{Uniform: 1, Affine: 1}, "u 50 a 50", affinetrack.Uniform},
	} {
		if text := classText(c.shares); text != c.text {
			t.Errorf("classText(%v) = %q, want %q", c.shares, text, c.text)
		}
		if main := document.MainClass(c.shares); main != c.main {
			t.Errorf("document.MainClass(%v) = %v, want %v", c.shares, main, c.main)
		}
	}
}

// TestJumpLines shows the lines drawn between branches and their targets.
func TestJumpLines(t *testing.T) {
	for _, c := range []struct {
		name  string
		rows  int
		jumps []jump
		want  string
	}{
		{"none", 2, nil, "|"},
		{"forward", 3, []jump{{0, 2}}, "╭|│|╰"},
		{"backward", 3, []jump{{2, 0}}, "╭|│|╰"},
		{"to itself in the next row", 2, []jump{{0, 1}}, "╭|╰"},
		{"two to one", 4, []jump{{0, 3}, {1, 3}}, "╭|├|│|╰"},
		{"nested", 4, []jump{{0, 3}, {1, 2}}, "╭─|│╭|│╰|╰─"},
		{"crossing", 4, []jump{{0, 2}, {1, 3}}, " ╭|╭┼|│╰|╰─"},
		{"apart", 4, []jump{{0, 1}, {2, 3}}, "╭|╰|╭|╰"},
		{"a table", 3, []jump{{0, 1}, {0, 2}}, "╭┬|│╰|╰─"},
	} {
		f := newFlow(c.rows, c.jumps)
		var rows []string
		for i := range c.rows {
			first, _ := f.text(i)
			rows = append(rows, first)
		}
		if got := strings.Join(rows, "|"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(rows, "\n"), strings.ReplaceAll(c.want, "|", "\n"))
		}
	}
	// Lines beyond the limit are left out, and the rest stays.
	var jumps []jump
	for i := range 20 {
		jumps = append(jumps, jump{i, 40 - i})
	}
	f := newFlow(41, jumps)
	if f.depth() != maxFlow || f.from[0] || !f.from[19] {
		t.Errorf("20 nested jumps: %d columns, outermost drawn %v, innermost %v", f.depth(), f.from[0], f.from[19])
	}
}
