package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
)

// TestRelease: the command of an archive writes the page with its engine, without Go and without the source.
func TestRelease(t *testing.T) {
	if !part.TryAll() {
		t.Skip("GEMU_TEST=all runs it: it builds everything anew")
	}
	dir := t.TempDir()
	names, err := release(t.Context(), "../..", filepath.Join(dir, "out"), []string{runtime.GOOS + "/" + runtime.GOARCH})
	if err != nil || len(names) != 1 || runtime.GOOS == "windows" {
		t.Fatal(names, err)
	}
	if text, err := exec.CommandContext(t.Context(), "tar", "-x", "-z", "-f", names[0], "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	page := filepath.Join(dir, "page")
	command := exec.CommandContext(t.Context(), filepath.Join(dir, "gemu"), "play", "--build", page)
	command.Env, command.Dir = []string{"PATH=", "HOME=" + dir}, dir
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for name, want := range map[string]string{"page/licenses.txt": "\ngithub.com/alecthomas/participle/v2 v2.", "gemu.licenses.txt": "\ngithub.com/charmbracelet/bubbletea v1.", "page/wasm_exec.js": "The Go Authors"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}

// TestArchives: files keep their contents; the command can be executed; the same files make the same bytes.
func TestArchives(t *testing.T) {
	files := map[string][]byte{"gemu.exe": []byte("command"), "gemu.exe.licenses.txt": []byte("text"), "gemu.wasm": []byte("module")}
	for _, pack := range []func(map[string][]byte) ([]byte, error){tarball, zipped} {
		a, err := pack(files)
		b, err2 := pack(files)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Error("the archives differ", err, err2)
		}
	}
	b, err := zipped(files)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.File {
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Name+" "+f.Mode().String()+" "+string(text))
	}
	if want := []string{"gemu.exe -rwxr-xr-x command", "gemu.exe.licenses.txt -rw-r--r-- text", "gemu.wasm -rw-r--r-- module"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := release(t.Context(), "../..", t.TempDir(), []string{"linux"}); err == nil || !strings.Contains(err.Error(), `"linux" is no host`) {
		t.Error(err)
	}
}
