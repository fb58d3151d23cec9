package warp

import (
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
)

// Portable is the backend with all instructions, on every host.
var Portable machine.Backend = new(PortableBackend)

type PortableBackend struct{}

func (*PortableBackend) Run(w *machine.Warp, budget int) machine.Reason {
	return RunBlocks(w, budget, lanes.ExecuteBlock)
}

func (*PortableBackend) Span(w *machine.Warp, from, to int32) int32 {
	lanes.ExecuteBlock(w, w.CTA.Code.Instrs[from:to])
	return to
}

func (*PortableBackend) ImportAll(*machine.CTA) {}
