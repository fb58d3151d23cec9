package simt

// This file is warp splits: lanes of a warp that go on together. A warp begins as one;
// where lanes go different ways, it becomes several, of which one runs at a time.
// Which, and where lanes meet again, is up to a reconverger.

import (
	"hash/maphash"
	"slices"

	"gemu/interp/internal/code"
	"gemu/probe"
	"gemu/regfile"
)

// warpSplit is lanes of a warp that go on together: they stand at the same place in
// the same calls.
type warpSplit struct {
	pc            int32
	uncounted     int32 // if it has executed some of its block: PTX instructions of it yet to count
	mask          uint64
	frame         *frame
	reconvergence *reconvergence // where its lanes wait for those that went another way; nil: nowhere
	wait          *wait          // nil: it can run
	loopInstrs    int32          // how much of its last turns it has spent in loops that may wait
	deferred      bool           // of policy pc2: it is for the next time round
}

// frame is a function under way: where its registers and its local memory lie. It
// never changes, so warp splits in the same call share it.
type frame struct {
	fn          *code.Func
	caller      *frame       // nil: it is the kernel
	call        *code.Block  // of the caller
	base        regfile.Size // rows below its window
	local       int          // first word of its local memory
	depth       int          // callers
	lastCallee  *frame       // the last that was called from it, which a loop calls again
	counterpart *frame       // the same in the reference of check mode, and back
}

// top is where the frame's registers end.
func (fr *frame) top() regfile.Size { return fr.base.Add(fr.fn.Frame) }

// newFrame is the frame of a function that one in w.frame calls.
func (w *warp) newFrame(b *code.Block, target *code.Func, local int) *frame {
	fr := w.frame
	if c := fr.lastCallee; c != nil && c.call == b && c.fn == target && c.local == local {
		return c
	}
	fr.lastCallee = &frame{fn: target, caller: fr, call: b, base: fr.base.Add(fr.fn.Frame), local: local, depth: fr.depth + 1}
	if t := fr.counterpart; t != nil {
		fr.lastCallee.counterpart = &frame{fn: w.check.Funcs[target.Index], caller: t, call: b, base: t.base.Add(t.fn.Frame), local: local, depth: t.depth + 1, counterpart: fr.lastCallee}
	}
	return fr.lastCallee
}

// sameCalls reports whether two frames are of the same calls, so that warp splits in them can
// become one.
func (fr *frame) sameCalls(other *frame) bool {
	for fr != other {
		if fr == nil || other == nil || fr.fn != other.fn || fr.call != other.call || fr.local != other.local {
			return false
		}
		fr, other = fr.caller, other.caller
	}
	return true
}

// laneGroup is lanes that go to the same block.
type laneGroup struct {
	pc   int32
	mask uint64
}

// addToGroup adds lanes to the group of a target.
func addToGroup(groups []laneGroup, pc int32, lanes uint64) []laneGroup {
	for i := range groups {
		if groups[i].pc == pc {
			groups[i].mask |= lanes
			return groups
		}
	}
	return append(groups, laneGroup{pc, lanes})
}

// noBlock is the pc of no block.
const noBlock = -1

// resume makes c the warp split that runs.
func (w *warp) resume(c warpSplit) {
	w.warpSplit = c
	w.show(c.frame)
	w.sliceLeft, w.changed = timeSlice, false
	w.reconvergeAt = noBlock
	if c.reconvergence != nil && c.reconvergence.frame == c.frame {
		w.reconvergeAt = c.reconvergence.pc
	}
}

// show makes the registers of a frame those that instructions name.
func (w *warp) show(fr *frame) {
	if w.shownFrame == fr {
		return
	}
	w.shownFrame = fr
	for h := range w.files {
		w.files[h].Open(fr.base, fr.fn.Frame)
		if w.check != nil {
			w.check.files[h].Open(fr.counterpart.base, fr.counterpart.fn.Frame)
		}
	}
}

// splitOff is the running warp split with some of its lanes alone; it goes on without
// them.
func (w *warp) splitOff(lanes uint64) warpSplit {
	c := w.warpSplit
	c.mask = lanes
	w.mask &^= lanes
	return c
}

