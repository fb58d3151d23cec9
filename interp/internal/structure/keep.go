package structure

// This file is what is held of a result, for models that stand beside others.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/simt"
)

// Results is a sink that says what its policy holds of the registers that an instruction has
// written.
type Results interface {
	simt.Sink

	// Result is the class of Writes[i] of the event that it was told last: an OnAfter, OnReturn or
	// OnWake with results.
	Result(e *simt.Event, i int) affinetrack.Class
}

// Result looks at the tags. With an ideal policy it looks at the lanes.
func (t *tracker) Result(e *simt.Event, i int) affinetrack.Class {
	var n affinetrack.Shares
	t.countRegisters(&n, e, e.Launch.Program.Parts(e.Index).Writes[i:i+1], e.Writes[i:i+1])
	switch {
	case n.Generic > 0:
		return affinetrack.Generic
	case n.Affine > 0:
		return affinetrack.Affine
	}
	return affinetrack.Uniform
}
