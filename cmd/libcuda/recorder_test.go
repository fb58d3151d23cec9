//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemu/cmd/internal/libtest"
	"gemu/internal/corpus"
)

const recorder = "../../tools/hardware/record.py"

// TestRecorderOfGPULaunches: tools/hardware/record.py, run on gemu's libcuda, records the outputs that
// corpus.RecordLaunches records: with tensor maps, with variables written by the host, and after a launch whose fault
// makes the recorder start a new process.
func TestRecorderOfGPULaunches(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	var list []*corpus.Launch
	for _, file := range []string{"@cfd", "insn/tensor_load.ptx"} {
		programs, err := corpus.ProgramsOf("../../testdata", file)
		if err != nil {
			t.Fatal(err)
		}
		launches, err := corpus.RecordLaunches(programs)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, launches[:8]...)
	}
	bad := &corpus.Launch{
		ID: "bad", Name: "bad", Module: "bad", Kernel: "k", Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1},
		Source: ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .u64 %a; .reg .u32 %v; mov.u64 %a, 8; mov.u32 %v, 0; st.global.u32 [%a], %v; ret; }",
	}
	list = append(list[:3:3], append([]*corpus.Launch{bad}, list[3:]...)...)
	var text bytes.Buffer
	if err := corpus.WriteLaunches(&text, list); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	libtest.Driver(t, dir)
	for _, jobs := range []string{"1", "3"} {
		cmd := exec.Command(python, recorder, "--jobs", jobs, "--limit", "60")
		cmd.Env = append(os.Environ(), "GEMU_SM=9.0", "LIBCUDA="+filepath.Join(dir, "libcuda.so.1"), "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdin = bytes.NewReader(text.Bytes())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		lines := strings.SplitAfter(string(out), "\n")
		if len(lines) != len(list)+2 { // the device, the launches, and the empty text after the last newline
			t.Fatalf("%d lines for %d launches:\n%s", len(lines), len(list), out)
		}
		for i, l := range list {
			var output corpus.LaunchOutput
			if err := json.Unmarshal([]byte(lines[1+i]), &output); err != nil || output.ID != l.ID {
				t.Errorf("line %d is %s, want the output of %s, %v", 1+i, lines[1+i], l.Name, err)
			}
		}
		const all = true // a launch without a record is a difference
		if compared, differences := corpus.Compare(out, list, nil, all); compared != len(list)-1 || len(differences) != 1 || !strings.Contains(differences[0], "bad: the GPU failed: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS") {
			t.Errorf("%d of %d compared, %q", compared, len(list), differences)
		}
	}
	for want, input := range map[string]string{
		"no source":                                  `{"name":"x","module":"m"}`,
		"line 1 does not describe a launch":          "\n",
		"no usable driver or GPU: the process ended": "",
	} {
		cmd := exec.Command(python, recorder)
		cmd.Env = append(os.Environ(), "LIBCUDA="+filepath.Join(dir, "nothing"), "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "Traceback") {
			t.Errorf("%q: %v, %s", input, err, out)
		}
	}
}

// TestRecorderHeaders: the header of a module is replaced, and text in comments is not.
func TestRecorderHeaders(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	const script = `import record; print(record.reheaded("// .version 1.0\n.version 9.2 /* .target sm_50 */ .target sm_100a, debug\n", ("9.0", "sm_90a")), end="")`
	cmd := exec.Command(python, "-c", script)
	cmd.Dir, cmd.Env = filepath.Dir(recorder), append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if want := "// .version 1.0\n.version 9.0 /* .target sm_50 */ .target sm_90a, debug\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
