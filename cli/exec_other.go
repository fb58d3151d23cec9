//go:build !linux

package cli

import "os/exec"

// runProgram returns an error: findLibraries has refused this system before.
func runProgram(*exec.Cmd) (programEnd, error) { return programEnd{}, errOtherSystem }
