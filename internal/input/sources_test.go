package input

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files in a new directory, by path.
func tree(t *testing.T, files map[string]string) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSourcesBelowAllowedDirectories requests files by names that a PTX file may contain.
func TestSourcesBelowAllowedDirectories(t *testing.T) {
	dir := tree(t, map[string]string{
		"k/a.cu": "one\r\ntwo \x1b[2J\n", "k/src/b.h": "b", "k/.ssh/key": "k", "kk/c.cu": "c", "other/d.cu": "d", "other/deep/e.cu": "e", "k/large.cu": strings.Repeat("x", MaxSource+1),
	})
	for link, to := range map[string]string{"k/in.cu": "src/b.h", "k/out.cu": "../kk/c.cu", "k/up": "..", "k/hidden.cu": ".ssh/key", "k/loop.cu": "loop.cu"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		name string
		dirs []string
		want string // the first line; "": it is not read
	}{
		{"a.cu", nil, "one"},
		{filepath.Join(dir, "k/a.cu"), nil, "one"},
		{"src/../a.cu", nil, "one"},
		{"../k/a.cu", nil, "one"},
		{"src/b.h", nil, "b"},
		{"in.cu", nil, "b"},
		{"", nil, ""},
		{".", nil, ""},
		{"src", nil, ""},
		{"out.cu", nil, ""},
		{"up/kk/c.cu", nil, ""},
		{"up/k/a.cu", nil, "one"},
		{"../kk/c.cu", nil, ""},
		{filepath.Join(dir, "kk/c.cu"), nil, ""},
		{".ssh/key", nil, ""},
		{"hidden.cu", nil, ""},
		{"loop.cu", nil, ""},
		{"large.cu", nil, ""},
		{"a.cu\x00", nil, ""},
		{os.DevNull, nil, ""},
		{os.DevNull, []string{"/"}, ""},
		{"/build/d.cu", nil, ""},
		{"/build/d.cu", []string{"other"}, "d"},
		{"deep/e.cu", []string{"other"}, "e"},
		{"/build/e.cu", []string{"other"}, ""},
		{"/build/e.cu", []string{"other", "other/deep"}, "e"},
		{"key", []string{"k/.ssh"}, "k"},
		{filepath.Join(dir, "k/.ssh/key"), []string{"k/.ssh"}, "k"},
		{"out.cu", []string{"kk"}, "c"},
	} {
		var dirs []string
		for _, d := range c.dirs {
			if !filepath.IsAbs(d) {
				d = filepath.Join(dir, d)
			}
			dirs = append(dirs, d)
		}
		s := NewSources(filepath.Join(dir, "k/k.ptx"), dirs...)
		lines := s.Lines(c.name)
		if got := slices.Concat(lines, []string{""})[0]; got != c.want || (s.Err(c.name) == nil) != (c.want != "") {
			t.Errorf("%q, with %q: %q, %v; want %q", c.name, c.dirs, got, s.Err(c.name), c.want)
		}
		if path := s.Path(c.name); c.want == "" && path != c.name {
			t.Errorf("%q, which is not read, is at %q", c.name, path)
		}
	}
	s := NewSources(filepath.Join(dir, "k/k.ptx"))
	if got, want := s.Lines("a.cu"), []string{"one", `two \x1b[2J`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s.Lines("gone.cu"); s.Note() != "" {
		t.Errorf("of a file that is not there: %s", s.Note())
	}
	s.Lines("out.cu")
	s.Lines("../kk/c.cu")
	if want := "the source out.cu is not shown, like 1 more: it lies outside the directory of the PTX"; !strings.HasPrefix(s.Note(), want) {
		t.Errorf("%s, want %s", s.Note(), want)
	}
}
