//go:build !unix

package fuzz

import "os/exec"

// setProcessGroup does nothing where there are no groups of processes: what a command has started may go on
// when it is stopped.
func setProcessGroup(*exec.Cmd) {}
