package simt

// This file is what executes the code of a warp, and what that leaves to the machine.

import "gemu/interp/internal/code"

// Backend executes the code of warps: what instructions do to registers and memory. All
// backends have the same programs do and count the same, in every mode.
//
// The registers are in w.files, whose windows are those of the running strand, and of
// which each says what lanes are active.
type Backend interface {
	runner

	// span executes instructions of one block for the active lanes, from one pc up to
	// another, and gives the pc of the first that it has not executed: the latter, or one
	// that it does not have. It stops behind one that sets w.err. Where check mode compares
	// or a probe is told, a backend is asked for spans; an instruction that it does not have
	// is the portable one's.
	span(w *warp, from, to int32) int32
}

// runner executes the running strand of a warp from w.pc on, block after block, along
// jumps and branches that all its lanes take alike. It hands back to the machine what it
// cannot do, or must not: see reason. What the strand does then, and which runs next, is
// up to the machine (warp.execute) alone.
//
// In between, w.pc and the counts may be anywhere; when it hands back they are what every
// runner would have made of them. The functions of this file see to that.
type runner interface {
	// run executes until about budget PTX instructions are executed: it looks where a block
	// ends. It executes one block at least, or what is left of one. It counts them for the
	// warp, and for the lanes only those that their guards keep from executing.
	run(w *warp, budget int) reason
}

// checker is a backend that runs check mode itself. What it leaves to Go is the portable one's.
type checker interface{ checks() runner }

// maker is a backend that makes something of a launch's code, when it is needed or ahead of that.
type maker interface{ makes(g *Grid) }

// Make has the backend make what it will need first.
func (g *Grid) Make() {
	if b, ok := g.backend.(maker); ok {
		b.makes(g)
	}
}

// runnerOf is what runs the warps of a CTA: their backend, or what asks it for spans.
func (c *cta) runnerOf() runner {
	switch {
	case c.stream != nil:
		return observed{}
	case c.grid.mode == Check:
		if b, ok := c.grid.backend.(checker); ok {
			return b.checks()
		}
		return checked{}
	}
	return c.grid.backend
}

// span has the backend execute instructions of a block, from one pc up to another. It stops
// where w.err is set.
func (w *warp) span(from, to int32) {
	for {
		if from = w.cta.grid.backend.span(w, from, to); from >= to || w.err != nil {
			return
		}
		if from = Portable.span(w, from, from+1); from >= to || w.err != nil {
			return
		}
	}
}

// reason is why a backend hands a strand back, and where that stands then.
type reason uint8

const (
	goesOn  reason = iota // there is none
	used                  // the budget is used up, or the warp gives up the rest; before a block
	parts                 // at a block's end, a branch whose lanes go different ways
	meets                 // at a block's end, from which it comes to a place that the policy wants to know of
	nobody                // nowhere: its lanes wait where others are to meet them
	control               // at another end of a block: a call, return, exit or barrier; where somebody watches, any
	visible               // before a block that the CTA may only execute in its turn
	behind                // before a wait for what the warp's warpgroup has yet to issue
	apart                 // before a call whose lanes make it apart
	away                  // at w.away, a collective instruction whose lanes are elsewhere
	lacks                 // before an instruction that the backend does not have
	event                 // before an instruction before which a probe stops the launch
	faulted               // by a trap, or because it comes to what is not run: w.err
)

// blockwise executes instructions of a block, those from w.pc on up to its end. It stops at
// once if w.err is set; before an instruction it stops by warp.halt.
type blockwise func(w *warp, insts []code.Instr) reason

// inBlocks is the run of what executes one block after the other. It goes on behind the end
// of a block where that is a matter of w.pc alone. Otherwise the strand stands at the end,
// which the machine has to execute.
func inBlocks(w *warp, budget int, block blockwise) reason {
	w.activate()
	p, enough := w.cta.code.Program, w.count.WarpInstructions+int64(budget)
	for {
		b := p.Block(w.pc)
		if b.Caution != 0 {
			if why := w.barred(b); why != goesOn {
				return why
			}
		}
		why := block(w, w.pay(b))
		if w.err != nil {
			return w.failed(b)
		}
		if why != goesOn {
			return why
		}
		w.pc, w.owed = b.Last, 0
		end, to := p.End(b), b.Next
		if end.Op != code.Jump {
			if end.Op != code.Branch && end.Op != code.Return {
				return control
			}
			switch taken := w.guarded(end.Guard); {
			case taken == w.mask:
				to = b.Target
			case taken != 0 && b.Target != to:
				return parts
			}
		}
		if to == w.stop || w.heeds && len(w.others) > 0 {
			return meets
		}
		if end.Op != code.Jump {
			w.count.Branches++
		}
		w.pc = to
		if w.count.WarpInstructions >= enough || w.yield {
			return used
		}
	}
}

// activate tells the files which lanes execute.
func (w *warp) activate() {
	mask := w.mask
	for h := range w.files {
		w.files[h].SetActive(uint32(mask))
		mask >>= 32
	}
}

// barred reports what is in the way of executing a block.
func (w *warp) barred(b *code.Block) reason {
	switch {
	case b.Caution&code.Visible != 0 && !w.cta.turn && !w.paused:
		return visible
	case b.Caution&code.Grouped != 0 && !w.grouped(b):
		return behind
	case b.Caution&code.Apart != 0 && len(w.calls(b)) > 0:
		return apart
	case b.Caution&code.Endless != 0:
		w.fail(w.cta.code.anchor(b), w.mask, ErrEndlessLoop, "%v: no way leads out of this loop, and it does nothing", ErrEndlessLoop)
		return faulted
	}
	return goesOn
}

// pay counts the PTX instructions of a block that the running strand has yet to execute, and
// gives those of the machine up to the end. It counts before they are executed: the clock
// takes that into account.
func (w *warp) pay(b *code.Block) []code.Instr {
	n, insts := int32(b.Sources.Len()), b.Body
	if w.owed != 0 { // it goes on in the middle
		n, insts = w.owed, insts[w.pc-b.First:]
	}
	w.count.WarpInstructions += int64(n)
	return insts
}

// halt puts the running strand before an instruction of its block: of what it has paid for,
// PTX instruction src, which this one is part of, and those behind are yet to
// count.
func (w *warp) halt(b *code.Block, pc, src int32) {
	w.pc, w.owed = pc, b.Sources.End-src
	w.count.WarpInstructions -= int64(w.owed)
}

// failed is why a strand cannot go on for which w.err is set.
func (w *warp) failed(b *code.Block) reason {
	if w.err != errAway && w.err != errNoRoom {
		return faulted
	}
	why := away
	if w.err == errNoRoom {
		why = behind
	}
	w.err = nil
	w.backUp(b, w.away)
	return why
}
