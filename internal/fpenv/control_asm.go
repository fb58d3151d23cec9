//go:build amd64 || arm64

package fpenv

// Control returns the thread's control register: MXCSR on amd64, FPCR on arm64.
func Control() uint32

// SetControl sets the thread's control register.
func SetControl(c uint32)
