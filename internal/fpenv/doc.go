// Package fpenv sets the floating-point environment of a host thread. Go code and machine code assume the default of Go:
// rounding to nearest, and subnormal numbers. A thread of a C program that calls gemu may have another one (fesetround,
// -ffast-math), and threads inherit the environment of the thread that starts them.
package fpenv

// UseDefault gives the calling thread the default environment. restore gives back the environment from before; it must run on
// the same goroutine.
func UseDefault() (restore func()) {
	old := Control()
	if old&controlBits == defaultControl {
		return func() {}
	}
	SetControl(defaultControl)
	return func() { SetControl(old) }
}
