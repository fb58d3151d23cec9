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
	"gemu/regfile"
)

// check is the checking of a warp.
type check struct {
	*reference
	files    []regfile.File    // the reference's registers
	own      []regfile.File    // those of the code that is checked
	aside    bool              // the reference is the warp's machine now
	native   bool              // the backend has functions of its own, for what would run on the lanes for both as well
	applied  int64             // rules, so far
	operands []regfile.Compact // shadows of what instructions under way read and overwrite
	saved    []savedResult     // results as lanes had them that do not execute
	base     savedRow          // the address register of a load
	address  regfile.Row64
	before   [regfile.Lanes][]byte // what is in memory where lanes would store that do not
	notes    []byte                // by machine code: of operands and results, what was there before

	// What is under way.
	run     *run          // the instructions; nil: the end of a block
	single  run           // for one that executes alone
	half    int           // in which they run
	f, g    *regfile.File // its registers, and the reference's
	lanes   uint32        // on which they run
	idle    uint32        // others of the half
	fallen  int           // of them, those that the engine would run compactly and runs on the lanes
	again   bool          // a load is repeated
	forBoth bool          // they run on the lanes for both, their operands compared
	ran     bool          // … and have done so
	noted   bool          // operands are what was noted of them, where they are overwritten
	engine  bool          // the code that is checked runs, or what it has left is looked at
}

// checked runs check mode.
type checked struct{}

func (checked) run(w *warp, budget int) reason { return inBlocks(w, budget, (*warp).blockChecked) }

// blockChecked is block in both ways.
func (w *warp) blockChecked([]code.Instr) reason {
	defer w.recovered()
	k, b := w.check, w.cta.code.Block(w.pc)
	if w.pc == b.First && !k.native && len(w.files) == 1 {
		w.atHalf(0, uint32(w.mask))
		runs := k.blocks[b.Index].runs
		for i := range runs {
			if w.execHalf(&runs[i]); w.err != nil {
				return goesOn
			}
		}
	} else { // of two halves each has executed an instruction before one of them comes to the next
		pairs := w.pairs(b, w.pc)
		for i := range pairs {
			if w.execChecked(pairs[i : i+1]); w.err != nil {
				return goesOn
			}
		}
	}
	w.checkEnd(b)
	return goesOn
}

// execChecked executes an instruction in both ways, without those behind it.
func (w *warp) execChecked(one []pair) {
	r := w.singly(one)
	if len(w.files) == 1 {
		w.atHalf(0, uint32(w.mask))
		w.execHalf(r)
		return
	}
	w.execHalves(r)
}

// execHalves executes a run of instructions in both ways for both halves of a warp of 64 lanes.
func (w *warp) execHalves(r *run) {
	for h := range w.files { // each as if it were alone
		w.files[h].SetActive(0)
	}
	for h := range w.files {
		if m := uint32(w.mask >> (32 * h)); m != 0 && w.err == nil {
			w.files[h].SetActive(m)
			w.atHalf(h, m)
			w.execHalf(r)
			w.files[h].SetActive(0)
		}
	}
	w.activate()
}

// atHalf says in which half what is to come executes, and on which lanes of it.
func (w *warp) atHalf(h int, lanes uint32) {
	k := w.check
	k.half, k.f, k.g, k.lanes, k.idle = h, &w.files[h], &k.files[h], lanes, uint32(w.live>>(32*h))&^lanes
}

// execHalf executes a run of instructions in both ways for a half of the warp.
func (w *warp) execHalf(r *run) {
	w.check.begin(r)
	if r.guarded {
		w.execGuarded(r)
		return
	}
	counted := w.count.ThreadInstructions
	w.execRun(r)
	if back := counted - w.count.ThreadInstructions; back != 0 && w.err == nil {
		w.miscounted(r, 0, 0, back)
	}
}

// begin says which run is under way.
func (k *check) begin(r *run) {
	k.run, k.forBoth, k.ran, k.noted = r, false, false, false
}

// beginAt says that an instruction of the block that pc is in is under way.
func (w *warp) beginAt(pc int32, in *code.Instr) *pair {
	r := w.singly(w.check.find(pc, in))
	w.check.begin(r)
	return &r.pairs[0]
}