// takeSplit removes warp split i from those that do not run.
func (w *warp) takeSplit(i int) warpSplit {
	c := w.waitingSplits[i]
	w.waitingSplits = append(w.waitingSplits[:i], w.waitingSplits[i+1:]...)
	return c
}

// jump continues the running warp split at a block.
func (w *warp) jump(pc int32) {
	if pc == w.reconvergeAt || w.notifyEveryBlock {
		w.enterBlock(pc)
		return
	}
	w.pc = pc
}

// enterBlock is jump to where the policy may want to know of it.
func (w *warp) enterBlock(pc int32) {
	from := w.pc
	w.pc = pc
	if pc == w.reconvergeAt || len(w.waitingSplits) > 0 {
		w.rc.arrive(w, from)
	}
}

// findMergeable is the index of another warp split that c can go on with as one, -1 if there is none.
func (w *warp) findMergeable(c *warpSplit) int {
	for i := range w.waitingSplits {
		other := &w.waitingSplits[i]
		if c.pc == other.pc && c.reconvergence == other.reconvergence && c.deferred == other.deferred && other.wait == nil && c.frame.sameCalls(other.frame) {
			return i
		}
	}
	return -1
}

// merge makes warp splits one that have come to the same place while they waited.
func (w *warp) merge() {
	for i := len(w.waitingSplits) - 1; i > 0; i-- {
		c := w.waitingSplits[i]
		if k := w.findMergeable(&c); c.wait == nil && k < i {
			w.waitingSplits[i].mask |= w.waitingSplits[k].mask
			w.countReconvergence(&w.waitingSplits[i])
			w.takeSplit(k)
		}
	}
}

// schedule brings a warp split to run when the one that did has gone. If none can, the
// warp waits, or has ended.
func (w *warp) schedule() {
	for w.state == ready && w.err == nil {
		switch {
		case w.mask != 0:
			return
		case w.live|w.atExit == 0:
			w.state = ended
			w.emitLanes(probe.OnWarpEnd, nil, 0)
		case w.rc.next(w) || w.rc.releaseEarly(w):
			if w.pc == w.reconvergeAt {
				w.rc.arrive(w, w.pc)
			}
		default:
			w.checkAlignedBarrier()
		}
	}
}

// rows is how many rows of each kind are in use.
func (w *warp) rows() (n regfile.Size) {
	for _, c := range w.splits() {
		top := c.frame.base.Add(c.frame.fn.Frame)
		n.R, n.Q, n.P = max(n.R, top.R), max(n.Q, top.Q), max(n.P, top.P)
	}
	return n
}

// splits is every warp split of the warp, the one that runs last.
func (w *warp) splits() []warpSplit {
	if w.mask == 0 {
		return w.waitingSplits
	}
	return append(slices.Clip(w.waitingSplits), w.warpSplit)
}

// diverged reports whether lanes of the warp wait for others that they could do without.
func (w *warp) diverged() bool {
	for _, c := range w.splits() {
		if c.mask != w.live {
			return true
		}
	}
	return false
}

// hash adds what decides how the warp goes on, but for registers and memory.
func (w *warp) hash(h *maphash.Hash) {
	for _, c := range w.splits() {
		w.hashSplit(h, &c)
	}
	if w.timeSliced {
		maphash.WriteComparable(h, w.sliceLeft)
		maphash.WriteComparable(h, w.changed)
	}
}

func (w *warp) hashSplit(h *maphash.Hash, c *warpSplit) {
	type place struct {
		pc    int32
		mask  uint64
		frame int
	}
	maphash.WriteComparable(h, place{c.pc, c.mask, c.frame.depth})
	maphash.WriteComparable(h, c.loopInstrs)
	maphash.WriteComparable(h, c.deferred)
	for fr := c.frame; fr.caller != nil; fr = fr.caller {
		maphash.WriteComparable(h, fr.call)
		maphash.WriteComparable(h, fr.local)
	}
	for j := c.reconvergence; j != nil; j = j.outer {
		maphash.WriteComparable(h, [2]uint64{j.lanes, j.arrived})
		maphash.WriteComparable(h, place{pc: j.pc, frame: j.frame.depth})
	}
	if b := c.wait; b != nil {
		wait := *b
		wait.generation = 0
		maphash.WriteComparable(h, wait)
	}
}
