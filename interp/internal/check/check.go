package check

// This file executes the steps of check mode. The package comment describes a step.

import (
	"fmt"
	"math/bits"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/regfile"
)

// CheckRunner runs check mode.
type CheckRunner struct{}

// Run executes the warp for at most budget instructions, block by block, in check mode.
func (CheckRunner) Run(w *machine.Warp, budget int) machine.Reason {
	return warp.RunBlocks(w, budget, blockChecked)
}

// blockChecked executes the rest of a block, from the warp's pc, in check mode.
func blockChecked(w *machine.Warp, _ []code.Instr) machine.Reason {
	defer RecoverMismatch(w)
	k, b := w.Check, w.CTA.Code.Block(w.PC)
	if w.PC == b.First && !k.NativeFuncs && len(w.Files) == 1 {
		runs := k.CheckedBlocks[b.Index].Runs
		for i := range runs {
			if checkHalf(w, 0, uint32(w.Mask), &runs[i]); w.Err != nil {
				return machine.NoReason
			}
		}
	} else { // instruction by instruction: both halves execute an instruction before either starts the next
		pairs := w.PairsFrom(b, w.PC)
		for i := range pairs {
			if CheckPair(w, &pairs[i]); w.Err != nil {
				return machine.NoReason
			}
		}
	}
	CheckEnd(w, b)
	return machine.NoReason
}

// CheckPair executes and compares one instruction, in each half of the warp.
func CheckPair(w *machine.Warp, p *machine.InstrPair) {
	if len(w.Files) == 1 {
		checkHalf(w, 0, uint32(w.Mask), p.SingleRun)
		return
	}
	for h := range w.Files { // each half executes alone
		w.Files[h].SetActive(0)
	}
	for h := range w.Files {
		if m := uint32(w.Mask >> (32 * h)); m != 0 && w.Err == nil {
			w.Files[h].SetActive(m)
			checkHalf(w, h, m, p.SingleRun)
			w.Files[h].SetActive(0)
		}
	}
	warp.Activate(w)
}

// checkHalf executes and compares a run on the lanes of m for which its guard holds, in half h of the warp. Every
// instruction of a block that Go executes in check mode comes here, except collective instructions of diverged lanes, which
// package warp compares.
func checkHalf(w *machine.Warp, h int, m uint32, r *machine.InstrRun) {
	k, skipped, guardedOff := w.Check, 0, uint32(0)
	w.SelectHalf(h, m)
	k.BeginRun(r)
	k.Phase = machine.Preparing
	if r.Guarded {
		if guardedOff = compareGuards(w, &r.Pairs[0]); w.Err != nil {
			return
		}
		if p := &r.Pairs[0]; p.Instr != nil && p.Reference.CountsSkipped {
			skipped = bits.OnesCount32(guardedOff)
		}
	}
	counted := w.Count.ThreadInstructions
	checkRun(w, r)
	k.Phase = machine.BetweenSteps
	if n := counted - w.Count.ThreadInstructions; n != int64(skipped) && w.Err == nil {
		FailMismatch(w, &r.Pairs[0], guardedOff, "%d lanes that its guard disables must be counted, but %d were counted", skipped, n)
	}
}

// checkRun executes and compares a run on the lanes selected by checkHalf.
func checkRun(w *machine.Warp, r *machine.InstrRun) {
	k := w.Check
	if prepare(w, r); w.Err != nil {
		return
	}
	if runEngine(w); k.Lanes != 0 {
		countRun(w, r)
	}
	if w.Err != nil {
		compareTrap(w, &r.Pairs[0])
		return
	}
	inShadows := false
	if k.Lanes != 0 {
		if inShadows = runReference(w, r); w.Err != nil {
			return
		}
	}
	compareRun(w, r, inShadows)
}