// execRun executes a run on the lanes under way.
func (w *warp) execRun(r *run) {
	switch r.course {
	case once:
		w.together(r)
	case abreast:
		w.abreast(r)
	default:
		w.beside(r)
	}
}

// execGuarded executes an instruction with a guard.
func (w *warp) execGuarded(r *run) {
	k, p := w.check, &r.pairs[0]
	active, idle := k.lanes, k.idle
	if w.lanesAlike(p); w.err != nil {
		return
	}
	kept := active &^ k.lanes
	k.idle |= kept
	counted, skipped := w.count.ThreadInstructions, 0
	if p.in != nil && p.ref.Skips {
		skipped = bits.OnesCount32(kept)
	}
	w.execRun(r)
	if back := counted - w.count.ThreadInstructions; back != int64(skipped) && w.err == nil {
		w.miscounted(r, kept, skipped, back)
	}
	k.lanes, k.idle = active, idle
}

// miscounted reports that a run has counted other lanes as kept back by its guard than it has to.
func (w *warp) miscounted(r *run, kept uint32, skipped int, counted int64) {
	w.mismatch(&r.pairs[0], kept, "of the lanes that its guard keeps back it has to count %d, and %d are counted", skipped, counted)
}

// singly is the run of an instruction that does not execute with those behind it.
func (w *warp) singly(one []pair) *run {
	k := w.check
	if k.single = *one[0].single; k.native && k.single.course == once {
		k.single.course = beside
	}
	return &k.single
}

// lanesAlike finds the lanes that execute an instruction, by its guard in both ways.
func (w *warp) lanesAlike(p *pair) {
	k, active := w.check, w.check.lanes
	if p.ref.Guard != 0 {
		k.lanes &= k.holding(k.half, p.ref.Guard)
	}
	if p.in == nil {
		return
	}
	counted := w.count.ThreadInstructions
	k.engine = true
	got := w.lanesOf(k.half, p.in)
	k.engine = false
	w.count.ThreadInstructions = counted // it will count them when it executes it
	if got != k.lanes {
		w.mismatch(p, got^k.lanes, "the guard holds for lanes %s, and not for lanes %s", LaneList(uint64(got)), LaneList(uint64(active&^got)))
	}
}

// engine has the backend execute the run under way.
func (w *warp) engine() {
	k := w.check
	k.engine, k.fallen = true, 0
	switch r := k.run; {
	case len(r.instrs) == 0:
	case k.native:
		w.span(r.pairs[0].from, r.pairs[0].to)
	default:
		w.block(r.instrs)
	}
	k.engine = false
}

// holding is the lanes where a guard of the reference lets an instruction run: it has
// this function of its own, for guards are among what is checked.
func (k *check) holding(h int, guard int32) uint32 {
	if guard < 0 {
		return ^k.files[h].Pred(-1 - guard)
	}
	return k.files[h].Pred(guard - 1)
}

// together executes a run of instructions on the lanes, once for both.
func (w *warp) together(r *run) {
	k, n := w.check, &w.count.Engine
	if k.lanes == 0 { // a guard keeps all back
		w.engine()
		return
	}
	if w.compareSources(r.sources); w.err != nil {
		return
	}
	k.forBoth = true
	if w.engine(); w.err != nil {
		n.OnLanes += w.executed(r.pairs)
		return
	}
	n.OnLanes += int64(len(r.pairs))
	if k.engine, k.ran = true, true; k.shadowed(r.results) == 0 {
		k.copies(r.wanted)
	} else {
		for i := range r.pairs {
			if w.takeResults(&r.pairs[i]); w.err != nil {
				break
			}
		}
	}
	k.engine = false
}

// takeResults gives the reference the results of an instruction that has run on the lanes for
// both. Where shadows say otherwise, they are compared.
func (w *warp) takeResults(p *pair) {
	k := w.check
	if k.shadowed(p.writes) == 0 {
		k.copies(p.wanted)
		return
	}
	k.copies(p.writes)
	w.compareResults(p.writes)
}

// executed is how many of a run have executed until one of them has trapped, which counts.
func (w *warp) executed(list []pair) int64 {
	trap, _ := w.err.(*Trap)
	for i := range list {
		p := &list[i]
		if p.ref.Op.Signature().Side == code.AccessSide && trap != nil && trap.at == &w.cta.code.Sources[p.ref.Src] {
			return int64(i + 1)
		}
	}
	return 1 // what has not accessed memory was alone in its run
}

