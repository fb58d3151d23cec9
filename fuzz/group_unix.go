//go:build unix

package fuzz

import (
	"os/exec"
	"syscall"
)

// setProcessGroup makes a command and its child processes stop together.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
