package main

// This file is when garbage is collected.

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// roomy is how many bytes of garbage there may be at least. A command often lives for a tenth of a second, in which Go would
// collect some megabytes a dozen times.
const roomy = 64 << 20

// relaxed reports whether relax has its way.
var relaxed atomic.Bool

// relax has garbage be collected when there is as much as lives, as Go does, but not before there are roomy bytes. GOGC in the
// environment counts more.
func relax() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const heapFrom = 4 << 20 // Go takes so much for live at least, by 100 percent
	debug.SetGCPercent(100 * roomy / heapFrom)
	relaxed.Store(true)
	runtime.SetFinalizer(new(cycle), (*cycle).ended)
}

// cycle is garbage that is found in each collection.
type cycle struct{ _ int64 }

// ended is the end of a collection.
func (c *cycle) ended() {
	if !relaxed.Load() {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(growth(live[0].Value.Uint64()))
	runtime.SetFinalizer(c, (*cycle).ended)
}

// growth is how much garbage there may be, in percent of so many bytes that live.
func growth(live uint64) int { return int(max(100, 100*roomy/max(live, 1<<20))) }
