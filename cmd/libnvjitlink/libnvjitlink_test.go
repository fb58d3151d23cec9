//go:build cgo

package libnvjitlink

import (
	"os/exec"
	"path/filepath"
	"testing"

	"gemu/cmd/internal/libtest"
)

// A C program that calls what NVIDIA's header calls links and runs with either library.
func TestClient(t *testing.T) {
	dir := t.TempDir()
	libtest.Driver(t, dir)
	for _, major := range []string{"12", "13"} {
		if out, err := exec.Command("./build.sh", major, dir, dir).CombinedOutput(); err != nil {
			t.Fatalf("build.sh %s: %v\n%s", major, err, out)
		}
		program := libtest.Program(t, "testdata/client.c", "-DMAJOR="+major, filepath.Join(dir, "libnvJitLink.so."+major),
			filepath.Join(dir, "libcuda.so.1"), "-Wl,-rpath,"+dir)
		out, err := exec.Command(program, t.TempDir()).Output()
		if err != nil || string(out) != "ok\n" {
			t.Errorf("%s: printed %q, %v", major, out, err)
		}
	}
}
