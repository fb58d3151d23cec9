// Package libtest builds the shared libraries and their C clients for tests. It needs Go and a C compiler.
package libtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Shared builds the shared library of the package in the current directory under a name, and returns its path.
func Shared(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(t.TempDir(), name)
	run(t, "go", "build", "-buildmode=c-shared", "-o", lib,
		"-ldflags=-extldflags '-Wl,-soname,"+name+" -Wl,--version-script="+filepath.Join(dir, "exports.map")+"'")
	return lib
}

// Driver builds libcuda.so.1 in a directory, with the header that go build writes next to it. Libraries on top of
// libcuda need both.
func Driver(t *testing.T, dir string) {
	t.Helper()
	exports, err := filepath.Abs("../libcuda/exports.map")
	if err != nil {
		t.Fatal(err)
	}
	run(t, "go", "build", "-buildmode=c-shared", "-o", filepath.Join(dir, "libcuda.so.1"),
		"-ldflags=-extldflags '-Wl,-soname,libcuda.so.1 -Wl,--version-script="+exports+"'", "../libcuda")
}

// Client compiles a C program with the library of the package in the current directory and returns the path of the
// program. If the test runs with the race detector, so does the library: it is then an archive, because the detector
// needs code at low addresses.
func Client(t *testing.T, source, name string, flags ...string) string {
	t.Helper()
	var link []string
	if race {
		lib := filepath.Join(t.TempDir(), name+".a")
		run(t, "go", "build", "-race", "-buildmode=c-archive", "-o", lib)
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
	compiler := strings.TrimSpace(run(t, "go", "env", "CC"))
	args := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-D_DEFAULT_SOURCE", "-o", program, source}
	run(t, compiler, append(append(args, flags...), "-pthread", "-ldl")...)
	return program
}

func run(t *testing.T, name string, args ...string) (out string) {
	t.Helper()
	b, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, b)
	}
	return string(b)
}
