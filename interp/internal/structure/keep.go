package structure

// This file is what is held of a result, for models that stand beside others.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/simt"
)

// Results is a sink that says what its policy holds of the registers that an instruction has
// read and written, and what the policy has made of it.
type Results interface {
	simt.Sink

	// Result is the class of Writes[i] of the event that it was told last: an OnAfter, OnReturn or
	// OnWake with results.
	Result(e *simt.Event, i int) affinetrack.Class

	// Operand is the class of the i-th register that the instruction reads (Parts.Reads), of the event that it was
	// told last, an OnBefore.
	Operand(e *simt.Event, i int) affinetrack.Class

	// Step is what the policy has made so far of the instruction that it was told of last; the event is
	// about it.
	Step(e *simt.Event) Step
}

// Step is an execution of an instruction, as affinetrack.Counts counts it.
type Step struct {
	Compact, Suppressed bool // its results were all written compactly; could have been
	Decided             bool // a branch that a compact predicate decides; known from OnBranch on
	Expansions          int
	Reads               affinetrack.ClassCounts // register operands, predicates left out
	Address             affinetrack.Class       // of loads and stores
}

// Result looks at the tags. With an ideal policy it looks at the lanes.
func (t *tracker) Result(e *simt.Event, i int) affinetrack.Class {
	return t.register(e, e.Launch.Program.Operations(e.Index).Writes[i:i+1], e.Writes[i:i+1])
}

// Operand likewise.
func (t *tracker) Operand(e *simt.Event, i int) affinetrack.Class {
	var v []simt.Value
	if t.Ideal { // others need no values, and may not have them
		v = e.Reads[i : i+1]
	}
	return t.register(e, e.Launch.Program.Operations(e.Index).Reads[i:i+1], v)
}

// Step subtracts what had been counted before.
func (t *tracker) Step(e *simt.Event) Step {
	n, b := &t.counts[e.Index], &t.countsBefore
	s := Step{Compact: n.Compact > b.Compact, Suppressed: n.Suppressed > b.Suppressed, Decided: n.Decided > b.Decided, Expansions: int(n.Materialisations - b.Materialisations)}
	s.Reads = affinetrack.ClassCounts{Uniform: n.Reads.Uniform - b.Reads.Uniform, Affine: n.Reads.Affine - b.Reads.Affine, Generic: n.Reads.Generic - b.Reads.Generic}
	if n.Addresses != b.Addresses {
		s.Address = t.step.addr
	}
	return s
}

// register is the class of one register.
func (t *tracker) register(e *simt.Event, operands []simt.Operand, v []simt.Value) affinetrack.Class {
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
