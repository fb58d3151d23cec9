package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"gemu/internal/document"
	"gemu/internal/part"
	"gemu/occupancy"
)

// profileOf runs "gemu profile" with all its outputs: the JSON, the page and the profile.
func profileOf(t *testing.T, args ...string) (*document.Profile, []byte, *profile.Profile) {
	t.Helper()
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"profile", "--json", name("j"), "--html", name("h"), "--pprof", name("p")}, args...), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	read := func(s string) []byte {
		b, err := os.ReadFile(name(s))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var j document.Profile
	d := json.NewDecoder(bytes.NewReader(read("j")))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(read("p"))
	if err != nil {
		t.Fatal(err)
	}
	return &j, read("h"), p
}

// TestProfileAddsUp: the parts of a profile agree with each other and with the output of "gemu
// structure".
func TestProfileAddsUp(t *testing.T) {
	part.SkipShort(t)
	for _, w := range []struct{ Name, size string }{{"bfs", "256"}, {"histogram", "256"}, {"rsort", "64"}, {"transpose", "64"}} {
		args := []string{"@" + w.Name, "--size", w.size}
		j, page, p := profileOf(t, args...)
		var execs, u, a, g, own int64
		for i := range j.Lines {
			l := &j.Lines[i]
			execs += l.Counts.Execs
			u, a, g = u+l.U, a+l.A, g+l.G
		}
		for _, c := range j.Calls {
			own += c.Own
			if c.Parent < 0 && c.Total < c.Own {
				t.Errorf("@%s: %s is %d instructions with what it calls, %d without", w.Name, c.Func, c.Total, c.Own)
			}
		}
		sampled := int64(0)
		for _, s := range p.Sample {
			sampled += s.Value[0]
		}
		s := structureOf(t, args...)
		if all := j.Total.Execs; execs != all || own != all || sampled != all || s.Summary.Instructions != all {
			t.Errorf("@%s: %d instructions; %d by lines, %d by functions, %d samples, %d of the structure", w.Name, all, execs, own, sampled, s.Summary.Instructions)
		}
		if b := s.Bars["instructions"]; (document.Shares{Uniform: u, Affine: a, Generic: g}) != b {
			t.Errorf("@%s: %d uniform, %d affine, %d generic, want %d", w.Name, u, a, g, b)
		}
		for _, o := range j.Occupancy {
			if o.Occupancy < 0 || o.Occupancy > 1 {
				t.Errorf("@%s: %+v", w.Name, o)
			}
		}
		pageOf(t, page)
	}
}

// pageOf returns the data of a page. The page is one file, and loads nothing.
func pageOf(t *testing.T, page []byte) (d pageData) {
	t.Helper()
	_, rest, ok := strings.Cut(string(page), `<script type="application/json" id="gemu-report">`)
	text, after, ok2 := strings.Cut(rest, "</script>")
	if !ok || !ok2 {
		t.Fatalf("the page has no data: %.300s", page)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), `content="default-src 'none'; script-src 'unsafe-inline';`) || !strings.Contains(after, "<gemu-report></gemu-report>") || strings.Contains(after, "/* report.js */") {
		t.Errorf("the page has no policy, no element or no script: %.1000s", page)
	}
	return d
}

// TestProfilePage: the source comes first, with all its lines; it and the listing have columns about
// memory.
func TestProfilePage(t *testing.T) {
	_, page, p := profileOf(t, "../docs/transposes.ptx", "-k", "tiled", "-g", "2,2", "-b", "32,32", "-a", "f32[64x64]", "f32[4096]", "64")
	b, err := os.ReadFile("../docs/transposes.cu")
	if err != nil {
		t.Fatal(err)
	}
	d := pageOf(t, page)
	if len(d.Sources) != 1 || len(d.Sources[0].Rows) != bytes.Count(b, []byte("\n")) {
		t.Fatalf("%d sources, want one with all lines", len(d.Sources))
	}
	var names []string
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"splits", "sect/req", "effic", "conflicts"}; !slices.Equal(names, want) {
		t.Errorf("columns %q, want %q", names, want)
	}
	// Each of 128 warps reads a column: 31 conflicts.
	read := slices.IndexFunc(d.Sources[0].Rows, func(r pageRow) bool { return strings.HasPrefix(r.Text, "  out[at(y, x, n)]") })
	if more := d.Sources[0].Rows[read].Counts.More; !slices.Equal(more, []string{"-", "4.0", "100 %", "3968"}) {
		t.Errorf("the page has %q where the tile is read", more)
	}
	if !slices.ContainsFunc(d.Listings[0].Rows, func(r pageRow) bool {
		return r.Counts != nil && slices.Equal(r.Counts.More, []string{"-", "-", "-", "3968"})
	}) {
		t.Errorf("the listing has no conflicts where the tile is read")
	}
	for _, f := range p.Function {
		if f.Filename != "../docs/transposes.cu" {
			t.Errorf("the profile names %s, which is beside the PTX", f.Filename)
		}
	}
}

// TestProfileCliffs has the values of occupancy's TestCliffsByHand for blocks of 256 threads with 32 registers.
func TestProfileCliffs(t *testing.T) {
	j, _, _ := profileOf(t, "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "256", "-a", "1", "2.0", "f32[8]", "f32[8]", "--show", "cliffs", "--sm", "70", "--regs", "32")
	if len(j.Cliffs) != 1 || len(j.Cliffs[0].Generations) != len(occupancy.Generations) {
		t.Fatalf("%+v", j.Cliffs)
	}
	c := j.Cliffs[0]
	if s := c.Surface; s.SM != 70 || s.Threads[7] != 256 || s.Registers[3] != 32 || s.Warps[7][3] != 64 || s.Warps[7][4] != 48 || s.Warps[31][8] != 0 {
		t.Errorf("surface %+v", s)
	}
	for _, g := range c.Generations {
		if want := []document.Cliff{{Resource: "threads", Change: -32, Warps: 63, Limit: "warps"}, {Resource: "threads", Change: 1, Warps: 63, Limit: "warps"}, {Resource: "registers", Change: 1, Warps: 48, Limit: "registers"}, {Resource: "shared memory", Change: 12289, Warps: 56, Limit: "shared memory"}}; g.SM == 70 && (g.Warps != 64 || g.MaxWarps != 64 || g.Blocks != 8 || !slices.Equal(g.Cliffs, want)) {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
}

// TestProfileUnknownCliffs: a kernel whose registers cannot be estimated has cliffs of threads and shared memory.
func TestProfileUnknownCliffs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(file, []byte(".version 2.0\n.target sm_20\n.reg .u32 %g;\n.entry k() { ret; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _, status := extended(t, Extensions{}, "profile", file, "-g", "1", "-b", "64", "--show", "cliffs")
	if status != exitGood || !strings.Contains(out, "number of registers unknown\nThe number cannot be estimated: ") || strings.Contains(out, "●") || !strings.Contains(out, "▶") {
		t.Errorf("status %d: %s", status, out)
	}
}