// compareGuards evaluates the guard of an instruction in the engine and in the reference, compares the lanes, and removes
// the disabled lanes from the executing lanes (WarpCheck.Lanes). It returns the disabled lanes.
func compareGuards(w *machine.Warp, p *machine.InstrPair) (guardedOff uint32) {
	k, active := w.Check, w.Check.Lanes
	if p.Reference.Guard != 0 {
		k.Lanes &= guardLanes(k, k.Half, p.Reference.Guard)
	}
	guardedOff = active &^ k.Lanes
	k.Idle |= guardedOff
	if p.Instr == nil {
		return guardedOff
	}
	counted := w.Count.ThreadInstructions
	got := lanes.ExecutingLanes(w, k.Half, p.Instr)
	w.Count.ThreadInstructions = counted // the disabled lanes are counted when the instruction executes
	if got != k.Lanes {
		FailMismatch(w, p, got^k.Lanes, "the guard holds for %s and does not hold for %s, contrary to the reference", probe.LaneText(uint64(got)), probe.LaneText(uint64(active&^got)))
	}
	return guardedOff
}

// prepare compares the operands that must be compared before the run executes, and saves the state that the run overwrites.
func prepare(w *machine.Warp, r *machine.InstrRun) {
	k := w.Check
	if k.OnLanes {
		if k.Lanes != 0 {
			compareSources(w, r.Sources)
		}
		return
	}
	saveOverwritten(k, r)
	p := &r.Pairs[0]
	if p.Computes {
		return
	}
	s := &code.Signatures[p.Instr.Op]
	switch {
	case s.Kind == code.Store && k.Idle != 0:
		beforeStore(w, p)
	case MayRepeatLoad(w, p):
		SaveAddress(k, p)
	}
	if s.Side == code.AccessSide {
		compareAddresses(w, p)
	}
	if s.RunsOnce && k.NativeFuncs {
		compareReads(w, p)
	}
}

// MayRepeatLoad reports whether an instruction is a load from memory that another CTA may change between the load of the
// engine and the load of the reference.
func MayRepeatLoad(w *machine.Warp, p *machine.InstrPair) bool {
	return p.Reference.Op.Signature().Kind == code.Load && w.CTA.Grid.HostAtomics
}

// runEngine executes the instructions of the step in the engine.
func runEngine(w *machine.Warp) {
	k := w.Check
	k.Phase, k.FellBack = machine.EngineRuns, 0
	if k.OnLanes && k.Lanes != 0 {
		k.Phase = machine.LanesRun
	}
	switch r := k.Run; {
	case len(r.Instrs) == 0:
	case k.NativeFuncs:
		warp.ExecuteSpan(w, r.Pairs[0].From, r.Pairs[0].To)
	default:
		lanes.ExecuteBlock(w, r.Instrs)
	}
	k.Phase = machine.Comparing
}

// countRun counts the executed instructions of the step by their kind of execution. If a run on the lanes has trapped, it
// counts the instructions up to the trap. If a run of several compact instructions has trapped, it counts none.
func countRun(w *machine.Warp, r *machine.InstrRun) {
	switch {
	case w.Err == nil || len(r.Pairs) == 1 && !w.Check.OnLanes:
		countEngine(w)
	case w.Check.OnLanes:
		w.Count.Engine.VectorExecuted += countExecuted(w, r.Pairs)
	}
}

// compareTrap compares a trap of the engine with the accesses of the reference.
func compareTrap(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	if t, ok := w.Err.(*probe.Trap); ok && !k.OnLanes && !k.RanOnce && t.Kind != probe.ErrMismatch {
		compareAccessTrap(w, p, t)
	}
}

// runReference gives the reference its results. Instructions that only compute, and loads, run again in the reference.
// After all other operations, such as stores and atomics, the results of the engine are copied to the reference. It reports
// whether a run on the lanes has left results in shadows, which must be compared with the rows.
func runReference(w *machine.Warp, r *machine.InstrRun) (inShadows bool) {
	k, p := w.Check, &r.Pairs[0]
	s := p.Reference.Op.Signature()
	switch {
	case k.OnLanes:
		if inShadows = shadowLanes(k, r.Results) != 0; inShadows {
			copyToReference(k, r.Results)
		} else {
			copyToReference(k, r.Needed)
		}
	case k.RanOnce: // AfterLanes has copied the results
	case !p.Computes && s.Kind == code.Store: // a store has no results
	case !p.Computes && s.RunsOnce:
		copyToReference(k, p.Writes)
	default:
		for i := range r.Pairs {
			RunReferenceInstr(w, &r.Pairs[i])
		}
		FailReferenceTrap(w, p)
	}
	return inShadows
}

