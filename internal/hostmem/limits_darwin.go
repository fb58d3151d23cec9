package hostmem

import "golang.org/x/sys/unix"

// noReserve: macOS does not count untouched memory.
const noReserve = unix.MAP_NORESERVE

func memoryLimits() []Limit {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return nil
	}
	return []Limit{{Bytes: n, Name: "physical memory"}}
}

// used returns Go's memory: the system needs cgo for more.
func used() (mapped, touched uint64) {
	n, _ := goMemory()
	return n, n
}

// zero zeroes b: MADV_DONTNEED does not guarantee zeros on macOS.
func zero(b []byte) { ZeroTouched(b) }
