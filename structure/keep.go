package structure

// This file lets other probes query the classes of a policy's registers.

import (
	"gemu/affinetrack"
	"gemu/probe"
)

// Results is a sink that reports the classes of the registers that an instruction reads and writes under its policy,
// and the policy's counts of the instruction.
type Results interface {
	probe.Sink

	// Result returns the class of Writes[i] of the last event, which must be an OnAfter, OnReturn or OnWake with
	// results.
	Result(e *probe.Event, i int) affinetrack.Class

	// Operand returns the class of Reads[i] of the instruction (probe.Operations.Reads). The last event must be the
	// instruction's OnBefore.
	Operand(e *probe.Event, i int) affinetrack.Class

	// Step returns the counts of the last event's instruction, in this execution up to the event.
	Step(e *probe.Event) Step
}

// Step is an execution of an instruction, as counted by affinetrack.Counts.
type Step struct {
	Compact    bool                    // all results were written compactly
	Suppressed bool                    // all results could have been compact without divergence or a guard
	Decided    bool                    // the instruction is a branch that a compact predicate decides; set at OnBranch
	Expansions int                     // number of compact values materialised because some of their lanes were overwritten
	Reads      affinetrack.ClassCounts // register operands, without predicates
	Address    affinetrack.Class       // class of the address of a load or store, else Unknown
}

// Result implements Results: by the tags, or under an ideal policy by a comparison of the lanes.
func (t *tracker) Result(e *probe.Event, i int) affinetrack.Class {
	return t.register(e, e.Launch.Program.Operations(e.Index).Writes[i:i+1], e.Writes[i:i+1])
}

// Operand implements Results: by the tags, or under an ideal policy by a comparison of the lanes.
func (t *tracker) Operand(e *probe.Event, i int) affinetrack.Class {
	var v []probe.Value
	if t.Ideal { // all other policies need no values, and may not have them
		v = e.Reads[i : i+1]
	}
	return t.register(e, e.Launch.Program.Operations(e.Index).Reads[i:i+1], v)
}

// Step implements Results: it returns the difference of the counts now and before the instruction.
func (t *tracker) Step(e *probe.Event) Step {
	n, b := &t.counts[e.Index], &t.countsBefore
	s := Step{Compact: n.Compact > b.Compact, Suppressed: n.Suppressed > b.Suppressed, Decided: n.Decided > b.Decided, Expansions: int(n.Materialisations - b.Materialisations)}
	s.Reads = affinetrack.ClassCounts{Uniform: n.Reads.Uniform - b.Reads.Uniform, Affine: n.Reads.Affine - b.Reads.Affine, Generic: n.Reads.Generic - b.Reads.Generic}
	if n.Addresses != b.Addresses {
		s.Address = t.step.addr
	}
	return s
}

// register returns the class of an operand: the only element of operands. v has its value, which only an ideal policy reads.
func (t *tracker) register(e *probe.Event, operands []probe.Operand, v []probe.Value) affinetrack.Class {
	var n affinetrack.ClassCounts
	t.countRegisters(&n, e, operands, v)
	switch {
	case n.Generic > 0:
		return affinetrack.Generic
	case n.Affine > 0:
		return affinetrack.Affine
	}
	return affinetrack.Uniform
}
