package simt

// This file is strands: lanes of a warp that go on together. A warp begins as one;
// where lanes go different ways, it becomes several, of which one runs at a time.
// Which, and where lanes meet again, is up to a reconverger.

import (
	"hash/maphash"
	"slices"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// strand is lanes of a warp that go on together: they stand at the same place in
// the same calls.
type strand struct {
	pc    int32
	owed  int32 // if it has executed some of its block: PTX instructions of it yet to count
	mask  uint64
	frame *frame
	join  *join // where its lanes wait for those that went another way; nil: nowhere
	wait  *wait // nil: it can run
	spun  int32 // how much of its last turns it has spent in loops that may wait
	late  bool  // of policy pc2: it is for the next time round
}

// frame is a function under way: where its registers and its local memory lie. It
// never changes, so strands in the same call share it.
type frame struct {
	fn     *code.Func
	caller *frame       // nil: it is the kernel
	call   *code.Block  // of the caller
	base   regfile.Size // rows below its window
	local  int          // first word of its local memory
	depth  int          // callers
	last   *frame       // the last that was called from it, which a loop calls again
	twin   *frame       // the same in the reference of check mode, and back
}

// top is where the frame's registers end.
func (fr *frame) top() regfile.Size { return fr.base.Add(fr.fn.Frame) }

// newFrame is the frame of a function that one in w.frame calls.
func (w *warp) newFrame(b *code.Block, target *code.Func, local int) *frame {
	fr := w.frame
	if c := fr.last; c != nil && c.call == b && c.fn == target && c.local == local {
		return c
	}
	fr.last = &frame{fn: target, caller: fr, call: b, base: fr.base.Add(fr.fn.Frame), local: local, depth: fr.depth + 1}
	if t := fr.twin; t != nil {
		fr.last.twin = &frame{fn: w.check.Funcs[target.Index], caller: t, call: b, base: t.base.Add(t.fn.Frame), local: local, depth: t.depth + 1, twin: fr.last}
	}
	return fr.last
}

// same reports whether two frames are of the same calls, so that strands in them can
// become one.
func (fr *frame) same(o *frame) bool {
	for fr != o {
		if fr == nil || o == nil || fr.fn != o.fn || fr.call != o.call || fr.local != o.local {
			return false
		}
		fr, o = fr.caller, o.caller
	}
	return true
}

// group is lanes that go to the same block.
type group struct {
	pc   int32
	mask uint64
}

// gather adds lanes to the group of a target.
func gather(groups []group, pc int32, lanes uint64) []group {
	for i := range groups {
		if groups[i].pc == pc {
			groups[i].mask |= lanes
			return groups
		}
	}
	return append(groups, group{pc, lanes})
}

// noBlock is the pc of no block.
const noBlock = -1

// resume makes c the strand that runs.
func (w *warp) resume(c strand) {
	w.strand = c
	w.show(c.frame)
	w.left, w.changed = turnLength, false
	w.stop = noBlock
	if c.join != nil && c.join.frame == c.frame {
		w.stop = c.join.pc
	}
}

// show makes the registers of a frame those that instructions name.
func (w *warp) show(fr *frame) {
	if w.shown == fr {
		return
	}
	w.shown = fr
	for h := range w.files {
		w.files[h].Open(fr.base, fr.fn.Frame)
		if w.check != nil {
			w.check.files[h].Open(fr.twin.base, fr.twin.fn.Frame)
		}
	}
}

// without is the running strand with some of its lanes alone; it goes on without
// them.
func (w *warp) without(lanes uint64) strand {
	c := w.strand
	c.mask = lanes
	w.mask &^= lanes
	return c
}

// take removes strand i from those that do not run.
func (w *warp) take(i int) strand {
	c := w.others[i]
	w.others = append(w.others[:i], w.others[i+1:]...)
	return c
}

// jump continues the running strand at a block.
func (w *warp) jump(pc int32) {
	if pc == w.stop || w.heeds {
		w.come(pc)
		return
	}
	w.pc = pc
}

// come is jump to where the policy may want to know of it.
func (w *warp) come(pc int32) {
	from := w.pc
	w.pc = pc
	if pc == w.stop || len(w.others) > 0 {
		w.rc.arrive(w, from)
	}
}

// alike is the index of another strand that c can go on with as one, -1 if there is none.
func (w *warp) alike(c *strand) int {
	for i := range w.others {
		o := &w.others[i]
		if c.pc == o.pc && c.join == o.join && c.late == o.late && o.wait == nil && c.frame.same(o.frame) {
			return i
		}
	}
	return -1
}

// unite makes strands one that have come to the same place while they waited.
func (w *warp) unite() {
	for i := len(w.others) - 1; i > 0; i-- {
		c := w.others[i]
		if k := w.alike(&c); c.wait == nil && k < i {
			w.others[i].mask |= w.others[k].mask
			w.reunites(&w.others[i])
			w.take(k)
		}
	}
}

// schedule brings a strand to run when the one that did has gone. If none can, the
// warp waits, or has ended.
func (w *warp) schedule() {
	for w.state == ready && w.err == nil {
		switch {
		case w.mask != 0:
			return
		case w.live|w.rests == 0:
			w.state = ended
			w.tellLanes(OnWarpEnd, nil, 0)
		case w.rc.next(w) || w.rc.part(w):
			if w.pc == w.stop {
				w.rc.arrive(w, w.pc)
			}
		default:
			w.judge()
		}
	}
}

// rows is how many rows of each kind are in use.
func (w *warp) rows() (n regfile.Size) {
	for _, c := range w.strands() {
		top := c.frame.base.Add(c.frame.fn.Frame)
		n.R, n.Q, n.P = max(n.R, top.R), max(n.Q, top.Q), max(n.P, top.P)
	}
	return n
}

// strands is every strand of the warp, the one that runs last.
func (w *warp) strands() []strand {
	if w.mask == 0 {
		return w.others
	}
	return append(slices.Clip(w.others), w.strand)
}

// parted reports whether lanes of the warp wait for others that they could do without.
func (w *warp) parted() bool {
	for _, c := range w.strands() {
		if c.mask != w.live {
			return true
		}
	}
	return false
}

// hash adds what decides how the warp goes on, but for registers and memory.
func (w *warp) hash(h *maphash.Hash) {
	for _, c := range w.strands() {
		w.hashStrand(h, &c)
	}
	if w.sliced {
		maphash.WriteComparable(h, w.left)
		maphash.WriteComparable(h, w.changed)
	}
}

func (w *warp) hashStrand(h *maphash.Hash, c *strand) {
	type place struct {
		pc    int32
		mask  uint64
		frame int
	}
	maphash.WriteComparable(h, place{c.pc, c.mask, c.frame.depth})
	maphash.WriteComparable(h, c.spun)
	maphash.WriteComparable(h, c.late)
	for fr := c.frame; fr.caller != nil; fr = fr.caller {
		maphash.WriteComparable(h, fr.call)
		maphash.WriteComparable(h, fr.local)
	}
	for j := c.join; j != nil; j = j.outer {
		maphash.WriteComparable(h, [2]uint64{j.lanes, j.here})
		maphash.WriteComparable(h, place{pc: j.pc, frame: j.frame.depth})
	}
	if b := c.wait; b != nil {
		at := *b
		at.generation = 0
		maphash.WriteComparable(h, at)
	}
}
