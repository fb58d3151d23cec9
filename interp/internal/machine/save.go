package machine

import (
	"gemu/interp/internal/mem"
	"gemu/probe"
)

// SavedSink is what a sink has saved.
type SavedSink struct {
	probe.Saver
	State any
}

// State is a launch as it was when it was saved, and the memory of its device. What has not
// changed since the state before it, pages of memory and CTAs, it shares with that.
type State struct {
	Memory     *mem.Snapshot
	Steps      int64
	HeapUsed   uint64
	Schedule   Schedule
	FallenBack bool
	Finished   int64
	Count      Counts
	Flights    []Flight // each in a context that nobody changes
	Next       int
	Output     map[int][]byte

	Tolerated toleratedFaults
	Probes    []any
	Sinks     []SavedSink
	Released  bool
}
