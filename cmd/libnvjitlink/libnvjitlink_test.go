//go:build cgo

package libnvjitlink

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gemu/cmd/internal/libtest"
)

// A C program with the calls of NVIDIA's header links and runs with either library.
func TestCProgramLinksAndRuns(t *testing.T) {
	dir := t.TempDir()
	libtest.Driver(t, dir)
	for _, major := range []string{"12", "13"} {
		if out, err := exec.Command("./build.sh", major, dir, dir).CombinedOutput(); err != nil {
			t.Fatalf("build.sh %s: %v\n%s", major, err, out)
		}
		program := libtest.Program(t, "testdata/client.c", "-DMAJOR="+major, filepath.Join(dir, "libnvJitLink.so."+major),
			filepath.Join(dir, "libcuda.so.1"), "-Wl,-rpath,"+dir)
		optimizer := libtest.Program(t, "testdata/optimizer.c", "-DMAJOR="+major, "-shared", "-fPIC")
		for _, env := range []string{"GEMU_NVJITLINK=", "GEMU_NVJITLINK=" + optimizer} {
			cmd := exec.Command(program, t.TempDir())
			cmd.Env = append(os.Environ(), env)
			if out, err := cmd.Output(); err != nil || string(out) != "ok\n" {
				t.Errorf("%s, %s: printed %q, %v", major, env, out, err)
			}
		}
	}
}
