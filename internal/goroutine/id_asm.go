//go:build amd64 || arm64

package goroutine

// ID returns a number that no other goroutine has until the calling goroutine ends: the address of the runtime's record of
// the goroutine, which does not move.
func ID() uint64
