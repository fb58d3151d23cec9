package site

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/play"
)

// need returns a program of the host. It skips the test if the host does not have it; the sample of CI must have it.
func need(t *testing.T, program, use string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	switch {
	case err == nil:
	case part.TrySample():
		t.Fatalf("%s is missing: %s", program, use)
	default:
		t.Skipf("%s is missing: %s", program, use)
	}
	return path
}

// builtEngine builds the engine once for all tests.
func builtEngine(t *testing.T) *Engine {
	t.Helper()
	part.SkipShort(t)
	e, err := BuildEngine(t.Context(), need(t, "go", "it builds the engine in WebAssembly"), filepath.Join("..", "wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEnginesAgree: the engine in WebAssembly gives the responses of this process, byte for byte, with their recordings: for all
// examples under all policies, and for requests that fail.
func TestEnginesAgree(t *testing.T) {
	node := need(t, "node", "it runs the engine in WebAssembly")
	e := builtEngine(t)
	for _, name := range []string{"Go", "github.com/alecthomas/participle/v2 v2.", "github.com/klauspost/compress v1.", "golang.org/x/exp v0."} {
		if !bytes.Contains(e.Licenses, []byte("\n"+name)) {
			t.Errorf("the licenses lack that of %s: %.300s", name, e.Licenses)
		}
	}
	var requests []play.Request
	for _, x := range Examples() {
		for _, p := range append(interp.Reconvergers(), interp.ReconvergerNamed("its:1"), interp.ReconvergerNamed("its:8")) {
			q := x.Request
			q.Policy = p.Name()
			requests = append(requests, q)
		}
	}
	requests = append(requests, play.Request{Source: "no PTX"}, play.Request{Source: requests[0].Source, Block: [3]int{1, 0, 0}, Arguments: []string{"@file"}})
	dir := t.TempDir()
	text, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"wasm_exec.js": e.Loader, "gemu.wasm": e.Module, "requests": text}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("testdata/run.mjs")
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	out, err := exec.CommandContext(t.Context(), node, script, path("wasm_exec.js"), path("gemu.wasm"), path("requests"), path("responses"), path("policies")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	b, err := os.ReadFile(path("responses"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := os.ReadFile(path("policies"))
	if err != nil {
		t.Fatal(err)
	}
	var known []play.Policy
	if err := json.Unmarshal(policies, &known); err != nil || !slices.Equal(known, play.Policies()) {
		t.Errorf("policies %s, %v", policies, err)
	}
	for i := range requests {
		q := &requests[i]
		want, err := new(play.Engine).Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 4 {
			t.Fatalf("%d responses, want %d", i, len(requests))
		}
		n := binary.LittleEndian.Uint32(b)
		got := b[4:][:n]
		b = b[4+n:]
		if !bytes.Equal(got, want.Encode()) {
			t.Errorf("%s under %s: other bytes, %d and %d", q.Name, q.Policy, len(got), len(want.Encode()))
		}
	}
	if len(b) > 0 {
		t.Errorf("%d bytes after the responses", len(b))
	}
}
