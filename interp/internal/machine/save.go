package machine

import (
	"gemu/interp/internal/mem"
	"gemu/probe"
)

// SavedSink is the saved state of a sink.
type SavedSink struct {
	probe.Saver
	State any
}

// State is the saved state of a launch and of its device's memory. It shares unchanged pages of memory and
// unchanged CTAs with the state saved before it.
type State struct {
	Memory           *mem.Snapshot
	Steps            int64
	HeapUsed         uint64
	Schedule         Schedule
	ForcedTimeSlices bool
	Finished         int64
	Count            probe.Counts
	Flights          []Flight // each has a context, which must not change
	Next             int
	Output           map[int][]byte

	Tolerated toleratedFaults
	Probes    []any
	Sinks     []SavedSink
	Released  bool
}
