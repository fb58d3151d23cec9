package machine

import (
	"fmt"
)

// hexAddr formats an address of guest memory.
func HexAddr(a uint64) string { return fmt.Sprintf("%#x", a) }
