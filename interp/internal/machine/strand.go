package machine

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// WarpSplit is lanes of a warp that go on together: they stand at the same place in
// the same calls.
type WarpSplit struct {
	PC            int32
	Uncounted     int32 // if it has executed some of its block: PTX instructions of it yet to count
	Mask          uint64
	Frame         *Frame
	Reconvergence *Reconvergence // where its lanes wait for those that went another way; nil: nowhere
	Wait          *SplitWait     // nil: it can run
	LoopInstrs    int32          // how much of its last turns it has spent in loops that may wait
	Deferred      bool           // of policy pc2: it is for the next time round
}

// Frame is a function under way: where its registers and its local memory lie. It
// never changes, so warp splits in the same call share it.
type Frame struct {
	Func        *code.Func
	Caller      *Frame       // nil: it is the kernel
	Call        *code.Block  // of the caller
	Base        regfile.Size // rows below its window
	Local       int          // first word of its local memory
	Depth       int          // callers
	LastCallee  *Frame       // the last that was called from it, which a loop calls again
	Counterpart *Frame       // the same in the reference of check mode, and back
}

// Top is where the frame's registers end.
func (fr *Frame) Top() regfile.Size { return fr.Base.Add(fr.Func.Frame) }

// SameCalls reports whether two frames are of the same calls, so that warp splits in them can
// become one.
func (fr *Frame) SameCalls(other *Frame) bool {
	for fr != other {
		if fr == nil || other == nil || fr.Func != other.Func || fr.Call != other.Call || fr.Local != other.Local {
			return false
		}
		fr, other = fr.Caller, other.Caller
	}
	return true
}

// BranchGroup is lanes that go to the same block.
type BranchGroup struct {
	PC   int32
	Mask uint64
}

// NoBlock is the pc of no block.
const NoBlock = -1

// ShowWindow makes the registers of a frame those that instructions name.
func (w *Warp) ShowWindow(fr *Frame) {
	if w.ShownFrame == fr {
		return
	}
	w.ShownFrame = fr
	for h := range w.Files {
		w.Files[h].Open(fr.Base, fr.Func.Frame)
		if w.Check != nil {
			w.Check.Files[h].Open(fr.Counterpart.Base, fr.Counterpart.Func.Frame)
		}
	}
}

// Splits is every warp split of the warp, the one that runs last.
func (w *Warp) Splits() []WarpSplit {
	if w.Mask == 0 {
		return w.WaitingSplits
	}
	return append(slices.Clip(w.WaitingSplits), w.WarpSplit)
}

// Diverged reports whether lanes of the warp wait for others that they could do without.
func (w *Warp) Diverged() bool {
	for _, c := range w.Splits() {
		if c.Mask != w.Live {
			return true
		}
	}
	return false
}
