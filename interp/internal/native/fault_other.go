//go:build !(linux && amd64)

package native

// CatchesFaults reports whether a fault of the host in machine code is an exit: on this host it is not.
func CatchesFaults() bool { return false }

// catchFaults reports false: see CatchesFaults.
func (t *text) catchFaults() bool { return false }

// forgetText does nothing: see catchFaults.
func forgetText([]byte) {}
