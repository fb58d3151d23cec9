package simt

// This file is what executes the code of a warp, and what that leaves to the machine.

import (
	"gemu/interp/internal/code"
	"gemu/probe"
)

// Backend executes the code of warps: what instructions do to registers and memory. All
// backends have the same programs do and count the same, in every mode.
//
// The registers are in w.files, whose windows are those of the running warp split, and of
// which each says what lanes are active.
type Backend interface {
	runner

	// span executes instructions of one block for the active lanes, from one pc up to
	// another, and gives the pc of the first that it has not executed: the latter, or one
	// that it does not have. It stops behind one that sets w.err. Where check mode compares
	// or a probe is told, a backend is asked for spans; an instruction that it does not have
	// is the portable one's.
	span(w *warp, from, to int32) int32

	// importAll copies back the state of warps that the backend keeps elsewhere. It is called while c.native.anyInNative.
	importAll(c *cta)
}

// importAll copies the state of all warps of the CTA back from its backend.
func (c *cta) importAll() {
	if c.native.anyInNative {
		c.grid.backend.importAll(c)
	}
}

// runner executes the running warp split of a warp from w.pc on, block after block, along
// jumps and branches that all its lanes take alike. It hands back to the machine what it
// cannot do, or must not: see reason. What the warp split does then, and which runs next, is
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

// checkingBackend is a backend that runs check mode itself. What it leaves to Go is the portable one's.
type checkingBackend interface{ newCheckRunner() runner }

// compiler is a backend that makes something of a launch's code, when it is needed or ahead of that.
type compiler interface{ compile(g *Grid) }

// CompileNative has the backend make what it will need first.
func (g *Grid) CompileNative() {
	if b, ok := g.backend.(compiler); ok {
		b.compile(g)
	}
}

// runnerOf is what runs the warps of a CTA: their backend, or what asks it for spans.
func (c *cta) runnerOf() runner {
	switch {
	case c.stream != nil:
		return observedRunner{}
	case c.grid.mode == Check:
		if b, ok := c.grid.backend.(checkingBackend); ok {
			return b.newCheckRunner()
		}
		return checkRunner{}
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

// reason is why a backend hands a warp split back, and where that stands then.
type reason uint8

const (
	noReason        reason = iota // there is none
	budgetUsed                    // the budget is used up, or the warp gives up the rest; before a block
	diverges                      // at a block's end, a branch whose lanes go different ways
	reconverges                   // at a block's end, from which it comes to a place that the policy wants to know of
	noSplit                       // nowhere: its lanes wait where others are to meet them
	otherEnd                      // at another end of a block: a call, return, exit or barrier; where somebody watches, any
	beforeOrdered                 // before a block that the CTA may only execute in its turn
	beforeGroupWait               // before a wait for what the warp's warpgroup has yet to issue
	differentCalls                // before a call whose lanes make it apart
	lanesAbsent                   // at w.away, a collective instruction whose lanes are elsewhere
	unsupported                   // before an instruction that the backend does not have
	probeStop                     // before an instruction before which a probe stops the launch
	trapped                       // by a trap, or because it comes to what is not run: w.err
)

// blockRunner executes instructions of a block, those from w.pc on up to its end. It stops at
// once if w.err is set; before an instruction it stops by warp.halt.
type blockRunner func(w *warp, instrs []code.Instr) reason

// runBlocks is the run of what executes one block after the other. It goes on behind the end
// of a block where that is a matter of w.pc alone. Otherwise the warp split stands at the end,
// which the machine has to execute.
func runBlocks(w *warp, budget int, block blockRunner) reason {
	w.activate()
	p, enough := w.cta.code.Program, w.count.WarpInstructions+int64(budget)
	for {
		b := p.Block(w.pc)
		if b.Caution != 0 {
			if reason := w.stopReason(b); reason != noReason {
				return reason
			}
		}
		reason := block(w, w.chargeBlock(b))
		if w.err != nil {
			return w.failed(b)
		}
		if reason != noReason {
			return reason
		}
		w.pc, w.uncounted = b.Last, 0
		end, to := p.End(b), b.Next
		if end.Op != code.Jump {
			if end.Op != code.Branch && end.Op != code.Return {
				return otherEnd
			}
			switch takenLanes := w.guarded(end.Guard); {
			case takenLanes == w.mask:
				to = b.Target
			case takenLanes != 0 && b.Target != to:
				return diverges
			}
		}
		if to == w.reconvergeAt || w.notifyEveryBlock && len(w.waitingSplits) > 0 {
			return reconverges
		}
		if end.Op != code.Jump {
			w.count.Branches++
		}
		w.pc = to
		if w.count.WarpInstructions >= enough || w.yields {
			return budgetUsed
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

// stopReason reports what is in the way of executing a block.
func (w *warp) stopReason(b *code.Block) reason {
	switch {
	case b.Caution&code.GloballyOrdered != 0 && !w.cta.ordered && !w.pausedInBlock:
		return beforeOrdered
	case b.Caution&code.GroupWait != 0 && !w.grouped(b):
		return beforeGroupWait
	case b.Caution&code.SeparateCalls != 0 && len(w.callGroups(b)) > 0:
		return differentCalls
	case b.Caution&code.EndlessLoop != 0:
		w.fail(w.cta.code.firstSource(b), w.mask, probe.ErrEndlessLoop, "%v: no way leads out of this loop, and it does nothing", probe.ErrEndlessLoop)
		return trapped
	}
	return noReason
}

// chargeBlock counts the PTX instructions of a block that the running warp split has yet to execute, and
// gives those of the machine up to the end. It counts before they are executed: the clock
// takes that into account.
func (w *warp) chargeBlock(b *code.Block) []code.Instr {
	n, instrs := int32(b.Sources.Len()), b.Body
	if w.uncounted != 0 { // it goes on in the middle
		n, instrs = w.uncounted, instrs[w.pc-b.First:]
	}
	w.count.WarpInstructions += int64(n)
	return instrs
}

// halt puts the running warp split before an instruction of its block: of what it has paid for,
// PTX instruction src, which this one is part of, and those behind are yet to
// count.
func (w *warp) halt(b *code.Block, pc, src int32) {
	w.pc, w.uncounted = pc, b.Sources.End-src
	w.count.WarpInstructions -= int64(w.uncounted)
}

// failed is why a warp split cannot go on for which w.err is set.
func (w *warp) failed(b *code.Block) reason {
	if w.err != errAbsentLanes && w.err != errNoTensorMemory {
		return trapped
	}
	why := lanesAbsent
	if w.err == errNoTensorMemory {
		why = beforeGroupWait
	}
	w.err = nil
	w.returnToInstr(b, w.blockedInstr)
	return why
}
