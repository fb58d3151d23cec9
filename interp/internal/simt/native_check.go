package simt

// This file is check mode as machine code: what package native executes in both ways, and Go what it has not, or
// what differs.

import (
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/regfile"
)

// referenceAdjoins reports whether the registers of the reference lie behind those of the kernel: unless it calls functions, whose
// would lie there.
func (c *Kernel) referenceAdjoins() bool { return c.ref != nil && len(c.Funcs) == 1 }

// nativeCheck is a kernel beside its reference as machine code; nil if the reference's registers are elsewhere.
func (c *Kernel) nativeCheck() *native.Check {
	if !c.referenceAdjoins() {
		return nil
	}
	steps := make([][]native.Step, len(c.Blocks))
	for i := range c.Blocks {
		for j := range c.ref.pairs[i] {
			steps[i] = append(steps[i], c.stepOf(&c.ref.pairs[i][j]))
		}
		end := c.ref.End(&c.ref.Blocks[i])
		steps[i] = append(steps[i], native.Step{IsEnd: true, Ref: end, Reads: nativePairs(c.ref.blocks[i].endReads)})
	}
	return native.NewCheck(c.native, c.ref.Program, c.entry.Frame, steps, native.Counts{
		Compact: unsafe.Offsetof(EngineCounts{}.Compact), Quick: unsafe.Offsetof(EngineCounts{}.FastForm), OnLanes: unsafe.Offsetof(EngineCounts{}.VectorExecuted),
	})
}

// stepOf is a pair for package native.
func (c *Kernel) stepOf(p *instrPair) native.Step {
	s := native.Step{PC: p.from, Instr: p.instr, Ref: p.ref, Reads: nativePairs(p.reads), Writes: nativePairs(p.writes), ComparedFirst: nativePairs(p.uncheckedReads), Copied: nativePairs(p.needed), Overwritten: p.overwrittenReads, ProvedUniform: p.proved, AddressCompared: p.addressChecked}
	kind := p.ref.Op.Signature().Kind
	switch {
	case p.onLanes:
		s.Exec = native.OnceForBoth
	case p.computes:
		s.Exec = native.Separately
	case kind == code.Load || kind == code.Store:
		s.Exec = native.Memory
	}
	if p.proved {
		unproved := func(rows rowPair) bool { return c.entry.KeepingOf(rows.row)&code.StorageProved == 0 }
		s.UniformResults = nativePairs(slices.DeleteFunc(slices.Clone(p.writes), unproved))
	}
	switch {
	case p.instr == nil:
		s.Counter = unsafe.Offsetof(EngineCounts{}.Fixed)
	case p.instr.Plan.Exec >= code.ProvedOne:
		s.Counter = unsafe.Offsetof(EngineCounts{}.Proved)
	}
	return s
}

func nativePairs(list []rowPair) []native.Pair {
	var out []native.Pair
	for _, rows := range list {
		out = append(out, native.Pair{Row: rows.row, Ref: rows.ref})
	}
	return out
}

// newCheckRunner has the machine code of a kernel beside its reference run check mode.
func (machineCode) newCheckRunner() runner { return nativeCheckRunner{} }

type nativeCheckRunner struct{}

func (nativeCheckRunner) run(w *warp, budget int) reason {
	w.importIfExported()
	c, m := w.cta, w.cta.code.checkOnce()
	if m == nil || !w.fitsNative() || !w.referenceAdjoins() || !m.Ready(w.prepareNative()) {
		return checkRunner{}.run(w, budget)
	}
	w.enterScheduler(budget)
	w.checkRoom()
	m.RunCheckBlock(w.nativeContext(), &w.files[0], c.code.Block(w.pc).Index)
	for {
		w = w.resumeUntilExit(m.RunCheckBlock, m.RunStep)
		f, k, ctx := &w.files[0], w.check, &w.exported.Context
		if ctx.Reason == native.SwitchedWarp {
			return noReason
		}
		w.importSplits()
		switch ctx.Reason {
		case native.Unsupported, native.Halfway, native.Differs:
			n := ctx.PC
			index, i := m.LocateStep(n)
			b := &c.code.Blocks[index]
			w.pc = b.First
			if w.executeInGo(b, int(i), ctx.Reason); w.err != nil {
				return w.failed(b)
			}
			w.exportAgain()
			if int(i) == len(k.pairs[index]) {
				m.RunEnd(w.nativeContext(), f, index)
			} else {
				m.RunStep(w.nativeContext(), f, n+1)
			}
		case native.NeedsCaution:
			return checkRunner{}.run(w, 1)
		case native.OtherEnd:
			b := c.code.Block(w.pc)
			if w.endInGo(b); w.err != nil {
				w.pc = b.First
				return w.failed(b)
			}
			return otherEnd
		default:
			return reasons[ctx.Reason]
		}
	}
}

// referenceAdjoins reports whether the rows of the reference lie behind those of the program.
func (w *warp) referenceAdjoins() bool {
	return w.files[0].IsFollowedBy(&w.check.files[0], w.cta.code.entry.Frame)
}

