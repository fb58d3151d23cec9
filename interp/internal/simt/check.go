package simt

// This file is check mode: what affine mode runs, beside a reference.
//
// A warp has its registers twice. In one set of files the code of affine mode runs: its
// plan, its rows, its shadows, by the backend that affine mode has. The other is the
// reference: the same instructions, allocated without plan and packing, on rows that are
// never compact, by the portable backend's functions. After each instruction the results,
// and what it left alone of them, are compared; before a block's end, what decides how it
// ends. What happens once (stores, atomics, clocks, output) is done by the first, after
// its operands have been compared; the reference gets the results. So it does of what the
// portable backend runs on the lanes anyway, for the reference would by the same function.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// reference is a kernel lowered for reference, and how its instructions correspond to
// those of the code that is checked. Blocks, functions, sources and accesses have the
// same indices in both.
type reference struct {
	*Kernel
	pairs [][]pair // by block
	ends  []ending // by block
	parts []Parts  // by PTX instruction, once somebody wants to know
}

// pair is an instruction of the reference, and the same in the code that is checked.
type pair struct {
	in      *code.Instr // nil: it was folded into a constant of the launch
	pc      int32       // of in
	as      *code.Instr // in, or what was folded
	ref     *code.Instr
	guarded bool // in one of the ways at least
	reads   []rowPair
	fresh   []rowPair // of reads, those to compare before it runs on the lanes: see settle
	writes  []rowPair
	proved  bool // a result is taken to be uniform without a look at tags

	operation int // of its PTX instruction's Parts
}

// rowPair is the places of a register: in the code that is checked, where it may be a
// constant, and in the reference.
type rowPair struct{ row, ref code.Row }

// ending is what the end of a block reads: the predicate of its guard, for all lanes,
// and the rest for those of the guard.
type ending struct {
	guard []rowPair
	reads []rowPair
}

// newReference matches a kernel's code with its reference.
func newReference(c, ref *Kernel) *reference {
	r := &reference{Kernel: ref, pairs: make([][]pair, len(c.Blocks)), ends: make([]ending, len(c.Blocks))}
	fixed := 0
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for pc := b.First; pc <= b.Last; pc++ {
			for ; fixed < len(c.Fixed) && c.Fixed[fixed].Before == pc; fixed++ {
				p := pair{as: &c.Fixed[fixed].Instr, ref: &ref.Fixed[fixed].Instr}
				p.reads, p.writes = c.operands(p.as, ref, p.ref)
				r.pairs[i] = append(r.pairs[i], p)
			}
			if pc < b.Last {
				p := pair{in: &c.Instrs[pc], pc: pc, as: &c.Instrs[pc], ref: &ref.Instrs[pc]}
				p.reads, p.writes = c.operands(p.in, ref, p.ref)
				p.proved = slices.ContainsFunc(p.writes, func(o rowPair) bool { return c.Funcs[b.Func].KeptIn(o.row)&code.IsProved != 0 })
				r.pairs[i] = append(r.pairs[i], p)
			}
		}
		settle(r.pairs[i])
		r.ends[i] = endingOf(c, b, ref)
	}
	return r
}

// settle finds which rows that the instructions of a block read need not be compared before
// they run on the lanes: those that have been compared or copied in the block, for all its
// lanes, and that no instruction has named since but those that run on the lanes as well.
func settle(pairs []pair) {
	same := map[rowPair]bool{}
	change := func(list []rowPair) {
		for _, o := range list {
			for s := range same {
				if s != o && (s.row == o.row || s.ref == o.ref) {
					delete(same, s)
				}
			}
		}
	}
	forget := func(list []rowPair) {
		change(list)
		for _, o := range list {
			delete(same, o)
		}
	}
	note := func(list []rowPair) {
		for _, o := range list {
			same[o] = true
		}
	}
	for i := range pairs {
		p := &pairs[i]
		p.guarded = p.ref.Guard != 0 || p.in != nil && p.in.Guard != 0
		switch p.fresh = p.reads; {
		case p.ref.Op.Collective(): // other lanes may go on from here
			clear(same)
		case p.in == nil:
			forget(p.writes)
		case p.in.How.Exec != code.OnLanes:
			forget(p.reads)
			forget(p.writes)
		default:
			p.fresh = nil
			for _, o := range p.reads {
				if !same[o] {
					p.fresh = append(p.fresh, o)
				}
			}
			if !p.guarded {
				note(p.reads)
			}
			if change(p.writes); !p.guarded {
				note(p.writes)
			}
		}
	}
}

