// Package hostmem knows the memory limits of the process, and reserves memory that the host provides only when it is
// touched.
//
// Go ends a process that gets no memory with a trace of all goroutines, and a program cannot prevent that. So code that
// needs much memory at once must ask first: Check reports whether the limits allow it, Reserve maps it outside Go's
// heap, and Watch notices when memory that grows in small steps approaches a limit.
//
// Files in reading order: hostmem.go, watch.go, limits_unix.go, limits_linux.go; the remaining files are for further
// systems.
package hostmem
