package warp

import (
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
)

// Portable is the backend that executes all instructions in Go, on every host.
var Portable machine.Backend = new(PortableBackend)

// PortableBackend is the type of Portable.
type PortableBackend struct{}

// Run executes blocks: see machine.Runner.
func (*PortableBackend) Run(w *machine.Warp, budget int) machine.Reason {
	return RunBlocks(w, budget, lanes.ExecuteBlock)
}

// Span executes all instructions of the span.
func (*PortableBackend) Span(w *machine.Warp, from, to int32) int32 {
	lanes.ExecuteBlock(w, w.CTA.Code.Instrs[from:to])
	return to
}

// ImportAll does nothing, because the backend keeps no state of warps.
func (*PortableBackend) ImportAll(*machine.CTA) {}
