package machine

import (
	"fmt"
)

// HexAddr formats an address of guest memory.
func HexAddr(a uint64) string { return fmt.Sprintf("%#x", a) }
