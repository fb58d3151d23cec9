//go:build linux || darwin

package hostmem

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// systemLimits returns the limits of the operating system.
func systemLimits() []Limit {
	list := memoryLimits()
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err == nil && r.Cur < 1<<62 { // RLIM_INFINITY is larger
		list = append(list, Limit{Bytes: r.Cur, Name: "ulimit -v", mapped: true})
	}
	return list
}

func reserve(size uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|noReserve)
}

func release(b []byte) {
	if err := unix.Munmap(b[:cap(b)]); err != nil && err != syscall.EINVAL {
		panic("BUG: munmap: " + err.Error())
	}
}
