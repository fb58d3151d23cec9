package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"gemu/internal/part"
)

// profileOf runs "gemu profile" with all its outputs: the JSON, the page and the profile.
func profileOf(t *testing.T, args ...string) (*profileJSON, []byte, *profile.Profile) {
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
	var j profileJSON
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
		if b := s.Bars["instructions"]; (sharesJSON{u, a, g}) != b {
			t.Errorf("@%s: %d uniform, %d affine, %d generic, want %d", w.Name, u, a, g, b)
		}
		for _, o := range j.Occupancy {
			if o.Occupancy < 0 || o.Occupancy > 1 {
				t.Errorf("@%s: %+v", w.Name, o)
			}
		}
		wellFormed(t, page)
	}
}

// wellFormed checks a page, and returns the classes of its rows.
func wellFormed(t *testing.T, page []byte) map[string]int {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	rows := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		class := ""
		for _, attr := range e.Attr {
			switch attr.Name.Local {
			case "src", "href", "srcset", "action":
				t.Errorf("<%s %s=%q> refers to something else", e.Name.Local, attr.Name.Local, attr.Value)
			case "class":
				class = attr.Value
			}
		}
		if e.Name.Local == "script" || e.Name.Local == "link" {
			t.Errorf("the page has a <%s>", e.Name.Local)
		}
		if e.Name.Local == "tr" {
			kind, _, _ := strings.Cut(class, " ")
			rows[kind]++
		}
	}
	for _, bad := range []string{"url(", "@import", "ZgotmplZ", "<no value>"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page has %q", bad)
		}
	}
	return rows
}

// TestProfilePage: the source comes first, with all its lines; it and the listing have columns about
// memory.
func TestProfilePage(t *testing.T) {
	_, page, p := profileOf(t, "../docs/transposes.ptx", "-k", "tiled", "-g", "2,2", "-b", "32,32", "-a", "f32[64x64]", "f32[4096]", "64")
	b, err := os.ReadFile("../docs/transposes.cu")
	if err != nil {
		t.Fatal(err)
	}
	if rows, want := wellFormed(t, page), bytes.Count(b, []byte("\n")); rows["line"] != want {
		t.Errorf("%d lines of the source, want %d", rows["line"], want)
	}
	text := string(page)
	source, listing := strings.Index(text, `id="source"`), strings.Index(text, `id="listing"`)
	if source < 0 || source > listing {
		t.Error("the source is not first")
	}
	// Each of 128 warps reads a column: 31 conflicts.
	const conflicts = `<td class="number">4.0</td><td class="number">100 %</td><td class="number">3968</td><td class="text code">  out[at(y, x, n)]`
	if !strings.Contains(text[source:listing], conflicts) {
		t.Errorf("the page has no conflicts where the tile is read")
	}
	if !strings.Contains(text[listing:], `<td class="number">-</td><td class="number">-</td><td class="number">-</td><td class="number">3968</td>`) {
		t.Errorf("the listing has no conflicts where the tile is read")
	}
	for _, f := range p.Function {
		if f.Filename != "../docs/transposes.cu" {
			t.Errorf("the profile names %s, which is beside the PTX", f.Filename)
		}
	}
}
