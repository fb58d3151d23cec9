package machine

import (
	"gemu/interp/internal/code"
)

// CTABarrier is one of the sixteen barriers of a CTA.
type CTABarrier struct {
	Arrived       int     // warps
	Expected      int     // warps; 0: all that have not ended
	Waiting       []*Warp // of them those that wait
	WaitingBuffer []*Warp // room for them
	Popc          int     // of bar.red
	AllTrue       bool
	AnyTrue       bool

	Completed int // how often
}

// SplitWait is what keeps a warp split from running: lanes at a barrier of the CTA, or lanes of
// the warp that have yet to execute the same.
type SplitWait struct {
	Src        *code.Source
	Op         *code.BarrierOp // nil: a collective instruction
	Reference  *code.Instr     // … in the reference of check mode
	ID         int             // the barrier's
	Expected   int             // as barrier.expected
	Arrived    bool            // the warp has arrived, and waits for others
	Instr      *code.Instr     // the instruction
	Membermask uint32          // its membermask, or that of bar.warp.sync

	Generation int // how often the barrier had completed when the warp arrived; for probes only
}
