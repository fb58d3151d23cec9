//go:build cgo

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/cmd/internal/libtest"
	"gemu/driver"
	"gemu/internal/part"
)

// A C program with the calls of typical clients runs on the library.
func TestCProgram(t *testing.T) {
	program := libtest.Client(t, "testdata/driver.c", "libcuda.so.1")
	stats := filepath.Join(t.TempDir(), "stats.json")
	for _, env := range [][]string{nil, {"GEMU_MODE=affine"}, {"GEMU_STATS=" + stats}, {"CUDA_LAUNCH_BLOCKING=1", "GEMU_TRACE=1"}} {
		cmd := exec.Command(program)
		cmd.Env = append(append(os.Environ(), "GEMU_SM=8.9"), env...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if err != nil || stdout.String() != "ok\n" {
			t.Fatalf("%v: %v\n%s%s", env, err, &stdout, &stderr)
		}
		// The fault of the client is reported in full.
		if n := strings.Count(stderr.String(), "nearest allocation: buffer #"); n != 1 || !strings.Contains(stderr.String(), "trap: out-of-bounds global load of 4 bytes") {
			t.Errorf("%v: %d traps are reported, want 1\n%s", env, n, &stderr)
		}
		// A program that requests private functions is named, with and without a trace.
		if n := strings.Count(stderr.String(), program+" calls private functions"); n != 1 {
			t.Errorf("%v: the call of private functions is reported %d times, want 1\n%s", env, n, &stderr)
		}
		traced := strings.Contains(stderr.String(), "gemu: cuArrayGetPlane: CUDA_ERROR_NOT_SUPPORTED")
		if want := len(env) > 1; traced != want {
			t.Errorf("%v: the call of a missing function is traced: %t, want %t\n%s", env, traced, want, &stderr)
		}
	}
	b, err := os.ReadFile(stats)
	if err != nil {
		t.Fatal(err)
	}
	var s driver.Statistics
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	// The client launches the kernel add three times with cuLaunchKernel alone, twice on a stream, once from a library,
	// twice in a graph, once on stream-ordered memory, twice cooperatively, once in clusters, twice with cuLaunchGrid, and
	// twenty times in each of eight threads. It launches once a kernel that samples textures.
	if s.Mode != "vector" || len(s.Kernels) != 2 || s.Kernels[0].Kernel != "add" || s.Total.Launches != 3+2+1+2+1+2+1+2+8*20+1 || s.Total.Structure == nil {
		t.Errorf("statistics are %s", b)
	}
}

// Kernels on several streams wait for each other. Their turns are the same for any number of cores.
func TestKernelsTakeTurns(t *testing.T) {
	program := libtest.Client(t, "testdata/streams.c", "libcuda.so.1")
	first := ""
	for _, env := range []string{"GOMAXPROCS=1", "GOMAXPROCS=2", "GOMAXPROCS=8", "GEMU_WORKERS=1", "GEMU_WORKERS=8", "GEMU_MODE=check", "GEMU_ENGINE=portable", "GEMU_SANITIZE=init,bounds,sync"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in case a kernel waits in vain
		defer cancel()
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = append(os.Environ(), env)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		turns, found := strings.CutSuffix(stdout.String(), "\nok\n")
		if !found || err != nil && !strings.Contains(env, "SANITIZE") { // the deadlock is an error for sanitizers
			t.Fatalf("%s: %v\n%s%s", env, err, &stdout, &stderr)
		}
		if first == "" {
			first = turns
		}
		if turns != first || strings.Count(turns, "01") < 3 || strings.Count(turns, "12") < 3 {
			t.Errorf("%s: the turns are %s, of the first process %s", env, turns, first)
		}
		if !strings.Contains(stderr.String(), "deadlock") {
			t.Errorf("%s: no message about the deadlock\n%s", env, &stderr)
		}
	}
}

// Functions since CUDA 12.4: green contexts, graphs by number, copies with attributes.
func TestNewerFunctions(t *testing.T) {
	out, err := exec.Command(libtest.Client(t, "testdata/newer.c", "libcuda.so.1")).Output()
	if err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%.4000s", err, out)
	}
}

// TestImpossibleSizes: impossible counts and sizes are refused, and leave no allocations.
func TestImpossibleSizes(t *testing.T) {
	out, err := exec.Command(libtest.Client(t, "testdata/bounds.c", "libcuda.so.1")).Output()
	if err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%.4000s", err, out)
	}
}

// Calls with wrong handles, addresses and counts return results, and the process continues.
func TestWrongHandlesAndAddresses(t *testing.T) {
	program := libtest.Client(t, "testdata/hostile.c", "libcuda.so.1", "-rdynamic")
	seed := part.Seed(t)
	for i := range uint64(part.Count(3, 10, 1000)) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in case a call does not return
		defer cancel()
		cmd := exec.CommandContext(ctx, program, fmt.Sprint(seed+i), "2000")
		cmd.Env = append(os.Environ(), "GEMU_MEMORY=64M", "GEMU_STEPS=4096")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stdout.String() != "ok\n" {
			t.Fatalf("HOSTILE_VERBOSE=1 %s %d 2000: %v\n%.2000s%.4000s", program, seed+i, err, &stdout, &stderr)
		}
	}
}

// Two processes share memory, events and pools.
func TestTwoProcessesShareMemory(t *testing.T) {
	program := libtest.Client(t, "testdata/ipc.c", "libcuda.so.1")
	for _, env := range []string{"GEMU_MODE=vector", "GEMU_MODE=affine"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program)
		cmd.WaitDelay = time.Second // for the second process
		cmd.Env = append(os.Environ(), env)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stdout.String() != "ok\n" {
			t.Fatalf("%s: %v\n%s%s", env, err, &stdout, &stderr)
		}
		for _, want := range []string{"nearest allocation: memory of process ", "has ended before the work that the event follows"} {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: no message has %q\n%s", env, want, &stderr)
			}
		}
	}
}

