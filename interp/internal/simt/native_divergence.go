package simt

// This file exports the warp splits and reconvergences of a warp to machine code, which handles divergence as policy stack
// does, and imports them after an exit.

import (
	"gemu/interp/internal/native"
)

// exportedReconvergences are the reconvergences of a warp that machine code has.
type exportedReconvergences struct {
	byNumber []*reconvergence // by native.Reconvergence.Number - 1
	outer    *reconvergence   // the innermost reconvergence that stayed in Go
}

// exportedFrom returns the reconvergences of a warp. The warp must be exportable.
func exportedFrom(w *warp) *reconvergences { return w.rc.(stackPolicy).ofStack() }

// export copies to machine code the reconvergences of the running warp split within its function, and the warp splits that are
// to arrive at them. It copies none if warp splits run or wait in another order than that of the stack.
func (w *warp) export() {
	n := w.exported
	n.CountedUpTo = w.countedUpTo
	n.inNative, n.State, w.cta.native.anyInNative = true, native.Ready, true
	n.MaxDepth, n.MayExit, n.NumReconvergences, n.NumSplits = 0, 0, 0, 0
	n.reconvergences.byNumber, n.reconvergences.outer = n.reconvergences.byNumber[:0], w.reconvergence
	if !w.exportable || w.timeSliced || w.numWaiting > 0 {
		return
	}
	n.MaxDepth = native.MaxSplits
	if w.reconvergence != nil {
		w.exportReconvergences(&n.reconvergences)
	}
	if n.reconvergences.outer == nil {
		n.MayExit = 1
	}
}

// exportReconvergences copies the reconvergences and warp splits of the running function; none if there are more than
// native.MaxSplits reconvergences.
func (w *warp) exportReconvergences(l *exportedReconvergences) {
	n := w.exported
	j := w.reconvergence
	for ; j != nil && j.frame == w.frame; j = j.outer {
		l.byNumber = append(l.byNumber, j)
	}
	depth := len(l.byNumber)
	if depth > native.MaxSplits {
		n.MaxDepth, l.byNumber = 0, l.byNumber[:0]
		return
	}
	l.outer, n.NumReconvergences = j, uint32(depth)
	for i, j := range l.byNumber {
		n.Reconvergences[depth-1-i] = native.Reconvergence{PC: j.pc, Lanes: uint32(j.lanes), Arrived: uint32(j.arrived), Arrivals: uint32(j.arrivals), Number: uint32(1 + i)}
	}
	// The last warp split runs next, and warp splits of inner reconvergences run before those of outer ones.
	first, at := len(w.waitingSplits), 0
	for first > 0 && len(w.waitingSplits)-first < native.MaxSplits {
		c := &w.waitingSplits[first-1]
		for at < depth && c.reconvergence != l.byNumber[at] {
			at++
		}
		if at == depth || c.frame != w.frame || c.uncounted != 0 {
			break
		}
		first--
	}
	for i := range w.waitingSplits[first:] {
		c := &w.waitingSplits[first+i]
		for at = 0; c.reconvergence != l.byNumber[at]; at++ {
		}
		n.Splits[i] = native.Split{PC: c.pc, Lanes: uint32(c.mask), Depth: uint32(depth - at)}
	}
	n.NumSplits = uint32(len(w.waitingSplits) - first)
	w.waitingSplits = w.waitingSplits[:first]
}

// importSplits copies the warp splits of a warp back from machine code.
func (w *warp) importSplits() {
	n := w.exported
	n.inNative, n.State = false, native.NotRunning
	w.mask, w.live, w.reconvergeAt = uint64(n.Mask), uint64(n.Live), n.ReconvergeAt
	if n.NumReconvergences != 0 || len(n.reconvergences.byNumber) != 0 {
		w.importReconvergences(&n.reconvergences)
	}
	w.files[0].SetActive(n.Mask)
}

// importReconvergences copies reconvergences and waiting warp splits back.
func (w *warp) importReconvergences(l *exportedReconvergences) {
	n := w.exported
	outer := l.outer
	var reconvergences [native.MaxSplits]*reconvergence
	for i := range n.NumReconvergences {
		m := &n.Reconvergences[i]
		var j *reconvergence
		if m.Number != 0 {
			j, l.byNumber[m.Number-1] = l.byNumber[m.Number-1], nil
		} else {
			j = exportedFrom(w).newReconvergence()
			*j = reconvergence{pc: m.PC, frame: w.frame, outer: outer}
			if outer != nil {
				j.depth = outer.depth + 1
			}
		}
		j.lanes, j.arrived, j.arrivals = uint64(m.Lanes), uint64(m.Arrived), int32(m.Arrivals)
		reconvergences[i], outer = j, j
	}
	w.reconvergence = outer
	for i := range n.NumSplits {
		o := &n.Splits[i]
		w.waitingSplits = append(w.waitingSplits, warpSplit{pc: o.PC, mask: uint64(o.Lanes), frame: w.frame, reconvergence: reconvergences[o.Depth-1]})
	}
	for _, j := range l.byNumber {
		if j != nil { // its lanes have reconverged
			r := exportedFrom(w)
			r.free = append(r.free, j)
		}
	}
	l.byNumber = l.byNumber[:0]
}