// operands pairs the rows that an instruction reads and writes with those of its
// reference.
func (c *Kernel) operands(in *code.Instr, ref *Kernel, rin *code.Instr) (reads, writes []rowPair) {
	read, written := named(&c.Tables, in)
	refRead, refWritten := named(&ref.Tables, rin)
	return pairRows(read, refRead), pairRows(written, refWritten)
}

// named lists what an instruction reads, its guard left out, and writes. It is written
// down here once more, for what package code derives is among what is checked.
func named(t *code.Tables, in *code.Instr) (reads, writes []code.Row) {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		if slot := s.Src[i]; slot != code.NoSlot && (i < 2 || !s.Compares() || in.Imm != alu.BoolNone) {
			reads = append(reads, code.Row{Slot: slot, Row: row})
		}
	}
	writes = []code.Row{{Slot: s.Dst, Row: in.D}, {Slot: s.Dst2, Row: in.F}}
	elems := func(rows *[]code.Row, list []code.Elem, size int) {
		for _, e := range list {
			if *rows = append(*rows, code.Row{Slot: e.Slot, Row: e.Row}); size > 8 {
				*rows = append(*rows, code.Row{Slot: e.Slot, Row: e.High})
			}
		}
	}
	places := func(rows *[]code.Row, list []code.Place) {
		for _, p := range list {
			*rows = append(*rows, code.Row{Slot: p.Slot, Row: p.Row})
		}
	}
	switch s.Side {
	case code.AccessSide:
		a := &t.Access[in.Side]
		reads = append(reads, code.Row{Slot: a.Addr, Row: in.A})
		if a.Store {
			elems(&reads, a.Elems, a.Size)
		} else {
			elems(&writes, a.Elems, a.Size)
		}
		if a.Atom != nil {
			elems(&reads, a.Atom.B, a.Size)
			elems(&reads, a.Atom.C, a.Size)
		}
	case code.CallSide:
		places(&reads, t.Calls[in.Side].Args)
		places(&writes, t.Calls[in.Side].Rets)
	}
	return reads, writes
}

// pairRows pairs rows, constants of the reference left out.
func pairRows(list, ref []code.Row) []rowPair {
	var pairs []rowPair
	for i, o := range list {
		if o.Slot != code.NoSlot && ref[i].Row >= 0 {
			pairs = append(pairs, rowPair{o, ref[i]})
		}
	}
	return pairs
}

// endingOf lists what the end of a block reads.
func endingOf(c *Kernel, b *code.Block, ref *Kernel) ending {
	var e ending
	end, rend := c.End(b), ref.End(b)
	if end.Guard != 0 {
		p, _ := code.GuardRow(end.Guard)
		rp, _ := code.GuardRow(rend.Guard)
		e.guard = []rowPair{{code.Row{Slot: code.P, Row: p}, code.Row{Slot: code.P, Row: rp}}}
	}
	e.reads, _ = c.operands(end, ref, rend)
	if end.Op == code.Pop {
		fn, rfn := c.Funcs[b.Func], ref.Funcs[b.Func]
		for i, o := range fn.Results {
			if o.Slot != code.NoSlot {
				e.reads = append(e.reads, rowPair{code.Row{Slot: o.Slot, Row: o.Row}, code.Row{Slot: o.Slot, Row: rfn.Results[i].Row}})
			}
		}
	}
	return e
}

// find is the pair of an instruction of the block that pc is in.
func (r *reference) find(pc int32, in *code.Instr) *pair {
	block := r.pairs[r.Block(pc).Index]
	for i := range block {
		if p := &block[i]; p.in == in {
			return p
		}
	}
	panic("BUG: an instruction without a reference")
}

