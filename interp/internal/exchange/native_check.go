package exchange

// This file runs check mode in machine code: it executes instructions for the engine and for the reference, and compares
// their results. Go executes instructions without machine code, and reports differences.

import (
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/check"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/regfile"
)

// ReferenceAdjoins reports whether the registers of the reference can lie directly after the registers of the kernel. In a
// kernel that calls functions, the registers of the functions lie there.
func ReferenceAdjoins(c *machine.Kernel) bool { return c.CheckReference != nil && len(c.Funcs) == 1 }

// stepOf returns a pair of instructions as package native describes it.
func stepOf(c *machine.Kernel, p *machine.InstrPair) native.Step {
	s := native.Step{PC: p.From, Instr: p.Instr, Ref: p.Reference, Reads: nativePairs(p.Reads), Writes: nativePairs(p.Writes), ComparedFirst: nativePairs(p.UncheckedReads), Copied: nativePairs(p.Needed), Overwritten: p.OverwrittenReads, ProvedUniform: p.Proved, AddressCompared: p.AddressChecked}
	kind := p.Reference.Op.Signature().Kind
	switch {
	case p.OnLanes:
		s.Exec = native.OnceForBoth
	case p.Computes:
		s.Exec = native.Separately
	case kind == code.Load || kind == code.Store:
		s.Exec = native.Memory
	}
	if p.Proved {
		unproved := func(rows machine.RowPair) bool { return c.Entry.KeepingOf(rows.Row)&code.StorageProved == 0 }
		s.UniformResults = nativePairs(slices.DeleteFunc(slices.Clone(p.Writes), unproved))
	}
	switch {
	case p.Instr == nil:
		s.Counter = unsafe.Offsetof(probe.EngineCounts{}.Fixed)
	case p.Instr.Plan.Exec >= code.ProvedOne:
		s.Counter = unsafe.Offsetof(probe.EngineCounts{}.Proved)
	}
	return s
}

// nativePairs returns pairs of rows as package native describes them.
func nativePairs(list []machine.RowPair) []native.Pair {
	var out []native.Pair
	for _, rows := range list {
		out = append(out, native.Pair{Row: rows.Row, Ref: rows.Reference})
	}
	return out
}

// NewCheckRunner returns a runner that executes check mode in machine code.
func (MachineCode) NewCheckRunner() machine.Runner { return NativeCheckRunner{} }

// NativeCheckRunner is the runner of check mode in machine code.
type NativeCheckRunner struct{}

// Run executes the warp in check mode: see machine.Runner. Machine code may switch to other warps of the CTA.
func (NativeCheckRunner) Run(w *machine.Warp, budget int) machine.Reason {
	importIfExported(w)
	c, m := w.CTA, w.CTA.Code.CheckOnce()
	if m == nil || !fitsNative(w) || !filesAdjoin(w) || !m.Ready(prepareNative(w)) {
		return check.CheckRunner{}.Run(w, budget)
	}
	enterScheduler(w, budget)
	setCheckBuffers(w)
	m.RunCheckBlock(nativeContext(w), &w.Files[0], c.Code.Block(w.PC).Index)
	for {
		w = resumeUntilExit(w, m.RunCheckBlock, m.RunStep)
		f, k, ctx := &w.Files[0], w.Check, &w.Exported.Context
		if ctx.Reason == native.SwitchedWarp {
			return machine.NoReason
		}
		importSplits(w)
		switch ctx.Reason {
		case native.Unsupported, native.Halfway, native.Differs:
			n := ctx.PC
			index, i := m.LocateStep(n)
			b := &c.Code.Blocks[index]
			w.PC = b.First
			if executeInGo(w, b, int(i), ctx.Reason); w.Err != nil {
				return warp.FailureReason(w, b)
			}
			exportAgain(w)
			if int(i) == len(k.Pairs[index]) {
				m.RunEnd(nativeContext(w), f, index)
			} else {
				m.RunStep(nativeContext(w), f, n+1)
			}
		case native.NeedsCaution:
			return check.CheckRunner{}.Run(w, 1)
		case native.OtherEnd:
			b := c.Code.Block(w.PC)
			if endInGo(w, b); w.Err != nil {
				w.PC = b.First
				return warp.FailureReason(w, b)
			}
			return machine.OtherEnd
		default:
			return reasons[ctx.Reason]
		}
	}
}

// filesAdjoin reports whether the registers of the warp's reference lie directly after the registers of the kernel.
func filesAdjoin(w *machine.Warp) bool {
	return w.Files[0].IsFollowedBy(&w.Check.Files[0], w.CTA.Code.Entry.Frame)
}

