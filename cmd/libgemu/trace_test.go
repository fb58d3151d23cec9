//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/cmd/internal/libtest"
	"gemu/internal/cases"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// A C program writes a log with gemu_trace.h from the events of its observer. This log has the same entries as the log
// that the library writes, which has the same bytes as the log of a launch by package interp.
func TestLogWrittenInC(t *testing.T) {
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
		if d, _, err := trace.Compare(file("library.log"), file("c.log"), trace.Options{}); d != nil || err != nil {
			t.Errorf("%s: %v\n%v", mode, err, d)
		}
		want, err := os.ReadFile(filepath.Join(dir, "library.log"))
		if err != nil {
			t.Fatal(err)
		}
		if got := logOf(t, dir); !bytes.Equal(got, want) {
			t.Errorf("%s: the library's log differs:\n%s\nwant\n%s", mode, want, got)
		}
	}
}

// logOf returns the log of the launch of testdata/trace.c, made from the PTX that the library has dumped.
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
	dev := interp.NewDevice(interp.Config{Base: 1 << 48, Probes: []probe.Probe{r}})
	mod, err := dev.Load(files[0], src)
	if err != nil {
		t.Fatal(err)
	}
	output, err := dev.Alloc(4 * 3 * 40)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "k", ptx.Dim(3), ptx.Dim(40), output); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A C program requests steps, reads memory between them, and stops launches.
func TestStepsRequestedFromC(t *testing.T) {
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

// TestLogOfRequestedSteps: a C program writes a log from the steps that it requests. This log has the same entries as the
// log that the library writes, which has the same bytes as the log of a launch by package interp. The test runs a sample
// of the conformance cases.
func TestLogOfRequestedSteps(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	program := libtest.Client(t, "testdata/pull_log.c", "libgemu.so", "-I", ".", "-Wall", "-Wextra", "-Werror")
	every, seed := uint64(part.Count(2500, 1200, 1)), part.Seed(t)
	ran := 0
	var number uint64
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(filepath.Dir(file)) == "bad" {
			continue
		}
		list, err := cases.Read(string(src))
		if err != nil {
			t.Fatal(err)
		}
		always := slices.Contains([]string{"cp_async.ptx", "atom.ptx", "stmatrix.ptx", "trap_memory.ptx"}, filepath.Base(file))
		for i := range list {
			c := &list[i]
			if number++; !(number%every == seed%every || always && i == int(seed%uint64(len(list)))) || !plainCase(c) {
				continue
			}
			ran++
			t.Run(fmt.Sprintf("%s:%d", filepath.Base(file), c.Line), func(t *testing.T) { pullCase(t, program, file, src, c) })
		}
	}
	if ran < 5 {
		t.Errorf("%d cases ran, want at least 5", ran)
	}
}

// plainCase reports whether a case is a plain launch on the default device, whose arguments are buffers and numbers.
func plainCase(c *cases.Case) bool {
	if c.SM != 0 || c.Cooperative || c.EarlyOnly || c.Sanitize || c.Cluster != (cases.Extent{}) || len(c.Policies) > 0 || c.Widths[0] != 32 {
		return false
	}
	return !slices.ContainsFunc(c.Args, func(s string) bool { return strings.Contains(s, "(") })
}

// pullCase runs a case in the C program and in package interp, and compares the three logs.
func pullCase(t *testing.T, program, file string, src []byte, c *cases.Case) {
	dir := t.TempDir()
	block := c.Blocks[len(c.Blocks)-1]
	args := []string{file, filepath.Join(dir, "c.log"), c.Kernel}
	for _, e := range []cases.Extent{c.Grid, block} {
		for _, n := range e {
			args = append(args, fmt.Sprint(n))
		}
	}
	args = append(args, fmt.Sprint(c.Shared))

	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Text, &trace.Header{Version: trace.Version})
	if err != nil {
		t.Fatal(err)
	}
	r := trace.NewRecorder(w, trace.Filter{})
	dev := interp.NewDevice(interp.Config{Base: 1 << 48, Probes: []probe.Probe{r}})
	mod, err := dev.Load(filepath.Base(file), src)
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel(c.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	none := func(cases.Object) (any, error) { return nil, errors.New("an object") }
	values, _, err := c.Arguments(k.Params, func(data []byte) (any, error) { return interp.NewBuffer(dev, data) }, none)
	if err != nil {
		t.Skip(err)
	}
	for i, v := range values {
		kind, data := "v", []byte(nil)
		switch v := v.(type) {
		case []byte:
			data = v
		case *interp.Buffer:
			kind, data = "b", v.Bytes()
		default:
			t.Skipf("an argument is a %T", v)
		}
		name := filepath.Join(dir, fmt.Sprint("arg", i))
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, kind+":"+name)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "GEMU_MODE=vector", "GEMU_LOG="+filepath.Join(dir, "library.log"))
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "gemu_start") || strings.Contains(string(out), "gemu_load") { // the launch is refused
			t.Skip(string(out))
		}
		t.Fatalf("%v\n%s", err, out)
	}
	mod.Run(t.Context(), &interp.Launch{Kernel: c.Kernel, Grid: ptx.Dim(c.Grid[:]...), Block: ptx.Dim(block[:]...), Args: values, Shared: c.Shared, Mode: interp.Vector})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	log := func(name string) trace.Source {
		return trace.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, name)) }}
	}
	if d, _, err := trace.Compare(log("library.log"), log("c.log"), trace.Options{}); d != nil || err != nil {
		t.Errorf("%v\n%v", err, d)
	}
	library, err := os.ReadFile(filepath.Join(dir, "library.log"))
	if err != nil {
		t.Fatal(err)
	}
	// The library has its own names of modules. Their lengths change the offsets in the index.
	text := func(b []byte) string {
		s := regexp.MustCompile(`module-\w+\.ptx`).ReplaceAllString(string(b), filepath.Base(file))
		log, _, _ := strings.Cut(s, "\nindex ")
		return log
	}
	if got, want := text(library), text(b.Bytes()); got != want {
		x, y := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(x), len(y)) {
			if x[i] != y[i] {
				t.Fatalf("line %d of the library's log:\n%s\nwant\n%s", i+1, x[i], y[i])
			}
		}
		t.Errorf("the library's log has %d lines, want %d", len(x), len(y))
	}
}
