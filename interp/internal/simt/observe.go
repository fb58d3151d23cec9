package simt

// This file is the run loop of watched launches: it executes PTX instruction by PTX
// instruction, each as the mode has it, and tells the probes.

import (
	"slices"

	"gemu/interp/internal/code"
)

// observed runs watched launches.
type observed struct{}

func (observed) run(w *warp, budget int) reason { return inBlocks(w, budget, (*warp).blockObserved) }

// blockObserved is block, or blockChecked, where probes are told.
func (w *warp) blockObserved([]code.Instr) reason {
	if w.check != nil {
		defer w.recovered()
	}
	s, p, pc := w.cta.stream, w.cta.code, w.pc
	b := p.Block(pc)
	pairs, accesses := w.pairs(b, pc), p.accesses()
	first, told := w.firstSource(b), false
	if w.paused {
		first, told, w.paused = b.Sources.End-w.owed, w.told, false
	}
	may := w.check == nil && !told && !w.cta.hears(OnExpand) // leave out what nobody is told of
	g := w.cta.grid
	if g.visited != nil {
		g.visited[b.Index] = true
	}
	for i := first; i < b.Sources.End; i++ {
		if g.inOrder && g.steps >= g.until {
			g.pausing = g.pauses
		}
		if chosen := s.choice(w); may && chosen != nil && !chosen[i] && s.stop == nil && !g.pausing {
			begin, from := i, pc
			for i++; i < b.Sources.End && !chosen[i] && !(g.inOrder && g.steps+int64(i-begin) >= g.until); {
				i++
			}
			if pc = p.pcOf(b, pc, i); from < pc {
				if w.span(from, pc); w.err != nil {
					w.begun(w.reached(begin, i))
					return goesOn
				}
			}
			w.begun(int64(i - begin))
			i--
			continue
		}
		src := &p.Sources[i]
		s.ready(w, src, w.guarded(src.Guard))
		if !told && !g.pausing {
			s.tell(&s.step, OnBefore)
			told = true
		}
		if s.stop != nil || g.pausing {
			w.halt(b, p.pcOf(b, w.pc, i), i)
			w.paused, w.told = s.stop == nil, told
			return event
		}
		told = false
		w.begun(1)
		access := &accesses[i]
		for _, in := range access.folded {
			s.tellAccess(w, in)
		}
		if w.cta.grid.ref != nil {
			for ; len(pairs) > 0 && pairs[0].ref.Src <= i; pairs = pairs[1:] {
				if pairs[0].ref.Src < i {
					continue // folded, before an instruction that is tried again
				}
				if in := pairs[0].in; in != nil && slices.Contains(access.run, in) {
					s.tellAccess(w, in)
				}
				if w.operation(pairs[:1]); w.err != nil {
					return goesOn
				}
				pc = pairs[0].to
			}
		} else {
			for ; pc < b.Last && p.Instrs[pc].Src == i; pc++ {
				in := &p.Instrs[pc]
				if slices.Contains(access.run, in) {
					s.tellAccess(w, in)
				}
				if w.span(pc, pc+1); w.err != nil {
					return goesOn
				}
			}
		}
		s.tellAfter(w, src)
	}
	if w.check != nil {
		w.checkEnd(b)
	}
	if may && s.choice(w) != nil && !w.cta.hears(OnBranch) {
		return goesOn
	}
	w.pc, w.owed = b.Last, 0
	return control
}

// reached is how many of the PTX instructions from one up to another have begun that were executed
// together, and not to their end.
func (w *warp) reached(from, to int32) int64 {
	if (w.err == errAway || w.err == errNoRoom) && w.away.Src >= from && w.away.Src < to {
		to = w.away.Src + 1
	}
	return int64(to - from)
}

// pcOf is the first instruction of a block, from a pc on, that is part of a PTX instruction
// or behind it.
func (k *Kernel) pcOf(b *code.Block, pc, source int32) int32 {
	for pc < b.Last && k.Instrs[pc].Src < source {
		pc++
	}
	return pc
}

// pairs are the instructions of a block from a pc on, with those of the reference, if there
// is one.
func (w *warp) pairs(b *code.Block, pc int32) []pair {
	ref := w.cta.grid.ref
	if ref == nil {
		return nil
	}
	pairs := ref.pairs[b.Index]
	for n := b.First; n < pc; pairs = pairs[1:] {
		if pairs[0].in != nil {
			n++
		}
	}
	return pairs
}

// operation executes an instruction that is paired with one of the reference.
func (w *warp) operation(one []pair) {
	s, p := w.cta.stream, &one[0]
	if s.wants.Events&operationKinds != 0 {
		s.step.pair, s.step.Operation = p, &w.cta.grid.ref.parts[p.ref.Src].Operations[p.operation]
		if w.cta.hears(OnOperation) {
			s.tell(&s.step, OnOperation)
		}
	}
	switch {
	case w.check != nil:
		w.execChecked(one)
	case p.in != nil:
		w.span(p.from, p.to)
	}
	if w.err == nil && w.cta.hears(OnResult) {
		s.tell(&s.step, OnResult)
	}
}

// firstSource is the first PTX instruction of a block that the running strand has yet to
// execute.
func (w *warp) firstSource(b *code.Block) int32 {
	if w.owed == 0 {
		return b.Sources.First
	}
	return w.cta.code.owedSource(b, w.pc, w.owed)
}

// observe tells of an instruction that lanes of the running strand execute otherwise than
// in a block; do gives them their results.
func (w *warp) observe(src *code.Source, lanes uint64, do func()) {
	s := w.cta.stream
	if s == nil {
		do()
		return
	}
	s.ready(w, src, lanes)
	s.step.Step = -1
	s.tell(&s.step, OnBefore)
	if do(); w.err == nil {
		s.tellAfter(w, src)
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
