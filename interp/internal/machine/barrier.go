package machine

import (
	"gemu/interp/internal/code"
)

// CTABarrier is one of the sixteen barriers of a CTA.
type CTABarrier struct {
	Arrived       int     // arrived warps
	Expected      int     // warps that must arrive; 0: all live warps
	Waiting       []*Warp // arrived warps that wait
	WaitingBuffer []*Warp // array for the next Waiting
	Popc          int     // for bar.red: number of threads whose predicate is true
	AllTrue       bool    // for bar.red: no thread's predicate is false
	AnyTrue       bool    // for bar.red: a thread's predicate is true

	Completed int // number of completions
}

// SplitWait is the reason why a warp split cannot run. Either it waits at a barrier of the CTA or the cluster, or it waits
// for other lanes of the warp, to execute a collective instruction together with them.
type SplitWait struct {
	Src        *code.Source    // the PTX instruction at which it waits
	Instr      *code.Instr     // its lowered instruction
	Reference  *code.Instr     // the counterpart of Instr in check mode's reference
	Op         *code.BarrierOp // the barrier instruction; nil: a collective instruction
	ID         int             // number of the barrier
	Expected   int             // as CTABarrier.Expected
	Arrived    bool            // the warp has arrived and waits for other warps
	Membermask uint32          // membermask of a collective instruction or of bar.warp.sync

	Generation int // number of completions of the barrier when the warp arrived; only for probes
}