// FailReferenceTrap turns a trap of the reference into a mismatch: the engine has executed the instruction without a trap.
func FailReferenceTrap(w *machine.Warp, p *machine.InstrPair) {
	if w.Err != nil {
		t, _ := w.Err.(*probe.Trap)
		w.Err = nil
		FailMismatch(w, p, w.Check.Lanes, "it does not trap, but the reference traps: %v", t)
	}
}

// compareRun compares the state after the run: results, memory, claims of the plan, and registers of idle lanes. inShadows
// is the result of runReference.
func compareRun(w *machine.Warp, r *machine.InstrRun, inShadows bool) {
	k, p := w.Check, &r.Pairs[0]
	switch {
	case k.OnLanes:
		if inShadows {
			CompareResults(w, r.Results)
		}
		return
	case !p.Computes && !k.RanOnce && p.Reference.Op.Signature().Kind == code.Store:
		AfterStore(w, p)
	case k.Lanes != 0:
		if CompareResults(w, r.Results); !k.RanOnce && MayRepeatLoad(w, p) {
			RepeatRacingLoad(w, p)
		}
	}
	if k.Lanes != 0 {
		for i := range r.Pairs[:r.ProvedEnd] {
			if p := &r.Pairs[i]; p.Proved && w.Err == nil {
				CompareProved(w, p)
			}
		}
	}
	if k.Idle != 0 {
		for i := range r.Pairs {
			if p := &r.Pairs[i]; p.Instr != nil && w.Err == nil {
				compareIdle(w, p)
			}
		}
	}
}

// maxLoadRepeats is the maximum number of repetitions of a load whose results differ.
const maxLoadRepeats = 8

// RepeatRacingLoad repeats a load while the results of engine and reference differ (w.Err is set), at most maxLoadRepeats
// times. A store of another CTA may have come between the two loads; such a race is a fault of the guest program. It
// reports whether it has repeated the load.
func RepeatRacingLoad(w *machine.Warp, p *machine.InstrPair) (repeated bool) {
	for n := 0; n < maxLoadRepeats && w.Err != nil; n++ {
		w.Err = nil
		repeatLoad(w, p)
		repeated = true
	}
	return repeated
}

// guardLanes returns the lanes for which a guard of the reference is true. It does not share code with the engine, because
// guards are checked, too.
func guardLanes(k *machine.WarpCheck, h int, guard int32) uint32 {
	if guard < 0 {
		return ^k.Files[h].Pred(-1 - guard)
	}
	return k.Files[h].Pred(guard - 1)
}

// countExecuted returns the number of executed instructions of a run that has trapped, including the trapped instruction.
func countExecuted(w *machine.Warp, list []machine.InstrPair) int64 {
	trap, _ := w.Err.(*probe.Trap)
	for i := range list {
		p := &list[i]
		if p.Reference.Op.Signature().Side == code.AccessSide && trap != nil && trap.Index == int(p.Reference.Src) {
			return int64(i + 1)
		}
	}
	return 1 // an instruction without a memory access is alone in its run
}

// saveOverwritten saves the operands that the run overwrites, and the idle lanes of the run's result registers.
func saveOverwritten(k *machine.WarpCheck, r *machine.InstrRun) {
	if r.SavesOperands || k.Idle != 0 {
		for i := range r.Pairs {
			p := &r.Pairs[i]
			if k.Idle != 0 && p.Instr != nil {
				saveIdle(k, p)
			}
			for n := p.OverwrittenReads; n != 0; n &= n - 1 {
				saveOperand(k, p, bits.TrailingZeros64(n))
			}
		}
	}
	k.Phase = machine.Prepared
}

// saveOperand saves the shadow of operand i of an instruction.
func saveOperand(k *machine.WarpCheck, p *machine.InstrPair, i int) {
	n := int(p.OperandIndex) + i
	for len(k.Operands) <= n {
		k.Operands = append(k.Operands, regfile.Compact{})
	}
	row := p.Reads[i].Row
	k.Operands[n] = *machine.ShadowAt(k.EngineFile, row.Slot, row.Row)
}