// check is the checking of a warp.
type check struct {
	*reference
	files    []regfile.File // the reference's registers
	aside    bool           // the reference is the warp's machine now
	alone    bool           // the instruction under way runs on the lanes, its operands compared
	ran      bool           // … and has done so
	present  *pair
	half     int               // in which it runs
	lanes    uint32            // … and on which lanes
	engine   bool              // the code that is checked runs, or what it has left is looked at
	native   bool              // by a backend that has functions of its own
	applied  int64             // rules, so far
	operands []regfile.Compact // shadows of what it reads, before it
	idle     []idleRow         // results as lanes had them that do not execute
	base     savedRow          // the address register of a load
	address  regfile.Row64
	before   [regfile.Lanes][]byte // what is in memory where lanes would store that do not
}

// checked runs check mode.
type checked struct{}

func (checked) run(w *warp, budget int) reason { return inBlocks(w, budget, (*warp).blockChecked) }

// blockChecked is block in both ways.
func (w *warp) blockChecked([]code.Instr) reason {
	defer w.recovered()
	b := w.cta.code.Block(w.pc)
	pairs := w.pairs(b, w.pc)
	for i := range pairs {
		if w.execChecked(&pairs[i]); w.err != nil {
			return goesOn
		}
	}
	w.checkEnd(b)
	return goesOn
}

// execChecked executes an instruction in both ways for all halves of the warp.
func (w *warp) execChecked(p *pair) {
	if len(w.files) == 1 {
		w.execHalf(p, 0, uint32(w.mask))
		return
	}
	for h := range w.files { // each as if it were alone
		w.files[h].SetActive(0)
	}
	for h := range w.files {
		if m := uint32(w.mask >> (32 * h)); m != 0 && w.err == nil {
			w.files[h].SetActive(m)
			w.execHalf(p, h, m)
			w.files[h].SetActive(0)
		}
	}
	w.activate()
}

// execHalf executes an instruction in both ways for half h of the warp, of which the lanes
// of active are at it.
func (w *warp) execHalf(p *pair, h int, active uint32) {
	m := active
	if p.guarded {
		m = w.lanesAlike(p, h, active)
	}
	if w.err == nil {
		w.both(p, h, m, active)
	}
}

// lanesAlike is the lanes of mask that execute an instruction, by its guard in both ways.
func (w *warp) lanesAlike(p *pair, h int, mask uint32) uint32 {
	k, m := w.check, mask
	if p.ref.Guard != 0 {
		m &= k.holding(h, p.ref.Guard)
	}
	if p.in == nil {
		return m
	}
	k.alone, k.present, k.half, k.lanes, k.engine = false, p, h, m, true
	counted := w.count.ThreadInstructions
	got := w.lanesOf(h, p.in)
	k.engine = false
	w.count.ThreadInstructions = counted // it will count them when it executes it
	if got != m {
		w.mismatch(p, h, got^m, "the guard holds for lanes %s, and not for lanes %s", lanesList(uint64(got)), lanesList(uint64(mask&^got)))
	}
	return m
}

