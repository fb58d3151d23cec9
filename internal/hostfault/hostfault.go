// Package hostfault turns an access to memory that the process does not have, or may
// not write, into a value.
package hostfault

import "runtime/debug"

// Catch runs f and reports whether it ended with such an access in this goroutine, and
// to which address. Other panics go on.
func Catch(f func()) (addr uint64, faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // see debug.SetPanicOnFault
			addr, faulted = uint64(r.Addr()), true
		default:
			panic(r)
		}
	}()
	f()
	return 0, false
}
