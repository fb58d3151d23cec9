package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gemu/interp"
)

// noExecution is the variable that makes gemu run as on a host that refuses executable memory.
const noExecution = "GEMU_TEST_NO_EXECUTION"

// restrict makes the kernel refuse executable memory that was writable, as hardened systems do (PR_SET_MDWE of
// prctl(2), Linux 6.3).
func restrict() {
	if os.Getenv(noExecution) == "" {
		return
	}
	if err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0); err != nil {
		fmt.Println("no restriction:", err)
		os.Exit(77)
	}
}

// TestNoticeWithoutMachineCode: if machine code was requested and Go executes, this is reported once, with the
// reason, and not otherwise.
func TestNoticeWithoutMachineCode(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("there is no machine code for this host")
	}
	saxpy := []string{"../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]=iota", "f32[8]=1"}
	for _, c := range []struct {
		args    []string
		refuse  bool
		notices string // "": no notice
	}{
		{append([]string{"run"}, saxpy...), false, ""},
		{append([]string{"run", "--engine", "native"}, saxpy...), false, ""},
		{append([]string{"run", "--engine", "native", "--stats"}, saxpy...), false, "launches observed"},
		{append([]string{"profile", "--engine", "native"}, saxpy...), false, "launches observed"},
		{append([]string{"trace", "--engine", "native"}, saxpy...), false, "launches observed"},
		{append([]string{"run", "--engine", "native", "--sanitize", "race"}, saxpy...), false, "launches observed"},
		{[]string{"run", "--engine", "native", "--stats", "@bfs", "--size", "256"}, false, "launches observed"},
		{append([]string{"run"}, saxpy...), true, ""},
		{append([]string{"run", "--engine", "native", "--expect", "3=f32[8]=1", "--atol", "100"}, saxpy...), true, "the host does not let the process execute the machine code that it generates (permission denied)"},
	} {
		cmd := exec.Command("gemu", c.args...)
		if c.refuse {
			cmd.Env = append(os.Environ(), noExecution+"=1")
		}
		var messages strings.Builder
		cmd.Stderr = &messages
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() == 77 {
			t.Skip("the kernel cannot refuse executable memory")
		}
		want := 0
		if c.notices != "" {
			want = 1
		}
		if err != nil || strings.Count(messages.String(), "--engine native") != want || !strings.Contains(messages.String(), c.notices) {
			t.Errorf("%q, refused %t: %v, want %q:\n%s", c.args, c.refuse, err, c.notices, messages.String())
		}
	}
}