// RecoverMismatch must be deferred by the function that executes a block. If the engine panics, or a comparison that reads
// its registers, and the reference executes the instructions without a panic, RecoverMismatch turns the panic into a
// mismatch.
//
// Three kinds of panic are not recovered, because they do not show a difference between engine and reference: a panic in
// the reference, a panic in an instruction that runs once for both, and a fault of the host's memory.
func RecoverMismatch(w *machine.Warp) {
	k, phase := w.Check, w.Check.Phase
	if phase == machine.BetweenSteps || phase == machine.ReferenceRuns {
		k.Phase = machine.BetweenSteps
		return
	}
	defer func() { k.Phase = machine.BetweenSteps }()
	r := recover()
	if r == nil {
		return
	}
	if _, memory := r.(interface{ Addr() uintptr }); memory {
		panic(r) // the host has no memory at an address of the guest
	}
	if k.Run == nil {
		w.Fail(nil, w.Mask, probe.ErrMismatch, "%v: gemu failed at the end of a block: %v", probe.ErrMismatch, r)
		return
	}
	pairs, moreText := k.Run.Pairs, ""
	for i := range pairs {
		switch pairs[i].Reference.Op.Signature().Kind {
		case code.Arithmetic, code.Read, code.Load:
			if k.Lanes != 0 { // a trap here is dropped: the engine should have trapped, too
				RunReferenceInstr(w, &pairs[i])
				w.Err = nil
			}
		default:
			if phase == machine.LanesRun {
				panic(r)
			}
		}
	}
	if n := len(pairs); n > 1 {
		moreText = fmt.Sprintf(", or one of the %d instructions after it,", n-1)
	}
	if w.Err == nil {
		FailMismatch(w, &pairs[0], k.Lanes, "it%s fails: %v", moreText, r)
	}
}

// RunReferenceInstr executes an instruction of the reference. During a panic the phase stays ReferenceRuns, so that
// RecoverMismatch does not recover the panic.
func RunReferenceInstr(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	phase := k.Phase
	k.Phase = machine.ReferenceRuns
	if p.Kernel != nil {
		p.Kernel(k.ReferenceFile, p.Reference, k.Lanes)
	} else {
		w.SwitchToReference()
		lanes.LaneFuncs[p.Reference.Op](w, k.Half, k.ReferenceFile, p.Reference, k.Lanes)
		w.SwitchToReference()
	}
	k.Phase = phase
}

// saveIdle saves the result registers of an instruction, for the comparison of idle lanes.
func saveIdle(k *machine.WarpCheck, p *machine.InstrPair) {
	f := k.EngineFile
	for len(k.Saved) < int(p.ResultIndex)+len(p.Writes) {
		k.Saved = append(k.Saved, machine.SavedResult{})
	}
	for i := range p.Writes {
		s := &k.Saved[int(p.ResultIndex)+i]
		switch row := p.Writes[i].Row; row.Slot {
		case code.P:
			s.P = f.Pred(row.Row)
		case code.R:
			s.R, s.Shadow = *f.Row32(row.Row), *f.Shadow32(row.Row)
		default:
			s.Q, s.Shadow = *f.Row64(row.Row), *f.Shadow64(row.Row)
		}
	}
}

// compareIdle compares the result registers in idle lanes with the values saved by saveIdle.
func compareIdle(w *machine.Warp, p *machine.InstrPair) {
	k, f, idle := w.Check, w.Check.EngineFile, w.Check.Idle
	for i := range p.Writes {
		row, s := p.Writes[i].Row, &k.Saved[int(p.ResultIndex)+i]
		bad, old := uint32(0), uint64(0)
		switch row.Slot {
		case code.P:
			bad = (f.Pred(row.Row) ^ s.P) & idle
		case code.R:
			bad = changedLanes(f.Row32(row.Row), &s.R, f.Shadow32(row.Row), &s.Shadow, idle)
		default:
			bad = changedLanes(f.Row64(row.Row), &s.Q, f.Shadow64(row.Row), &s.Shadow, idle)
		}
		if bad == 0 {
			continue
		}
		lane := bits.TrailingZeros32(bad)
		switch row.Slot {
		case code.P:
			old = uint64(s.P >> lane & 1)
		case code.R:
			old = uint64(s.R[lane])
		default:
			old = s.Q[lane]
		}
		FailIdle(w, p, bad, lane, old, row)
		return
	}
}

