package site

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/play"
)

// hostile is text that would end an element or begin another, if the page contained it as it is.
const hostile = `</script><script>alert(1)</script><!-- ' " & ` + "\u2028"

// served starts a server, and returns it with its address.
func served(t *testing.T, start *play.Start) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(&play.Engine{}, listener.Addr(), start, 2)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return s
}

// answer sends a request, changed by change, and returns the status and the body.
func answer(t *testing.T, method, url, body string, change func(r *http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	b, err := io.ReadAll(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	return p, string(b)
}

// TestServer: the server answers its own page, and refuses all other requests.
func TestServer(t *testing.T) {
	s := served(t, &play.Start{Engine: "http", Request: &play.Request{Name: hostile, Source: hostile}})
	url := s.URL()
	other := served(t, &play.Start{}).URL()
	for _, c := range []struct {
		method, url string
		change      func(r *http.Request)
		status      int
	}{
		{"GET", url, nil, 200},
		{"GET", url + "gemu.js", nil, 200},
		{"GET", url + "examples.json", nil, 200},
		{"GET", url, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		{"GET", url + "gemu.js", func(r *http.Request) { r.Header.Set("Origin", "http://"+s.host) }, 200},
		{"GET", url + "missing.js", nil, 404},
		{"GET", url + "../../play.go", nil, 404},
		{"GET", url + "..%2f..%2fplay.go", nil, 404},
		{"GET", "http://" + s.host + "/", nil, 404},
		{"GET", strings.TrimSuffix(url, "/"), nil, 404},
		{"GET", "http://" + s.host + "/x" + s.token[1:] + "/", nil, 404},
		{"GET", strings.Replace(url, s.token, strings.Split(other, "/")[3], 1), nil, 404},
		{"GET", url, func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"GET", url, func(r *http.Request) { r.Host = "localhost:" + strings.Split(s.host, ":")[1] }, 403},
		{"GET", url, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"GET", url, func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"GET", url, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"GET", url, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"GET", url + "run", nil, 405},
		{"POST", url + "gemu.js", nil, 405},
		{"POST", url + "run", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"POST", url + "run", nil, 200},
	} {
		p, body := answer(t, c.method, c.url, "", c.change)
		if p.StatusCode != c.status || p.StatusCode != 200 && strings.Contains(body, s.token) {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.url, p.StatusCode, c.status, body)
		}
		if csp := p.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';") || p.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %v", c.method, c.url, p.Header)
		}
	}
	if p, _ := answer(t, "GET", url+"gemu.js", "", nil); !strings.HasPrefix(p.Header.Get("Content-Type"), "text/javascript") {
		t.Error(p.Header)
	}
	_, index := answer(t, "GET", url, "", nil)
	if got := startOf(t, index); got.Engine != "http" || got.Request.Name != hostile || got.Request.Source != hostile {
		t.Errorf("%+v", got)
	}
	if got := startOf(t, index); len(got.Known) == 0 || !slices.Equal(got.Known, play.Policies()) {
		t.Errorf("policies %+v", got.Known)
	}
	if strings.Contains(index, "alert(1)</script>") {
		t.Error("the page has the hostile text as it is")
	}
	if _, text := answer(t, "GET", url+"examples.json", "", nil); !json.Valid([]byte(text)) || !strings.Contains(text, `"id":"lock"`) {
		t.Errorf("%.200s", text)
	}
}

// startOf returns the start of a page.
func startOf(t *testing.T, index string) (start play.Start) {
	t.Helper()
	_, rest, ok := strings.Cut(index, `id="gemu-start">`)
	text, _, ok2 := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(text), &start); !ok || !ok2 || err != nil {
		t.Fatalf("%v in %.500s", err, text)
	}
	return start
}

