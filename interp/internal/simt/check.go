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

// check is the checking of a warp.
type check struct {
	*reference
	comparer
	files           []regfile.File    // the reference's registers
	engineFiles     []regfile.File    // those of the code that is checked
	inReference     bool              // the reference is the warp's machine now
	nativeFuncs     bool              // the backend has functions of its own, for what would run on the lanes for both as well
	rulesApplied    int64             // rules, so far
	operands        []regfile.Compact // shadows of what instructions under way read and overwrite
	saved           []savedResult     // results as lanes had them that do not execute
	addressRegister registerCopy      // the address register of a load
	addressRow      regfile.Row64
	memoryBefore    [regfile.Lanes][]byte // what is in memory where lanes would store that do not
	nativeNotes     []byte                // by machine code: of operands and results, what was there before

	// What is under way.
	run                       *instrRun     // the instructions; nil: the end of a block
	singleRun                 instrRun      // for one that executes alone
	half                      int           // in which they run
	engineFile, referenceFile *regfile.File // its registers, and the reference's
	lanes                     uint32        // on which they run
	idle                      uint32        // others of the half
	fellBack                  int           // of them, those that the engine would run compactly and runs on the lanes
	repeatedLoad              bool          // a load is repeated
	shared                    bool          // they run on the lanes for both, their operands compared
	sharedDone                bool          // … and have done so
	operandsSaved             bool          // operands are what was noted of them, where they are overwritten
	inEngine                  bool          // the code that is checked runs, or what it has left is looked at
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

// blockChecked is block in both ways.
func (w *warp) blockChecked([]code.Instr) reason {
	defer w.recoverMismatch()
	k, b := w.check, w.cta.code.Block(w.pc)
	if w.pc == b.First && !k.nativeFuncs && len(w.files) == 1 {
		w.selectHalf(0, uint32(w.mask))
		runs := k.blocks[b.Index].runs
		for i := range runs {
			if w.execHalf(&runs[i]); w.err != nil {
				return noReason
			}
		}
	} else { // of two halves each has executed an instruction before one of them comes to the next
		pairs := w.pairs(b, w.pc)
		for i := range pairs {
			if w.execChecked(pairs[i : i+1]); w.err != nil {
				return noReason
			}
		}
	}
	w.checkEnd(b)
	return noReason
}

// execChecked executes an instruction in both ways, without those behind it.
func (w *warp) execChecked(single []instrPair) {
	r := w.singleRun(single)
	if len(w.files) == 1 {
		w.selectHalf(0, uint32(w.mask))
		w.execHalf(r)
		return
	}
	w.execHalves(r)
}

// execHalves executes a run of instructions in both ways for both halves of a warp of 64 lanes.
func (w *warp) execHalves(r *instrRun) {
	for h := range w.files { // each as if it were alone
		w.files[h].SetActive(0)
	}
	for h := range w.files {
		if m := uint32(w.mask >> (32 * h)); m != 0 && w.err == nil {
			w.files[h].SetActive(m)
			w.selectHalf(h, m)
			w.execHalf(r)
			w.files[h].SetActive(0)
		}
	}
	w.activate()
}

// selectHalf says in which half what is to come executes, and on which lanes of it.
func (w *warp) selectHalf(h int, lanes uint32) {
	k := w.check
	k.half, k.engineFile, k.referenceFile, k.lanes, k.idle = h, &w.files[h], &k.files[h], lanes, uint32(w.live>>(32*h))&^lanes
}

// execHalf executes a run of instructions in both ways for a half of the warp.
func (w *warp) execHalf(r *instrRun) {
	w.check.setRun(r)
	if r.guarded {
		w.execGuarded(r)
		return
	}
	counted := w.count.ThreadInstructions
	w.execRun(r)
	if skippedLanes := counted - w.count.ThreadInstructions; skippedLanes != 0 && w.err == nil {
		w.failCount(r, 0, 0, skippedLanes)
	}
}

// setRun says which run is under way.
func (k *check) setRun(r *instrRun) {
	k.run, k.shared, k.sharedDone, k.operandsSaved = r, false, false, false
}

// beginInstr says that an instruction of the block that pc is in is under way.
func (w *warp) beginInstr(pc int32, instr *code.Instr) *instrPair {
	r := w.singleRun(w.check.find(pc, instr))
	w.check.setRun(r)
	return &r.pairs[0]
}

// execRun executes a run on the lanes under way.
func (w *warp) execRun(r *instrRun) {
	switch r.kind {
	case sharedRun:
		w.runShared(r)
	case batchRun:
		w.checkBatch(r)
	default:
		w.checkSingle(r)
	}
}

// execGuarded executes an instruction with a guard.
func (w *warp) execGuarded(r *instrRun) {
	k, p := w.check, &r.pairs[0]
	active, idle := k.lanes, k.idle
	if w.compareGuards(p); w.err != nil {
		return
	}
	guardedOff := active &^ k.lanes
	k.idle |= guardedOff
	counted, skipped := w.count.ThreadInstructions, 0
	if p.instr != nil && p.ref.CountsSkipped {
		skipped = bits.OnesCount32(guardedOff)
	}
	w.execRun(r)
	if skippedLanes := counted - w.count.ThreadInstructions; skippedLanes != int64(skipped) && w.err == nil {
		w.failCount(r, guardedOff, skipped, skippedLanes)
	}
	k.lanes, k.idle = active, idle
}

// failCount reports that a run has counted other lanes as kept back by its guard than it has to.
func (w *warp) failCount(r *instrRun, guardedOff uint32, skipped int, counted int64) {
	w.mismatch(&r.pairs[0], guardedOff, "of the lanes that its guard disables it must count %d, and %d are counted", skipped, counted)
}

// singleRun is the run of an instruction that does not execute with those behind it.
func (w *warp) singleRun(single []instrPair) *instrRun {
	k := w.check
	if k.singleRun = *single[0].singleRun; k.nativeFuncs && k.singleRun.kind == sharedRun {
		k.singleRun.kind = singleRun
	}
	return &k.singleRun
}

// compareGuards finds the lanes that execute an instruction, by its guard in both ways.
func (w *warp) compareGuards(p *instrPair) {
	k, active := w.check, w.check.lanes
	if p.ref.Guard != 0 {
		k.lanes &= k.guardLanes(k.half, p.ref.Guard)
	}
	if p.instr == nil {
		return
	}
	counted := w.count.ThreadInstructions
	k.inEngine = true
	got := w.lanesOf(k.half, p.instr)
	k.inEngine = false
	w.count.ThreadInstructions = counted // it will count them when it executes it
	if got != k.lanes {
		w.mismatch(p, got^k.lanes, "the guard holds for lanes %s, and not for lanes %s", probe.LaneList(uint64(got)), probe.LaneList(uint64(active&^got)))
	}
}

// runEngine has the backend execute the run under way.
func (w *warp) runEngine() {
	k := w.check
	k.inEngine, k.fellBack = true, 0
	switch r := k.run; {
	case len(r.instrs) == 0:
	case k.nativeFuncs:
		w.span(r.pairs[0].from, r.pairs[0].to)
	default:
		w.block(r.instrs)
	}
	k.inEngine = false
}

// guardLanes is the lanes where a guard of the reference lets an instruction run: it has
// this function of its own, for guards are among what is checked.
func (k *check) guardLanes(h int, guard int32) uint32 {
	if guard < 0 {
		return ^k.files[h].Pred(-1 - guard)
	}
	return k.files[h].Pred(guard - 1)
}

// runShared executes a run of instructions on the lanes, once for both.
func (w *warp) runShared(r *instrRun) {
	k, n := w.check, &w.count.Engine
	if k.lanes == 0 { // a guard keeps all back
		w.runEngine()
		return
	}
	if w.compareSources(r.sources); w.err != nil {
		return
	}
	k.shared = true
	if w.runEngine(); w.err != nil {
		n.VectorExecuted += w.countExecuted(r.pairs)
		return
	}
	n.VectorExecuted += int64(len(r.pairs))
	if k.inEngine, k.sharedDone = true, true; k.shadowLanes(r.results) == 0 {
		k.copyToReference(r.needed)
	} else {
		for i := range r.pairs {
			if w.copyResults(&r.pairs[i]); w.err != nil {
				break
			}
		}
	}
	k.inEngine = false
}

// copyResults gives the reference the results of an instruction that has run on the lanes for
// both. Where shadows say otherwise, they are compared.
func (w *warp) copyResults(p *instrPair) {
	k := w.check
	if k.shadowLanes(p.writes) == 0 {
		k.copyToReference(p.needed)
		return
	}
	k.copyToReference(p.writes)
	w.compareResults(p.writes)
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

// checkBatch executes a run of instructions that only compute: all of them as affine mode does,
// then all by the reference, and compares their results. If no lane executes them they must do
// nothing.
func (w *warp) checkBatch(r *instrRun) {
	k := w.check
	k.saveOperands()
	if w.runEngine(); w.err != nil {
		return
	}
	if k.lanes != 0 {
		w.countEngine()
		for i := range r.pairs {
			w.onReference(&r.pairs[i])
		}
		k.inEngine = true
		w.compareResults(r.results)
		for i := range r.pairs[:r.provedEnd] {
			if p := &r.pairs[i]; p.proved && w.err == nil {
				w.compareProved(p)
			}
		}
		k.inEngine = false
	}
	if k.idle == 0 {
		return
	}
	for i := range r.pairs {
		if p := &r.pairs[i]; p.instr != nil && w.err == nil {
			w.compareIdle(p)
		}
	}
}

// saveOperands notes what the instructions under way may overwrite and mismatches speak of: operands,
// and results for idle lanes.
func (k *check) saveOperands() {
	if k.run.savesOperands || k.idle != 0 {
		k.inEngine = true
		for i := range k.run.pairs {
			p := &k.run.pairs[i]
			if k.idle != 0 && p.instr != nil {
				k.saveIdle(p)
			}
			for n := p.overwrittenReads; n != 0; n &= n - 1 {
				k.saveOperand(p, bits.TrailingZeros64(n))
			}
		}
		k.inEngine = false
	}
	k.operandsSaved = true
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

// checkSingle executes an instruction as affine mode does, which may be on compact operands,
// and on the reference. If no lane executes it it must do nothing.
func (w *warp) checkSingle(r *instrRun) {
	k, m, p := w.check, w.check.lanes, &r.pairs[0]
	s := &code.Signatures[p.instr.Op]
	k.saveOperands()
	store, again := s.Kind == code.Store, s.Kind == code.Load && w.cta.grid.hostAtomics
	switch {
	case store && k.idle != 0:
		w.beforeStore(p)
	case again:
		k.saveAddress(p)
	}
	if s.Side == code.AccessSide {
		w.compareAddresses(p)
	}
	if s.LaneIndependent && k.nativeFuncs {
		w.compareReads(p)
	}
	if w.err == nil {
		if w.runEngine(); m != 0 {
			w.countEngine()
		}
	}
	if p.proved && m != 0 && w.err == nil {
		w.compareProved(p)
	}
	switch {
	case w.err != nil:
		if t, ok := w.err.(*probe.Trap); ok && !k.shared && t.Kind != probe.ErrMismatch {
			w.compareTraps(p, t)
		}
		return
	case store && !k.shared:
		w.afterStore(p)
	case s.LaneIndependent && !k.shared:
		k.copyToReference(p.writes)
		fallthrough
	case k.shared:
		w.compareResults(p.writes)
	case m != 0:
		if w.onReference(p); w.err != nil {
			t, _ := w.err.(*probe.Trap)
			w.err = nil
			w.mismatch(p, m, "it runs, but on the lanes there is a trap: %v", t)
			return
		}
		w.compareResults(p.writes)
		for n := 0; n < 8 && w.err != nil && again; n++ {
			// Perhaps another CTA has stored there in between: a race of the guest's.
			w.err = nil
			w.repeatLoad(p)
		}
	}
	if k.idle != 0 && w.err == nil {
		w.compareIdle(p)
	}
}

// recoverMismatch makes a mismatch of a panic of the code that is checked, if the reference
// executes the instruction, or has not come to it because it does more than to compute, or
// if the lanes have executed it: then it is no fault of the machine that both have in
// common.
func (w *warp) recoverMismatch() {
	k := w.check
	if !k.inEngine {
		return // others' panics go on
	}
	k.inEngine = false
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
			if k.shared && !k.sharedDone {
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
	k.shared, k.repeatedLoad = false, true
	defer func() { k.repeatedLoad = false }()
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
	k.run, k.inEngine = nil, true
	lanes := w.guarded(w.cta.code.End(b).Guard)
	k.inEngine = false
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
		k.shared = true
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
	if k.sharedDone = true; w.err == nil {
		k.copyToReference(k.run.pairs[0].writes)
	}
}
