//go:build cgo

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gemu/cmd/internal/libtest"
	"gemu/interp"
	"gemu/trace"
)

// A log that a C program writes with gemu_trace.h, of what its observer is told, is that which the
// library writes itself; and that is, byte by byte, the one of package interp.
func TestTraceHeader(t *testing.T) {
	program := libtest.Client(t, "testdata/trace.c", "libgemu.so", "-I", ".", "-Wall", "-Wextra", "-Werror")
	dir := t.TempDir()
	file := func(name string) trace.Source {
		return trace.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, name)) }}
	}
	for _, mode := range []string{"vector", "affine", "check"} {
		cmd := exec.Command(program, "testdata/trace.ptx", filepath.Join(dir, "c.log"))
		cmd.Env = append(os.Environ(), "GEMU_MODE="+mode, "GEMU_LOG="+filepath.Join(dir, "library.log"), "GEMU_DUMP="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		if d, err := trace.Compare(file("library.log"), file("c.log"), trace.Options{}); d != nil || err != nil {
			t.Errorf("%s: %v\n%v", mode, err, d)
		}
		want, err := os.ReadFile(filepath.Join(dir, "library.log"))
		if err != nil {
			t.Fatal(err)
		}
		if got := logOf(t, dir); !bytes.Equal(got, want) {
			t.Errorf("%s: the library's log is another:\n%s\nwant\n%s", mode, want, got)
		}
	}
}

// logOf is the log of the launch that testdata/trace.c makes, of the PTX that the library has dumped.
func logOf(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	src, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Text, &trace.Header{Version: trace.Version})
	if err != nil {
		t.Fatal(err)
	}
	r := trace.NewRecorder(w, trace.Filter{})
	dev := interp.NewDevice(interp.Config{Base: 1 << 48, Probes: []interp.Probe{r}})
	mod, err := dev.Load(files[0], src)
	if err != nil {
		t.Fatal(err)
	}
	out, err := dev.Alloc(4 * 3 * 40)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "k", interp.Dim(3), interp.Dim(40), out); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A C program that asks for steps.
func TestPull(t *testing.T) {
	program := libtest.Client(t, "testdata/pull.c", "libgemu.so", "-I", ".", "-Wall", "-Wextra", "-Werror")
	for _, mode := range []string{"vector", "check"} {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, program, "testdata/pull.ptx")
		cmd.Env = append(os.Environ(), "GEMU_MODE="+mode)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
			t.Errorf("%s: %v\n%s", mode, err, out)
		}
	}
}
