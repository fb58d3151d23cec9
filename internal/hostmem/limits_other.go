//go:build !linux && !darwin && !windows

package hostmem

// The limits of further systems are unknown: memory is in Go's heap, and the fallback applies.

func systemLimits() []Limit { return nil }

func used() (mapped, touched uint64) {
	n, _ := goMemory()
	return n, n
}

func reserve(size uint64) ([]byte, error) { return Make(size) }

func release([]byte) {}

func zero(b []byte) { clear(b) }
