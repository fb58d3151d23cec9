//go:build cgo

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gemu/cmd/internal/libtest"
)

// The C example prints the results, the events and the error that it should print.
func TestExampleC(t *testing.T) {
	cmd := exec.Command(libtest.Client(t, "example/saxpy.c", "libgemu.so", "-I", "."))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// 2·99 + 1, plus 2·99. Four warps execute 18 instructions each.
	for _, want := range []string{
		"y[99] = 199\n", "y[99] = 397 after 72 warp instructions\n",
		"cta 3 warp 0 pc 9: @%p ret: lanes 0xfffffff0 of 0xffffffff\n", "72 instructions were seen\n",
		":20:2: trap: out-of-bounds global load of 4 bytes at", "nearest allocation: buffer #",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The Python example runs with no package but Python's own.
func TestExamplePython(t *testing.T) {
	lib := libtest.Shared(t, "libgemu.so")
	out, err := exec.Command("python3", "example/saxpy.py", lib).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "y[99] = 199\ny[99] = 397\n") || !bytes.Contains(out, []byte("out-of-bounds")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A C program calls the library from many threads, with invalid arguments, and with kernels that access missing memory.
func TestCProgram(t *testing.T) {
	program := libtest.Client(t, "testdata/client.c", "libgemu.so", "-I", ".")
	for _, mode := range []string{"vector", "affine", "check"} {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "GEMU_MODE="+mode)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stdout.String() != "ok\n" {
			t.Fatalf("%s: %v\n%s%s", mode, err, &stdout, &stderr)
		}
		// One message for each failed call of ptx_run.
		if n := strings.Count(stderr.String(), "gemu: ptx_run: "); n != 5 {
			t.Errorf("%s: %d messages\n%s", mode, n, &stderr)
		}
		for _, want := range []string{"does not look like PTX", "2 parameters, 1 argument", "out-of-bounds access at 0x", "ld.global.u32 %r4, [%rd0]", "store to read-only memory at 0x", "st.global.u32 [%rd0], %r4", "misaligned global load"} {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: no %q in\n%s", mode, want, &stderr)
			}
		}
	}
}

// C programs make calls fail and get each error with its place, launch with options, read results as JSON, and share memory.
func TestErrorsAndOutcomes(t *testing.T) {
	for _, program := range []string{"error.c", "outcome.c", "module.c"} {
		out, err := exec.Command(libtest.Client(t, "testdata/"+program, "libgemu.so", "-I", ".")).CombinedOutput()
		if err != nil || string(out) != "ok\n" {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
}
