package simt

// This file is the run loop of watched launches: it executes PTX instruction by PTX
// instruction, each as the mode has it, and tells the probes.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/probe"
)

// observedRunner runs watched launches.
type observedRunner struct{}

func (observedRunner) run(w *warp, budget int) reason {
	return runBlocks(w, budget, (*warp).blockObserved)
}

// blockObserved is block, or blockChecked, where probes are told.
func (w *warp) blockObserved(_ []code.Instr) reason {
	if w.check != nil {
		defer w.recoverMismatch()
	}
	s, p, pc := w.cta.stream, w.cta.code, w.pc
	b := p.Block(pc)
	pairs, accesses := w.pairs(b, pc), p.accesses()
	first, emitted := w.firstSource(b), false
	if w.pausedInBlock {
		first, emitted, w.pausedInBlock = b.Sources.End-w.uncounted, w.pauseAnnounced, false
	}
	mayCount := w.check == nil && !emitted && !w.cta.isSubscribed(probe.OnMaterialise) // leave out what nobody is told of
	g, union := w.cta.grid, s.unionFor(w)
	if g.visited != nil {
		g.visited[b.Index] = true
	}
	// Of what is left out, and where no more than an access is told, the execution is put off until
	// something else is to be told.
	counted := first
	for i := first; i < b.Sources.End; i++ {
		if g.inOrder && g.steps+int64(i-counted) >= g.pauseStep {
			g.pauseRequested = g.mayPause
		}
		if union.reducedSinks != w.reducedSinks {
			union = s.unionFor(w)
		}
		kinds := probe.Selectable
		if mayCount && union.selected != nil && s.stopErr == nil && !g.pauseRequested {
			if kinds = union.selected[i]; kinds == 0 {
				next := min(union.next[i], b.Sources.End)
				if g.inOrder {
					next = i + int32(min(int64(next-i), max(1, g.pauseStep-g.steps-int64(i-counted))))
				}
				i, s.reducedSinks = next-1, w.reducedSinks
				continue
			}
		}
		access := &accesses[i]
		if pc = w.countSources(pc, access.start); w.err != nil {
			w.noteBegun(w.countReached(counted, i))
			return noReason
		}
		w.noteBegun(int64(i - counted))
		counted = i
		src := &p.Sources[i]
		s.beginStep(w, src, w.guarded(src.Guard))
		if kinds == probe.OnAccess {
			for _, instr := range access.folded {
				s.emitAccess(w, instr)
			}
			for _, at := range access.run {
				if pc = w.countSources(pc, at); w.err != nil {
					w.noteBegun(1)
					return noReason
				}
				s.emitAccess(w, &p.Instrs[at])
			}
			continue
		}
		if !emitted && !g.pauseRequested {
			s.emit(&s.step, probe.OnBefore)
			emitted = true
		}
		if s.stopErr != nil || g.pauseRequested {
			w.halt(b, max(w.pc, access.start), i)
			w.pausedInBlock, w.pauseAnnounced = s.stopErr == nil, emitted
			return probeStop
		}
		emitted = false
		w.noteBegun(1)
		counted++
		for _, instr := range access.folded {
			s.emitAccess(w, instr)
		}
		run := access.run
		if w.check != nil || g.ref != nil && kinds&operationKinds != 0 {
			for ; len(pairs) > 0 && pairs[0].ref.Src <= i; pairs = pairs[1:] {
				if pairs[0].ref.Src < i {
					continue // folded, before an instruction that is tried again
				}
				if instr := pairs[0].instr; instr != nil && slices.Contains(run, pairs[0].from) {
					s.emitAccess(w, instr)
				}
				if w.operation(pairs[:1]); w.err != nil {
					return noReason
				}
				pc = pairs[0].to
			}
		} else {
			for ; len(run) > 0; run = run[1:] {
				if run[0] < pc {
					continue
				}
				if pc = w.countSources(pc, run[0]); w.err != nil {
					return noReason
				}
				s.emitAccess(w, &p.Instrs[pc])
			}
			end := pc
			for end < b.Last && p.Instrs[end].Src == i {
				end++
			}
			if pc = w.countSources(pc, end); w.err != nil {
				return noReason
			}
		}
		if kinds&probe.OnAfter != 0 {
			s.emitAfter(w, src)
		}
	}
	if w.countSources(pc, b.Last); w.err != nil {
		w.noteBegun(w.countReached(counted, b.Sources.End))
		return noReason
	}
	w.noteBegun(int64(b.Sources.End - counted))
	if w.check != nil {
		w.checkEnd(b)
	}
	if mayCount && s.unionFor(w).selected != nil && !w.cta.isSubscribed(probe.OnBranch) {
		return noReason
	}
	w.pc, w.uncounted = b.Last, 0
	return otherEnd
}

