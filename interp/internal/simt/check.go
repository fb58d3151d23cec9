package simt

// This file is check mode: what affine mode runs, beside a reference.
//
// A warp has its registers twice. In one set of files the code of affine mode runs: its
// plan, its rows, its shadows, by the backend that affine mode has. The other is the
// reference: the same instructions, allocated without plan and packing, on rows that are
// never compact, by the portable backend's functions (reference.go). After each run of
// instructions, which is one or a few neighbours, the results, and what they left alone, are
// compared (compare.go); before a block's end, what decides how it ends. What happens once
// (stores, atomics, clocks, output) is done by the first, after its operands have been
// compared; the reference gets the results. So it does of what the portable backend runs on
// the lanes anyway, for the reference would by the same function.

import (
	"fmt"
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// check is the state of check mode of a warp.
type check struct {
	*reference
	comparer
	files       []regfile.File // registers of the reference
	engineFiles []regfile.File // registers of the code that is checked
	inReference bool           // the warp's files and code are those of the reference: see switchToReference
	nativeFuncs bool           // the backend has functions of its own also for instructions that run on the lanes
	step
	savedState
}

// step is a run of instructions under way in one half of the warp.
type step struct {
	run                       *instrRun // nil: the end of a block
	phase                     checkPhase
	half                      int
	engineFile, referenceFile *regfile.File // registers of the half
	lanes                     uint32        // lanes that execute the run
	idle                      uint32        // live lanes of the half that do not
	onLanes                   bool          // the run executes once, on the lanes, for the code that is checked and for the reference
	ranOnce                   bool          // the same, because the code that is checked had no compact operands for it
	fellBack                  int           // instructions of the run that have a compact form and execute on the lanes
	repeatsLoad               bool          // a load executes again, because another CTA may have stored in between
	rulesApplied              int64         // value of warp.unit.Applied before the run
}

// checkPhase is the progress of a step.
type checkPhase uint8

const (
	betweenSteps  checkPhase = iota // other code runs
	preparing                       // the guard is evaluated; operands of a run on the lanes are compared
	prepared                        // the state that the run overwrites is saved; addresses are compared
	engineRuns                      // the code that is checked runs
	lanesRun                        // it runs an instruction on the lanes, for the reference, too
	referenceRuns                   // the reference runs
	comparing                       // results are compared
)

// savedState is the state from before a step that mismatches and comparisons need.
type savedState struct {
	operands        []regfile.Compact     // shadows of operands that the step overwrites
	saved           []savedResult         // result registers, for lanes that do not execute the step
	addressRegister registerCopy          // the address register of a load
	addressRow      regfile.Row64         // addresses of the reference's access, by lane
	memoryBefore    [regfile.Lanes][]byte // memory at the addresses of idle lanes, by lane
	nativeNotes     []byte                // the same state as machine code saves it
}

// comparer compares the results of the code that is checked with those of the reference, for instructions that
// other code than check mode executes.
type comparer interface {
	// compareSources compares rows that the instructions under way read on the lanes.
	compareSources(w *warp, list []rowPair)
	// compareResults compares the results of the instructions under way.
	compareResults(w *warp, list []rowPair)
	// beforeLanes is called before an instruction that has a compact form runs on the lanes of m. It reports whether
	// the instruction may run.
	beforeLanes(w *warp, m uint32) bool
	// afterLanes is called after it has run, before any of its results is kept compactly.
	afterLanes(w *warp)
}

// checkRunner runs check mode.
type checkRunner struct{}

func (checkRunner) run(w *warp, budget int) reason { return runBlocks(w, budget, (*warp).blockChecked) }

// blockChecked executes the rest of a block with the code that is checked and with the reference, and compares them.
func (w *warp) blockChecked(_ []code.Instr) reason {
	defer w.recoverMismatch()
	k, b := w.check, w.cta.code.Block(w.pc)
	if w.pc == b.First && !k.nativeFuncs && len(w.files) == 1 {
		runs := k.blocks[b.Index].runs
		for i := range runs {
			if w.checkHalf(0, uint32(w.mask), &runs[i]); w.err != nil {
				return noReason
			}
		}
	} else { // both halves execute an instruction before either starts the next
		pairs := w.pairs(b, w.pc)
		for i := range pairs {
			if w.checkPair(&pairs[i]); w.err != nil {
				return noReason
			}
		}
	}
	w.checkEnd(b)
	return noReason
}

// checkPair executes and compares one instruction.
func (w *warp) checkPair(p *instrPair) {
	if len(w.files) == 1 {
		w.checkHalf(0, uint32(w.mask), p.singleRun)
		return
	}
	for h := range w.files { // each half executes alone
		w.files[h].SetActive(0)
	}
	for h := range w.files {
		if m := uint32(w.mask >> (32 * h)); m != 0 && w.err == nil {
			w.files[h].SetActive(m)
			w.checkHalf(h, m, p.singleRun)
			w.files[h].SetActive(0)
		}
	}
	w.activate()
}

// checkHalf executes and compares a run of instructions on the lanes of half h, as far as its guard holds. Every
// instruction of check mode that Go executes goes through it.
func (w *warp) checkHalf(h int, lanes uint32, r *instrRun) {
	k, skipped, guardedOff := w.check, 0, uint32(0)
	w.selectHalf(h, lanes)
	k.begin(r)
	k.phase = preparing
	if r.guarded {
		if guardedOff = w.compareGuards(&r.pairs[0]); w.err != nil {
			return
		}
		if p := &r.pairs[0]; p.instr != nil && p.ref.CountsSkipped {
			skipped = bits.OnesCount32(guardedOff)
		}
	}
	counted := w.count.ThreadInstructions
	w.checkRun(r)
	k.phase = betweenSteps
	if n := counted - w.count.ThreadInstructions; n != int64(skipped) && w.err == nil {
		w.mismatch(&r.pairs[0], guardedOff, "of the lanes that its guard disables it must count %d, and %d are counted", skipped, n)
	}
}

// checkRun is one step: it prepares, runs the code that is checked, runs the reference, and compares.
func (w *warp) checkRun(r *instrRun) {
	k := w.check
	if w.prepare(r); w.err != nil {
		return
	}
	if w.runEngine(); k.lanes != 0 {
		w.countRun(r)
	}
	if w.err != nil {
		w.compareTrap(&r.pairs[0])
		return
	}
	if k.lanes != 0 {
		if w.runReference(r); w.err != nil {
			return
		}
	}
	k.phase = comparing
	w.compareRun(r)
}

// selectHalf chooses the half of the warp, and the lanes of it, for the next step.
func (w *warp) selectHalf(h int, lanes uint32) {
	k := w.check
	k.half, k.engineFile, k.referenceFile, k.lanes, k.idle = h, &w.files[h], &k.files[h], lanes, uint32(w.live>>(32*h))&^lanes
}

// begin chooses the run of the next step.
func (k *check) begin(r *instrRun) {
	k.run, k.onLanes, k.ranOnce = r, r.kind == sharedRun && !k.nativeFuncs, false
}

// beginInstr begins a step of one instruction, of the block that contains pc.
func (w *warp) beginInstr(pc int32, instr *code.Instr) *instrPair {
	p := w.check.find(pc, instr)
	w.check.begin(p.singleRun)
	return p
}

// compareGuards finds the lanes that execute an instruction by its guard, in the code that is checked and in the reference.
// It returns the lanes that the guard disables.
func (w *warp) compareGuards(p *instrPair) (guardedOff uint32) {
	k, active := w.check, w.check.lanes
	if p.ref.Guard != 0 {
		k.lanes &= k.guardLanes(k.half, p.ref.Guard)
	}
	guardedOff = active &^ k.lanes
	k.idle |= guardedOff
	if p.instr == nil {
		return guardedOff
	}
	counted := w.count.ThreadInstructions
	got := w.lanesOf(k.half, p.instr)
	w.count.ThreadInstructions = counted // they are counted when the instruction executes
	if got != k.lanes {
		w.mismatch(p, got^k.lanes, "the guard holds for lanes %s, and not for lanes %s", probe.LaneList(uint64(got)), probe.LaneList(uint64(active&^got)))
	}
	return guardedOff
}

// prepare compares operands before the run changes them, and saves what it overwrites.
func (w *warp) prepare(r *instrRun) {
	k := w.check
	if k.onLanes {
		if k.lanes != 0 {
			w.compareSources(r.sources)
		}
		return
	}
	k.saveOverwritten(r)
	p := &r.pairs[0]
	if p.computes {
		return
	}
	s := &code.Signatures[p.instr.Op]
	switch {
	case s.Kind == code.Store && k.idle != 0:
		w.beforeStore(p)
	case w.mayRepeatLoad(p):
		k.saveAddress(p)
	}
	if s.Side == code.AccessSide {
		w.compareAddresses(p)
	}
	if s.LaneIndependent && k.nativeFuncs {
		w.compareReads(p)
	}
}

// mayRepeatLoad reports whether an instruction is a load whose memory another CTA may change meanwhile.
func (w *warp) mayRepeatLoad(p *instrPair) bool {
	return p.ref.Op.Signature().Kind == code.Load && w.cta.grid.hostAtomics
}

// runEngine runs the code that is checked: the backend executes the instructions of the step.
func (w *warp) runEngine() {
	k := w.check
	k.phase, k.fellBack = engineRuns, 0
	if k.onLanes && k.lanes != 0 {
		k.phase = lanesRun
	}
	switch r := k.run; {
	case len(r.instrs) == 0:
	case k.nativeFuncs:
		w.span(r.pairs[0].from, r.pairs[0].to)
	default:
		w.block(r.instrs)
	}
	k.phase = comparing
}

// countRun counts how the instructions of the step have executed: all of them, or up to the one that traps.
func (w *warp) countRun(r *instrRun) {
	if w.err != nil && w.check.onLanes {
		w.count.Engine.VectorExecuted += w.countExecuted(r.pairs)
		return
	}
	w.countEngine()
}

// compareTrap compares a trap of the code that is checked with the accesses of the reference.
func (w *warp) compareTrap(p *instrPair) {
	k := w.check
	if t, ok := w.err.(*probe.Trap); ok && !k.onLanes && !k.ranOnce && t.Kind != probe.ErrMismatch {
		w.compareTraps(p, t)
	}
}

// runReference gives the reference its results. Instructions that only compute, and loads, run again. Stores, atomics and
// other operations happen once: the reference gets a copy of their results.
func (w *warp) runReference(r *instrRun) {
	k, p := w.check, &r.pairs[0]
	s := p.ref.Op.Signature()
	switch {
	case k.onLanes:
		if k.shadowLanes(r.results) == 0 {
			k.copyToReference(r.needed)
		} else {
			k.copyToReference(r.results)
		}
	case k.ranOnce, !p.computes && s.Kind == code.Store: // copied by afterLanes; without results
	case !p.computes && s.LaneIndependent:
		k.copyToReference(p.writes)
	default:
		k.phase = referenceRuns
		for i := range r.pairs {
			w.onReference(&r.pairs[i])
		}
		if w.err != nil {
			t, _ := w.err.(*probe.Trap)
			w.err = nil
			w.mismatch(p, k.lanes, "it runs, but on the lanes there is a trap: %v", t)
		}
	}
}

// compareRun compares what the run has left: results, memory, claims of the plan, and the state of lanes that do not execute it.
func (w *warp) compareRun(r *instrRun) {
	k, p := w.check, &r.pairs[0]
	switch {
	case k.onLanes:
		if k.lanes != 0 && k.shadowLanes(r.results) != 0 {
			w.compareResults(r.results)
		}
		return
	case !p.computes && !k.ranOnce && p.ref.Op.Signature().Kind == code.Store:
		w.afterStore(p)
	case k.lanes != 0:
		w.compareResults(r.results)
		for n := 0; n < maxLoadRepeats && w.err != nil && !k.ranOnce && w.mayRepeatLoad(p); n++ {
			w.err = nil
			w.repeatLoad(p)
		}
	}
	if k.lanes != 0 {
		for i := range r.pairs[:r.provedEnd] {
			if p := &r.pairs[i]; p.proved && w.err == nil {
				w.compareProved(p)
			}
		}
	}
	if k.idle != 0 {
		for i := range r.pairs {
			if p := &r.pairs[i]; p.instr != nil && w.err == nil {
				w.compareIdle(p)
			}
		}
	}
}

// maxLoadRepeats is how often a load is repeated whose results differ: another CTA may have stored in between, which is a race
// of the guest.
const maxLoadRepeats = 8

// guardLanes is the lanes where a guard of the reference lets an instruction run: it has
// this function of its own, for guards are among what is checked.
func (k *check) guardLanes(h int, guard int32) uint32 {
	if guard < 0 {
		return ^k.files[h].Pred(-1 - guard)
	}
	return k.files[h].Pred(guard - 1)
}

// countExecuted is how many of a run have executed until one of them has trapped, which counts.
func (w *warp) countExecuted(list []instrPair) int64 {
	trap, _ := w.err.(*probe.Trap)
	for i := range list {
		p := &list[i]
		if p.ref.Op.Signature().Side == code.AccessSide && trap != nil && trap.Index == int(p.ref.Src) {
			return int64(i + 1)
		}
	}
	return 1 // what has not accessed memory was alone in its run
}

// saveOverwritten saves the operands that the run overwrites, and its results for idle lanes.
func (k *check) saveOverwritten(r *instrRun) {
	k.phase = prepared
	if !r.savesOperands && k.idle == 0 {
		return
	}
	for i := range r.pairs {
		p := &r.pairs[i]
		if k.idle != 0 && p.instr != nil {
			k.saveIdle(p)
		}
		for n := p.overwrittenReads; n != 0; n &= n - 1 {
			k.saveOperand(p, bits.TrailingZeros64(n))
		}
	}
}

// saveOperand notes the shadow of an operand.
func (k *check) saveOperand(p *instrPair, i int) {
	n := int(p.operandIndex) + i
	for len(k.operands) <= n {
		k.operands = append(k.operands, regfile.Compact{})
	}
	row := p.reads[i].row
	k.operands[n] = *shadowAt(k.engineFile, row.Slot, row.Row)
}

// recoverMismatch turns a panic of the code that is checked into a mismatch, if the reference executes the instruction. A panic
// that code and reference have in common goes on: it is a fault of the machine.
func (w *warp) recoverMismatch() {
	k, phase := w.check, w.check.phase
	k.phase = betweenSteps
	if phase == betweenSteps || phase == referenceRuns {
		return
	}
	r := recover()
	if r == nil {
		return
	}
	if _, memory := r.(interface{ Addr() uintptr }); memory {
		panic(r) // the host has nothing at an address of the guest's
	}
	if k.run == nil {
		w.fail(nil, w.mask, probe.ErrMismatch, "%v: the end of a block fails: %v", probe.ErrMismatch, r)
		return
	}
	pairs, others := k.run.pairs, ""
	for i := range pairs {
		switch pairs[i].ref.Op.Signature().Kind {
		case code.Arithmetic, code.Read, code.Load:
			if k.lanes != 0 { // where that is a trap, the engine should have come to it as well
				w.onReference(&pairs[i])
				w.err = nil
			}
		default:
			if phase == lanesRun {
				panic(r)
			}
		}
	}
	if n := len(pairs); n > 1 {
		others = fmt.Sprintf(", or one of the %d instructions behind it,", n-1)
	}
	if w.err == nil {
		w.mismatch(&pairs[0], k.lanes, "it%s fails: %v", others, r)
	}
}

// onReference executes the reference's instruction.
func (w *warp) onReference(p *instrPair) {
	k := w.check
	if p.kernel != nil {
		p.kernel(k.referenceFile, p.ref, k.lanes)
		return
	}
	w.switchToReference()
	laneFuncs[p.ref.Op](w, k.half, k.referenceFile, p.ref, k.lanes)
	w.switchToReference()
}

// inReference reports whether the reference is the warp's machine.
func (w *warp) inReference() bool { return w.check != nil && w.check.inReference }

// switchToReference makes the reference the warp's machine, or gives it back.
func (w *warp) switchToReference() {
	k := w.check
	if k.inReference = !k.inReference; k.inReference {
		w.files, w.cta.code = k.files, k.Kernel
	} else {
		w.files, w.cta.code = k.engineFiles, w.cta.grid.kernel
	}
	w.frame = w.frame.counterpart
}

// savedResult is a register and its shadow.
type savedResult struct {
	registerCopy
	shadow regfile.Compact
}

// saveIdle notes what registers hold that an instruction writes, for the lanes that do
// not execute it.
func (k *check) saveIdle(p *instrPair) {
	f := k.engineFile
	for len(k.saved) < int(p.resultIndex)+len(p.writes) {
		k.saved = append(k.saved, savedResult{})
	}
	for i := range p.writes {
		s := &k.saved[int(p.resultIndex)+i]
		switch row := p.writes[i].row; row.Slot {
		case code.P:
			s.p = f.Pred(row.Row)
		case code.R:
			s.r, s.shadow = *f.Row32(row.Row), *f.Shadow32(row.Row)
		default:
			s.q, s.shadow = *f.Row64(row.Row), *f.Shadow64(row.Row)
		}
	}
}

// compareIdle compares what saveIdle has noted with what is there now.
func (w *warp) compareIdle(p *instrPair) {
	k, f, idle := w.check, w.check.engineFile, w.check.idle
	for i := range p.writes {
		row, s := p.writes[i].row, &k.saved[int(p.resultIndex)+i]
		bad, old := uint32(0), uint64(0)
		switch row.Slot {
		case code.P:
			bad = (f.Pred(row.Row) ^ s.p) & idle
		case code.R:
			bad = changedLanes(f.Row32(row.Row), &s.r, f.Shadow32(row.Row), &s.shadow, idle)
		default:
			bad = changedLanes(f.Row64(row.Row), &s.q, f.Shadow64(row.Row), &s.shadow, idle)
		}
		if bad == 0 {
			continue
		}
		lane := bits.TrailingZeros32(bad)
		switch row.Slot {
		case code.P:
			old = uint64(s.p >> lane & 1)
		case code.R:
			old = uint64(s.r[lane])
		default:
			old = s.q[lane]
		}
		w.idleChanged(p, bad, lane, old, row)
		return
	}
}

// idleChanged reports that a lane that does not execute an instruction has another value.
func (w *warp) idleChanged(p *instrPair, lanes uint32, lane int, old uint64, row code.Row) {
	w.mismatch(p, lanes, "lane %d, which does not execute it, had %#x and has %s", lane, old, laneText(w.check.engineFile, row, lane))
}

// changedLanes is the lanes of m where a register has another value than it had: of a row and
// its shadow, given what they were. Of old it makes the values.
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

// saveAddress keeps the address register of a load of the reference's, which its results
// may overwrite, for the case that it is repeated.
func (k *check) saveAddress(p *instrPair) {
	if len(p.reads) == 0 {
		return
	}
	switch row := p.reads[0].ref; row.Slot {
	case code.R:
		k.addressRegister.r = *k.referenceFile.Row32(row.Row)
	case code.Q:
		k.addressRegister.q = *k.referenceFile.Row64(row.Row)
	}
}

// restore gives lanes of a register what was saved.
func (s *registerCopy) restore(f *regfile.File, row code.Row, m uint32) {
	switch row.Slot {
	case code.R:
		mem.CopyRow(f.Row32(row.Row), &s.r, m)
	case code.Q:
		mem.CopyRow(f.Row64(row.Row), &s.q, m)
	}
}

// repeatLoad repeats a load whose results differ, in both ways: at the addresses that it
// had, which are again in its address register.
func (w *warp) repeatLoad(p *instrPair) {
	k, f, m := w.check, w.check.engineFile, w.check.lanes
	if len(p.reads) > 0 {
		rows, c := &p.reads[0], *k.operandBefore(p, 0)
		k.addressRegister.restore(k.referenceFile, rows.ref, m)
		if rows.row.Row >= 0 {
			if c.Materialised &^= m; !c.Holds(m) {
				c.Mask &^= m
				k.addressRegister.restore(f, rows.row, m)
			}
			*shadowOf(f, rows.row) = c
		}
	}
	k.ranOnce, k.repeatsLoad = false, true
	defer func() { k.repeatsLoad = false }()
	counted := w.count.ThreadInstructions
	w.runEngine()
	if w.count.ThreadInstructions = counted; w.err != nil {
		return
	}
	if w.onReference(p); w.err == nil {
		w.compareResults(p.writes)
	}
}

// compareTraps compares a trap of a compact access with what the lanes would do.
func (w *warp) compareTraps(p *instrPair, t *probe.Trap) {
	switch {
	case p.ref.Op.Signature().Side != code.AccessSide:
		return
	case p.ref.Op == code.StoreBulk, p.ref.Op == code.LoadMatrix, p.ref.Op == code.StoreMatrix: // they trap for more than their addresses
		return
	}
	a := &w.check.Access[p.ref.Side]
	w.referenceAddresses(p)
	view, request, m := w.view(), w.request(a), w.check.lanes
	for n := m; n != 0; n &= n - 1 {
		if _, fault := view.Find(&request, w.check.addressRow[bits.TrailingZeros32(n)]); fault != nil {
			return
		}
	}
	w.mismatch(p, m, "it traps, but no lane's own access does: %v", t)
}

// referenceAddresses computes the addresses of an access by the reference.
func (w *warp) referenceAddresses(p *instrPair) {
	k := w.check
	w.switchToReference()
	w.addresses(k.half, p.ref, w.access(p.ref), &k.addressRow)
	w.switchToReference()
}

// checkEnd compares what decides how a block ends.
func (w *warp) checkEnd(b *code.Block) {
	lanes, end := w.mask, &w.check.blocks[b.Index]
	if end.endGuard != 0 {
		lanes = 0
		for h := range w.files {
			lanes |= uint64(w.check.guardLanes(h, end.endGuard)) << (32 * h)
		}
		lanes &= w.mask
	}
	if got := w.endLanes(b); got != lanes {
		src, what := w.lastInstr(b)
		w.fail(src, got^lanes, probe.ErrMismatch, "%v: %s is for lanes [%s], and should be for lanes [%s]", probe.ErrMismatch, what, probe.LaneList(got), probe.LaneList(lanes))
		return
	}
	if len(end.endReads) > 0 {
		w.compareEnd(b, end.endReads, lanes)
	}
}

// endLanes is the lanes for which the end of a block applies, by the code that is checked.
func (w *warp) endLanes(b *code.Block) uint64 {
	k := w.check
	k.run, k.phase = nil, engineRuns
	lanes := w.guarded(w.cta.code.End(b).Guard)
	k.phase = betweenSteps
	return lanes
}

// lastInstr is the instruction that ends a block, and what to call it.
func (w *warp) lastInstr(b *code.Block) (*code.Source, string) {
	if end := w.cta.code.End(b); end.Src >= 0 {
		src := w.sourceOf(end)
		return src, src.Text
	}
	return nil, "the function's end"
}

// compareEnd compares what the end of a block reads for the lanes it is for.
func (w *warp) compareEnd(b *code.Block, list []rowPair, lanes uint64) {
	for h := range w.files {
		m := uint32(lanes >> (32 * h))
		if m == 0 {
			continue
		}
		f, g := &w.files[h], &w.check.files[h]
		for i := range list {
			if bad := differences(f, g, &list[i], m); bad != 0 {
				lane := bits.TrailingZeros32(bad)
				src, what := w.lastInstr(b)
				w.fail(src, uint64(bad)<<(32*h), probe.ErrMismatch, "%v: %s reads %s in lane %d, which should have %#x", probe.ErrMismatch, what, laneText(f, list[i].row, lane), lane, laneValue(g, list[i].ref, lane))
				return
			}
		}
	}
}

func (checkRunner) compareSources(w *warp, list []rowPair) { w.compareSources(list) }

func (checkRunner) compareResults(w *warp, list []rowPair) { w.compareResults(list) }

// beforeLanes compares the operands of an instruction that does more than compute: it runs once, for the engine and
// for the reference.
func (checkRunner) beforeLanes(w *warp, m uint32) bool {
	k := w.check
	if m != k.lanes {
		w.mismatch(&k.run.pairs[0], m^k.lanes, "it runs on lanes %s, and should on lanes %s", probe.LaneList(uint64(m)), probe.LaneList(uint64(k.lanes)))
		return false
	}
	if k.fellBack++; !k.run.pairs[0].computes {
		k.ranOnce, k.phase = true, lanesRun
		w.compareSources(k.run.pairs[0].uncheckedReads)
	}
	return w.err == nil
}

// afterLanes copies the results of an instruction that does more than compute to the reference.
func (checkRunner) afterLanes(w *warp) {
	k := w.check
	if k.run.pairs[0].computes {
		return
	}
	if k.phase = engineRuns; w.err == nil {
		k.copyToReference(k.run.pairs[0].writes)
	}
}
