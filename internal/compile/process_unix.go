//go:build unix

package compile

import (
	"os/exec"
	"syscall"
	"time"

	"gemu/internal/cleanup"
)

// runGroup runs a program in a process group of its own. When the context of cmd ends, the program and its children receive
// SIGINT, and SIGKILL when the program has ended, or after WaitDelay.
func runGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cancelled := false
	cmd.Cancel = func() error {
		cancelled = true
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	cmd.WaitDelay = 300 * time.Millisecond
	if err := cmd.Start(); err != nil {
		return err
	}
	kill := func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	defer cleanup.Add(kill)()
	err := cmd.Wait()
	if cancelled {
		kill()
	}
	return err
}
