package hostmem

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"
)

// Watch calls low, once, when the process comes close to a limit of its memory: within a few steps of Go's heap. It has Go
// collect garbage in time, too. It ends with the context.
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

// margin is how close to a limit is too close, in bytes, for a heap that is small: Go maps 64 MiB at a time. A large heap has
// large slices, which grow by copies in one piece, and its room is in many pieces.
const margin = 96 << 20

// CheckLow returns an error if the process is close to a limit of its memory. It wraps ErrNoMemory.
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

// soften has Go collect garbage more often before it comes to a limit, unless the user says how much it may have.
func soften() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	minimum := uint64(math.MaxInt64)
	mapped, _ := used()
	current, _ := goMemory()
	for _, l := range limits() {
		n := l.Bytes
		if l.mapped { // what is mapped and not Go's heap: the program, and addresses that Go keeps for itself
			n -= min(n, mapped-min(mapped, current)+2*margin)
		}
		minimum = min(minimum, n/10*9)
	}
	debug.SetMemoryLimit(int64(max(minimum, 64<<20)))
}
