package machine

import "gemu/machine/core"

// MissRoutines are the routines that assist warps of a machine with a clock execute when loads miss an L1.
type MissRoutines struct {
	Registers int // registers that a thread of each block needs in addition to those of its program
	// New returns the routines for a machine, once.
	New func(s *core.Spec) FailingMisses
}

// FailingMisses are the routines of a machine, with their errors.
type FailingMisses interface {
	core.Misses
	// Err returns the first error, which ends the machine's counts: a fault of a routine, or a result that is out of range.
	Err() error
}
