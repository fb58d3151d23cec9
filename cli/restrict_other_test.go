//go:build !linux

package cli

// restrict does nothing: systems without an implementation have no machine code.
func restrict() {}
