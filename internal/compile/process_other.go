//go:build !unix

package compile

import "os/exec"

// runGroup runs a program. It does not stop the program's children when the context ends.
func runGroup(cmd *exec.Cmd) error { return cmd.Run() }
