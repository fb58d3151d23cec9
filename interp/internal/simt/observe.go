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
	g, of := w.cta.grid, s.choice(w)
	if g.visited != nil {
		g.visited[b.Index] = true
	}
	// Of what is left out, and where no more than an access is told, the execution is put off until
	// something else is to be told.
	counted := first
	for i := first; i < b.Sources.End; i++ {
		if g.inOrder && g.steps+int64(i-counted) >= g.until {
			g.pausing = g.pauses
		}
		if of.by != w.eased {
			of = s.choice(w)
		}
		kinds := chosenKinds
		if may && of.chosen != nil && s.stop == nil && !g.pausing {
			if kinds = of.chosen[i]; kinds == 0 {
				next := min(of.next[i], b.Sources.End)
				if g.inOrder {
					next = i + int32(min(int64(next-i), max(1, g.until-g.steps-int64(i-counted))))
				}
				i, s.eased = next-1, w.eased
				continue
			}
		}
		access := &accesses[i]
		if pc = w.catchUp(pc, access.start); w.err != nil {
			w.begun(w.reached(counted, i))
			return goesOn
		}
		w.begun(int64(i - counted))
		counted = i
		src := &p.Sources[i]
		s.ready(w, src, w.guarded(src.Guard))
		if kinds == OnAccess {
			for _, in := range access.folded {
				s.tellAccess(w, in)
			}
			for _, at := range access.run {
				if pc = w.catchUp(pc, at); w.err != nil {
					w.begun(1)
					return goesOn
				}
				s.tellAccess(w, &p.Instrs[at])
			}
			continue
		}
		if !told && !g.pausing {
			s.tell(&s.step, OnBefore)
			told = true
		}
		if s.stop != nil || g.pausing {
			w.halt(b, max(w.pc, access.start), i)
			w.paused, w.told = s.stop == nil, told
			return event
		}
		told = false
		w.begun(1)
		counted++
		for _, in := range access.folded {
			s.tellAccess(w, in)
		}
		run := access.run
		if w.check != nil || g.ref != nil && kinds&operationKinds != 0 {
			for ; len(pairs) > 0 && pairs[0].ref.Src <= i; pairs = pairs[1:] {
				if pairs[0].ref.Src < i {
					continue // folded, before an instruction that is tried again
				}
				if in := pairs[0].in; in != nil && slices.Contains(run, pairs[0].from) {
					s.tellAccess(w, in)
				}
				if w.operation(pairs[:1]); w.err != nil {
					return goesOn
				}
				pc = pairs[0].to
			}
		} else {
			for ; len(run) > 0; run = run[1:] {
				if run[0] < pc {
					continue
				}
				if pc = w.catchUp(pc, run[0]); w.err != nil {
					return goesOn
				}
				s.tellAccess(w, &p.Instrs[pc])
			}
			end := pc
			for end < b.Last && p.Instrs[end].Src == i {
				end++
			}
			if pc = w.catchUp(pc, end); w.err != nil {
				return goesOn
			}
		}
		if kinds&OnAfter != 0 {
			s.tellAfter(w, src)
		}
	}
	if w.catchUp(pc, b.Last); w.err != nil {
		w.begun(w.reached(counted, b.Sources.End))
		return goesOn
	}
	w.begun(int64(b.Sources.End - counted))
	if w.check != nil {
		w.checkEnd(b)
	}
	if may && s.choice(w).chosen != nil && !w.cta.hears(OnBranch) {
		return goesOn
	}
	w.pc, w.owed = b.Last, 0
	return control
}

// catchUp executes instructions of a block that nobody is told of, from one pc up to another, and gives
// where the strand stands then.
func (w *warp) catchUp(from, to int32) int32 {
	if from >= to || w.check != nil { // there all is told
		return from
	}
	w.span(from, to)
	return to
}

// reached is how many of the PTX instructions from one up to another have begun that were executed
// together, and not to their end.
func (w *warp) reached(from, to int32) int64 {
	last := to
	if t, ok := w.err.(*Trap); ok && t.at != nil {
		last = t.at.Index
	} else if w.err == errAway || w.err == errNoRoom {
		last = w.away.Src
	}
	if last >= from && last < to {
		to = last + 1
	}
	return int64(to - from)
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
