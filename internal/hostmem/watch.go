package hostmem

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"
)

// Watch calls low, once, when the process is within a few steps of Go's heap of a memory limit. It also makes Go
// collect garbage in time. It ends with the context.
func Watch(ctx context.Context, low func(error)) {
	soften()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := CheckLow(); err != nil {
			low(err)
			return
		}
	}
}

// margin is the minimum distance to a limit, in bytes, for a small heap: Go maps 64 MiB at a time. A large heap has
// large slices, which grow by copies of the whole slice, and its free memory is in many pieces.
const margin = 96 << 20

// CheckLow returns an error that wraps ErrNoMemory if the process is close to a memory limit.
func CheckLow() error {
	mapped, touched := used()
	heap, room := goMemory()
	for _, l := range limits() {
		switch {
		case l.soft:
		case l.mapped && l.Bytes-min(l.Bytes, mapped)+room/2 < margin+heap/8:
			return fmt.Errorf("%w: the process has mapped %d bytes of the %d that %s allows", ErrNoMemory, mapped, l.Bytes, l.Name)
		case !l.mapped && touched > l.Bytes-min(margin, l.Bytes/16):
			return fmt.Errorf("%w: the process has %d bytes of the %d that %s allows", ErrNoMemory, touched, l.Bytes, l.Name)
		}
	}
	return nil
}

// soften makes Go collect garbage more often close to a limit, unless the user has set GOMEMLIMIT.
func soften() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	minimum := uint64(math.MaxInt64)
	mapped, _ := used()
	current, _ := goMemory()
	for _, l := range limits() {
		n := l.Bytes
		if l.mapped { // mapped memory outside Go's heap: the program, and addresses that Go reserves
			n -= min(n, mapped-min(mapped, current)+2*margin)
		}
		minimum = min(minimum, n/10*9)
	}
	debug.SetMemoryLimit(int64(max(minimum, 64<<20)))
}
