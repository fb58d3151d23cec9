//go:build !unix

package cli

import "os/exec"

// runGroup runs a program. Its children are left alone when the context ends.
func runGroup(cmd *exec.Cmd) error { return cmd.Run() }
