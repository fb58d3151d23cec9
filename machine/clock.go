package machine

import (
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
)

// NewClock returns the multiprocessors of a machine with a clock, on a memory. It takes launches of a recorder that records instructions.
// registers is that of New. The spec must pass its Check.
func NewClock(s Spec, registers int, m memory.Memory) *core.Machine {
	return core.New(core.Config{Spec: *s.clock(), SMs: s.SMs, L1Lines: s.L1Lines, StoresEvict: s.StoresEvict, Memory: m, Plan: func(l *stream.Launch) core.Plan {
		resident, _, l1 := s.resources(l, registers)
		resident = max(resident, 1)
		return core.Plan{Resident: resident, L1: l1.shape(), Policy: l1.Policy.New, Dispatcher: s.dispatcher(l, resident)}
	}})
}
