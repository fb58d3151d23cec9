package cli

// This file is when garbage is collected.

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// gcThreshold is how many bytes of garbage there may be at least. A command often lives for a tenth of a second, in which Go would
// collect some megabytes a dozen times.
const gcThreshold = 64 << 20

// relaxed reports whether relax has its way; settings is held to change that, and what garbage there may be.
var (
	settings sync.Mutex
	relaxed  bool
)

// relax has garbage be collected when there is as much as lives, as Go does, but not before there are roomy bytes. GOGC in the
// environment counts more.
func relax() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const heapFrom = 4 << 20 // Go takes so much for live at least, by 100 percent
	settings.Lock()
	defer settings.Unlock()
	debug.SetGCPercent(100 * gcThreshold / heapFrom)
	relaxed = true
	runtime.SetFinalizer(new(cycle), (*cycle).ended)
}

// collectAt has garbage be collected when there is so much, in percent of what lives, and gives what was set before.
func collectAt(percent int) int {
	settings.Lock()
	defer settings.Unlock()
	relaxed = false
	return debug.SetGCPercent(percent)
}

// cycle is garbage that is found in each collection.
type cycle struct{ _ *cycle } // a pointer keeps it out of Go's blocks of tiny objects, which live longer

// ended is the end of a collection.
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

// growth is how much garbage there may be, in percent of so many bytes that live.
func growth(live uint64) int { return int(max(100, 100*gcThreshold/max(live, 1<<20))) }
