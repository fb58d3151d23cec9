package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckFindsMissingFunction checks a module with a function that only Linux has.
func TestCheckFindsMissingFunction(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"a.go":        "package m\n\nvar V = f()\n",
		"f_linux.go":  "package m\n\nfunc f() int { return 1 }\n",
		"f_darwin.go": "package m\n\nfunc f() string { return \"\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for host, want := range map[string]string{"linux/amd64": "", "darwin/arm64": "", "windows/amd64": "undefined: f"} {
		n, errs, err := check(dir, host, ".")
		if err != nil || n == 0 {
			t.Fatalf("%s: %d packages, %v", host, n, err)
		}
		var texts []string
		for _, e := range errs {
			texts = append(texts, e.Msg)
		}
		if got := strings.Join(texts, "; "); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	if _, _, err := check(dir, "windows", "."); err == nil {
		t.Error("a host without a processor is no error")
	}
}
