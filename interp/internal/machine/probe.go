package machine

import (
	"gemu/interp/internal/code"
)

// EventPlace is the place of an event in the machine.
type EventPlace struct {
	Stream      *EventStream
	Warp        *Warp        // nil if the event belongs to no warp
	Frame       *Frame       // the present call of the lanes
	SourceInstr *code.Source // the instruction; nil if there is none
	Pair        *InstrPair   // the operation
}

func SlotBits(s code.Slot) int {
	if s == code.P {
		return 1
	}
	return s.Bits()
}
