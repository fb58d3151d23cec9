//go:build cgo

package libcudart

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gemu/cmd/internal/libtest"
	"gemu/internal/part"
)

var majors = []string{"12", "13"}

// built is the directory with the built libraries.
var built struct {
	sync.Once
	dir      string // also has a list of the refused functions for each major version
	complete bool   // all libraries could be built
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(status)
}

// libraries returns a directory with libcuda.so.1 and both runtime libraries.
func libraries(t *testing.T) string {
	t.Helper()
	part.SkipShort(t) // outside Do: a skip inside it would leave the other tests without libraries
	built.Do(func() {
		dir, err := os.MkdirTemp("", "libcudart")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
		libtest.Driver(t, dir)
		for _, major := range majors {
			run(t, nil, "./build.sh", major, dir, dir, filepath.Join(dir, "refused"+major))
		}
		built.complete = true
	})
	if !built.complete {
		t.Fatal("the libraries could not be built")
	}
	return built.dir
}

// run runs a command with additional environment variables, and returns its output.
func run(t *testing.T, env []string, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, &out, &messages)
	}
	return out.String(), messages.String()
}

// link compiles a C program with the library of a major version.
func link(t *testing.T, major, source string) string {
	t.Helper()
	dir := libraries(t)
	return libtest.Program(t, source, "-DMAJOR="+major, filepath.Join(dir, "libcudart.so."+major), filepath.Join(dir, "libcuda.so.1"), "-Wl,-rpath,"+dir)
}

// listed returns the names in a list that apply to a major version.
func listed(t *testing.T, file, major string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 0 && f[0] != "#" && (len(f) == 1 || f[1] == major) {
			names = append(names, f[0])
		}
	}
	return names
}

// A C program with the calls of generated code runs with either library.
func TestGeneratedCode(t *testing.T) {
	for _, major := range majors {
		program := link(t, major, "testdata/client.c")
		out, messages := run(t, []string{"GEMU_TRACE=1"}, program)
		if out != "ok\n" {
			t.Errorf("%s: printed %q\n%s", major, out, messages)
		}
		for _, want := range []string{
			"gemu: cudaImportExternalMemory: cudaErrorNotSupported: gemu does not have this function\n",
			"gemu: cudaLaunchKernel: cudaErrorInvalidDeviceFunction\n",
			"nearest allocation: buffer #",
		} {
			if !strings.Contains(messages, want) {
				t.Errorf("%s: no message has %q\n%s", major, want, messages)
			}
		}
		out, messages = run(t, []string{"GEMU_DEVICES=2"}, program)
		if want := "gemu: managed variables on several devices are not supported\n"; out != "ok\n" || strings.Count(messages, want) != 1 {
			t.Errorf("%s: with two devices it printed %q, want ok and the message %q once\n%s", major, out, want, messages)
		}
	}
}

// Two processes share memory, events and pools through the runtime API.
func TestTwoProcessesShareMemory(t *testing.T) {
	for _, major := range majors {
		if out, messages := run(t, nil, link(t, major, "testdata/ipc.c")); out != "ok\n" {
			t.Errorf("%s: printed %q\n%s", major, out, messages)
		}
	}
}

// Kernels on two streams wait for each other, whatever the kinds of the streams and the number of cores.
func TestKernelsTakeTurns(t *testing.T) {
	for _, major := range majors {
		for _, env := range []string{"GOMAXPROCS=1", "GOMAXPROCS=8", "GEMU_SANITIZE=race"} {
			if out, messages := run(t, []string{env}, link(t, major, "testdata/streams.c")); out != "ok\n" {
				t.Errorf("%s, %s: printed %q\n%s", major, env, out, messages)
			}
		}
	}
}

// Functions that need no kernel work with either library.
func TestCallsWithoutKernels(t *testing.T) {
	for _, major := range majors {
		if out, messages := run(t, nil, link(t, major, "testdata/calls.c")); out != "ok\n" {
			t.Errorf("%s: printed %q\n%s", major, out, messages)
		}
	}
}

