package check

// This file executes steps of check mode: runs of up to 32 instructions, by the engine and by the reference.
//
// The engine has the registers, plan and backend of affine mode. The reference has rows that are never compact, allocated
// without the plan, and the portable functions execute on them. After each step the results are compared (compare.go), before a
// block's end its guard and operands. Stores, atomics, clocks and output happen once, by the engine, after their operands were
// compared; the reference gets their results. So does the reference for instructions that the portable functions execute on
// the lanes in both.

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

func (CheckRunner) Run(w *machine.Warp, budget int) machine.Reason {
	return warp.RunBlocks(w, budget, blockChecked)
}

// blockChecked executes the rest of a block with the code that is checked and with the reference, and compares them.
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
	} else { // both halves execute an instruction before either starts the next
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

// CheckPair executes and compares one instruction.
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

// checkHalf executes and compares a run of instructions on the lanes m of half h, as far as its guard holds. All instructions of
// a block that Go executes in check mode go through it. (Collective instructions of diverged lanes are compared by package warp.)
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

// checkRun executes a step: it prepares, runs the checked code, runs the reference, and compares.
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

// compareGuards finds the lanes that execute an instruction by its guard, in the code that is checked and in the reference.
// It returns the lanes that the guard disables.
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
	w.Count.ThreadInstructions = counted // they are counted when the instruction executes
	if got != k.Lanes {
		FailMismatch(w, p, got^k.Lanes, "the guard holds for %s and does not hold for %s, contrary to the reference", probe.LaneText(uint64(got)), probe.LaneText(uint64(active&^got)))
	}
	return guardedOff
}

// prepare compares operands before the run changes them, and saves overwritten operands.
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
	if s.LaneIndependent && k.NativeFuncs {
		compareReads(w, p)
	}
}

// MayRepeatLoad reports whether an instruction is a load whose memory a second CTA may change meanwhile.
func MayRepeatLoad(w *machine.Warp, p *machine.InstrPair) bool {
	return p.Reference.Op.Signature().Kind == code.Load && w.CTA.Grid.HostAtomics
}

// runEngine runs the code that is checked: the backend executes the instructions of the step.
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

// countRun counts the executed instructions of the step by the way of their execution. Of a run on the lanes that has trapped it
// counts the instructions up to the trap.
func countRun(w *machine.Warp, r *machine.InstrRun) {
	switch {
	case w.Err == nil || len(r.Pairs) == 1 && !w.Check.OnLanes:
		countEngine(w)
	case w.Check.OnLanes:
		w.Count.Engine.VectorExecuted += countExecuted(w, r.Pairs)
	}
}

// compareTrap compares a trap of the code that is checked with the accesses of the reference.
func compareTrap(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	if t, ok := w.Err.(*probe.Trap); ok && !k.OnLanes && !k.RanOnce && t.Kind != probe.ErrMismatch {
		compareAccessTrap(w, p, t)
	}
}

// runReference gives the reference its results. Instructions that only compute, and loads, run again. All other operations,
// such as stores and atomics, happen once: the reference gets a copy of their results. It reports whether results of a run
// on the lanes are in shadows, too, which must be compared.
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
	case k.RanOnce, !p.Computes && s.Kind == code.Store: // copied by AfterLanes; without results
	case !p.Computes && s.LaneIndependent:
		copyToReference(k, p.Writes)
	default:
		for i := range r.Pairs {
			RunReferenceInstr(w, &r.Pairs[i])
		}
		FailReferenceTrap(w, p)
	}
	return inShadows
}

// FailReferenceTrap turns a trap of the reference into a mismatch: the code that is checked has executed without a trap.
func FailReferenceTrap(w *machine.Warp, p *machine.InstrPair) {
	if w.Err != nil {
		t, _ := w.Err.(*probe.Trap)
		w.Err = nil
		FailMismatch(w, p, w.Check.Lanes, "it does not trap, but the reference traps: %v", t)
	}
}

// compareRun compares the state after the run: results, memory, claims of the plan, and the state of idle lanes.
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

// maxLoadRepeats is how often a load with different results is repeated.
const maxLoadRepeats = 8

// RepeatRacingLoad repeats a load whose results differ (w.Err) until they agree: a store of another CTA may have come in
// between, which is a race of the guest. It reports whether it has repeated the load.
func RepeatRacingLoad(w *machine.Warp, p *machine.InstrPair) (repeated bool) {
	for n := 0; n < maxLoadRepeats && w.Err != nil; n++ {
		w.Err = nil
		repeatLoad(w, p)
		repeated = true
	}
	return repeated
}

