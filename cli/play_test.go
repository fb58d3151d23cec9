package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemu/play"
	"gemu/record"
)

// playStart returns the start of the page of a command line.
func playStart(t *testing.T, index string) (start play.Start) {
	t.Helper()
	_, rest, _ := strings.Cut(index, `id="gemu-start">`)
	text, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(text), &start); err != nil {
		t.Fatalf("%v in %.300s", err, index)
	}
	return start
}

// firstLine is a writer that passes its first line on.
type firstLine struct {
	text bytes.Buffer
	line chan string
}

func (w *firstLine) Write(b []byte) (int, error) {
	if w.line != nil {
		w.text.Write(b)
		if line, _, ok := strings.Cut(w.text.String(), "\n"); ok {
			w.line <- line
			w.line = nil
		}
	}
	return len(b), nil
}

// served runs gemu play, and returns the page that it serves. It ends the command as Ctrl-C does, and returns its status.
func served(t *testing.T, args ...string) (index string, status int) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &firstLine{line: make(chan string, 1)}
	ended := make(chan int)
	line := out.line
	go func() {
		ended <- Run(ctx, Extensions{}, append([]string{"play", "--no-browser"}, args...), strings.NewReader(""), out, io.Discard)
	}()
	select {
	case url := <-line:
		p, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Body.Close()
		b, err := io.ReadAll(p.Body)
		if err != nil {
			t.Fatal(err)
		}
		index = string(b)
	case status = <-ended:
		t.Fatalf("%q: status %d without an address", args, status)
	case <-time.After(time.Minute):
		t.Fatalf("%q: no address", args)
	}
	interrupt()
	return index, <-ended
}

// TestPlayServes: the page begins with the input of the command line, and the command ends well after an interrupt.
func TestPlayServes(t *testing.T) {
	dir := t.TempDir()
	recording := filepath.Join(dir, "a.gemu")
	if _, messages, status := extended(t, Extensions{}, recordSaxpy("-o", recording)...); status != 0 {
		t.Fatal(messages)
	}
	broken := filepath.Join(dir, "broken.ptx")
	if err := os.WriteFile(broken, []byte("</script>"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		check func(s play.Start) bool
	}{
		{nil, func(s play.Start) bool { return s.Example == "threads" && s.Request == nil }},
		{[]string{"--example", "lock"}, func(s play.Start) bool { return s.Example == "lock" }},
		{[]string{"../docs/learn/ifelse.ptx", "-b", "32", "-a", "u32[32]", "u32[32]=iota", "--policies", "its:8,stack", "--sm", "90", "--events", "7"}, func(s play.Start) bool {
			q := s.Request
			return s.Engine == "http" && q.Name == "ifelse.ptx" && strings.Contains(q.Source, ".entry ifelse") && q.Block == [3]int{32, 1, 1} && len(q.Arguments) == 2 &&
				q.Policy == "its:8" && len(s.Policies) == 2 && q.SM == "90" && q.MaxEvents == 7 && strings.Contains(q.Files["ifelse.cu"], "__global__")
		}},
		{[]string{broken}, func(s play.Start) bool { return s.Request.Source == "</script>" }},
		{[]string{recording, recording}, func(s play.Start) bool { return len(s.Recordings) == 2 && record.IsRecording(s.Recordings[0].Base64) }},
		{[]string{"@saxpy", "--policies", "pc2"}, func(s play.Start) bool {
			return len(s.Recordings) == 1 && s.Recordings[0].Name == "@saxpy pc2" && record.IsRecording(s.Recordings[0].Base64)
		}},
	} {
		index, status := served(t, c.args...)
		if s := playStart(t, index); !c.check(s) || status != 0 {
			t.Errorf("%q: status %d, %.1000s", c.args, status, index)
		}
	}
}

// TestPlayErrors: wrong inputs are refused before a page is served, with what to do.
func TestPlayErrors(t *testing.T) {
	dir := t.TempDir()
	picture, empty := filepath.Join(dir, "picture.ptx"), filepath.Join(dir, "empty.gemu")
	for name, text := range map[string]string{picture: "\x89PNG\r\n\x00", empty: ""} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"missing.ptx"}, "cannot read missing.ptx"},
		{[]string{picture}, "is neither a text nor a recording"},
		{[]string{empty}, "is not a recording"},
		{[]string{dir}, "cannot read"},
		{[]string{"--example", "loc"}, "did you mean lock"},
		{[]string{"--example", "lock", picture}, "give one of them"},
		{[]string{"--policies", "stak"}, "did you mean stack"},
		{[]string{"--policies", "stack,stack"}, "given twice"},
		{[]string{"@sax"}, "did you mean @saxpy"},
		{[]string{"../docs/learn/ifelse.ptx", "-b", "x"}, "want one to three numbers"},
		{[]string{"../docs/learn/ifelse.ptx", "--branches"}, "is not CUDA C++"},
		{[]string{"--port", "99999"}, "want a number from 1 to 65535"},
		{[]string{"--build", dir, "--single", "x.html"}, "give one of them"},
		{[]string{"--single", filepath.Join(dir, "no", "x.html")}, "--single"},
		{[]string{"../docs/learn/ifelse.ptx", "-b", "32", "-a", "@a.npy", "--build", filepath.Join(dir, "page")}, "--build: an argument reads the file a.npy"},
		{[]string{"../docs/learn/ifelse.ptx", "--set", "v=@b.npy", "--single", filepath.Join(dir, "x.html")}, "--single: an argument reads the file b.npy"},
		{[]string{"../docs/learn/ifelse.ptx", "--events", "1000001", "--build", filepath.Join(dir, "page")}, "above the limit of the engine for browsers, 1000000"},
		{[]string{"../docs/learn/ifelse.ptx", "--steps", "16777217", "--single", filepath.Join(dir, "x.html")}, "above the limit of the engine for browsers, 16777216"},
		{[]string{"../docs/learn/ifelse.ptx", "--seed", "9007199254740992"}, "seeds up to 9007199254740991"},
	} {
		_, messages, status := extended(t, Extensions{}, append([]string{"play", "--no-browser"}, c.args...)...)
		if status != exitBad || !strings.Contains(messages, c.want) {
			t.Errorf("%q: status %d, %s; want %q", c.args, status, messages, c.want)
		}
	}
}