// Each missing function returns cudaErrorNotSupported and traces its name. refused.txt lists these functions, and the
// documentation has their number.
func TestMissingFunctions(t *testing.T) {
	dir := libraries(t)
	docs, err := os.ReadFile("../../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, major := range majors {
		names := listed(t, filepath.Join(dir, "refused"+major), major)
		if want := listed(t, "refused.txt", major); !slices.Equal(names, want) {
			t.Errorf("%s: the refused functions are\n%s\nrefused.txt has\n%s", major, strings.Join(names, "\n"), strings.Join(want, "\n"))
		}
		if count := fmt.Sprintf("\n%s %d %d\n", major, len(listed(t, "names.txt", major)), len(names)); !strings.Contains(string(docs), count) {
			t.Errorf("docs/libraries.md has no line%s", count)
		}
		var c strings.Builder
		for _, name := range names {
			fmt.Fprintf(&c, "int %s(void);\n", name)
		}
		fmt.Fprint(&c, "int main(void)\n{\n\treturn ")
		for _, name := range names {
			fmt.Fprintf(&c, "%s() != 801 || ", name)
		}
		fmt.Fprint(&c, "0;\n}\n")
		source := filepath.Join(t.TempDir(), "refused.c")
		if err := os.WriteFile(source, []byte(c.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		_, messages := run(t, []string{"GEMU_TRACE=1"}, link(t, major, source))
		for _, name := range names {
			if want := "gemu: " + name + ": cudaErrorNotSupported: "; !strings.Contains(messages, want) {
				t.Errorf("%s: no message has %q", major, want)
			}
		}
	}
}

// toolkit returns the directory of a major version that toolkit.sh has made in GEMU_CUDA.
func toolkit(t *testing.T, major string) string {
	t.Helper()
	root := os.Getenv("GEMU_CUDA")
	if root == "" {
		t.Skip("GEMU_CUDA is not set to the directory that toolkit.sh has filled")
	}
	dir, err := filepath.Abs(filepath.Join(root, major))
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "include", "cuda_runtime_api.h"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// names.txt has the functions of CUDA's headers.
func TestNamesOfHeaders(t *testing.T) {
	for _, major := range majors {
		out, _ := run(t, nil, "./names.py", filepath.Join(toolkit(t, major), "include"))
		want := strings.Fields(out)
		slices.Sort(want)
		if got := listed(t, "names.txt", major); !slices.Equal(got, want) {
			t.Errorf("%s: names.txt has\n%s\nthe headers\n%s", major, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Structures have the layout of CUDA's headers.
func TestLayoutOfStructures(t *testing.T) {
	cc, _ := run(t, nil, "go", "env", "CC")
	for _, major := range majors {
		dir := toolkit(t, major)
		print := func(flags ...string) string {
			program := filepath.Join(t.TempDir(), "layout")
			run(t, nil, strings.TrimSpace(cc), append(flags, "-w", "-o", program, "testdata/layout.c")...)
			out, _ := run(t, nil, program)
			return out
		}
		want, got := print("-DHEADERS", "-I"+filepath.Join(dir, "include")), print("-DMAJOR="+major)
		if got != want {
			w := strings.Split(want, "\n")
			for i, line := range strings.Split(got, "\n") {
				if i < len(w) && line != w[i] {
					t.Errorf("%s: %s, want %s", major, line, w[i])
				}
			}
		}
	}
}

// Errors have the numbers of CUDA's headers.
func TestErrorNumbers(t *testing.T) {
	enum := regexp.MustCompile(`(?s)enum __device_builtin__ cudaError\s*\{.*?\};`)
	enumerator := regexp.MustCompile(`\b(cudaError\w+|cudaSuccess)\s*=\s*(\d+)`)
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`)
	for _, major := range majors {
		b, err := os.ReadFile(filepath.Join(toolkit(t, major), "include", "driver_types.h"))
		if err != nil {
			t.Fatal(err)
		}
		text := comment.ReplaceAll(enum.Find(b), nil)
		var c strings.Builder
		c.WriteString("#include <stdio.h>\nconst char *cudaGetErrorName(int), *cudaGetErrorString(int);\nint main(void)\n{\n")
		all := enumerator.FindAllSubmatch(text, -1)
		for _, m := range all {
			fmt.Fprintf(&c, "\tprintf(\"%%s %s %%s\\n\", cudaGetErrorName(%s), cudaGetErrorString(%s));\n", m[1], m[2], m[2])
		}
		c.WriteString("\treturn 0;\n}\n")
		source := filepath.Join(t.TempDir(), "errors.c")
		if err := os.WriteFile(source, []byte(c.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := run(t, nil, link(t, major, source))
		if len(all) < 100 {
			t.Errorf("%s: the header has %d errors", major, len(all))
		}
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) < 3 || f[0] != f[1] {
				t.Errorf("%s: name and text of an error are %q", major, line)
			}
		}
	}
}

// Programs in CUDA C++, compiled by nvcc, run with the library. With -short the test runs only some programs.
func TestProgramsOfNVCC(t *testing.T) {
	type variant struct {
		name    string
		sources []string
		flags   []string
		short   bool
	}
	ptx := []string{"-arch=compute_80", "-code=compute_80"}
	var all []variant
	for _, name := range []string{"vector", "managed", "streams", "reduce", "cooperative", "thrust", "cub", "graph", "graph_memory", "texture", "errors"} {
		all = append(all, variant{name, []string{name + ".cu"}, ptx, name == "vector" || name == "errors"})
	}
	all = append(all,
		variant{"per-thread streams", []string{"streams.cu"}, append(ptx, "-default-stream=per-thread"), false},
		variant{"mixed", []string{"mixed.cu"}, append(ptx, "-lcuda"), true},
		variant{"rdc", []string{"rdc.cu", "rdc_device.cu"}, append(ptx, "-rdc=true"), false},
		variant{"graph_condition", []string{"graph_condition.cu"}, append(ptx, "-rdc=true"), false},
		variant{"cooperative, rdc", []string{"cooperative.cu"}, append(ptx, "-rdc=true"), false},
		variant{"compressed, with machine code", []string{"vector.cu"}, []string{"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_75,code=compute_75", "-Xfatbin=-compress-all"}, false},
		variant{"machine code", []string{"sass.cu"}, []string{"-arch=compute_80", "-code=sm_80"}, false},
	)
	for _, major := range majors {
		cuda := toolkit(t, major)
		dir := libraries(t)
		for _, v := range all {
			if testing.Short() && !v.short {
				continue
			}
			t.Run(major+"/"+v.name, func(t *testing.T) {
				compileAndRun(t, dir, filepath.Join(cuda, "bin", "nvcc"), v.sources, v.flags)
			})
		}
	}
}

// compileAndRun compiles sources with an nvcc, and runs the program with the libraries in dir.
func compileAndRun(t *testing.T, dir, nvcc string, sources, flags []string) {
	t.Helper()
	here := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "libcuda.so.1"), filepath.Join(here, "libcuda.so")); err != nil { // for -lcuda
		t.Fatal(err)
	}
	program := filepath.Join(here, "program")
	args := append([]string{"-std=c++17", "-cudart=shared", "-L" + here, "-o", program}, flags...)
	for _, s := range sources {
		args = append(args, filepath.Join("testdata", s))
	}
	run(t, nil, nvcc, args...)
	out, messages := run(t, []string{"LD_LIBRARY_PATH=" + dir}, program)
	if out != "ok\n" {
		t.Errorf("printed %q\n%s", out, messages)
	}
}

// Programs compiled by nvcc with gemu as its ptxas run, although they contain no machine code.
func TestProgramsAssembledWithGemu(t *testing.T) {
	for _, major := range majors {
		cuda, here := toolkit(t, major), t.TempDir()
		run(t, nil, "cp", "-rsT", cuda, here)
		bin := filepath.Join(here, "bin")
		for _, name := range []string{"nvcc", "ptxas"} {
			if err := os.Remove(filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
		run(t, nil, "cp", filepath.Join(cuda, "bin", "nvcc"), bin) // nvcc looks for its tools next to itself
		run(t, nil, "go", "build", "-o", filepath.Join(bin, "ptxas"), "../gemu")
		code := []string{"-arch=compute_80", "-code=sm_80"}
		for name, v := range map[string]struct{ sources, flags []string }{
			"vector": {[]string{"vector.cu"}, code},
			"rdc":    {[]string{"rdc.cu", "rdc_device.cu"}, append(code, "-rdc=true")},
		} {
			t.Run(major+"/"+name, func(t *testing.T) {
				compileAndRun(t, libraries(t), filepath.Join(bin, "nvcc"), v.sources, v.flags)
			})
		}
	}
}
