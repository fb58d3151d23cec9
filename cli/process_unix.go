//go:build unix

package cli

import (
	"os/exec"
	"syscall"
	"time"

	"gemu/internal/cleanup"
)

// runGroup runs a program in a process group of its own. When the context of the program ends, the program and its
// children are interrupted, and killed a moment later.
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
