package machine

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// WarpSplit is a set of lanes of a warp executing together: they are at the same instruction, in the same call.
type WarpSplit struct {
	PC            int32          // pc of its next instruction
	Uncounted     int32          // number of PTX instructions of its block yet to count, if it is inside the block; else 0
	Mask          uint64         // its lanes
	Frame         *Frame         // the call in which it is
	Reconvergence *Reconvergence // innermost reconvergence of its lanes; nil: none
	Wait          *SplitWait     // reason to wait; nil: the split can run
	LoopInstrs    int32          // weight of its last time slices in possible spin-waits: see chargeLoop of package warp
	Deferred      bool           // for policy pc2: the split runs after all splits without this flag
}

// Frame is a call in progress, with the places of its registers and local memory. Apart from LastCallee it never
// changes, so warp splits in the same call share it.
type Frame struct {
	Func        *code.Func
	Caller      *Frame       // frame of the calling function; nil: the frame is the kernel's
	Call        *code.Block  // block of the caller with the call at its end; nil: the frame is the kernel's
	Base        regfile.Size // number of register rows below the frame's window
	Local       int          // index of the first word of the frame in a thread's local memory
	Depth       int          // number of callers
	LastCallee  *Frame       // frame of the last call from this frame, which equal calls in loops use again
	Counterpart *Frame       // the frame of the same call in check mode's reference; for a frame of the reference, the engine's frame
}

// Top returns the number of register rows up to the end of the frame's window.
func (fr *Frame) Top() regfile.Size { return fr.Base.Add(fr.Func.Frame) }

// SameCalls reports whether two frames have equal stacks of calls, so that warp splits in them can merge.
func (fr *Frame) SameCalls(other *Frame) bool {
	for fr != other {
		if fr == nil || other == nil || fr.Func != other.Func || fr.Call != other.Call || fr.Local != other.Local {
			return false
		}
		fr, other = fr.Caller, other.Caller
	}
	return true
}

// BranchGroup is a group of lanes that continue at the same block.
type BranchGroup struct {
	PC   int32  // the block
	Mask uint64 // the lanes
}

// NoBlock is a pc outside all blocks: it means that there is no block.
const NoBlock = -1

// ShowWindow moves the windows of the warp's register files to a frame.
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
