//go:build !unix

package wholefile

import "os"

// descriptor is another descriptor of the open file that a name means; nil if the name means none.
func descriptor(string) *os.File { return nil }

// readOnly reports whether an error is that of a file system that is mounted for reading.
func readOnly(error) bool { return false }
