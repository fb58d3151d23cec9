package exchange

// This file exports the warp splits and reconvergences of a warp to machine code, and imports them after an exit. Machine
// code handles divergence in the order of policy stack.

import (
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// exportedFrom returns the reconvergence points of a warp, for new and unused objects. The warp must be exportable.
func exportedFrom(w *machine.Warp) *warp.Reconvergences {
	return w.Reconverger.(warp.StackPolicy).OfStack()
}

// exportWarp copies to machine code the reconvergences of the running warp split in its current call, and the waiting warp
// splits that will arrive at them. It copies none if warp splits do not run in the order of the stack, if one waits at a
// barrier or a collective instruction, or if a probe subscribes to events of divergence. Then Go handles divergence.
func exportWarp(w *machine.Warp) {
	n := w.Exported
	n.CountedUpTo = w.CountedUpTo
	n.InNative, n.State, w.CTA.Native.AnyInNative = true, native.Ready, true
	n.MaxDepth, n.MayExit, n.NumReconvergences, n.NumSplits = 0, 0, 0, 0
	n.NumberedReconvergences.ByNumber, n.NumberedReconvergences.Outer = n.NumberedReconvergences.ByNumber[:0], w.Reconvergence
	exportCopies(w)
	if !w.Exportable || w.TimeSliced || w.NumWaiting > 0 || w.CTA.IsSubscribed(probe.OnBranch|probe.OnSplit|probe.OnReconverge) {
		return
	}
	n.MaxDepth = native.MaxSplits
	if w.Reconvergence != nil {
		exportReconvergences(w, &n.NumberedReconvergences)
	}
	if n.NumberedReconvergences.Outer == nil && !w.CTA.IsSubscribed(probe.OnBefore|probe.OnAfter|probe.OnExit) {
		n.MayExit = 1
	}
}

// exportCopies lets machine code issue cp.async if the CTA has begun such work and no probe subscribes to its effects.
func exportCopies(w *machine.Warp) {
	c := w.CTA
	if len(c.AsyncState.Copies) == 0 || c.IsSubscribed(probe.OnEffect) {
		w.Exported.SetCopies(nil, nil, nil)
		return
	}
	w.Exported.SetCopies(&c.AsyncState.Copies[w.ID], &c.AsyncState.CopyState, &c.Cluster.Sequence)
}

// exportReconvergences copies the reconvergences and the waiting warp splits of the current call to machine code; none if
// there are more than native.MaxSplits reconvergences.
func exportReconvergences(w *machine.Warp, l *machine.ExportedReconvergences) {
	n := w.Exported
	j := w.Reconvergence
	for ; j != nil && j.Frame == w.Frame; j = j.Outer {
		l.ByNumber = append(l.ByNumber, j)
	}
	depth := len(l.ByNumber)
	if depth > native.MaxSplits {
		n.MaxDepth, l.ByNumber = 0, l.ByNumber[:0]
		return
	}
	l.Outer, n.NumReconvergences = j, uint32(depth)
	for i, j := range l.ByNumber {
		n.Reconvergences[depth-1-i] = native.Reconvergence{PC: j.PC, Lanes: uint32(j.Lanes), Arrived: uint32(j.Arrived), Arrivals: uint32(j.Arrivals), Number: uint32(1 + i)}
	}
	// The last waiting warp split runs next, so warp splits of inner reconvergences come after those of outer
	// reconvergences. From the end, export as many as belong to the exported reconvergences.
	first, at := len(w.WaitingSplits), 0
	for first > 0 && len(w.WaitingSplits)-first < native.MaxSplits {
		c := &w.WaitingSplits[first-1]
		for at < depth && c.Reconvergence != l.ByNumber[at] {
			at++
		}
		if at == depth || c.Frame != w.Frame || c.Uncounted != 0 {
			break
		}
		first--
	}
	for i := range w.WaitingSplits[first:] {
		c := &w.WaitingSplits[first+i]
		for at = 0; c.Reconvergence != l.ByNumber[at]; at++ {
		}
		n.Splits[i] = native.Split{PC: c.PC, Lanes: uint32(c.Mask), Depth: uint32(depth - at)}
	}
	n.NumSplits = uint32(len(w.WaitingSplits) - first)
	w.WaitingSplits = w.WaitingSplits[:first]
}

// importSplits copies the warp splits of a warp back from machine code.
func importSplits(w *machine.Warp) {
	n := w.Exported
	n.InNative, n.State = false, native.NotRunning
	w.Mask, w.Live, w.ReconvergeAt = uint64(n.Mask), uint64(n.Live), n.ReconvergeAt
	if n.NumReconvergences != 0 || len(n.NumberedReconvergences.ByNumber) != 0 {
		importReconvergences(w, &n.NumberedReconvergences)
	}
	w.Files[0].SetActive(n.Mask)
}

// importReconvergences copies reconvergences and waiting warp splits back from machine code.
func importReconvergences(w *machine.Warp, l *machine.ExportedReconvergences) {
	n := w.Exported
	outer := l.Outer
	var reconvergences [native.MaxSplits]*machine.Reconvergence
	for i := range n.NumReconvergences {
		m := &n.Reconvergences[i]
		var j *machine.Reconvergence
		if m.Number != 0 {
			j, l.ByNumber[m.Number-1] = l.ByNumber[m.Number-1], nil
		} else {
			j = exportedFrom(w).NewReconvergence()
			*j = machine.Reconvergence{PC: m.PC, Frame: w.Frame, Outer: outer}
			if outer != nil {
				j.Depth = outer.Depth + 1
			}
		}
		j.Lanes, j.Arrived, j.Arrivals = uint64(m.Lanes), uint64(m.Arrived), int32(m.Arrivals)
		reconvergences[i], outer = j, j
	}
	w.Reconvergence = outer
	for i := range n.NumSplits {
		o := &n.Splits[i]
		w.WaitingSplits = append(w.WaitingSplits, machine.WarpSplit{PC: o.PC, Mask: uint64(o.Lanes), Frame: w.Frame, Reconvergence: reconvergences[o.Depth-1]})
	}
	for _, j := range l.ByNumber {
		if j != nil { // machine code has completed it
			r := exportedFrom(w)
			r.Free = append(r.Free, j)
		}
	}
	l.ByNumber = l.ByNumber[:0]
}
