// Package hostfault turns an access to missing or read-only memory of the process into a value.
package hostfault

import "runtime/debug"

// Catch runs f. If f ends with such an access in this goroutine, Catch reports it with its address. All other
// panics propagate.
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