// FailIdle reports that an instruction has changed the register of an idle lane, which held the value old.
func FailIdle(w *machine.Warp, p *machine.InstrPair, lanes uint32, lane int, old uint64, row code.Row) {
	FailMismatch(w, p, lanes, "lane %d does not execute it, but its register changed from %#x to %s", lane, old, machine.ValueText(w.Check.EngineFile, row, lane))
}

// changedLanes returns the lanes of m in which a register has changed. row and c are its row and shadow, old and before
// their former contents. It overwrites *old with the former values of the lanes that were in the shadow.
func changedLanes[T mem.Slot](row, old *[regfile.Lanes]T, c, before *regfile.Compact, m uint32) uint32 {
	unchangedShadow := ((c.Mask^before.Mask)|(c.Materialised^before.Materialised))&m == 0 && (c.Mask&m == 0 || c.Base == before.Base && c.Stride == before.Stride)
	if unchangedShadow && differingLanes(row, old, m&^c.Mask|m&c.Materialised) == 0 {
		return 0
	}
	for n := before.Mask; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		old[i] = T(before.At(i))
	}
	return lanesUnlikeFile(row, old, c, m)
}

// SaveAddress saves the reference's address register of a load. The results of the load may overwrite the register, and a
// repetition of the load needs it.
func SaveAddress(k *machine.WarpCheck, p *machine.InstrPair) {
	if len(p.Reads) == 0 {
		return
	}
	switch row := p.Reads[0].Reference; row.Slot {
	case code.R:
		k.AddressRegister.R = *k.ReferenceFile.Row32(row.Row)
	case code.Q:
		k.AddressRegister.Q = *k.ReferenceFile.Row64(row.Row)
	}
}

// repeatLoad restores the address register, and repeats a load at the same addresses in the engine and in the reference.
func repeatLoad(w *machine.Warp, p *machine.InstrPair) {
	k, f, m := w.Check, w.Check.EngineFile, w.Check.Lanes
	if len(p.Reads) > 0 {
		rows, c := &p.Reads[0], *operandBefore(k, p, 0)
		k.AddressRegister.Restore(k.ReferenceFile, rows.Reference, m)
		if rows.Row.Row >= 0 {
			if c.Materialised &^= m; !c.Holds(m) {
				c.Mask &^= m
				k.AddressRegister.Restore(f, rows.Row, m)
			}
			*machine.ShadowOf(f, rows.Row) = c
		}
	}
	k.RanOnce, k.RepeatsLoad = false, true
	defer func() { k.RepeatsLoad = false }()
	counted := w.Count.ThreadInstructions
	runEngine(w)
	if w.Count.ThreadInstructions = counted; w.Err != nil {
		return
	}
	if !k.RanOnce { // else the reference has a copy of the results
		RunReferenceInstr(w, p)
	}
	if w.Err == nil {
		CompareResults(w, p.Writes)
	}
}

// compareAccessTrap checks a trap of a compact access: at least one lane of the reference must have an address that traps.
func compareAccessTrap(w *machine.Warp, p *machine.InstrPair, t *probe.Trap) {
	switch {
	case p.Reference.Op.Signature().Side != code.AccessSide:
		return
	case p.Reference.Op == code.StoreBulk, p.Reference.Op == code.LoadMatrix, p.Reference.Op == code.StoreMatrix: // they also trap for other reasons than addresses
		return
	}
	a := &w.Check.Access[p.Reference.Side]
	referenceAddresses(w, p)
	view, request, m := access.View(w), w.RequestOf(a), w.Check.Lanes
	for n := m; n != 0; n &= n - 1 {
		if _, fault := view.Find(&request, w.Check.AddressRow[bits.TrailingZeros32(n)]); fault != nil {
			return
		}
	}
	FailMismatch(w, p, m, "it traps, but no access of a single lane does: %v", t)
}

