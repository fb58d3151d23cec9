// Package libtest builds the shared libraries, and C programs that use them, for tests. It needs Go and a C compiler. A
// library is built once, and kept in a cache for the tests of all processes (cache.go).
package libtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Shared builds the package in the current directory as a shared library, and returns the library's path. name is the
// name of the file and the library's soname. The library is in the cache, so the caller must not change it.
func Shared(t testing.TB, name string) string {
	t.Helper()
	return shared(t, ".", name)
}

// shared is Shared for the package in directory pkg. The library exports the functions that exports.map lists there.
func shared(t testing.TB, pkg, name string) string {
	t.Helper()
	exports, err := filepath.Abs(filepath.Join(pkg, "exports.map"))
	if err != nil {
		t.Fatal(err)
	}
	return build(t, pkg, name, []string{exports}, "-buildmode=c-shared",
		"-ldflags=-extldflags '-Wl,-soname,"+name+" -Wl,--version-script="+exports+"'")
}

// Driver makes two links in a directory: to libcuda.so.1, and to libcuda.so.h, the header that go build writes next to
// the library. The builds of libraries on top of libcuda need both.
func Driver(t testing.TB, dir string) {
	t.Helper()
	lib := shared(t, "../libcuda", "libcuda.so.1")
	for _, file := range []string{lib, strings.TrimSuffix(lib, filepath.Ext(lib)) + ".h"} {
		if err := os.Symlink(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
}

// Client compiles a C program, links it with the library of the package in the current directory, and returns the
// program's path. source is the C file, name the name of the library, and flags are further arguments of the compiler. If
// the test runs with the race detector, the library has the race detector, too. It is then a static archive instead of a
// shared library, because the detector needs code at low addresses.
func Client(t testing.TB, source, name string, flags ...string) string {
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

// Program compiles a C program and returns the program's path. flags are further arguments of the compiler.
func Program(t testing.TB, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	compiler := strings.TrimSpace(output(t, "go", "env", "CC"))
	args := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-D_DEFAULT_SOURCE", "-o", program, source}
	run(t, compiler, append(append(args, flags...), "-pthread", "-ldl")...)
	return program
}

// run runs a command. If the command fails, it ends the test.
func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if b, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, b)
	}
}

// output runs a command and returns its standard output. If the command fails, it ends the test.
func output(t testing.TB, name string, args ...string) string {
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