// checkRoom says where machine code counts, and where it notes what was there before: that is needed in a step alone, and the
// same for all warps of a CTA.
func (w *warp) checkRoom() {
	k := w.cta.warps[0].check
	if k.nativeNotes == nil {
		k.nativeNotes = make([]byte, native.MaxNoteBytes)
	}
	w.check.nativeNotes = k.nativeNotes
	w.exported.SetCheckBuffers(k.nativeNotes, unsafe.Pointer(&w.count.Engine))
}

// executeInGo executes a step of a block that machine code has not executed, or compares what it has found to differ.
func (w *warp) executeInGo(b *code.Block, i int, reason native.Reason) {
	defer w.recoverMismatch()
	pairs := w.check.pairs[b.Index]
	switch {
	case i == len(pairs):
		w.checkEnd(b)
	case reason == native.Unsupported:
		w.checkPair(&pairs[i])
	default:
		w.repeatInGo(&pairs[i], reason)
	}
}

// endInGo compares what decides how a block ends.
func (w *warp) endInGo(b *code.Block) {
	defer w.recoverMismatch()
	w.checkEnd(b)
}

// repeatInGo compares what machine code has left: the program has executed an instruction, and, if it is not halfway,
// the reference has.
func (w *warp) repeatInGo(p *instrPair, reason native.Reason) {
	w.selectHalf(0, uint32(w.mask))
	k := w.check
	k.begin(p.singleRun)
	k.phase = comparing
	if p.ref.Guard != 0 {
		guardedOff := k.lanes &^ w.exported.Lanes // for the guard may be overwritten
		k.lanes &^= guardedOff
		k.idle |= guardedOff
		if p.ref.CountsSkipped {
			w.count.ThreadInstructions -= int64(bits.OnesCount32(guardedOff))
		}
	}
	k.readNativeNotes(p)
	load, store := p.ref.Op.Signature().Kind == code.Load, p.ref.Op.Signature().Kind == code.Store
	if reason == native.Halfway {
		if w.onReference(p); w.err != nil {
			t, _ := w.err.(*probe.Trap)
			w.err = nil
			w.mismatch(p, k.lanes, "it runs, but on the lanes there is a trap: %v", t)
			return
		}
	}
	again := w.mayRepeatLoad(p)
	if again {
		k.saveAddress(p)
	}
	if store {
		w.readOperandsBefore(p)
		w.afterStore(p)
	} else {
		w.compareResults(p.writes)
	}
	raced := w.err != nil && again
	for n := 0; n < maxLoadRepeats && w.err != nil && again; n++ { // perhaps another CTA has stored there in between
		w.err = nil
		w.repeatLoad(p)
	}
	if w.err == nil && p.proved {
		w.compareProved(p)
	}
	if w.err == nil && k.idle != 0 && p.instr != nil {
		w.compareNoted(p)
	}
	if w.err == nil && reason == native.Differs && !store && !raced && !load {
		w.mismatch(p, k.lanes, "machine code has found a difference that is not there")
	}
}

// readNativeNotes has operands that an instruction overwrites be what machine code has noted of them.
func (k *check) readNativeNotes(p *instrPair) {
	for n := p.overwrittenReads; n != 0; n &= n - 1 {
		i := bits.TrailingZeros64(n)
		for len(k.operands) <= int(p.operandIndex)+i {
			k.operands = append(k.operands, regfile.Compact{})
		}
		k.operands[int(p.operandIndex)+i] = *(*regfile.Compact)(unsafe.Pointer(&k.nativeNotes[i*native.NoteSize]))
	}
}

// readOperandsBefore has what was in memory where idle lanes would store be what machine code has noted of that.
func (w *warp) readOperandsBefore(p *instrPair) {
	k, a := w.check, w.access(p.instr)
	for n := k.idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		k.memoryBefore[lane] = append(k.memoryBefore[lane][:0], native.IdleBytes(k.nativeNotes, len(p.reads)+len(p.writes), lane, a.Bytes)...)
	}
}

// compareNoted compares what machine code has noted of results with what lanes have now that do not execute
// the instruction.
func (w *warp) compareNoted(p *instrPair) {
	k := w.check
	for i := range p.writes {
		row, note := p.writes[i].row, unsafe.Pointer(&k.nativeNotes[(len(p.reads)+i)*native.NoteSize])
		bad, first := uint32(0), uint64(0)
		for n := k.idle; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			var old uint64
			switch row.Slot {
			case code.P:
				old = uint64(*(*uint32)(note) >> lane & 1)
			case code.R:
				old = uint64((*regfile.Row32)(note)[lane])
			default:
				old = (*regfile.Row64)(note)[lane]
			}
			if laneValue(k.engineFile, row, lane) != old {
				if bad == 0 {
					first = old
				}
				bad |= 1 << lane
			}
		}
		if bad != 0 {
			w.idleChanged(p, bad, bits.TrailingZeros32(bad), first, row)
			return
		}
	}
}