// TestServedRun: a run over HTTP gives the response of the engine, and ends when its connection is closed.
func TestServedRun(t *testing.T) {
	s := served(t, &play.Start{})
	q := Examples()[0].Request
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := new(play.Engine).Run(t.Context(), &q)
	if err != nil || want.Status != play.Done {
		t.Fatal(want, err)
	}
	if _, got := answer(t, "POST", s.URL()+"run", string(text), nil); got != string(want.Encode()) {
		t.Errorf("%.300q", got)
	}
	if p, _ := answer(t, "POST", s.URL()+"run", strings.Repeat(" ", maxRequest+1), nil); p.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(p.Status)
	}

	q = Examples()[0].Request
	q.Source = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.reg .u32 %i;\nAGAIN:\n\tadd.u32 %i, %i, 1;\n\tbar.sync 0;\n\tbra AGAIN;\n}\n"
	q.Kernel, q.Arguments, q.MaxEvents, q.MaxSteps = "k", nil, 1<<40, 1<<40
	s.engine.Limits = play.Limits{Events: 1 << 40, Steps: 1 << 40, Bytes: 1 << 40, Time: time.Hour}
	if text, err = json.Marshal(q); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 200 * time.Millisecond}
	for range 4 { // more than the number of runs at the same time
		if p, err := client.Post(s.URL()+"run", "application/json", bytes.NewReader(text)); err == nil {
			t.Fatal(p.Status)
		}
	}
	for range 300 {
		if len(s.runs) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("runs continue after their connections were closed")
}

// TestBuild: the files for a web server have the engine, the page and nothing else, and the page has a policy of its own.
func TestBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	e := &Engine{Module: []byte("module"), Loader: []byte("loader"), Licenses: []byte("the license of Go")}
	names, err := Build(t.Context(), dir, e, &play.Start{Engine: "wasm", Example: hostile})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"editor.js", "engine.js", "examples.json", "gemu.css", "gemu.js", "gemu.wasm.gz", "index.html", "wasm_exec.js"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil || !slices.Contains(names, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if texts, err := os.ReadFile(filepath.Join(dir, "licenses.txt")); err != nil || !bytes.Contains(texts, []byte("\nlit 3.")) || !bytes.HasSuffix(texts, e.Licenses) {
		t.Errorf("%v, %.300s", err, texts)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if startOf(t, string(index)).Example != hostile || !strings.Contains(string(index), `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'`) {
		t.Errorf("%.1000s", index)
	}
}

// foreign matches an element that loads a file.
var foreign = regexp.MustCompile(`<(script|link|img|iframe)[^>]*\s(src|href)="[^d]`) // d of data:

// TestSingle: a single file names no other file; without an engine it has none.
func TestSingle(t *testing.T) {
	for _, e := range []*Engine{nil, {Module: []byte("module"), Loader: []byte("loader"), Licenses: []byte("the license of Go")}} {
		b, err := SingleFile(e, &play.Start{Engine: "none", Recordings: []play.Recording{{Name: hostile, Base64: []byte{1, 2}}}})
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if got := startOf(t, text).Recordings; len(got) != 1 || got[0].Name != hostile || !bytes.Equal(got[0].Base64, []byte{1, 2}) {
			t.Errorf("%+v", got)
		}
		if foreign.MatchString(text) || strings.Contains(text, `id="gemu-wasm"`) != (e != nil) {
			t.Errorf("%s in %.1500s", foreign.FindString(text), text)
		}
		_, texts, _ := strings.Cut(text, `id="gemu-licenses">`)
		texts, _, _ = strings.Cut(texts, "</script>")
		if !strings.Contains(texts, "\n@codemirror/view 6.") || !strings.Contains(texts, "\nlit 3.") || strings.Contains(texts, "the license of Go") != (e != nil) {
			t.Errorf("licenses %.1500s", texts)
		}
	}
}

// TestReportFile: the data and the title of a report are in its page, and hostile texts end no element.
func TestReportFile(t *testing.T) {
	b, err := ReportFile(hostile, map[string]string{"title": hostile})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), `id="gemu-report">`)
	text, _, ok2 := strings.Cut(rest, "</script>")
	var data map[string]string
	if err := json.Unmarshal([]byte(text), &data); !ok || !ok2 || err != nil || data["title"] != hostile {
		t.Errorf("%v, %q in %.300s", err, data, b)
	}
	if !strings.Contains(string(b), "\nlit 3.") {
		t.Error("the licenses are missing")
	}
	if strings.Contains(string(b), "<script>alert") || !strings.Contains(string(b), "<title>&lt;/script&gt;") {
		t.Errorf("%.1000s", b)
	}
}
