//go:build cgo

package libcudart

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A launch that fails, or that the runtime library refuses before it reaches the driver, is an error for sanitizers.
func TestLaunchesThatFail(t *testing.T) {
	for _, major := range majors {
		program := link(t, major, "testdata/launches.c")
		for failure, want := range map[string]string{
			"far":              "Error: launch: trap: out-of-bounds global store of 4 bytes",
			"too many threads": "Error: launch: the launch was refused: cudaErrorInvalidConfiguration\n=========     launch of far by the host",
			"machine code":     "Error: launch: the launch was refused: cudaErrorNoKernelImageForDevice\n=========     launch of cubin by the host",
		} {
			cmd := exec.Command(program, failure)
			cmd.Env = append(os.Environ(), "GEMU_SANITIZE=memcheck", "GEMU_SANITIZE_EXIT=77")
			var messages bytes.Buffer
			cmd.Stderr = &messages
			cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != 77 {
				t.Errorf("%s: %s: status %d, want 77", major, failure, got)
			}
			if text := messages.String(); !strings.Contains(text, want) || !strings.Contains(text, "ERROR SUMMARY: 1 error, 0 notices") {
				t.Errorf("%s: %s: want %q\n%s", major, failure, want, text)
			}
		}
	}
}
