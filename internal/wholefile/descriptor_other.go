//go:build !unix

package wholefile

import "os"

// descriptor returns a new descriptor of the open file that a name stands for; nil if it stands for none.
func descriptor(string) *os.File { return nil }

// readOnly reports whether an error comes from a read-only file system.
func readOnly(error) bool { return false }