// A thread may lose its alternate signal stack between two calls.
func TestAlternateSignalStackMayVanish(t *testing.T) {
	cmd := exec.Command(libtest.Client(t, "testdata/sigstack.c", "libcuda.so.1"))
	cmd.Env = append(os.Environ(), "GOGC=1")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%.2000s", err, out)
	}
}

// The output of a kernel comes after earlier output of C, even if that is buffered, and before later output.
func TestOrderOfOutput(t *testing.T) {
	out, err := exec.Command(libtest.Client(t, "testdata/print.c", "libcuda.so.1")).CombinedOutput()
	if err != nil || string(out) != "before\nkernel\nbehind\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// An invalid environment is the result of cuInit, and is reported.
func TestBadEnvironment(t *testing.T) {
	cmd := exec.Command(libtest.Client(t, "testdata/driver.c", "libcuda.so.1"))
	cmd.Env = append(os.Environ(), "GEMU_MODE=quick")
	out, err := cmd.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("gemu: GEMU_MODE=quick: want vector, affine or check")) || !bytes.Contains(out, []byte("is 999, want")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// The library reads the environment when it is loaded: earlier changes have an effect, and later changes do not.
func TestEnvironmentWhenLoaded(t *testing.T) {
	cmd := exec.Command(libtest.Program(t, "testdata/environment.c"), libtest.Shared(t, "libcuda.so.1"))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "9.0 13000\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// The generated files are up to date.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	part.SkipShort(t)
	dir := t.TempDir()
	for _, pattern := range []string{"*.go", "*.c", "*.h", "names.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, file), b, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	generator := filepath.Join(t.TempDir(), "generator")
	if out, err := exec.Command("go", "build", "-o", generator, "./_gen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(generator)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"zsymbols.c", "refused.txt"} {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("%s is not what _gen makes: run go generate ./cmd/libcuda", name)
		}
	}
}

// exported lists the functions of the driver API that a library exports.
func exported(t *testing.T, library string) []string {
	t.Helper()
	out, err := exec.Command("nm", "-D", "--defined-only", library).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); strings.HasPrefix(f[len(f)-1], "cu") {
			names = append(names, f[len(f)-1])
		}
	}
	slices.Sort(names)
	return names
}

// firstFields returns the first field of each line.
func firstFields(text []byte) []string {
	var names []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && !strings.HasPrefix(f[0], "#") {
			names = append(names, f[0])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The library exports the functions of names.txt, and no further name with the same prefix.
func TestExportedNames(t *testing.T) {
	text, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := exported(t, libtest.Shared(t, "libcuda.so.1")), firstFields(text); !slices.Equal(got, want) {
		t.Errorf("the library exports\n%s\nnames.txt has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// names.txt has the functions of CUDA's headers, with their versions.
func TestNamesOfHeaders(t *testing.T) {
	root := os.Getenv("GEMU_CUDA")
	if root == "" {
		t.Skip("GEMU_CUDA is not set to the directory that cmd/libcudart/toolkit.sh has filled")
	}
	includes, err := filepath.Glob(filepath.Join(root, "headers", "*", "include"))
	if err != nil {
		t.Fatal(err)
	}
	if len(includes) == 0 {
		t.Skip("GEMU_CUDA has no directory headers: cmd/libcudart/toolkit.sh makes it")
	}
	includes = append(includes, filepath.Join(root, "13", "include")) // has the header of the profiler
	want, err := exec.Command("./names.py", includes...).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("names.txt differs from the output of names.py for the headers")
	}
}

// Findings of sanitizers are reported at the end of the process, and can set its exit status.
func TestFindingsAtExit(t *testing.T) {
	program := libtest.Client(t, "testdata/race.c", "libcuda.so.1")
	dir := t.TempDir()
	text, report := filepath.Join(dir, "log"), filepath.Join(dir, "log.json")
	for _, c := range []struct {
		env    []string
		status int
		log    string // "": standard error
		want   string
	}{
		{[]string{"GEMU_SANITIZE=race"}, 0, "", "Error: race: write after write"},
		{[]string{"GEMU_SANITIZE=racecheck", "GEMU_SANITIZE_EXIT=77"}, 77, "", "gemu: sanitizers have found"},
		{[]string{"GEMU_SANITIZE=race", "GEMU_SANITIZE_LOG=" + text}, 0, text, "ERROR SUMMARY: 3 errors, 1 notice"},
		{[]string{"GEMU_SANITIZE=race", "GEMU_SANITIZE_LOG=" + report}, 0, report, `"schema": "gemu-findings/1"`},
		{[]string{"GEMU_SANITIZE=leak"}, 0, "", "Error: leak:"},
		{[]string{"GEMU_SANITIZE=all"}, 0, "", "Error: race: write after write"},
		{[]string{"GEMU_SANITIZE=rust"}, 1, "", `gemu: GEMU_SANITIZE=rust: unknown sanitizer "rust"`},
		{[]string{"GEMU_SANITIZE=race", "GEMU_SANITIZE_LOG=" + dir}, 0, "", "is a directory"},
	} {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), c.env...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != c.status {
			t.Errorf("%v: status %d, want %d\n%s", c.env, got, c.status, &stderr)
		}
		if c.status != 1 && stdout.String() != "ok\n" {
			t.Errorf("%v: printed %q", c.env, stdout.String())
		}
		got := stderr.String()
		if c.log != "" {
			b, err := os.ReadFile(c.log)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v: want %q\n%s", c.env, c.want, got)
		}
	}
}