// abreast executes a run of instructions that only compute: all of them as affine mode does,
// then all by the reference, and compares their results. If no lane executes them they must do
// nothing.
func (w *warp) abreast(r *run) {
	k := w.check
	k.note()
	if w.engine(); w.err != nil {
		return
	}
	if k.lanes != 0 {
		w.tally()
		for i := range r.pairs {
			w.onReference(&r.pairs[i])
		}
		k.engine = true
		w.compareResults(r.results)
		for i := range r.pairs[:r.proved] {
			if p := &r.pairs[i]; p.proved && w.err == nil {
				w.compareProved(p)
			}
		}
		k.engine = false
	}
	if k.idle == 0 {
		return
	}
	for i := range r.pairs {
		if p := &r.pairs[i]; p.in != nil && w.err == nil {
			w.compareIdle(p)
		}
	}
}

// note notes what the instructions under way may overwrite and mismatches speak of: operands,
// and results for idle lanes.
func (k *check) note() {
	if k.run.kept || k.idle != 0 {
		k.engine = true
		for i := range k.run.pairs {
			p := &k.run.pairs[i]
			if k.idle != 0 && p.in != nil {
				k.saveIdle(p)
			}
			for n := p.kept; n != 0; n &= n - 1 {
				k.keepOperand(p, bits.TrailingZeros64(n))
			}
		}
		k.engine = false
	}
	k.noted = true
}

// keepOperand notes the shadow of an operand.
func (k *check) keepOperand(p *pair, i int) {
	n := int(p.operand) + i
	for len(k.operands) <= n {
		k.operands = append(k.operands, regfile.Compact{})
	}
	o := p.reads[i].row
	k.operands[n] = *shadowAt(k.f, o.Slot, o.Row)
}

// beside executes an instruction as affine mode does, which may be on compact operands,
// and on the reference. If no lane executes it it must do nothing.
func (w *warp) beside(r *run) {
	k, m, p := w.check, w.check.lanes, &r.pairs[0]
	s := &code.Signatures[p.in.Op]
	k.note()
	store, again := s.Kind == code.Store, s.Kind == code.Load && w.cta.grid.atomics
	switch {
	case store && k.idle != 0:
		w.beforeStore(p)
	case again:
		k.keepAddress(p)
	}
	if s.Side == code.AccessSide {
		w.compareAddresses(p)
	}
	if s.Once && k.native {
		w.compareReads(p)
	}
	if w.err == nil {
		if w.engine(); m != 0 {
			w.tally()
		}
	}
	if p.proved && m != 0 && w.err == nil {
		w.compareProved(p)
	}
	switch {
	case w.err != nil:
		if t, ok := w.err.(*Trap); ok && !k.forBoth && t.Kind != ErrMismatch {
			w.trapsAlike(p, t)
		}
		return
	case store && !k.forBoth:
		w.afterStore(p)
	case s.Once && !k.forBoth:
		k.copies(p.writes)
		fallthrough
	case k.forBoth:
		w.compareResults(p.writes)
	case m != 0:
		if w.onReference(p); w.err != nil {
			t, _ := w.err.(*Trap)
			w.err = nil
			w.mismatch(p, m, "it runs, but on the lanes there is a trap: %v", t)
			return
		}
		w.compareResults(p.writes)
		for n := 0; n < 8 && w.err != nil && again; n++ {
			// Perhaps another CTA has stored there in between: a race of the guest's.
			w.err = nil
			w.readAgain(p)
		}
	}
	if k.idle != 0 && w.err == nil {
		w.compareIdle(p)
	}
}

