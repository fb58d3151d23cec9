package cli

// This file controls garbage collection.

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// gcThreshold is the minimum amount of garbage, in bytes, before a collection. A command often takes a tenth of a second. By
// default Go would collect garbage a dozen times in this time, some megabytes each.
const gcThreshold = 64 << 20

// relaxed means that the threshold of relax is in effect. Functions must hold the mutex settings to read or change relaxed, and to
// change the garbage collector's percentage.
var (
	settings sync.Mutex
	relaxed  bool
)

// relax makes Go collect garbage when the garbage is as large as the live memory, which is Go's default, but not before there are
// gcThreshold bytes of garbage. If the environment variable GOGC is set, relax does nothing.
func relax() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const heapFrom = 4 << 20 // Go's minimum for the live heap at 100 percent
	settings.Lock()
	defer settings.Unlock()
	debug.SetGCPercent(100 * gcThreshold / heapFrom)
	relaxed = true
	runtime.SetFinalizer(new(cycle), (*cycle).ended)
}

// collectAt makes Go collect garbage at a percentage of garbage to live memory, and returns the previous percentage. It ends the
// effect of relax.
func collectAt(percent int) int {
	settings.Lock()
	defer settings.Unlock()
	relaxed = false
	return debug.SetGCPercent(percent)
}

// cycle is an object that is garbage in every collection, so that its finalizer runs at the end of every collection.
type cycle struct{ _ *cycle } // the pointer keeps it out of Go's blocks of tiny objects, which live longer

// ended runs at the end of a collection and adjusts the percentage to the live memory.
func (c *cycle) ended() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	settings.Lock()
	defer settings.Unlock()
	if relaxed {
		debug.SetGCPercent(growth(live[0].Value.Uint64()))
		runtime.SetFinalizer(c, (*cycle).ended)
	}
}

// growth returns the permitted garbage, in percent of the live bytes.
func growth(live uint64) int { return int(max(100, 100*gcThreshold/max(live, 1<<20))) }