// engine has the backend execute the instruction under way.
func (w *warp) engine() {
	k := w.check
	k.engine = true
	w.span(k.present.pc, k.present.pc+1)
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

// both executes an instruction in both ways for the lanes of m in half h, and compares. The
// other active lanes are held back by its guard.
func (w *warp) both(p *pair, h int, m, active uint32) {
	k, counted := w.check, w.count.ThreadInstructions
	k.alone, k.ran, k.present, k.half, k.lanes, k.operands = false, false, p, h, m, k.operands[:0]
	switch {
	case p.in == nil:
		if m == 0 {
			return
		}
		w.count.Engine.Fixed++
		w.count.Engine.Kept += int64(bits.OnesCount32(uint32(w.live >> (32 * h))))
		if w.onReference(p, h, m); w.err == nil {
			w.compareResults(p, h, m)
		}
		return
	case k.native:
		w.beside(p, h, m)
	case m == 0:
		w.engine()
	case p.in.How.Exec == code.OnLanes:
		w.together(p, h, m)
	default:
		w.beside(p, h, m)
	}
	if active == m && counted == w.count.ThreadInstructions {
		return
	}
	if back := bits.OnesCount32(active &^ m); w.err == nil && counted-w.count.ThreadInstructions != int64(back) {
		w.mismatch(p, h, active&^m, "its guard keeps %d lanes back, and %d are counted", back, counted-w.count.ThreadInstructions)
	}
}

// together executes an instruction on the lanes, once for both.
func (w *warp) together(p *pair, h int, m uint32) {
	k, f := w.check, &w.files[h]
	if w.compareSources(p, h, m); w.err != nil {
		return
	}
	w.engine()
	k.engine, k.ran = true, true
	if w.count.Engine.OnLanes++; w.err == nil && !k.copyResults(p, f, h, m) {
		w.tallyResults(p, f, m)
		w.compareResults(p, h, m)
	}
	k.engine = false
}

// beside executes an instruction as affine mode does, which may be on compact operands,
// and on the reference. If m is 0 it must do nothing.
func (w *warp) beside(p *pair, h int, m uint32) {
	k, f := w.check, &w.files[h]
	s := &code.Signatures[p.in.Op]
	idle := uint32(w.live>>(32*h)) &^ m
	k.engine = true
	if idle != 0 {
		w.saveIdle(p, h)
	}
	k.operands = slices.Grow(k.operands[:0], len(p.reads))[:len(p.reads)]
	for i := range p.reads {
		if o := p.reads[i].row; o.Slot != code.P {
			k.operands[i] = *shadowAt(f, o.Slot, o.Row)
		} else {
			k.operands[i] = regfile.Compact{}
		}
	}
	k.engine = false
	store, again := s.Kind == code.Store, s.Kind == code.Load && w.cta.grid.atomics
	switch {
	case store && idle != 0:
		w.beforeStore(p, h, m, idle)
	case again:
		k.keepAddress(p, h)
	}
	if s.Side == code.AccessSide {
		w.compareAddresses(p, h, m)
	}
	if p.proved && m != 0 {
		w.compareProved(p, h, m, idle)
	}
	if s.Once && k.native {
		w.compareReads(p, h, m)
	}
	if w.err == nil {
		if w.engine(); m != 0 {
			w.tally(p, f, m)
		}
	}
	if p.proved && m != 0 && w.err == nil {
		w.compareClaimed(p, h, m)
	}
	switch {
	case w.err != nil:
		if t, ok := w.err.(*Trap); ok && !k.alone && t.Kind != ErrMismatch {
			w.trapsAlike(p, h, m, t)
		}
		return
	case store && !k.alone:
		w.afterStore(p, h, m, idle)
	case s.Once && !k.alone:
		k.copyResults(p, f, h, m)
		fallthrough
	case k.alone:
		w.compareResults(p, h, m)
	case m != 0:
		if w.onReference(p, h, m); w.err != nil {
			t, _ := w.err.(*Trap)
			w.err = nil
			w.mismatch(p, h, m, "it runs, but on the lanes there is a trap: %v", t)
			return
		}
		w.compareResults(p, h, m)
		for n := 0; n < 8 && w.err != nil && again; n++ {
			// Perhaps another CTA has stored there in between: a race of the guest's.
			w.err = nil
			w.readAgain(p, h, m)
		}
	}
	if idle != 0 && w.err == nil {
		w.compareIdle(p, h, idle)
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
	if _, memory := r.(interface{ Addr() uintptr }); memory {
		panic(r) // the host has nothing at an address of the guest's
	}
	if k.present == nil {
		w.fail(nil, w.mask, ErrMismatch, "%v: the end of a block fails: %v", ErrMismatch, r)
		return
	}
	switch p := k.present; p.ref.Op.Signature().Kind {
	case code.Arithmetic, code.Read, code.Load:
		if k.lanes != 0 { // where that is a trap, the engine should have come to it as well
			w.onReference(p, k.half, k.lanes)
			w.err = nil
		}
	default:
		if k.alone && !k.ran {
			panic(r)
		}
	}
	if w.err == nil {
		w.mismatch(k.present, k.half, k.lanes, "it fails: %v", r)
	}
}

// onReference executes the reference's instruction.
func (w *warp) onReference(p *pair, h int, m uint32) {
	if kernel := alu.Vec[p.ref.Op]; kernel != nil {
		kernel(&w.check.files[h], p.ref, m)
		return
	}
	w.turn()
	lanes[p.ref.Op](w, h, &w.files[h], p.ref, m)
	w.turn()
}

// turned reports whether the reference is the warp's machine.
func (w *warp) turned() bool { return w.check != nil && w.check.aside }

// turn makes the reference the warp's machine, or gives it back.
func (w *warp) turn() {
	k := w.check
	w.files, k.files = k.files, w.files
	w.cta.code, k.reference.Kernel = k.reference.Kernel, w.cta.code
	w.frame = w.frame.twin
	k.aside = !k.aside
}

// compareSources compares the rows an instruction reads on the lanes with those of the
// reference; it then need not run a second time. What is only in a shadow does not
// count.
func (w *warp) compareSources(p *pair, h int, m uint32) {
	k := w.check
	f, g := &w.files[h], &k.files[h]
	k.alone = true
	for i := range p.fresh {
		r := &p.fresh[i]
		bad := uint32(0)
		switch r.ref.Slot {
		case code.R:
			if a, b := f.Src32(r.row.Row), g.Row32(r.ref.Row); *a != *b {
				bad = differ(a, b, m)
			}
		case code.Q:
			if a, b := f.Src64(r.row.Row), g.Row64(r.ref.Row); *a != *b {
				bad = differ(a, b, m)
			}
		default:
			bad = (f.SrcP(r.row.Row) ^ g.Pred(r.ref.Row)) & m
		}
		if bad != 0 {
			lane := bits.TrailingZeros32(bad)
			w.mismatch(p, h, bad, "it reads %s in lane %d, which holds %#x", laneText(f, r.row, lane), lane, laneOf(g, r.ref, lane))
			return
		}
	}
}

// compareReads compares what an instruction reads, wherever it is kept, with the
// reference.
func (w *warp) compareReads(p *pair, h int, m uint32) {
	f, g := &w.files[h], &w.check.files[h]
	for i := range p.reads {
		r := &p.reads[i]
		if bad := differences(f, g, r, m); bad != 0 {
			lane := bits.TrailingZeros32(bad)
			w.mismatch(p, h, bad, "it reads %s in lane %d, which holds %#x", laneText(f, r.row, lane), lane, laneOf(g, r.ref, lane))
			return
		}
	}
}

// compareProved compares what is proved of an instruction with what is so: all lanes of
// the half that live execute it, on operands that its rows' shadows hold for them. The
// other half may be elsewhere, for what is uniform in each need not be the same.
func (w *warp) compareProved(p *pair, h int, m, idle uint32) {
	if idle != 0 {
		w.mismatch(p, h, m, "its result is taken to be that of all lanes, but lanes %s do not execute it", lanesList(uint64(idle)<<(32*h)))
		return
	}
	if p.in.How.Exec < code.ProvedOne {
		return
	}
	for i := range p.reads {
		if c := &w.check.operands[i]; c.Stride != 0 || !c.Holds(m) {
			w.mismatch(p, h, m, "operand %d is taken to be uniform, and is %s for lanes %s", i, valueOf(c), lanesList(uint64(c.Mask)))
			return
		}
	}
}

// compareClaimed finds out whether a result that is proved to be uniform is kept so.
func (w *warp) compareClaimed(p *pair, h int, m uint32) {
	for i := range p.writes {
		o := p.writes[i].row
		if w.frame.fn.KeptIn(o)&code.IsProved == 0 {
			continue
		}
		if c := shadowAt(&w.files[h], o.Slot, o.Row); c.Stride != 0 || !c.Holds(m) {
			w.mismatch(p, h, m, "its result is taken to be uniform, and is %s for lanes %s", valueOf(c), lanesList(uint64(c.Mask)))
			return
		}
	}
}

// compareAddresses compares the addresses of an access that may be compact.
func (w *warp) compareAddresses(p *pair, h int, m uint32) {
	if w.check.Access[p.ref.Side].Addr == code.NoSlot || len(p.reads) == 0 {
		return
	}
	f, g, o := &w.files[h], &w.check.files[h], &p.reads[0]
	if bad := differences(f, g, o, m); bad != 0 {
		lane, v := bits.TrailingZeros32(bad), "generic"
		if held, ok := w.held(f, o.row, 1<<lane); ok {
			v = held.String()
		}
		w.mismatch(p, h, bad, "the compact address is %s, but lane %d has %#x", v, lane, laneOf(g, o.ref, lane))
	}
}

// differ is the lanes of m where two rows differ.
func differ[T mem.Slot](a, b *[regfile.Lanes]T, m uint32) (bad uint32) {
	if *a == *b {
		return 0
	}
	if m != regfile.Full {
		diff := T(0)
		for i := 0; i < len(a); i += 4 {
			n := T(m >> i)
			diff |= (a[i]^b[i])&-(n&1) | (a[i+1]^b[i+1])&-(n>>1&1) | (a[i+2]^b[i+2])&-(n>>2&1) | (a[i+3]^b[i+3])&-(n>>3&1)
		}
		if diff == 0 {
			return 0
		}
	}
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; a[i] != b[i] {
			bad |= 1 << i
		}
	}
	return bad
}

// copyResults gives the reference the results of an instruction that has run on the
// lanes, and reports whether no shadow says otherwise.
func (k *check) copyResults(p *pair, f *regfile.File, h int, m uint32) bool {
	g, shadowed := &k.files[h], uint32(0)
	for i := range p.writes {
		switch o := &p.writes[i]; o.ref.Slot {
		case code.R:
			mem.CopyRow(g.Row32(o.ref.Row), f.Row32(o.row.Row), m)
			shadowed |= f.Shadow32(o.row.Row).Mask
		case code.Q:
			mem.CopyRow(g.Row64(o.ref.Row), f.Row64(o.row.Row), m)
			shadowed |= f.Shadow64(o.row.Row).Mask
		default:
			g.SetP(o.ref.Row, m, f.Pred(o.row.Row))
		}
	}
	return shadowed&m == 0
}

// compareResults compares what the lanes of m have got, wherever it is kept, with the
// reference.
func (w *warp) compareResults(p *pair, h int, m uint32) {
	f, g := &w.files[h], &w.check.files[h]
	for i := range p.writes {
		o := &p.writes[i]
		if bad := differences(f, g, o, m); bad != 0 {
			w.wrong(p, h, bad, o)
			return
		}
	}
}

// differences is the lanes of m where a register does not hold what the reference has:
// in its shadow for the lanes that the shadow speaks for, and in its row for the others
// and for those that the shadow says are there too.
func differences(f, g *regfile.File, o *rowPair, m uint32) uint32 {
	switch o.ref.Slot {
	case code.P:
		return (f.SrcP(o.row.Row) ^ g.Pred(o.ref.Row)) & m
	case code.R:
		return unlike(f.Src32(o.row.Row), g.Row32(o.ref.Row), f.Shadow32(o.row.Row), m)
	}
	return unlike(f.Src64(o.row.Row), g.Row64(o.ref.Row), f.Shadow64(o.row.Row), m)
}

// unlike is differences for a row and its shadow, which has to keep what it holds reduced.
func unlike[T mem.Slot](row, want *[regfile.Lanes]T, c *regfile.Compact, m uint32) (bad uint32) {
	in := m &^ c.Mask
	if held := c.Mask & m; held != 0 {
		base, stride := T(c.Base), T(c.Stride)
		if bad = differing(want, base, stride, held); uint64(base) != c.Base || uint64(stride) != c.Stride {
			bad = held
		}
		in |= held & c.Clean
	}
	if in != 0 {
		bad |= differ(row, want, in)
	}
	return bad
}

// laneOf is the value of a lane: what its shadow says, if it speaks for the lane, else
// what the row holds.
func laneOf(f *regfile.File, o code.Row, lane int) uint64 {
	if o.Slot != code.P && (f.Tracked() || o.Row < 0) {
		if c := shadowAt(f, o.Slot, o.Row); c.Mask>>lane&1 != 0 {
			return c.At(lane) & (1<<o.Slot.Bits() - 1)
		}
	}
	return inRow(f, o, lane)
}

// inRow is what a row holds in a lane.
func inRow(f *regfile.File, o code.Row, lane int) uint64 {
	switch o.Slot {
	case code.P:
		return uint64(f.SrcP(o.Row) >> lane & 1)
	case code.R:
		return uint64(f.Src32(o.Row)[lane])
	}
	return f.Src64(o.Row)[lane]
}

// laneText is what a register holds in a lane, for messages.
func laneText(f *regfile.File, o code.Row, lane int) string {
	return fmt.Sprintf("%#x", laneOf(f, o, lane))
}

// wrong reports that a result is not that of the reference.
func (w *warp) wrong(p *pair, h int, bad uint32, o *rowPair) {
	f, g := &w.files[h], &w.check.files[h]
	lane := bits.TrailingZeros32(bad)
	want := inRow(g, o.ref, lane)
	switch {
	case o.ref.Slot == code.P:
		w.mismatch(p, h, bad, "the predicate is %v in lanes %s, where it should be %v", want == 0, lanesList(uint64(bad)), want != 0)
	default:
		if v, ok := w.held(f, o.row, 1<<lane); ok {
			w.mismatch(p, h, bad, "the compact result is %s, but lane %d has %#x", v, lane, want)
			return
		}
		w.mismatch(p, h, bad, "the result is %s in lane %d, which should have %#x", laneText(f, o.row, lane), lane, want)
	}
}

// held is what the shadow of a register holds for the lanes of m.
func (w *warp) held(f *regfile.File, o code.Row, m uint32) (affinetrack.Value, bool) {
	c := shadowAt(f, o.Slot, o.Row)
	return valueOf(c), c.Mask&m == m
}

// mismatch stops the warp: compact execution went wrong.
func (w *warp) mismatch(p *pair, h int, lanes uint32, format string, args ...any) {
	src := &w.cta.code.Sources[p.ref.Src]
	t := w.fail(src, uint64(lanes)<<(32*h), ErrMismatch, "%v: rule %s of %s: "+format, append([]any{ErrMismatch, p.ref.Op.Signature().Rule, src.Text}, args...)...)
	g := &w.check.files[h]
	for i := range p.reads {
		o := &p.reads[i]
		if o.ref.Slot == code.P {
			set := "no lane"
			if m := g.Pred(o.ref.Row) & uint32(w.mask>>(32*h)); m != 0 {
				set = "lanes " + lanesList(uint64(m))
			}
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: a predicate, set in %s", i, set))
			continue
		}
		if k := w.check; i < len(k.operands) && k.operands[i].Holds(lanes) {
			t.Notes = append(t.Notes, fmt.Sprintf("operand %d: %s", i, valueOf(&k.operands[i])))
			continue
		}
		t.Notes = append(t.Notes, fmt.Sprintf("operand %d: generic", i))
	}
}

// idleRow is a register and its shadow.
type idleRow struct {
	savedRow
	shadow regfile.Compact
}

// saveIdle notes what registers hold that an instruction writes, for the lanes that do
// not execute it.
func (w *warp) saveIdle(p *pair, h int) {
	k, f := w.check, &w.files[h]
	for len(k.idle) < len(p.writes) {
		k.idle = append(k.idle, idleRow{})
	}
	for i := range p.writes {
		s := &k.idle[i]
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
func (w *warp) compareIdle(p *pair, h int, idle uint32) {
	k, f := w.check, &w.files[h]
	for i := range p.writes {
		o, s := p.writes[i].row, &k.idle[i]
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
		w.mismatch(p, h, bad, "lane %d, which does not execute it, had %#x and has %s", lane, old, laneText(f, o, lane))
		return
	}
}

// changed is the lanes of m where a register has another value than it had: of a row and
// its shadow, given what they were. Of old it makes the values.
func changed[T mem.Slot](row, old *[regfile.Lanes]T, c, was *regfile.Compact, m uint32) uint32 {
	alike := (c.Mask^was.Mask|c.Clean^was.Clean)&m == 0 && (c.Mask&m == 0 || c.Base == was.Base && c.Stride == was.Stride)
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
func (k *check) keepAddress(p *pair, h int) {
	if len(p.reads) == 0 {
		return
	}
	switch o := p.reads[0].ref; o.Slot {
	case code.R:
		k.base.r = *k.files[h].Row32(o.Row)
	case code.Q:
		k.base.q = *k.files[h].Row64(o.Row)
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
func (w *warp) readAgain(p *pair, h int, m uint32) {
	k, f := w.check, &w.files[h]
	if len(p.reads) > 0 {
		o, c := &p.reads[0], k.operands[0]
		k.base.restore(&k.files[h], o.ref, m)
		if o.row.Row >= 0 {
			if c.Clean &^= m; !c.Holds(m) {
				c.Mask &^= m
				k.base.restore(f, o.row, m)
			}
			*shadowOf(f, o.row) = c
		}
	}
	k.alone = false
	counted := w.count.ThreadInstructions
	w.engine()
	if w.count.ThreadInstructions = counted; w.err != nil {
		return
	}
	if w.onReference(p, h, m); w.err == nil {
		w.compareResults(p, h, m)
	}
}

// trapsAlike compares a trap of a compact access with what the lanes would do.
func (w *warp) trapsAlike(p *pair, h int, m uint32, t *Trap) {
	if p.ref.Op.Signature().Side != code.AccessSide {
		return
	}
	a := &w.check.Access[p.ref.Side]
	w.referenceAddresses(p, h)
	view, request := w.view(), a.Request()
	for n := m; n != 0; n &= n - 1 {
		if _, fault := view.Find(&request, w.check.address[bits.TrailingZeros32(n)]); fault != nil {
			return
		}
	}
	w.mismatch(p, h, m, "it traps, but no lane's own access does: %v", t)
}

// referenceAddresses computes the addresses of an access by the reference.
func (w *warp) referenceAddresses(p *pair, h int) {
	k := w.check
	w.turn()
	w.addresses(h, p.ref, w.access(p.ref), &k.address)
	w.turn()
}

// checkEnd compares what decides how a block ends.
func (w *warp) checkEnd(b *code.Block) {
	e := &w.check.ends[b.Index]
	if len(e.guard) > 0 {
		w.compareEnd(b, e.guard, w.mask)
	}
	if w.err != nil {
		return
	}
	lanes := w.mask
	if g := w.check.End(&w.check.Blocks[b.Index]).Guard; g != 0 {
		lanes = 0
		for h := range w.files {
			lanes |= uint64(w.check.holding(h, g)) << (32 * h)
		}
		lanes &= w.mask
	}
	if got := w.endsFor(b); got != lanes && w.err == nil {
		w.fail(w.cta.code.anchor(b), got^lanes, ErrMismatch, "%v: the block ends so for lanes %s, which should be lanes %s", ErrMismatch, lanesList(got), lanesList(lanes))
		return
	}
	if len(e.reads) > 0 && w.err == nil {
		w.compareEnd(b, e.reads, lanes)
	}
}

// endsFor is the lanes for which the end of a block applies, by the code that is checked.
func (w *warp) endsFor(b *code.Block) uint64 {
	k := w.check
	k.present, k.engine = nil, true
	lanes := w.guarded(w.cta.code.End(b).Guard)
	k.engine = false
	return lanes
}

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
				what := "the function's result"
				var src *code.Source
				if end := w.cta.code.End(b); end.Src >= 0 {
					src = w.src(end)
					what = src.Text
				}
				w.fail(src, uint64(bad)<<(32*h), ErrMismatch, "%v: %s reads %s in lane %d, which should have %#x", ErrMismatch, what, laneText(f, list[i].row, lane), lane, laneOf(g, list[i].ref, lane))
				return
			}
		}
	}
}

// beforeLanes compares what the instruction under way reads, which is about to run on the
// lanes, and reports whether that went well.
func (w *warp) beforeLanes(h int, m uint32) bool {
	if w.check == nil {
		return true
	}
	w.compareSources(w.check.present, h, m)
	return w.err == nil
}

// afterLanes takes results over as the lanes have them, before any is kept otherwise. What
// only computes can as well be done a second time.
func (w *warp) afterLanes(h int, f *regfile.File, m uint32) {
	k := w.check
	if k == nil {
		return
	}
	k.ran = true
	switch {
	case w.err != nil:
	case k.present.ref.Op.Signature().Kind == code.Arithmetic:
		w.onReference(k.present, h, m)
	default:
		k.copyResults(k.present, f, h, m)
	}
}
