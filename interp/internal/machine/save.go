package machine

import (
	"gemu/interp/internal/mem"
	"gemu/probe"
)

// SavedSink is a sink with its saved state.
type SavedSink struct {
	probe.Saver
	State any // as the sink returned it
}

// State is the saved state of a launch and of its device's memory. It shares unchanged pages of memory and unchanged CTAs
// with the state saved before it. For fields without a comment see the field of Grid or Device with the same name.
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
	Probes    []any       // saved states of the probes
	Sinks     []SavedSink // saved states of the sinks of the CTAs in flight
	Released  bool        // the state has been released and cannot be restored
}
