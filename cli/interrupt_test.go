//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// command returns a command that runs gemu in a separate process.
func command(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command("gemu", args...)
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	t.Cleanup(func() {
		if cmd.ProcessState == nil && cmd.Process != nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return cmd, &messages
}

// trapping is a kernel that traps at a line of a source.
const trapping = `.version 7.0
.target sm_80
.address_size 64
.file 1 "NAME"
.visible .entry k(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.loc 1 1 0
	ld.param.u64 %rd1, [out];
	st.global.u32 [%rd1+4096], 1;
	ret;
}
`

// TestSourceFromUnwrittenPipe runs a kernel whose source is a pipe without a writer, on which a read would wait.
func TestSourceFromUnwrittenPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "k.ptx")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte(strings.Replace(trapping, "NAME", pipe, 1)), 0o600), os.WriteFile(filepath.Join(dir, "commands"), []byte("list pipe:1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run"}, {"profile", "--html", filepath.Join(dir, "page")}, {"structure"}, {"debug", "-x", filepath.Join(dir, "commands")}} {
		cmd, messages := command(t, append(args, file, "-g", "1", "-b", "1", "-a", "u32[1]")...)
		if cmd.Run(); cmd.ProcessState.ExitCode() < 1 {
			t.Errorf("%s: %v: %s", args[0], cmd.ProcessState, messages)
		}
		if args[0] == "run" && !strings.Contains(messages.String(), "pipe is not shown: not a regular file") {
			t.Errorf("%s says %s", args[0], messages)
		}
	}
}

// TestInterruptWhileReading ends the context of commands that wait for their input: a pipe without a
// writer, a pipe with an idle writer, and standard input. A command that ignores the context hangs the test.
func TestInterruptWhileReading(t *testing.T) {
	dir := t.TempDir()
	pipe, open := filepath.Join(dir, "pipe.ptx"), filepath.Join(dir, "open.ptx")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), syscall.Mkfifo(open, 0o600)); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(open, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	input, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer typed.Close()
	for _, args := range [][]string{
		{"check", pipe}, {"check", open}, {"check", "-"}, {"dump", pipe}, {"run", pipe, "-g", "1", "-b", "1"}, {"profile", open, "-g", "1", "-b", "1"},
		{"debug", pipe, "-g", "1", "-b", "1"}, {"ptxas", pipe}, {"debug", "-x", pipe, "@saxpy"},
		{"run", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "1", "-a", "1", "1", "@" + pipe, "f32[1]"},
	} {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, stop) // before or after the command waits: both must end it
		var messages bytes.Buffer
		if status := run(ctx, args, input, &messages, &messages); status < 1 {
			t.Errorf("%q: status %d: %s", args, status, &messages)
		}
	}
}
