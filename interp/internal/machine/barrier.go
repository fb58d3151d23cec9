package machine

import (
	"gemu/interp/internal/code"
)

// CTABarrier is one of the sixteen barriers of a CTA.
type CTABarrier struct {
	Arrived       int     // arrived warps
	Expected      int     // warps that must arrive; 0: all live warps
	Waiting       []*Warp // arrived warps that wait
	WaitingBuffer []*Warp // buffer for Waiting
	Popc          int     // count of true predicates, of bar.red
	AllTrue       bool
	AnyTrue       bool

	Completed int // number of completions
}

// SplitWait is the reason why a warp split cannot run: it waits at a barrier of the CTA, or for lanes of the warp
// before they execute the same collective instruction.
type SplitWait struct {
	Src        *code.Source
	Op         *code.BarrierOp // nil: a collective instruction
	Reference  *code.Instr     // the instruction of check mode's reference
	ID         int             // number of the barrier
	Expected   int             // as CTABarrier.Expected
	Arrived    bool            // the warp has arrived and waits for other warps
	Instr      *code.Instr     // the instruction
	Membermask uint32          // membermask of the instruction or of bar.warp.sync

	Generation int // completions of the barrier when the warp arrived; only for probes
}
