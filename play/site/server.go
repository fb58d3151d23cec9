package site

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strings"

	"gemu/play"
)

// policy is the Content-Security-Policy of the page: it loads its own files, and nothing else.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"font-src 'self'; connect-src 'self' data: blob:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'"

// maxRequest is the largest request in bytes.
const maxRequest = 32 << 20

// Server serves the page and runs its requests. It answers only requests that name its own address (Host, Origin) and have the
// token in their path, so that other pages in the browser and other users of the computer cannot run kernels. Use it on a
// loopback address.
type Server struct {
	engine *play.Engine
	host   string // address and port, as browsers send it in Host
	token  string
	index  []byte
	runs   chan struct{} // a place for each run at the same time
}

// NewServer returns a server for the address of a listener, with at most the given number of runs at the same time; further runs
// wait.
func NewServer(engine *play.Engine, address net.Addr, start *play.Start, runs int) (*Server, error) {
	index, err := indexOf(start)
	if err != nil {
		return nil, err
	}
	return &Server{engine, address.String(), rand.Text(), index, make(chan struct{}, runs)}, nil
}

// URL returns the address of the page.
func (s *Server) URL() string { return "http://" + s.host + "/" + s.token + "/" }

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer") // the address has the token
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !s.isOwn(r) {
		http.Error(w, "gemu play answers only its own page", http.StatusForbidden)
		return
	}
	token, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.Error(w, "open the address that gemu play has printed", http.StatusNotFound)
		return
	}
	switch {
	case name == "run":
		s.run(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "want GET", http.StatusMethodNotAllowed)
	case name == "" || name == "index.html":
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.index)
	case name == "examples.json":
		h.Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(Examples())
	default:
		serveFile(w, r, path.Clean("/" + name)[1:])
	}
}

// contentTypes has the types of the page's files. The types that the system knows may be wrong: the registry of Windows can be
// changed by any program, and browsers run no script of another type.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// serveFile answers with a file of the page.
func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	b, err := fs.ReadFile(play.Page(), name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", cmp.Or(contentTypes[path.Ext(name)], "application/octet-stream"))
	w.Write(b)
}

// isOwn reports whether a request comes from the page of this server, or from the address bar of a browser.
func (s *Server) isOwn(r *http.Request) bool {
	if r.Host != s.host {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+s.host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return false
}

// run runs a request of the page, until it ends or the page closes the connection.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "want POST", http.StatusMethodNotAllowed)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, "the request is larger than 32 MiB", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		return // the connection is closed
	}
	ctx := r.Context()
	select {
	case s.runs <- struct{}{}:
		defer func() { <-s.runs }()
	case <-ctx.Done():
		return
	}
	response, err := s.engine.RunJSON(ctx, text)
	if err != nil {
		return // the page has closed the connection
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(response.Encode())
}