// countSources executes instructions of a block that nobody is told of, from one pc up to another, and gives
// where the warp split stands then.
func (w *warp) countSources(from, to int32) int32 {
	if from >= to || w.check != nil { // there all is told
		return from
	}
	w.span(from, to)
	return to
}

// countReached is how many of the PTX instructions from one up to another have begun that were executed
// together, and not to their end.
func (w *warp) countReached(from, to int32) int64 {
	last := to
	if t, ok := w.err.(*probe.Trap); ok && t.Index >= 0 {
		last = int32(t.Index)
	} else if w.err == errAbsentLanes || w.err == errNoTensorMemory {
		last = w.blockedInstr.Src
	}
	if last >= from && last < to {
		to = last + 1
	}
	return int64(to - from)
}

// pairs are the instructions of a block from a pc on, with those of the reference, if there
// is one.
func (w *warp) pairs(b *code.Block, pc int32) []instrPair {
	ref := w.cta.grid.ref
	if ref == nil {
		return nil
	}
	pairs := ref.pairs[b.Index]
	for n := b.First; n < pc; pairs = pairs[1:] {
		if pairs[0].instr != nil {
			n++
		}
	}
	return pairs
}

// operation executes an instruction that is paired with one of the reference.
func (w *warp) operation(single []instrPair) {
	s, p := w.cta.stream, &single[0]
	if s.subscription.Events&operationKinds != 0 {
		s.stepPlace.pair, s.step.Operation = p, &w.cta.grid.ref.operations[p.ref.Src].Operations[p.operationIndex]
		if w.cta.isSubscribed(probe.OnOperation) {
			s.emit(&s.step, probe.OnOperation)
		}
	}
	switch {
	case w.check != nil:
		w.checkPair(p)
	case p.instr != nil:
		w.span(p.from, p.to)
	}
	if w.err == nil && w.cta.isSubscribed(probe.OnResult) {
		s.emit(&s.step, probe.OnResult)
	}
}

// firstSource is the first PTX instruction of a block that the running warp split has yet to
// execute.
func (w *warp) firstSource(b *code.Block) int32 {
	if w.uncounted == 0 {
		return b.Sources.First
	}
	return w.cta.code.uncountedSource(b, w.pc, w.uncounted)
}

// observe tells of an instruction that lanes of the running warp split execute otherwise than
// in a block; do gives them their results.
func (w *warp) observe(src *code.Source, lanes uint64, fn func()) {
	s := w.cta.stream
	if s == nil {
		fn()
		return
	}
	s.beginStep(w, src, lanes)
	s.step.Step = -1
	s.emit(&s.step, probe.OnBefore)
	if fn(); w.err == nil {
		s.emitAfter(w, src)
	}
}

// observeExit tells of an exit that lanes execute on the side.
func (w *warp) observeExit(src *code.Source, lanes uint64) {
	if w.cta.stream == nil {
		return
	}
	saved := w.mask
	w.mask = lanes
	w.observe(src, lanes, func() {})
	w.mask = saved
}
