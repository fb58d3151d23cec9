//go:build !linux && !darwin && !windows

package hostmem

// Of other systems nothing is known: memory is in Go's heap, which bounds it by a guess.

func systemLimits() []Limit { return nil }

func used() (mapped, touched uint64) {
	n, _ := goMemory()
	return n, n
}

func reserve(size uint64) ([]byte, error) { return Make(size) }

func release([]byte) {}

func zero(b []byte) { clear(b) }
