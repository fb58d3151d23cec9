package interp

// This file is value structure as a probe of its own, for models that watch launches.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/structure"
)

// StructureProbe finds what structure the values of one launch have under a policy, as Launch.Structure
// does. Its sinks are ResultSinks. It watches one launch: the next takes another.
type StructureProbe = structure.Probe

// ResultSink is a sink that says of what class a policy holds the registers that an instruction
// has read and written, and what the policy has made of it.
type ResultSink = structure.Results

// StructureStep is what a policy has made of an execution of an instruction.
type StructureStep = structure.Step

// NewStructureProbe makes a probe of a launch.
func NewStructureProbe(p *affinetrack.Policy) *StructureProbe {
	return structure.New(p, affinetrack.Rules, false)
}
