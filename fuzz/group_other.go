//go:build !unix

package fuzz

import "os/exec"

// setProcessGroup does nothing: the system has no process groups. Children of a stopped command may
// continue.
func setProcessGroup(*exec.Cmd) {}
