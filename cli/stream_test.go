package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gemu/internal/part"
)

// fullDevice accepts a limited number of bytes.
type fullDevice struct{ remaining int }

func (d *fullDevice) Write(b []byte) (int, error) {
	n := min(d.remaining, len(b))
	if d.remaining -= n; n < len(b) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

// TestWriteErrors: a failed write of its output makes every command fail.
func TestWriteErrors(t *testing.T) {
	part.SkipShort(t)
	const saxpy = "../kernels/cuda/saxpy.ptx"
	launch := []string{saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[8]"}
	with := func(command string, args ...string) []string {
		return append(append([]string{command}, launch...), args...)
	}
	for _, args := range [][]string{
		with("run", "--out", "3=-"), with("run", "--stats"), with("run", "--json", "-"), {"run", "@saxpy", "--size", "100"},
		with("structure"), with("structure", "--json", "-"), with("trace"), with("trace", "--format", "binary"),
		{"check", saxpy}, {"isa"}, {"isa", "--json", "mov"}, {"kernels"}, {"kernels", "@saxpy"}, {"--help"},
		{"dump", "--stage", "ast", saxpy}, {"dump", "--stage", "ir", saxpy}, {"dump", "--stage", "cfg", saxpy}, {"dump", "--stage", "lowered", saxpy},
	} {
		var stderr bytes.Buffer
		status := run(context.Background(), args, strings.NewReader(""), &fullDevice{3}, &stderr)
		if want := "gemu: cannot write standard output: no space left on device\n"; status != exitBad || stderr.String() != want {
			t.Errorf("gemu %s: status %d, %q", strings.Join(args, " "), status, stderr.String())
		}
	}
}

// TestEndlessInput: endless or too large input is refused.
func TestEndlessInput(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("reads /dev/zero to the limit")
	}
	const saxpy = "../kernels/cuda/saxpy.ptx"
	sparse := filepath.Join(t.TempDir(), "sparse.bin")
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Skip(err)
	}
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Skip(err)
	}
	defer zeros.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "/dev/zero"}, "cannot read /dev/zero: more than 256 MiB"},
		{[]string{"check", "-"}, "cannot read standard input: more than 256 MiB"},
		{[]string{"check", sparse}, "cannot read " + sparse + ": more than 256 MiB"},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "@/dev/zero", "f32[8]"}, "cannot read /dev/zero: more than 256 MiB"},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "@" + sparse, "f32[8]"}, "cannot read " + sparse + ": more than 16384 MiB"},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[99999999999]"}, `argument 3 (.u64 saxpy_param_3) "f32[99999999999]": out of device memory`},
		{[]string{"run", saxpy, "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "u8[20000000000]"}, `argument 3 (.u64 saxpy_param_3) "u8[20000000000]": out of device memory`},
	} {
		var stderr bytes.Buffer
		status := run(context.Background(), c.args, zeros, io.Discard, &stderr)
		if status != exitBad || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("gemu %s: status %d, %q", strings.Join(c.args, " "), status, stderr.String())
		}
	}
}
