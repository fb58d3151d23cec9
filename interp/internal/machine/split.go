package machine

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// WarpSplit is a set of lanes of a warp executing together: they are at the same instruction, in the same call.
type WarpSplit struct {
	PC            int32
	Uncounted     int32 // PTX instructions of its block yet to count, if it is inside the block; else 0
	Mask          uint64
	Frame         *Frame
	Reconvergence *Reconvergence // innermost reconvergence of its lanes; nil: none
	Wait          *SplitWait     // reason to wait; nil: the split can run
	LoopInstrs    int32          // score of its last time slices in possible spin-waits
	Deferred      bool           // for policy pc2: the split runs after all splits without this flag
}

// Frame is a call in progress, with the places of its registers and local memory. Apart from LastCallee it never
// changes, so warp splits in the same call share it.
type Frame struct {
	Func        *code.Func
	Caller      *Frame       // nil: the frame is the kernel's
	Call        *code.Block  // block of the caller with the call at its end
	Base        regfile.Size // number of register rows below the frame's window
	Local       int          // first word of the frame's local memory
	Depth       int          // number of callers
	LastCallee  *Frame       // frame of the last call from this frame, used again by calls in loops
	Counterpart *Frame       // the frame of the same call in check mode's reference; for a frame of the reference, the engine's frame
}

// Top returns the end of the frame's registers.
func (fr *Frame) Top() regfile.Size { return fr.Base.Add(fr.Func.Frame) }

// SameCalls reports whether two frames have the same stack of calls, as needed for merging warp splits in them.
func (fr *Frame) SameCalls(other *Frame) bool {
	for fr != other {
		if fr == nil || other == nil || fr.Func != other.Func || fr.Call != other.Call || fr.Local != other.Local {
			return false
		}
		fr, other = fr.Caller, other.Caller
	}
	return true
}

// BranchGroup is a group of lanes for the same next block.
type BranchGroup struct {
	PC   int32
	Mask uint64
}

// NoBlock is a pc outside all blocks: it means that there is no block.
const NoBlock = -1

// ShowWindow moves the window of the register files to a frame.
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

// Splits returns all warp splits of the warp, the running split last.
func (w *Warp) Splits() []WarpSplit {
	if w.Mask == 0 {
		return w.WaitingSplits
	}
	return append(slices.Clip(w.WaitingSplits), w.WarpSplit)
}

// Diverged reports whether the live lanes of the warp are in more than one warp split.
func (w *Warp) Diverged() bool {
	for _, c := range w.Splits() {
		if c.Mask != w.Live {
			return true
		}
	}
	return false
}
