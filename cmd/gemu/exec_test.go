//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemu/cmd/internal/libtest"
	"gemu/report"
)

// installed returns a directory with gemu's driver and redirecting library in lib/gemu, and the command in bin.
func installed(t *testing.T) string {
	dir := t.TempDir()
	libraries := filepath.Join(dir, "lib", "gemu")
	if err := os.MkdirAll(libraries, 0o777); err != nil {
		t.Fatal(err)
	}
	libtest.Driver(t, libraries)
	installCommand(t, dir)
	return dir
}

// installCommand builds the command into dir/bin and the redirecting library into dir/lib/gemu, which must exist.
func installCommand(t *testing.T, dir string) {
	libraries := filepath.Join(dir, "lib", "gemu")
	for _, args := range [][]string{{"go", "build", "-o", filepath.Join(dir, "bin", "gemu"), "."}, {"../libredirect/build.sh", libraries}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
}

// A program whose library needs as much static thread-local storage as rustc's starts under gemu exec.
func TestExecStaticTLS(t *testing.T) {
	dir := t.TempDir()
	libraries := filepath.Join(dir, "lib", "gemu")
	if err := os.MkdirAll(libraries, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(libraries, "libcuda.so.1"), nil, 0o666); err != nil { // the program does not load it
		t.Fatal(err)
	}
	installCommand(t, dir)
	library := libtest.Program(t, "testdata/static_tls.c", "-DLIBRARY", "-shared", "-fPIC", "-ftls-model=initial-exec")
	program := libtest.Program(t, "testdata/static_tls.c", library)
	if out, err := exec.Command(filepath.Join(dir, "bin", "gemu"), "exec", "--", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// gemu exec redirects a program to gemu's driver and reports each of its processes, whether it ends by exit, by _exit or by a signal.
func TestExecReportsProcesses(t *testing.T) {
	dir := installed(t)
	program := libtest.Program(t, "testdata/processes.c")
	for _, c := range []struct {
		name      string
		flags     []string
		ways      string
		status    int
		launches  int64
		errors    int
		processes int
		stderr    string
	}{
		{"one process", nil, "here", 0, 1, 0, 1, "1 process, 1 launch of 1 kernel: 0 errors"},
		{"children", nil, "fork fork", 0, 2, 0, 2, "2 processes, 2 launches of 1 kernel"},
		{"vfork", nil, "here vfork here", 0, 2, 0, 1, "1 process, 2 launches"},
		{"fault", nil, "bad", 3, 0, 1, 1, "Error: launch: trap: out-of-bounds global load"},
		{"fault, own status", []string{"--findings-status", "0"}, "bad", 0, 0, 1, 1, "1 error"},
		{"judged", []string{"--sanitize", "all"}, "fork", 3, 1, 1, 1, "Error: init:"},
		// The line has 4 of the 8 executed instructions; the branch skips two. Each of 2 launches has 2 warps.
		{"profile", []string{"--profile", "source"}, "fork here", 0, 2, 0, 2, "     16  50.0 %  32.0      0      4.0  100 %         -  twice.cu:7\n"},
		{"killed", nil, "killed", 0, 0, 0, 1, "without its exit handlers"},
		{"_exit in a handler", nil, "alarm", 0, 0, 0, 1, "without its exit handlers"},
		{"_exit without waiting", nil, "abandon", 0, 0, 0, 1, "it was still running 2s after the end of the process"},
		{"killed, not judged", []string{"--sanitize", "race"}, "killed", 3, 0, 1, 1, "its launches were not judged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "report.json")
			args := append(append([]string{"exec", "--json", file}, c.flags...), "--", program)
			cmd := exec.Command(filepath.Join(dir, "bin", "gemu"), append(args, strings.Fields(c.ways)...)...)
			cmd.Env = append(os.Environ(), "GEMU_STEPS=1000000000000000000") // of a kernel that does not end
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			var ended *exec.ExitError
			if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status || stdout.String() != "done\n" || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("status %d, want %d; stdout %q; stderr, which should contain %q:\n%s", got, c.status, stdout.String(), c.stderr, stderr.String())
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r report.Report
			if err := json.Unmarshal(b, &r); err != nil {
				t.Fatal(err)
			}
			// A process that a signal ends has only the launches up to its last change of the report.
			if killed := strings.HasPrefix(c.name, "killed"); r.Launches != c.launches && !killed || r.Errors != c.errors || len(r.Processes) != c.processes || r.Status != 0 {
				t.Errorf("%s", b)
			}
			if want := append([]string{program}, strings.Fields(c.ways)...); !slices.Equal(r.Processes[0].Program, want) {
				t.Errorf("the process is %q, want %q", r.Processes[0].Program, want)
			}
		})
	}
}