// recovered makes a mismatch of a panic of the code that is checked, if the reference
// executes the instruction, or has not come to it because it does more than to compute, or
// if the lanes have executed it: then it is no fault of the machine that both have in
// common.
func (w *warp) recovered() {
	k := w.check
	if !k.engine {
		return // others' panics go on
	}
	k.engine = false
	r := recover()
	if r == nil {
		return
	}
	if _, memory := r.(interface{ Addr() uintptr }); memory {
		panic(r) // the host has nothing at an address of the guest's
	}
	if k.run == nil {
		w.fail(nil, w.mask, ErrMismatch, "%v: the end of a block fails: %v", ErrMismatch, r)
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
			if k.forBoth && !k.ran {
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
func (w *warp) onReference(p *pair) {
	k := w.check
	if p.kernel != nil {
		p.kernel(k.g, p.ref, k.lanes)
		return
	}
	w.turn()
	lanes[p.ref.Op](w, k.half, k.g, p.ref, k.lanes)
	w.turn()
}

// turned reports whether the reference is the warp's machine.
func (w *warp) turned() bool { return w.check != nil && w.check.aside }

// turn makes the reference the warp's machine, or gives it back.
func (w *warp) turn() {
	k := w.check
	if k.aside = !k.aside; k.aside {
		w.files, w.cta.code = k.files, k.Kernel
	} else {
		w.files, w.cta.code = k.own, w.cta.grid.code
	}
	w.frame = w.frame.twin
}

// savedResult is a register and its shadow.
type savedResult struct {
	savedRow
	shadow regfile.Compact
}

// saveIdle notes what registers hold that an instruction writes, for the lanes that do
// not execute it.
func (k *check) saveIdle(p *pair) {
	f := k.f
	for len(k.saved) < int(p.result)+len(p.writes) {
		k.saved = append(k.saved, savedResult{})
	}
	for i := range p.writes {
		s := &k.saved[int(p.result)+i]
		switch o := p.writes[i].row; o.Slot {
		case code.P:
			s.p = f.Pred(o.Row)
		case code.R:
			s.r, s.shadow = *f.Row32(o.Row), *f.Shadow32(o.Row)
		default:
			s.q, s.shadow = *f.Row64(o.Row), *f.Shadow64(o.Row)
		}
	}
}

// compareIdle compares what saveIdle has noted with what is there now.
func (w *warp) compareIdle(p *pair) {
	k, f, idle := w.check, w.check.f, w.check.idle
	for i := range p.writes {
		o, s := p.writes[i].row, &k.saved[int(p.result)+i]
		bad, old := uint32(0), uint64(0)
		switch o.Slot {
		case code.P:
			bad = (f.Pred(o.Row) ^ s.p) & idle
		case code.R:
			bad = changed(f.Row32(o.Row), &s.r, f.Shadow32(o.Row), &s.shadow, idle)
		default:
			bad = changed(f.Row64(o.Row), &s.q, f.Shadow64(o.Row), &s.shadow, idle)
		}
		if bad == 0 {
			continue
		}
		lane := bits.TrailingZeros32(bad)
		switch o.Slot {
		case code.P:
			old = uint64(s.p >> lane & 1)
		case code.R:
			old = uint64(s.r[lane])
		default:
			old = s.q[lane]
		}
		w.idleChanged(p, bad, lane, old, o)
		return
	}
}

// idleChanged reports that a lane that does not execute an instruction has another value.
func (w *warp) idleChanged(p *pair, lanes uint32, lane int, old uint64, o code.Row) {
	w.mismatch(p, lanes, "lane %d, which does not execute it, had %#x and has %s", lane, old, laneText(w.check.f, o, lane))
}

// changed is the lanes of m where a register has another value than it had: of a row and
// its shadow, given what they were. Of old it makes the values.
func changed[T mem.Slot](row, old *[regfile.Lanes]T, c, was *regfile.Compact, m uint32) uint32 {
	alike := ((c.Mask^was.Mask)|(c.Clean^was.Clean))&m == 0 && (c.Mask&m == 0 || c.Base == was.Base && c.Stride == was.Stride)
	if alike && differ(row, old, m&^c.Mask|m&c.Clean) == 0 {
		return 0
	}
	for n := was.Mask; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		old[i] = T(was.At(i))
	}
	return unlike(row, old, c, m)
}

// keepAddress keeps the address register of a load of the reference's, which its results
// may overwrite, for the case that it is repeated.
func (k *check) keepAddress(p *pair) {
	if len(p.reads) == 0 {
		return
	}
	switch o := p.reads[0].ref; o.Slot {
	case code.R:
		k.base.r = *k.g.Row32(o.Row)
	case code.Q:
		k.base.q = *k.g.Row64(o.Row)
	}
}

// restore gives lanes of a register what was saved.
func (s *savedRow) restore(f *regfile.File, o code.Row, m uint32) {
	switch o.Slot {
	case code.R:
		mem.CopyRow(f.Row32(o.Row), &s.r, m)
	case code.Q:
		mem.CopyRow(f.Row64(o.Row), &s.q, m)
	}
}

// readAgain repeats a load whose results differ, in both ways: at the addresses that it
// had, which are again in its address register.
func (w *warp) readAgain(p *pair) {
	k, f, m := w.check, w.check.f, w.check.lanes
	if len(p.reads) > 0 {
		o, c := &p.reads[0], *k.operandOf(p, 0)
		k.base.restore(k.g, o.ref, m)
		if o.row.Row >= 0 {
			if c.Clean &^= m; !c.Holds(m) {
				c.Mask &^= m
				k.base.restore(f, o.row, m)
			}
			*shadowOf(f, o.row) = c
		}
	}
	k.forBoth, k.again = false, true
	defer func() { k.again = false }()
	counted := w.count.ThreadInstructions
	w.engine()
	if w.count.ThreadInstructions = counted; w.err != nil {
		return
	}
	if w.onReference(p); w.err == nil {
		w.compareResults(p.writes)
	}
}

// trapsAlike compares a trap of a compact access with what the lanes would do.
func (w *warp) trapsAlike(p *pair, t *Trap) {
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
		if _, fault := view.Find(&request, w.check.address[bits.TrailingZeros32(n)]); fault != nil {
			return
		}
	}
	w.mismatch(p, m, "it traps, but no lane's own access does: %v", t)
}

// referenceAddresses computes the addresses of an access by the reference.
func (w *warp) referenceAddresses(p *pair) {
	k := w.check
	w.turn()
	w.addresses(k.half, p.ref, w.access(p.ref), &k.address)
	w.turn()
}

// checkEnd compares what decides how a block ends.
func (w *warp) checkEnd(b *code.Block) {
	lanes, end := w.mask, &w.check.blocks[b.Index]
	if end.guard != 0 {
		lanes = 0
		for h := range w.files {
			lanes |= uint64(w.check.holding(h, end.guard)) << (32 * h)
		}
		lanes &= w.mask
	}
	if got := w.endsFor(b); got != lanes {
		src, what := w.lastOf(b)
		w.fail(src, got^lanes, ErrMismatch, "%v: %s is for lanes [%s], and should be for lanes [%s]", ErrMismatch, what, LaneList(got), LaneList(lanes))
		return
	}
	if len(end.reads) > 0 {
		w.compareEnd(b, end.reads, lanes)
	}
}

// endsFor is the lanes for which the end of a block applies, by the code that is checked.
func (w *warp) endsFor(b *code.Block) uint64 {
	k := w.check
	k.run, k.engine = nil, true
	lanes := w.guarded(w.cta.code.End(b).Guard)
	k.engine = false
	return lanes
}

// lastOf is the instruction that ends a block, and what to call it.
func (w *warp) lastOf(b *code.Block) (*code.Source, string) {
	if end := w.cta.code.End(b); end.Src >= 0 {
		src := w.src(end)
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
				src, what := w.lastOf(b)
				w.fail(src, uint64(bad)<<(32*h), ErrMismatch, "%v: %s reads %s in lane %d, which should have %#x", ErrMismatch, what, laneText(f, list[i].row, lane), lane, laneOf(g, list[i].ref, lane))
				return
			}
		}
	}
}

// beforeLanes is told before an instruction that the engine would run compactly runs on the
// lanes of m, and reports whether all is well. What more than computes runs for both: what it
// reads is compared.
func (w *warp) beforeLanes(m uint32) bool {
	k := w.check
	if k == nil {
		return true
	}
	if m != k.lanes {
		w.mismatch(&k.run.pairs[0], m^k.lanes, "it runs on lanes %s, and should on lanes %s", LaneList(uint64(m)), LaneList(uint64(k.lanes)))
		return false
	}
	if k.fallen++; !k.run.pairs[0].computes {
		k.forBoth = true
		w.compareSources(k.run.pairs[0].fresh)
	}
	return w.err == nil
}

// afterLanes takes results over as the lanes have them, before any is kept otherwise.
func (w *warp) afterLanes() {
	k := w.check
	if k == nil || k.run.pairs[0].computes {
		return
	}
	if k.ran = true; w.err == nil {
		k.copies(k.run.pairs[0].writes)
	}
}
