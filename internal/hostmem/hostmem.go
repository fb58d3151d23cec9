package hostmem

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// ErrNoMemory is the error of memory that the host does not provide.
var ErrNoMemory = errors.New("the host has no more memory")

// Limit is a bound on the memory of the process.
type Limit struct {
	Bytes  uint64
	Name   string // for messages: "ulimit -v"
	mapped bool   // it bounds mapped addresses, not touched memory
	soft   bool   // a target of Go's garbage collector, which allocations may exceed
}

// fallback is the limit on a host whose limits are unknown.
var fallback = Limit{Bytes: 4 << 30, Name: "a guess"}

// limits returns the limits of the process. They are assumed not to change while it runs.
var limits = sync.OnceValue(func() []Limit {
	list := systemLimits()
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		list = append(list, Limit{Bytes: uint64(n), Name: "GOMEMLIMIT", soft: true})
	}
	if len(list) == 0 {
		list = append(list, fallback)
	}
	return list
})

// Allowed returns the number of bytes that the process may have in total: the minimum of the physical memory, the
// limits of its control groups, ulimit -v, and GOMEMLIMIT.
func Allowed() uint64 {
	minimum := uint64(math.MaxUint64)
	for _, l := range limits() {
		minimum = min(minimum, l.Bytes)
	}
	return minimum
}

// Budget returns the number of bytes that a launch may plan with: three quarters of the allowed memory, and no more
// than the addresses that Go and the program leave. It does not depend on the host's free memory, so it is the same in
// every run.
func Budget() uint64 {
	minimum := uint64(math.MaxUint64)
	for _, l := range limits() {
		n := l.Bytes / 4 * 3
		if l.mapped {
			n = max(l.Bytes-min(l.Bytes, goAddresses), l.Bytes/8)
		}
		minimum = min(minimum, n)
	}
	return minimum
}

// goAddresses is roughly the number of bytes that a Go program maps without touching them.
const goAddresses = 2 << 30

// reserveSlack is left to Go, which maps its heap in pieces of 64 MiB; in bytes.
const reserveSlack = 96 << 20

// reserved returns the part of a limit that is left to Go. For touched memory, a small limit leaves less than
// reserveSlack.
func (l Limit) reserved() uint64 {
	if l.mapped {
		return reserveSlack
	}
	return min(reserveSlack, l.Bytes/8)
}

// smallSize is the size up to which Check does not look at the limits, in bytes.
const smallSize = 1 << 20

// Free returns the number of bytes that the process may have in addition to its current memory, and the limit that
// applies.
func Free() (uint64, Limit) {
	mapped, touched := used()
	minimum, limit := uint64(math.MaxUint64), fallback
	for _, l := range limits() {
		if l.soft {
			continue
		}
		current := touched
		if l.mapped {
			current = mapped
		}
		if remaining := l.Bytes - min(l.Bytes, current+l.reserved()); remaining < minimum {
			minimum, limit = remaining, l
		}
	}
	return minimum, limit
}

// Check returns an error that wraps ErrNoMemory if the process may not have n more bytes.
func Check(n uint64) error {
	if n < smallSize {
		return nil
	}
	if remaining, limit := Free(); n > remaining {
		return fmt.Errorf("%w: %d bytes requested, %d are left by %s", ErrNoMemory, n, remaining, limit.Name)
	}
	return nil
}

// Make makes n zero bytes in Go's heap. The error wraps ErrNoMemory.
func Make(n uint64) ([]byte, error) {
	if n > math.MaxInt {
		return nil, fmt.Errorf("%w: %d bytes requested", ErrNoMemory, n)
	}
	if err := Check(n); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// Reserve maps size zero bytes outside Go's heap, at the beginning of a page. The host provides memory for a page when
// the page is touched. The error wraps ErrNoMemory. The memory stays until Release.
func Reserve(size uint64) ([]byte, error) {
	if size == 0 {
		return []byte{}, nil
	}
	if size > math.MaxInt/2 {
		return nil, fmt.Errorf("%w: %d bytes requested", ErrNoMemory, size)
	}
	for _, l := range limits() {
		if !l.mapped {
			continue
		}
		if mapped, _ := used(); size > l.Bytes-min(l.Bytes, mapped+reserveSlack) {
			return nil, fmt.Errorf("%w: %d bytes requested, %d are left by %s", ErrNoMemory, size, l.Bytes-min(l.Bytes, mapped+reserveSlack), l.Name)
		}
	}
	b, err := reserve(size)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes requested: %w", ErrNoMemory, size, err)
	}
	return b, nil
}

// Release returns memory of Reserve to the host. The caller must not touch the memory afterwards.
func Release(b []byte) {
	if cap(b) > 0 {
		release(b)
	}
}

// Zero zeroes memory of Reserve, and returns its pages to the host if it can.
func Zero(b []byte) {
	if len(b) > 0 {
		zero(b)
	}
}

// pageSize is the unit in which ZeroTouched works, in bytes.
const pageSize = 4 << 10

// ZeroTouched zeroes bytes. It does not write to a page that is zero, because reading an untouched page takes no
// memory.
func ZeroTouched(b []byte) {
	for len(b) > 0 {
		n := min(len(b), pageSize)
		if !IsZero(b[:n]) {
			clear(b[:n])
		}
		b = b[n:]
	}
}

// IsZero reports whether all bytes are 0.
func IsZero(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7] != 0 {
			return false
		}
	}
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// goMemory returns the number of bytes that Go has mapped, and how many of them are unused.
func goMemory() (mapped, room uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	free, released := s[1].Value.Uint64(), s[2].Value.Uint64()
	return s[0].Value.Uint64() - released, free + released
}