// setCheckBuffers sets the addresses of the counts and of the buffer in which machine code saves values. These values are
// needed only within a step, so all warps of a CTA share a buffer.
func setCheckBuffers(w *machine.Warp) {
	k := w.CTA.Warps[0].Check
	if k.NativeNotes == nil {
		k.NativeNotes = make([]byte, native.MaxNoteBytes)
	}
	w.Check.NativeNotes = k.NativeNotes
	w.Exported.SetCheckBuffers(k.NativeNotes, unsafe.Pointer(&w.Count.Engine))
}

// executeInGo executes step i of a block in Go if there is no machine code for it. Otherwise it completes the step, in which
// machine code has found a difference or has stopped halfway.
func executeInGo(w *machine.Warp, b *code.Block, i int, reason native.Reason) {
	defer check.RecoverMismatch(w)
	pairs := w.Check.Pairs[b.Index]
	switch {
	case i == len(pairs):
		check.CheckEnd(w, b)
	case reason == native.Unsupported:
		check.CheckPair(w, &pairs[i])
	default:
		repeatInGo(w, &pairs[i], reason)
	}
}

// endInGo compares the guard and the operands of a block's end with the reference.
func endInGo(w *machine.Warp, b *code.Block) {
	defer check.RecoverMismatch(w)
	check.CheckEnd(w, b)
}

// repeatInGo compares the results of a step in Go. Machine code has executed the instruction for the engine and, unless it
// stopped halfway, for the reference.
func repeatInGo(w *machine.Warp, p *machine.InstrPair, reason native.Reason) {
	w.SelectHalf(0, uint32(w.Mask))
	k := w.Check
	k.BeginRun(p.SingleRun)
	k.Phase = machine.Comparing
	if p.Reference.Guard != 0 {
		guardedOff := k.Lanes &^ w.Exported.Lanes // not read from the guard, which the instruction may have overwritten
		k.Lanes &^= guardedOff
		k.Idle |= guardedOff
		if p.Reference.CountsSkipped {
			w.Count.ThreadInstructions -= int64(bits.OnesCount32(guardedOff))
		}
	}
	readNativeNotes(k, p)
	load, store := p.Reference.Op.Signature().Kind == code.Load, p.Reference.Op.Signature().Kind == code.Store
	if reason == native.Halfway {
		check.RunReferenceInstr(w, p)
		if check.FailReferenceTrap(w, p); w.Err != nil {
			return
		}
	}
	again := check.MayRepeatLoad(w, p)
	if again {
		check.SaveAddress(k, p)
	}
	if store {
		readMemoryNotes(w, p)
		check.AfterStore(w, p)
	} else {
		check.CompareResults(w, p.Writes)
	}
	raced := again && check.RepeatRacingLoad(w, p)
	if w.Err == nil && p.Proved {
		check.CompareProved(w, p)
	}
	if w.Err == nil && k.Idle != 0 && p.Instr != nil {
		compareNoted(w, p)
	}
	if w.Err == nil && reason == native.Differs && !store && !raced && !load {
		check.FailMismatch(w, p, k.Lanes, "machine code reported a difference that does not exist")
	}
}

// readNativeNotes copies the overwritten operands of an instruction from the values that machine code has saved.
func readNativeNotes(k *machine.WarpCheck, p *machine.InstrPair) {
	for n := p.OverwrittenReads; n != 0; n &= n - 1 {
		i := bits.TrailingZeros64(n)
		for len(k.Operands) <= int(p.OperandIndex)+i {
			k.Operands = append(k.Operands, regfile.Compact{})
		}
		k.Operands[int(p.OperandIndex)+i] = *(*regfile.Compact)(unsafe.Pointer(&k.NativeNotes[i*native.NoteSize]))
	}
}

// readMemoryNotes copies the former memory contents of idle lanes from the values that machine code has saved.
func readMemoryNotes(w *machine.Warp, p *machine.InstrPair) {
	k, a := w.Check, w.AccessOf(p.Instr)
	for n := k.Idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		k.MemoryBefore[lane] = append(k.MemoryBefore[lane][:0], native.IdleBytes(k.NativeNotes, len(p.Reads)+len(p.Writes), lane, a.Bytes)...)
	}
}

// compareNoted checks that the result registers of idle lanes still have the values that machine code saved before the
// instruction.
func compareNoted(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	for i := range p.Writes {
		row, note := p.Writes[i].Row, unsafe.Pointer(&k.NativeNotes[(len(p.Reads)+i)*native.NoteSize])
		bad, first := uint32(0), uint64(0)
		for n := k.Idle; n != 0; n &= n - 1 {
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
			if machine.LaneValue(k.EngineFile, row, lane) != old {
				if bad == 0 {
					first = old
				}
				bad |= 1 << lane
			}
		}
		if bad != 0 {
			check.FailIdle(w, p, bad, bits.TrailingZeros32(bad), first, row)
			return
		}
	}
}
