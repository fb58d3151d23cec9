// Package libtest builds the shared libraries and clients of them, for tests. It
// needs Go and a C compiler.
package libtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Build builds the library of the package in the current directory, under its name,
// and gives the path. If the test has a race detector, so has the library.
func Build(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(t.TempDir(), name)
	args := []string{"build", "-buildmode=c-shared", "-ldflags=-extldflags '-Wl,-soname," + name + " -Wl,--version-script=" + filepath.Join(dir, "exports.map") + "'", "-o", lib}
	if race {
		args = append(args, "-race")
	}
	run(t, "go", args...)
	return lib
}

// Compile compiles a C program with a library and gives its path. Flags are further
// arguments of the compiler.
func Compile(t *testing.T, source, lib string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "client")
	args := []string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-D_DEFAULT_SOURCE", "-o", program, source, lib, "-Wl,-rpath," + filepath.Dir(lib), "-pthread"}
	run(t, "cc", append(args, flags...)...)
	return program
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