// referenceAddresses computes the addresses of an access in the reference, into WarpCheck.AddressRow.
func referenceAddresses(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	w.SwitchToReference()
	access.LaneAddresses(w, k.Half, p.Reference, w.AccessOf(p.Reference), &k.AddressRow)
	w.SwitchToReference()
}

// CheckEnd compares the guard and the operands of a block's end.
func CheckEnd(w *machine.Warp, b *code.Block) {
	lanes, end := w.Mask, &w.Check.CheckedBlocks[b.Index]
	if end.EndGuard != 0 {
		lanes = 0
		for h := range w.Files {
			lanes |= uint64(guardLanes(w.Check, h, end.EndGuard)) << (32 * h)
		}
		lanes &= w.Mask
	}
	if got := engineEndLanes(w, b); got != lanes {
		src, name := endInstr(w, b)
		w.Fail(src, got^lanes, probe.ErrMismatch, "%v: %s applies to %s, want %s", probe.ErrMismatch, name, probe.LaneText(got), probe.LaneText(lanes))
		return
	}
	if len(end.EndReads) > 0 {
		compareEnd(w, b, end.EndReads, lanes)
	}
}

// engineEndLanes returns the lanes to which the end of a block applies, according to the engine.
func engineEndLanes(w *machine.Warp, b *code.Block) uint64 {
	k := w.Check
	k.Run, k.Phase = nil, machine.EngineRuns
	lanes := w.GuardedLanes(w.CTA.Code.End(b).Guard)
	k.Phase = machine.BetweenSteps
	return lanes
}

// endInstr returns the instruction at a block's end, and its name in messages.
func endInstr(w *machine.Warp, b *code.Block) (*code.Source, string) {
	if end := w.CTA.Code.End(b); end.Src >= 0 {
		src := w.SourceOf(end)
		return src, src.Text
	}
	return nil, "the function's end"
}

// compareEnd compares the registers read at a block's end, for the lanes to which the end applies.
func compareEnd(w *machine.Warp, b *code.Block, list []machine.RowPair, lanes uint64) {
	for h := range w.Files {
		m := uint32(lanes >> (32 * h))
		if m == 0 {
			continue
		}
		f, g := &w.Files[h], &w.Check.Files[h]
		for i := range list {
			if bad := differences(f, g, &list[i], m); bad != 0 {
				lane := bits.TrailingZeros32(bad)
				src, name := endInstr(w, b)
				w.Fail(src, uint64(bad)<<(32*h), probe.ErrMismatch, "%v: %s reads %s in lane %d, want %#x", probe.ErrMismatch, name, machine.ValueText(f, list[i].Row, lane), lane, machine.LaneValue(g, list[i].Reference, lane))
				return
			}
		}
	}
}

// CompareSources implements machine.Comparer.
func (CheckRunner) CompareSources(w *machine.Warp, list []machine.RowPair) { compareSources(w, list) }

// CompareResults implements machine.Comparer.
func (CheckRunner) CompareResults(w *machine.Warp, list []machine.RowPair) { CompareResults(w, list) }

// BeforeLanes is called when an instruction with a compact form must execute on the lanes of m. If the instruction does
// more than compute, it executes once, for the engine and for the reference, so BeforeLanes compares its operands. It
// reports whether the instruction may execute.
func (CheckRunner) BeforeLanes(w *machine.Warp, m uint32) bool {
	k := w.Check
	if m != k.Lanes {
		FailMismatch(w, &k.Run.Pairs[0], m^k.Lanes, "it runs on %s, want %s", probe.LaneText(uint64(m)), probe.LaneText(uint64(k.Lanes)))
		return false
	}
	if k.FellBack++; !k.Run.Pairs[0].Computes {
		k.RanOnce, k.Phase = true, machine.LanesRun
		compareSources(w, k.Run.Pairs[0].UncheckedReads)
	}
	return w.Err == nil
}

// AfterLanes copies the results of an instruction that does more than compute to the reference.
func (CheckRunner) AfterLanes(w *machine.Warp) {
	k := w.Check
	if k.Run.Pairs[0].Computes {
		return
	}
	if k.Phase = machine.EngineRuns; w.Err == nil {
		copyToReference(k, k.Run.Pairs[0].Writes)
	}
}
