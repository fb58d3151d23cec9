//go:build !linux

package cli

// restrict: other systems have no machine code.
func restrict() {}