// TestPlayRecording: a recording becomes a single file without an engine.
func TestPlayRecording(t *testing.T) {
	dir := t.TempDir()
	recording, page := filepath.Join(dir, "a.gemu"), filepath.Join(dir, "a.html")
	if _, messages, status := extended(t, Extensions{}, recordSaxpy("-o", recording)...); status != 0 {
		t.Fatal(messages)
	}
	if _, messages, status := extended(t, Extensions{}, "play", recording, "--single", page); status != 0 || !strings.Contains(messages, "a.html: open it in a browser") {
		t.Fatal(status, messages)
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if s := playStart(t, string(b)); s.Engine != "none" || len(s.Recordings) != 1 || len(b) > 2<<20 {
		t.Errorf("%s, %d recordings, %d bytes", s.Engine, len(s.Recordings), len(b))
	}
}

// TestPlayFiles: arguments may name the files of the command line, and no others.
func TestPlayFiles(t *testing.T) {
	e := (&playCmd{programFlags: programFlags{Arg: []string{"@a.npy", "3"}, Set: []string{"v=@b.npy"}}, Extra: []string{"tma(@c.npy,box=1)"}}).engine(&app{})
	for name, want := range map[string]bool{"a.npy": true, "b.npy": true, "c.npy": true, "v": false, "/etc/passwd": false, "3": false} {
		if e.OpenFile(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestPlayCompiler: a compiler's message names the file of the page, with its place.
func TestPlayCompiler(t *testing.T) {
	compile := (&playCmd{}).compiler(&app{ctx: t.Context()})
	_, err := compile(t.Context(), "dir/kernel.cu", "__global__ void k() { undeclared; }")
	var wrong *play.CompileError
	if !errors.As(err, &wrong) || strings.Contains(wrong.Text, os.TempDir()) {
		t.Fatal(err)
	}
	if strings.Contains(wrong.Text, "no compiler") {
		t.Skip("there is no compiler for CUDA C++")
	}
	if !strings.Contains(wrong.Text, "kernel.cu:1:23: error:") {
		t.Error(wrong.Text)
	}
}

// TestBrowserCommand: the browser of each system.
func TestBrowserCommand(t *testing.T) {
	for _, c := range []struct{ system, variable, want string }{
		{"linux", "DISPLAY", "xdg-open"}, {"linux", "WAYLAND_DISPLAY", "xdg-open"}, {"linux", "", ""}, {"darwin", "", "open"},
		{"windows", "", "rundll32 url.dll,FileProtocolHandler"}, {"windows", "BROWSER", "x"}, {"linux", "BROWSER", "x"},
	} {
		command, err := browserCommand(c.system, func(name string) string {
			if name == c.variable {
				return "x"
			}
			return ""
		})
		if got := strings.Join(command, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s with %s: %q, %v; want %q", c.system, c.variable, got, err, c.want)
		}
	}
}

// TestHTML: reconverge, debug and trace write pages with the recordings of their runs, also of runs that fail.
func TestHTML(t *testing.T) {
	dir := t.TempDir()
	lock := []string{"../docs/learn/lock.ptx", "-g", "1", "-b", "32", "-a", "u32[1]", "u32[1]"}
	for _, c := range []struct {
		args   []string
		status int
		names  []string
	}{
		{append([]string{"reconverge", "--policies", "stack,its:8"}, lock...), 0, []string{"lock.ptx stack", "lock.ptx its:8"}},
		{append([]string{"debug", "--reconverge", "pc2"}, lock...), 0, []string{"lock.ptx pc2"}},
		{append([]string{"trace", "--reconverge", "stack"}, lock...), exitFailed, []string{"lock.ptx stack"}},
		{append([]string{"trace", "--reconverge", "its:8", "--only-kernel", "other"}, lock...), exitBad, nil},
		{append([]string{"trace", "-o", "x.log"}, lock...), exitBad, nil},
		{append([]string{"debug", "-x", "commands"}, lock...), exitBad, nil},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(strings.Join(c.args[:3], "_"), "/", "_")+".html")
		_, messages, status := extended(t, Extensions{}, append(c.args, "--html", file)...)
		if status != c.status {
			t.Errorf("%q: status %d, %s", c.args, status, messages)
		}
		b, err := os.ReadFile(file)
		if c.names == nil {
			if err == nil || messages == "" {
				t.Errorf("%q: a page was written, %q", c.args, messages)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		s := playStart(t, string(b))
		var names []string
		for _, r := range s.Recordings {
			names = append(names, r.Name)
			if _, err := record.Open(r.Name, bytes.NewReader(r.Base64), int64(len(r.Base64))); err != nil {
				t.Error(err)
			}
		}
		if s.Engine != "none" || strings.Join(names, ",") != strings.Join(c.names, ",") {
			t.Errorf("%q: engine %s, recordings %q", c.args, s.Engine, names)
		}
	}
}
