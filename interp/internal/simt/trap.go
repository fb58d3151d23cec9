package simt

import "fmt"

// hexAddr formats an address of guest memory.
func hexAddr(a uint64) string { return fmt.Sprintf("%#x", a) }
