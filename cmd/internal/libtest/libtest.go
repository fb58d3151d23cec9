// Package libtest builds the shared libraries and their C clients for tests. It needs Go and a C compiler. All tests of
// all processes share a single build of a library (cache.go).
package libtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Shared returns the path of the shared library of the package in the current directory, built under a name. The library
// is in the cache and must not be changed.
func Shared(t *testing.T, name string) string {
	t.Helper()
	return shared(t, ".", name)
}

func shared(t *testing.T, pkg, name string) string {
	t.Helper()
	exports, err := filepath.Abs(filepath.Join(pkg, "exports.map"))
	if err != nil {
		t.Fatal(err)
	}
	return build(t, pkg, name, []string{exports}, "-buildmode=c-shared",
		"-ldflags=-extldflags '-Wl,-soname,"+name+" -Wl,--version-script="+exports+"'")
}

// Driver puts links to libcuda.so.1 and to the header that go build writes next to it into a directory. Libraries on top
// of libcuda need both.
func Driver(t *testing.T, dir string) {
	t.Helper()
	lib := shared(t, "../libcuda", "libcuda.so.1")
	for _, file := range []string{lib, strings.TrimSuffix(lib, filepath.Ext(lib)) + ".h"} {
		if err := os.Symlink(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
}

// Client compiles a C program with the library of the package in the current directory and returns the path of the
// program. If the test runs with the race detector, so does the library: it is then an archive, because the detector
// needs code at low addresses.
func Client(t *testing.T, source, name string, flags ...string) string {
	t.Helper()
	var link []string
	if race {
		lib := build(t, ".", name+".a", nil, "-race", "-buildmode=c-archive")
		link = []string{"-Wl,--whole-archive", lib, "-Wl,--no-whole-archive", "-no-pie", "-ldl", "-lm", "-Wl,-wrap=crosscall2"}
	} else {
		lib := Shared(t, name)
		link = []string{lib, "-Wl,-rpath," + filepath.Dir(lib)}
	}
	return Program(t, source, append(link, flags...)...)
}

// Program compiles a C program and returns its path.
func Program(t *testing.T, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	compiler := strings.TrimSpace(output(t, "go", "env", "CC"))
	args := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-D_DEFAULT_SOURCE", "-o", program, source}
	run(t, compiler, append(append(args, flags...), "-pthread", "-ldl")...)
	return program
}

// run runs a command that must succeed.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if b, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, b)
	}
}

// output returns the standard output of a command that must succeed.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	var messages strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stderr = &messages
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, messages.String(), b)
	}
	return string(b)
}
