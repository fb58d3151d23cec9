// Package hostmem says how much memory the host allows the process, and reserves memory that takes none of the host's until it is
// touched.
//
// Go ends a process that gets no memory with a trace of all goroutines, and no program can prevent that. So what takes
// much memory at once asks first: Check says whether the host allows it, Reserve maps it outside Go's heap, and
// Watch notices when memory that grows in small steps comes close to the limit.
package hostmem

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// ErrNoMemory is the error of memory that the host does not give.
var ErrNoMemory = errors.New("the host has no more memory")

// Limit is a bound of the memory of the process.
type Limit struct {
	Bytes  uint64
	Name   string // for messages: "ulimit -v"
	mapped bool   // it bounds addresses that are mapped, not memory that was touched
	soft   bool   // a target of Go's collector, which allocations may pass
}

// fallback is the limit of a host of which nothing is known.
var fallback = Limit{Bytes: 4 << 30, Name: "a guess"}

// limits are those of the process. They do not change while it runs, as far as is known.
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

// Allowed is how many bytes the process may have in all: the least of the physical memory, the limits of its control groups,
// those of ulimit -v, and GOMEMLIMIT.
func Allowed() uint64 {
	minimum := uint64(math.MaxUint64)
	for _, l := range limits() {
		minimum = min(minimum, l.Bytes)
	}
	return minimum
}

// Budget is how many bytes a launch may plan with: three quarters of the memory that the host allows, and of the addresses what is
// left by those that Go and the program keep for themselves. It does not depend on what the host has free, so that it is the
// same in every run.
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

// goAddresses is about what a Go program maps without touching it.
const goAddresses = 2 << 30

// reserveSlack is left to Go: it maps its heap in pieces of 64 MiB.
const reserveSlack = 96 << 20

// reserved is the part of a limit that is left to Go. Of memory that was touched a small limit leaves less than slack.
func (l Limit) reserved() uint64 {
	if l.mapped {
		return reserveSlack
	}
	return min(reserveSlack, l.Bytes/8)
}

// smallSize is a size for which Check does not look at the limits, in bytes.
const smallSize = 1 << 20

// Free is how many bytes the process may have besides those it has, and the limit that says so.
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

// Check returns an error if the process may not have n bytes more. It wraps ErrNoMemory.
func Check(n uint64) error {
	if n < smallSize {
		return nil
	}
	if remaining, limit := Free(); n > remaining {
		return fmt.Errorf("%w: %d bytes wanted, %d are left by %s", ErrNoMemory, n, remaining, limit.Name)
	}
	return nil
}

// Make makes n zero bytes in Go's heap. The error wraps ErrNoMemory.
func Make(n uint64) ([]byte, error) {
	if n > math.MaxInt {
		return nil, fmt.Errorf("%w: %d bytes wanted", ErrNoMemory, n)
	}
	if err := Check(n); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// Reserve maps size zero bytes outside Go's heap, at the beginning of a page. The host gives memory for a page when the page is
// touched. The error wraps ErrNoMemory. The memory stays until Release.
func Reserve(size uint64) ([]byte, error) {
	if size == 0 {
		return []byte{}, nil
	}
	if size > math.MaxInt/2 {
		return nil, fmt.Errorf("%w: %d bytes wanted", ErrNoMemory, size)
	}
	for _, l := range limits() {
		if !l.mapped {
			continue
		}
		if mapped, _ := used(); size > l.Bytes-min(l.Bytes, mapped+reserveSlack) {
			return nil, fmt.Errorf("%w: %d bytes wanted, %d are left by %s", ErrNoMemory, size, l.Bytes-min(l.Bytes, mapped+reserveSlack), l.Name)
		}
	}
	b, err := reserve(size)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes wanted: %w", ErrNoMemory, size, err)
	}
	return b, nil
}

// Release returns memory of Reserve to the host. The caller must not touch the memory afterwards.
func Release(b []byte) {
	if cap(b) > 0 {
		release(b)
	}
}

// Zero makes memory that Reserve has given zero, and gives its pages back to the host where it can.
func Zero(b []byte) {
	if len(b) > 0 {
		zero(b)
	}
}

// pageSize is the step in which memory is looked through.
const pageSize = 4 << 10

// ZeroTouched makes bytes zero. It writes no page that is zero already: to read a page that nobody has written takes no memory.
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

// goMemory is what Go has mapped, and how much of that has nothing in it.
func goMemory() (mapped, room uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	free, released := s[1].Value.Uint64(), s[2].Value.Uint64()
	return s[0].Value.Uint64() - released, free + released
}
