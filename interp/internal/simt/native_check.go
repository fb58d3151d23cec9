package simt

// This file is check mode as machine code: what package native executes in both ways, and Go what it has not, or
// what differs.

import (
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// adjoins reports whether the registers of the reference lie behind those of the kernel: unless it calls functions, whose
// would lie there.
func (c *Kernel) adjoins() bool { return c.ref != nil && len(c.Funcs) == 1 }

// twin is a kernel beside its reference as machine code; nil if the reference's registers are elsewhere.
func (c *Kernel) twin() *native.Check {
	if !c.adjoins() {
		return nil
	}
	steps := make([][]native.Step, len(c.Blocks))
	for i := range c.Blocks {
		for j := range c.ref.pairs[i] {
			steps[i] = append(steps[i], c.stepOf(&c.ref.pairs[i][j]))
		}
		end := c.ref.End(&c.ref.Blocks[i])
		steps[i] = append(steps[i], native.Step{Ends: true, Ref: end, Reads: nativePairs(c.ref.blocks[i].reads)})
	}
	return native.NewCheck(c.native, c.ref.Program, c.entry.Frame, steps, native.Counts{
		Compact: unsafe.Offsetof(EngineCounts{}.Compact), Quick: unsafe.Offsetof(EngineCounts{}.Quick), OnLanes: unsafe.Offsetof(EngineCounts{}.OnLanes),
	})
}

// stepOf is a pair for package native.
func (c *Kernel) stepOf(p *pair) native.Step {
	s := native.Step{PC: p.from, In: p.in, Ref: p.ref, Reads: nativePairs(p.reads), Writes: nativePairs(p.writes), Fresh: nativePairs(p.fresh), Wanted: nativePairs(p.wanted), Kept: p.kept, Proved: p.proved, Known: p.known}
	kind := p.ref.Op.Signature().Kind
	switch {
	case p.onLanes:
		s.Way = native.Once
	case p.computes:
		s.Way = native.Apart
	case kind == code.Load || kind == code.Store:
		s.Way = native.Memory
	}
	if p.proved {
		unproved := func(o rowPair) bool { return c.entry.KeptIn(o.row)&code.IsProved == 0 }
		s.Uniform = nativePairs(slices.DeleteFunc(slices.Clone(p.writes), unproved))
	}
	switch {
	case p.in == nil:
		s.Count = unsafe.Offsetof(EngineCounts{}.Fixed)
	case p.in.How.Exec >= code.ProvedOne:
		s.Count = unsafe.Offsetof(EngineCounts{}.Proved)
	}
	return s
}

func nativePairs(list []rowPair) []native.Pair {
	var out []native.Pair
	for _, o := range list {
		out = append(out, native.Pair{Row: o.row, Ref: o.ref})
	}
	return out
}

// checks has the machine code of a kernel beside its reference run check mode.
func (machineCode) checks() runner { return checkedCode{} }

type checkedCode struct{}

func (checkedCode) run(w *warp, budget int) reason {
	w.comesHome()
	c, m := w.cta, w.cta.code.checked()
	if m == nil || !w.fits() || !w.adjoins() || !m.Ready(w.readies()) {
		return checked{}.run(w, budget)
	}
	w.depart(budget)
	w.checkRoom()
	m.Blocks(w.goes(), &w.files[0], c.code.Block(w.pc).Index)
	for {
		w = w.returned(m.Blocks, m.Steps)
		f, k, ctx := &w.files[0], w.check, &w.lent.Context
		if ctx.Reason == native.Turned {
			return goesOn
		}
		w.reclaim()
		switch ctx.Reason {
		case native.Lacks, native.Halfway, native.Differs:
			n := ctx.PC
			index, i := m.Step(n)
			b := &c.code.Blocks[index]
			w.pc = b.First
			if w.stepInGo(b, int(i), ctx.Reason); w.err != nil {
				return w.failed(b)
			}
			w.relend()
			if int(i) == len(k.pairs[index]) {
				m.End(w.goes(), f, index)
			} else {
				m.Steps(w.goes(), f, n+1)
			}
		case native.Cautious:
			return checked{}.run(w, 1)
		case native.Control:
			b := c.code.Block(w.pc)
			if w.endInGo(b); w.err != nil {
				w.pc = b.First
				return w.failed(b)
			}
			return control
		default:
			return reasons[ctx.Reason]
		}
	}
}

// adjoins reports whether the rows of the reference lie behind those of the program.
func (w *warp) adjoins() bool {
	return w.files[0].Adjoins(&w.check.files[0], w.cta.code.entry.Frame)
}

// checkRoom says where machine code counts, and where it notes what was there before: that is needed in a step alone, and the
// same for all warps of a CTA.
func (w *warp) checkRoom() {
	k := w.cta.warps[0].check
	if k.notes == nil {
		k.notes = make([]byte, native.Notes)
	}
	w.check.notes = k.notes
	w.lent.CheckRoom(k.notes, unsafe.Pointer(&w.count.Engine))
}

// stepInGo executes a step of a block that machine code has not executed, or compares what it has found to differ.
func (w *warp) stepInGo(b *code.Block, i int, why native.Reason) {
	defer w.recovered()
	pairs := w.check.pairs[b.Index]
	switch {
	case i == len(pairs):
		w.checkEnd(b)
	case why == native.Lacks:
		w.execChecked(pairs[i : i+1])
	default:
		w.differs(pairs[i:i+1], why)
	}
}

// endInGo compares what decides how a block ends.
func (w *warp) endInGo(b *code.Block) {
	defer w.recovered()
	w.checkEnd(b)
}

// differs compares what machine code has left: the program has executed an instruction, and, if it is not halfway,
// the reference has.
func (w *warp) differs(one []pair, why native.Reason) {
	w.atHalf(0, uint32(w.mask))
	r, k := w.singly(one), w.check
	k.begin(r)
	p := &r.pairs[0]
	if p.ref.Guard != 0 {
		kept := k.lanes &^ w.lent.Lanes // for the guard may be overwritten
		k.lanes &^= kept
		k.idle |= kept
		if p.ref.Skips {
			w.count.ThreadInstructions -= int64(bits.OnesCount32(kept))
		}
	}
	k.takeNotes(p)
	load, store := p.ref.Op.Signature().Kind == code.Load, p.ref.Op.Signature().Kind == code.Store
	if why == native.Halfway {
		if w.onReference(p); w.err != nil {
			t, _ := w.err.(*Trap)
			w.err = nil
			w.mismatch(p, k.lanes, "it runs, but on the lanes there is a trap: %v", t)
			return
		}
	}
	again := load && w.cta.grid.atomics
	if again {
		k.keepAddress(p)
	}
	if store {
		w.takeBefore(p)
		w.afterStore(p)
	} else {
		w.compareResults(p.writes)
	}
	raced := w.err != nil && again
	for n := 0; n < 8 && w.err != nil && again; n++ { // perhaps another CTA has stored there in between
		w.err = nil
		w.readAgain(p)
	}
	if w.err == nil && p.proved {
		w.compareProved(p)
	}
	if w.err == nil && k.idle != 0 && p.in != nil {
		w.compareNoted(p)
	}
	if w.err == nil && why == native.Differs && !store && !raced && !load {
		w.mismatch(p, k.lanes, "machine code has found a difference that is not there")
	}
}

// takeNotes has operands that an instruction overwrites be what machine code has noted of them.
func (k *check) takeNotes(p *pair) {
	for n := p.kept; n != 0; n &= n - 1 {
		i := bits.TrailingZeros64(n)
		for len(k.operands) <= int(p.operand)+i {
			k.operands = append(k.operands, regfile.Compact{})
		}
		k.operands[int(p.operand)+i] = *(*regfile.Compact)(unsafe.Pointer(&k.notes[i*native.NoteSize]))
	}
	k.noted = true
}

// takeBefore has what was in memory where idle lanes would store be what machine code has noted of that.
func (w *warp) takeBefore(p *pair) {
	k, a := w.check, w.access(p.in)
	for n := k.idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		k.before[lane] = append(k.before[lane][:0], native.Idle(k.notes, len(p.reads)+len(p.writes), lane, a.Bytes)...)
	}
}

// compareNoted compares what machine code has noted of results with what lanes have now that do not execute
// the instruction.
func (w *warp) compareNoted(p *pair) {
	k := w.check
	for i := range p.writes {
		o, note := p.writes[i].row, unsafe.Pointer(&k.notes[(len(p.reads)+i)*native.NoteSize])
		bad, first := uint32(0), uint64(0)
		for n := k.idle; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			var old uint64
			switch o.Slot {
			case code.P:
				old = uint64(*(*uint32)(note) >> lane & 1)
			case code.R:
				old = uint64((*regfile.Row32)(note)[lane])
			default:
				old = (*regfile.Row64)(note)[lane]
			}
			if laneOf(k.f, o, lane) != old {
				if bad == 0 {
					first = old
				}
				bad |= 1 << lane
			}
		}
		if bad != 0 {
			w.idleChanged(p, bad, bits.TrailingZeros32(bad), first, o)
			return
		}
	}
}
