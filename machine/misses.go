package machine

import (
	"gemu/machine/core"
	"gemu/machine/stream"
)

// AssistMisses are the assist warps of a machine with a clock that begin when loads miss an L1.
type AssistMisses struct {
	Registers int // registers that a thread of each block needs in addition to those of its program
	// New returns the routines for a machine, once.
	New func(s *core.Spec) MissRoutines
}

// MissRoutines execute assist routines for misses. An error ends the machine's counts.
type MissRoutines interface {
	// Miss is that of core.Misses, with an error.
	Miss(register *stream.Line, instr int32, line uint64) (*core.Execution, []uint64, error)
}

// clockMisses are the routines for misses of a machine with a clock. A nil *clockMisses has none.
type clockMisses struct {
	routines MissRoutines
	err      error // first error of a routine
}

// newClockMisses returns the routines for misses of a machine; nil if its systems have none.
func newClockMisses(s *Spec, p *Parts) *clockMisses {
	if p.Misses == nil {
		return nil
	}
	return &clockMisses{routines: p.Misses.New(s.clock())}
}

// Miss implements core.Misses. After an error no routine runs.
func (m *clockMisses) Miss(register *stream.Line, instr int32, line uint64) (*core.Execution, []uint64) {
	if m.err != nil {
		return nil, nil
	}
	execution, ahead, err := m.routines.Miss(register, instr, line)
	m.err = err
	return execution, ahead
}

// failure returns the first error of a routine.
func (m *clockMisses) failure() error {
	if m == nil {
		return nil
	}
	return m.err
}
