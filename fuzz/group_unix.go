//go:build unix

package fuzz

import (
	"os/exec"
	"syscall"
)

// setProcessGroup has a command and what it starts be stopped together.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
