//go:build !amd64 && !arm64

package fpenv

const defaultControl, controlBits, Upward, FlushSubnormals = 0, 0, 0, 0

// Control returns 0: the environment is not known on this architecture.
func Control() uint32 { return 0 }

// SetControl does nothing.
func SetControl(uint32) {}
