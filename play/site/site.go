package site

// This file writes the page to files.

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"gemu/internal/wholefile"
	"gemu/play"
)

//go:embed static
var static embed.FS

// worker returns the script of the worker.
func worker() []byte {
	b, err := static.ReadFile("static/engine.js")
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}

// startElement is the element of index.html that has the start of the page.
var startElement = regexp.MustCompile(`(<script[^>]*\bid="gemu-start"[^>]*>)[^<]*(</script>)`)

// indexOf returns index.html with the start of the page.
func indexOf(start *play.Start) ([]byte, error) {
	index, err := fs.ReadFile(play.Page(), "index.html")
	if err != nil {
		return nil, err
	}
	whole := *start
	whole.Known = play.Policies()
	text, err := json.Marshal(whole) // escapes <, so the text cannot end the element
	if err != nil {
		return nil, err
	}
	return replaceOnce(index, startElement, func(m [][]byte) []byte { return bytes.Join([][]byte{m[1], text, m[2]}, nil) })
}

// replaceOnce replaces the only match of an expression in a page. replacement gets the match and its groups.
func replaceOnce(index []byte, e *regexp.Regexp, replacement func(m [][]byte) []byte) ([]byte, error) {
	list := e.FindAllSubmatchIndex(index, -1)
	if len(list) != 1 {
		return nil, fmt.Errorf("BUG: the page has %d matches of %s, want 1", len(list), e)
	}
	at := list[0]
	var groups [][]byte
	for i := 0; i < len(at); i += 2 {
		groups = append(groups, index[at[i]:at[i+1]])
	}
	return bytes.Join([][]byte{index[:at[0]], replacement(groups), index[at[1]:]}, nil), nil
}

var (
	headElement   = regexp.MustCompile(`<head>`)
	styleElement  = regexp.MustCompile(`<link[^>]*\bhref="gemu\.css"[^>]*>`)
	scriptElement = regexp.MustCompile(`<script[^>]*\bsrc="gemu\.js"[^>]*></script>`)
)

// withPolicy returns index.html with a Content-Security-Policy of its own, for servers that send none.
func withPolicy(index []byte, policy string) ([]byte, error) {
	return replaceOnce(index, headElement, func([][]byte) []byte {
		return []byte(`<head><meta http-equiv="Content-Security-Policy" content="` + policy + `">`)
	})
}

// licensesOfPage is the file of the page with the licenses of its libraries.
const licensesOfPage = "licenses.txt"

// Build writes the page and its engine to a directory, which it makes if necessary. Any web server can serve the files, and no other
// site is contacted. It returns the names of the written files.
func Build(ctx context.Context, dir string, e *Engine, start *play.Start) (names []string, err error) {
	files := map[string][]byte{"engine.js": worker(), "wasm_exec.js": e.Loader}
	index, err := indexOf(start)
	if err == nil {
		files["index.html"], err = withPolicy(index, policy)
	}
	if err != nil {
		return nil, err
	}
	if files["gemu.wasm.gz"], err = compress(e.Module); err != nil {
		return nil, err
	}
	if files["examples.json"], err = json.Marshal(Examples()); err != nil {
		return nil, err
	}
	err = fs.WalkDir(play.Page(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "index.html" {
			return err
		}
		files[name], err = fs.ReadFile(play.Page(), name)
		return err
	})
	if err != nil {
		return nil, err
	}
	files[licensesOfPage] = bytes.Join([][]byte{files[licensesOfPage], e.Licenses}, []byte("\n"))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for name, b := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return names, err
		}
		if err := wholefile.Write(ctx, path, b); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// singlePolicy is the Content-Security-Policy of a single file: everything is in it.
const singlePolicy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; " +
	"font-src data:; connect-src blob: data:; base-uri 'none'; form-action 'none'"

// Single writes the page as one file that works without a server and without a network. Without an engine (nil) it shows the
// recordings of start.
func Single(ctx context.Context, file string, e *Engine, start *play.Start) error {
	b, err := SingleFile(e, start)
	if err != nil {
		return err
	}
	return wholefile.Write(ctx, file, b)
}

// SingleFile returns the contents of the file that Single writes.
func SingleFile(e *Engine, start *play.Start) ([]byte, error) {
	index, err := indexOf(start)
	if err != nil {
		return nil, err
	}
	if index, err = withPolicy(index, singlePolicy); err != nil {
		return nil, err
	}
	read := func(name string) []byte {
		var b []byte
		if err == nil {
			b, err = fs.ReadFile(play.Page(), name)
		}
		return b
	}
	css, js, editor, texts := read("gemu.css"), read("gemu.js"), read("editor.js"), read(licensesOfPage)
	if err != nil {
		return nil, err
	}
	if index, err = replaceOnce(index, styleElement, func([][]byte) []byte { return fmt.Appendf(nil, "<style>%s</style>", css) }); err != nil {
		return nil, err
	}
	if bytes.Contains(js, []byte("</script")) {
		return nil, errors.New("BUG: gemu.js of the page contains </script")
	}
	var inline bytes.Buffer
	put := func(id string, b []byte) {
		fmt.Fprintf(&inline, "<script type=\"text/plain\" id=%q>%s</script>\n", id, base64.StdEncoding.EncodeToString(b))
	}
	put("gemu-editor", editor)
	if e != nil {
		texts = bytes.Join([][]byte{texts, e.Licenses}, []byte("\n"))
		module, err := compress(e.Module)
		if err != nil {
			return nil, err
		}
		put("gemu-worker", bytes.Join([][]byte{e.Loader, worker()}, []byte("\n")))
		put("gemu-wasm", module)
		examples, err := json.Marshal(Examples()) // escapes <
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&inline, "<script type=\"application/json\" id=\"gemu-examples\">%s</script>\n", examples)
	}
	if bytes.Contains(texts, []byte("</script")) || bytes.Contains(texts, []byte("<!--")) {
		return nil, errors.New("BUG: a license contains an element of HTML")
	}
	fmt.Fprintf(&inline, "<script type=\"text/plain\" id=\"gemu-licenses\">%s</script>\n", texts)
	b, err := static.ReadFile("static/single.js")
	if err != nil {
		return nil, err
	}
	return replaceOnce(index, scriptElement, func([][]byte) []byte {
		return fmt.Appendf(nil, "%s<script>%s</script>\n<script type=\"module\">%s</script>", inline.Bytes(), b, js)
	})
}

var (
	reportElement = regexp.MustCompile(`(<script[^>]*\bid="gemu-report"[^>]*>)[^<]*(</script>)`)
	titleElement  = regexp.MustCompile(`<title>[^<]*</title>`)
)

// ReportFile returns the page of a report as one file. The title is a text; data is encoded as JSON.
func ReportFile(title string, data any) ([]byte, error) {
	text, err := json.Marshal(data) // escapes <, so the text cannot end the element
	if err != nil {
		return nil, err
	}
	page, err := replaceOnce(play.Report(), reportElement, func(m [][]byte) []byte { return bytes.Join([][]byte{m[1], text, m[2]}, nil) })
	if err != nil {
		return nil, err
	}
	return replaceOnce(page, titleElement, func([][]byte) []byte { return []byte("<title>" + html.EscapeString(title) + "</title>") })
}

// compress returns bytes compressed with gzip.
func compress(b []byte) ([]byte, error) {
	var to bytes.Buffer
	w, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err = w.Close()
	return to.Bytes(), err
}
