package interp

// This file has the probe of value structure, for models that observe launches.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/structure"
)

// StructureProbe counts the value structure of a launch under a policy, as Launch.Structure does. Its sinks are
// ResultSinks. Each launch needs a probe of its own.
type StructureProbe = structure.Probe

// ResultSink is a sink that returns, for each instruction, the classes of the registers it reads and writes under a policy,
// and the policy's result.
type ResultSink = structure.Results

// StructureStep is the result of a policy for an execution of an instruction.
type StructureStep = structure.Step

// NewStructureProbe makes a probe of a launch.
func NewStructureProbe(p *affinetrack.Policy) *StructureProbe {
	return structure.New(p, affinetrack.Rules, false)
}