// guardLanes returns the lanes for which a guard of the reference is true. It is a separate function, because guards are
// checked, too.
func guardLanes(k *machine.WarpCheck, h int, guard int32) uint32 {
	if guard < 0 {
		return ^k.Files[h].Pred(-1 - guard)
	}
	return k.Files[h].Pred(guard - 1)
}

// countExecuted returns the number of executed instructions of a run, up to and including the trapped instruction.
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

// saveOverwritten saves the operands that the run overwrites, and its results for idle lanes.
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

// saveOperand notes the shadow of an operand.
func saveOperand(k *machine.WarpCheck, p *machine.InstrPair, i int) {
	n := int(p.OperandIndex) + i
	for len(k.Operands) <= n {
		k.Operands = append(k.Operands, regfile.Compact{})
	}
	row := p.Reads[i].Row
	k.Operands[n] = *machine.ShadowAt(k.EngineFile, row.Slot, row.Row)
}

// RecoverMismatch must be deferred by the function that executes a block. It turns a panic of the code that is checked, or of a
// comparison with its registers, into a mismatch, if the reference executes the instruction. A panic of the reference, and of an
// instruction that runs once for both, goes on: it is a fault of the machine. So does a fault of the host's memory.
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
		panic(r) // the host has nothing at an address of the guest's
	}
	if k.Run == nil {
		w.Fail(nil, w.Mask, probe.ErrMismatch, "%v: gemu failed at the end of a block: %v", probe.ErrMismatch, r)
		return
	}
	pairs, moreText := k.Run.Pairs, ""
	for i := range pairs {
		switch pairs[i].Reference.Op.Signature().Kind {
		case code.Arithmetic, code.Read, code.Load:
			if k.Lanes != 0 { // where that is a trap, the engine should have come to it as well
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

// RunReferenceInstr executes the reference's instruction. A panic in it leaves the phase at ReferenceRuns, so that it goes on.
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

// saveIdle saves the values of an instruction's result registers in idle lanes.
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

// compareIdle compares the present values with the values saved by saveIdle.
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

// FailIdle reports that a lane that does not execute an instruction has another value.
func FailIdle(w *machine.Warp, p *machine.InstrPair, lanes uint32, lane int, old uint64, row code.Row) {
	FailMismatch(w, p, lanes, "lane %d does not execute it, but its register changed from %#x to %s", lane, old, machine.ValueText(w.Check.EngineFile, row, lane))
}

// changedLanes is the lanes of m where a register has another value than it had: of a row and
// its shadow, given their old contents. It overwrites *old with the old values of all lanes.
func changedLanes[T mem.Slot](row, old *[regfile.Lanes]T, c, before *regfile.Compact, m uint32) uint32 {
	alike := ((c.Mask^before.Mask)|(c.Materialised^before.Materialised))&m == 0 && (c.Mask&m == 0 || c.Base == before.Base && c.Stride == before.Stride)
	if alike && differingLanes(row, old, m&^c.Mask|m&c.Materialised) == 0 {
		return 0
	}
	for n := before.Mask; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		old[i] = T(before.At(i))
	}
	return lanesUnlikeFile(row, old, c, m)
}

// SaveAddress keeps the address register of a load of the reference's, which its results
// may overwrite, for the case that it is repeated.
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

// repeatLoad repeats a load whose results differ, in the engine and in the reference, at the same addresses: it restores
// the address register.
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

// compareAccessTrap compares a trap of a compact access with the effect of the access on the lanes.
func compareAccessTrap(w *machine.Warp, p *machine.InstrPair, t *probe.Trap) {
	switch {
	case p.Reference.Op.Signature().Side != code.AccessSide:
		return
	case p.Reference.Op == code.StoreBulk, p.Reference.Op == code.LoadMatrix, p.Reference.Op == code.StoreMatrix: // they trap for more than their addresses
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

// referenceAddresses computes the addresses of an access by the reference.
func referenceAddresses(w *machine.Warp, p *machine.InstrPair) {
	k := w.Check
	w.SwitchToReference()
	access.LaneAddresses(w, k.Half, p.Reference, w.AccessOf(p.Reference), &k.AddressRow)
	w.SwitchToReference()
}

// CheckEnd compares the operands of a block's end.
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

// engineEndLanes returns the lanes for which the end of a block applies, according to the checked code.
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

func (CheckRunner) CompareSources(w *machine.Warp, list []machine.RowPair) { compareSources(w, list) }

func (CheckRunner) CompareResults(w *machine.Warp, list []machine.RowPair) { CompareResults(w, list) }

// BeforeLanes compares the operands of an instruction that does more than compute: it runs once, for the engine and
// for the reference.
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
