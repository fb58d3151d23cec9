package hostmem

import "golang.org/x/sys/unix"

// noReserve: macOS counts no memory before it is touched.
const noReserve = unix.MAP_NORESERVE

func memoryLimits() []Limit {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return nil
	}
	return []Limit{{Bytes: n, Name: "physical memory"}}
}

// used is what Go has: the system does not tell without cgo.
func used() (mapped, touched uint64) {
	n, _ := goMemory()
	return n, n
}

// zero: MADV_DONTNEED does not promise zeros on macOS.
func zero(b []byte) { ZeroTouched(b) }
