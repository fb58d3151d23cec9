//go:build !linux

package main

// restrict: other systems have no machine code.
func restrict() {}
