package machine

import (
	"gemu/interp/internal/code"
)

// EventPlace is the state of the machine that belongs to an event.
type EventPlace struct {
	Stream      *EventStream
	Warp        *Warp        // nil if the event belongs to no warp
	Frame       *Frame       // the call in which the lanes are
	SourceInstr *code.Source // the PTX instruction; nil if there is none
	Pair        *InstrPair   // the operation, for an event about an operation
}

// SlotBits returns the width of a register in bits; 1 for a predicate.
func SlotBits(s code.Slot) int {
	if s == code.P {
		return 1
	}
	return s.Bits()
}
