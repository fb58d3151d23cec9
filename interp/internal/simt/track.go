package simt

// This file is a policy's view of a launch, for its statistics: what a machine with a
// shadow affine register file would hold compactly, under the rules of a policy. It is a
// probe, and has no part in execution. Beside each register it keeps a tag of its own,
// which has nothing to do with what the engine holds; it is told of each operation that a
// PTX instruction is made of, computes what the policy's rules make of the tags, and
// compares that with what the lanes have got. Registers are those of the reference
// (check.go), where each has a row of its own, so what affine mode folds, packs or keeps
// elsewhere makes no difference.
//
// It follows Kim et al. 2013, section 4, with two schemes for divergence. The
// paper's has one entry per register for the whole warp: results under divergence
// or a guard are written to the lanes, and if the register was compact before, its
// old value is expanded for the other lanes first (section 4.3). With a masked
// policy the entry also says which lanes it is about, and results stay compact.

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// statistics is the probe that counts what values are like under a policy.
type statistics struct {
	*affinetrack.Policy
	grid *Grid

	mu    sync.Mutex
	all   []*tracker
	spare []*tracker
}

func newStatistics(g *Grid) *statistics {
	return &statistics{Policy: g.policy, grid: g}
}

// Wants: a policy that compares the lanes wants those of the registers that PTX
// instructions name; the rest comes with operations.
func (s *statistics) Wants() Wants {
	return Wants{Events: OnCTA | OnCTAEnd | OnBefore | onOperands | onOperation | OnAfter | OnUndo | OnBranch | OnCall | OnReturn | OnWake, Values: s.Ideal}
}

// CTA gives every CTA a tracker, one that another has no use for any more.
func (s *statistics) CTA(int, Dim3) Sink {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.spare); n > 0 {
		t := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return t
	}
	t := newTracker(s)
	s.all = append(s.all, t)
	return t
}

// Tell has nothing to do.
func (s *statistics) Tell(*Event) {}

// structure adds up what the CTAs have counted.
func (s *statistics) structure() *Structure {
	r := &Structure{Policy: s.Policy, Lanes: make([]int64, s.grid.code.Width+1)}
	for _, in := range s.grid.code.Sources {
		r.Instrs = append(r.Instrs, InstrStructure{Instr: in.Instr, Func: in.Func.Func})
	}
	for _, t := range s.all {
		for i := range t.counts {
			r.Instrs[i].Counts.Add(&t.counts[i])
		}
		for i, n := range t.lanes {
			r.Lanes[i] += n
		}
	}
	return r
}

// tracker is the tags of a CTA's registers, and what is counted of them.
type tracker struct {
	*statistics
	unit   affinetrack.Unit
	ref    *reference
	counts []affinetrack.Counts // by Source.Index
	lanes  []int64              // instructions by number of active lanes
	tags   [][]tags             // by warp and half of it
	bases  map[*frame]regfile.Size

	step   step
	before affinetrack.Counts // of its instruction, before it
	seen   [2]operands        // of its present operation, by half
	half   half               // the present one
	row    regfile.Row64
}

func newTracker(s *statistics) *tracker {
	g := s.grid
	t := &tracker{
		statistics: s, unit: affinetrack.NewUnit(g.policy, g.rules), ref: g.ref, counts: make([]affinetrack.Counts, len(g.code.Sources)), lanes: make([]int64, g.code.Width+1),
		tags: make([][]tags, (g.threads+g.code.Width-1)/g.code.Width), bases: map[*frame]regfile.Size{},
	}
	for i := range t.tags {
		t.tags[i] = make([]tags, (g.code.Width+regfile.Lanes-1)/regfile.Lanes)
	}
	return t
}

// tags are those of half a warp's registers, of all functions under way.
type tags struct {
	r, q []tag
	p    []truth
}

// tag is what is held of a register, for lanes of mask; of the others nothing.
type tag struct {
	affinetrack.Value
	mask uint32
}

// truth is a predicate that is known to be the same in lanes of mask.
type truth struct {
	mask  uint32
	value bool
}

// open makes room for the registers of a function from a base on.
func (t *tags) open(base, n regfile.Size) {
	t.r, t.q, t.p = atLeast(t.r, base.R+n.R), atLeast(t.q, base.Q+n.Q), atLeast(t.p, base.P+n.P)
}

func atLeast[T any](s []T, n int) []T {
	if n > len(s) {
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}

// step is the PTX instruction under way, for one half of the warp after the
// other.
type step struct {
	active  uint64
	src     *code.Source      // of the reference
	compact bool              // all it has done so far was compact
	held    bool              // … and its results were kept so
	class   affinetrack.Class // the least structured operand or result
	addr    affinetrack.Class // of memory instructions
	data    affinetrack.Class
	expand  int64
}

// see takes an operand or result into account.
func (s *step) see(c affinetrack.Class) { s.class = max(s.class, c) }

// operands are what an operation has read that it may have overwritten since.
type operands struct {
	m    uint32 // lanes that execute
	v    [4]affinetrack.Value
	ok   [4]bool // of ideal policies: v describes the operand
	c    uint32  // of a comparison: the predicate that it is combined with
	addr regfile.Row64
}

// Tell follows the CTA.
func (t *tracker) Tell(e *Event) {
	switch e.Kind {
	case OnCTA:
		clear(t.bases)
		for _, halves := range t.tags {
			for h := range halves {
				f := &halves[h]
				f.open(regfile.Size{}, t.ref.entry.Frame)
				clear(f.r)
				clear(f.q)
				clear(f.p)
			}
		}
	case OnCTAEnd:
		t.mu.Lock()
		t.spare = append(t.spare, t)
		t.mu.Unlock()
	case OnBefore:
		t.begin(e)
	case onOperands:
		t.look(e)
	case onOperation:
		t.operation(e)
	case OnAfter:
		t.end(e)
	case OnUndo: // the PTX instruction has not begun
		t.counts[t.step.src.Index] = t.before
		t.lanes[bits.OnesCount64(t.step.active)]--
	case OnBranch:
		t.branch(e)
	case OnCall:
		t.call(e)
	case OnReturn, OnWake:
		t.receive(e)
	}
}

// base is where the registers of a frame lie.
func (t *tracker) base(fr *frame) regfile.Size {
	if fr.caller == nil {
		return regfile.Size{}
	}
	b, ok := t.bases[fr]
	if !ok {
		b = t.base(fr.caller).Add(t.ref.Funcs[fr.caller.fn.Index].Frame)
		t.bases[fr] = b
	}
	return b
}

// half is an instruction that half a warp has executed.
type half struct {
	t    *tracker
	w    *warp
	h    int
	p    *pair
	in   *code.Instr  // of the reference, whose registers have the tags
	base regfile.Size // of the running function's
	m    uint32       // lanes that execute
	live uint32       // lanes that have not ended
	keep bool         // results may stay compact
	rows [20]code.Row
}

// writes are the rows that the instruction writes.
func (x *half) writes() []code.Row { return x.t.ref.Writes(x.rows[:0], x.in) }

// access is the memory access of the instruction.
func (x *half) access() *code.Access { return &x.t.ref.Access[x.in.Side] }

// tag is that of a register of the running function.
func (x *half) tag(o code.Row) *tag {
	f := &x.t.tags[x.w.id][x.h]
	if o.Slot == code.Q {
		return &f.q[x.base.Q+int(o.Row)]
	}
	return &f.r[x.base.R+int(o.Row)]
}

// truth is that of a predicate of the running function.
func (x *half) truth(row int32) *truth { return &x.t.tags[x.w.id][x.h].p[x.base.P+int(row)] }

// held is what is held of an operand, which may be a constant.
func (x *half) held(o code.Row) tag {
	switch k := &x.t.ref.Consts; {
	case o.Row >= 0:
		return *x.tag(o)
	case o.Slot == code.Q:
		return tag{affinetrack.Value{Base: k.Value64(o.Row)}, regfile.Full}
	default:
		return tag{affinetrack.Value{Base: uint64(k.Value32(o.Row))}, regfile.Full}
	}
}

// source describes source i of the instruction for the lanes that execute it, if it is
// compact there.
func (x *half) source(i int, o code.Row) (affinetrack.Value, bool) {
	if x.t.Ideal {
		return x.t.seen[x.h].v[i], x.t.seen[x.h].ok[i]
	}
	v := x.held(o)
	return v.Value, v.mask&x.m == x.m
}

// predicate tells whether source i, a predicate, is the same in all lanes that execute the
// instruction, and what.
func (x *half) predicate(i int, row int32) (value, ok bool) {
	if x.t.Ideal {
		return x.t.seen[x.h].v[i].Base != 0, x.t.seen[x.h].ok[i]
	}
	if row < 0 {
		return x.t.ref.Consts.ValueP(row), true
	}
	e := x.truth(row)
	return e.value, e.mask&x.m == x.m
}

// place is where the engine has what the reference has in a row that the instruction reads
// or writes.
func (x *half) place(o code.Row) code.Row {
	for _, list := range [][]rowPair{x.p.writes, x.p.reads} {
		for i := range list {
			if list[i].ref == o {
				return list[i].row
			}
		}
	}
	return o // a constant
}

// lanes are the values of a register that the instruction has read or written.
func (x *half) lanes(o code.Row) *regfile.Row64 {
	x.w.read(&x.t.row, x.h, x.place(o))
	return &x.t.row
}

// describe describes a register that the instruction has read or written, for the lanes
// that execute it.
func (x *half) describe(o code.Row) (affinetrack.Value, bool) {
	return describe(x.lanes(o), o.Slot, x.m)
}

func describe(r *regfile.Row64, s code.Slot, m uint32) (affinetrack.Value, bool) {
	return affinetrack.Describe(m, s.Bits(), func(i int) uint64 { return r[i] })
}

// first is what the first lane has that executes the instruction.
func (x *half) first(o code.Row) affinetrack.Value {
	return affinetrack.Value{Base: x.lanes(o)[bits.TrailingZeros32(x.m)&31]}
}

// bits are a predicate that the instruction has written.
func (x *half) bits(row int32) uint32 {
	return x.w.files[x.h].SrcP(x.place(code.Row{Slot: code.P, Row: row}).Row)
}

// present readies the tracker for an operation of half a warp.
func (t *tracker) present(e *Event, h int, m uint32) *half {
	w, p := e.warp, e.pair
	x := &t.half
	*x = half{t: t, w: w, h: h, p: p, in: p.ref, base: t.base(e.frame), m: m, live: uint32(w.live >> (32 * h))}
	x.keep = t.Masked || e.Active == w.live && p.ref.Guard == 0
	return x
}

// look notes what an operation is about to read.
func (t *tracker) look(e *Event) {
	w, p := e.warp, e.pair
	for h := range w.files {
		o := &t.seen[h]
		o.m = uint32(e.Active >> (32 * h))
		if g := p.as.Guard; g != 0 {
			o.m &= guardMask(&w.files[h], g)
		}
		if o.m == 0 {
			continue
		}
		s, as := p.ref.Op.Signature(), p.as.Sources()
		x := t.present(e, h, o.m)
		if s.Compares() && p.ref.Imm != alu.BoolNone {
			o.c = w.files[h].SrcP(as[2])
		}
		if s.Side == code.AccessSide && len(p.reads) > 0 && x.access().Addr != code.NoSlot {
			w.read(&o.addr, h, p.reads[0].row)
			if t.Ideal {
				o.v[0], o.ok[0] = describe(&o.addr, x.access().Addr, o.m)
			}
		}
		if !t.Ideal {
			continue
		}
		for i, slot := range s.Src {
			switch slot {
			case code.NoSlot:
			case code.P:
				set := w.files[h].SrcP(as[i]) & o.m
				o.v[i], o.ok[i] = affinetrack.Value{Base: uint64(set)}, set == 0 || set == o.m
			default:
				w.read(&t.row, h, code.Row{Slot: slot, Row: as[i]})
				o.v[i], o.ok[i] = describe(&t.row, slot, o.m)
			}
		}
	}
}

// operation follows an operation that has executed.
func (t *tracker) operation(e *Event) {
	for h := range e.warp.files {
		m := t.seen[h].m
		if m == 0 {
			continue
		}
		x := t.present(e, h, m)
		switch x.in.Op.Signature().Kind {
		case code.Arithmetic:
			t.arithmetic(x)
		case code.Read:
			t.special(x)
		case code.Load:
			t.load(x)
		case code.Store:
			t.store(x)
		case code.Warp:
			t.warp(x)
		default:
			t.generic(x)
		}
	}
}

// generic records that the instruction has written its destinations lane by
// lane.
func (t *tracker) generic(x *half) {
	t.step.compact = false
	for _, o := range x.writes() {
		t.overwrite(x, o)
	}
}

// finish records the result of an instruction, which the lanes have: v if it is
// compact.
func (t *tracker) finish(x *half, d code.Row, v affinetrack.Value, ok bool) {
	if t.Ideal {
		// What was proved does not count, only what can be seen.
		class := x.w.cta.code.Sources[x.in.Src].Form.Class
		if v, ok = x.describe(d); ok && v.Stride != 0 && (class == ptx.ClassFP || class == ptx.ClassSFU) {
			ok = false
		}
	}
	if !ok {
		t.step.compact = false
		t.overwrite(x, d)
		return
	}
	t.step.see(v.Class())
	if !x.keep {
		t.step.held = false
		t.overwrite(x, d)
		return
	}
	if !t.Ideal {
		t.write(x, d, v)
	}
}

// write makes a register compact for the lanes of m.
func (t *tracker) write(x *half, d code.Row, v affinetrack.Value) {
	c, m := x.tag(d), x.m
	if !t.Masked { // the whole warp executes
		m = regfile.Full
	}
	switch rest := c.mask &^ m & x.live; {
	case rest == 0:
	case c.Value == v:
		c.mask |= m
		return
	default:
		t.step.expand++
	}
	*c = tag{v, m}
}

// overwrite records that the lanes of m hold a register's value.
func (t *tracker) overwrite(x *half, d code.Row) {
	switch {
	case t.Ideal:
	case d.Slot == code.P:
		x.truth(d.Row).mask &^= x.m
	case t.Masked:
		x.tag(d).mask &^= x.m
	default:
		c := x.tag(d)
		if c.mask != 0 && (x.in.Guard != 0 || x.w.mask != x.w.live) {
			t.step.expand++ // lazy expansion: the old value stays that of the other lanes
		}
		*c = tag{}
	}
}

// compareRow compares a compact result with the lanes.
func (t *tracker) compareRow(x *half, d code.Row, v affinetrack.Value) bool {
	f, o := &x.w.files[x.h], x.place(d)
	bad := uint32(0)
	switch c := compactAt(f, o); {
	case c.Mask&x.m == x.m && valueOf(&c) == v: // the engine has the same
	case c.Mask&x.m != 0:
		bad = notHolding(x.lanes(d), d.Slot, v, x.m)
	case d.Slot == code.Q:
		bad = differing(f.Src64(o.Row), v.Base, v.Stride, x.m)
	default:
		bad = differing(f.Src32(o.Row), uint32(v.Base), uint32(v.Stride), x.m)
	}
	if bad == 0 {
		return true
	}
	lane := bits.TrailingZeros32(bad)
	t.mismatch(x, bad, "the compact result is %s, but lane %d has %#x", v, lane, x.lanes(d)[lane])
	return false
}

// compactAt is what the engine holds compactly of a register.
func compactAt(f *regfile.File, o code.Row) regfile.Compact {
	if !f.Tracked() {
		return regfile.Compact{}
	}
	return *shadowAt(f, o.Slot, o.Row)
}

// notHolding is the lanes of m where a row does not hold a compact value.
func notHolding(row *regfile.Row64, s code.Slot, v affinetrack.Value, m uint32) (bad uint32) {
	ones := ^uint64(0) >> (64 - s.Bits())
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; row[i] != v.At(i)&ones {
			bad |= 1 << i
		}
	}
	return bad
}

// mismatch stops the warp: a rule of the policy is wrong.
func (t *tracker) mismatch(x *half, lanes uint32, format string, args ...any) {
	src := &x.w.cta.code.Sources[x.in.Src]
	tr := x.w.fail(src, uint64(lanes)<<(32*x.h), ErrMismatch, "%v: rule %s of %s: "+format, append([]any{ErrMismatch, x.in.Op.Signature().Rule, src.Text}, args...)...)
	for i := range x.p.reads {
		switch o := x.p.reads[i].ref; {
		case o.Slot == code.P:
			set := "no lane"
			if p := x.bits(o.Row) & x.m; p != 0 {
				set = "lanes " + lanesList(uint64(p))
			}
			tr.Notes = append(tr.Notes, fmt.Sprintf("operand %d: a predicate, set in %s", i, set))
		default:
			if v := x.held(o); v.mask&x.m == x.m {
				tr.Notes = append(tr.Notes, fmt.Sprintf("operand %d: %s", i, v.Value))
			} else {
				tr.Notes = append(tr.Notes, fmt.Sprintf("operand %d: generic", i))
			}
		}
	}
}

// arithmetic follows a kernel.
func (t *tracker) arithmetic(x *half) {
	in, s := x.in, x.in.Op.Signature()
	if s.Compares() {
		t.comparison(x)
		return
	}
	var src [4]affinetrack.Operand
	n := s.Sources()
	for i, row := range in.Sources() {
		switch slot := s.Src[i]; slot {
		case code.NoSlot:
		case code.P:
			src[i] = x.predicateOperand(i, row)
		default:
			if src[i] = x.operand(i, code.Row{Slot: slot, Row: row}); src[i].Held == x.m {
				t.step.see(src[i].Class())
			}
		}
	}
	if t.Ideal {
		if t.unit.Has(&s.Operation, src[:n], x.m) {
			t.results(x, affinetrack.Value{}, 0)
		} else {
			t.generic(x)
		}
		return
	}
	v, answer := t.unit.Execute(&s.Operation, src[:n], x.m)
	var carry uint64
	switch answer {
	case affinetrack.OnLanes:
		t.generic(x)
		return
	case affinetrack.Once:
		v.Base, carry = alu.Single[in.Op](src[0].Base, src[1].Base, src[2].Base, src[3].Base, in.Imm)
	}
	t.results(x, v, carry)
}

// operand is source i as the unit wants it.
func (x *half) operand(i int, o code.Row) affinetrack.Operand {
	if v, ok := x.source(i, o); ok {
		return affinetrack.Operand{Value: v, Held: x.m}
	}
	return affinetrack.Operand{}
}

// predicateOperand is source i, a predicate, as the unit wants it.
func (x *half) predicateOperand(i int, row int32) (o affinetrack.Operand) {
	v, ok := x.predicate(i, row)
	if ok {
		o.Held = x.m
	}
	if v {
		o.Base = 1
	}
	return o
}

// results records the results of a kernel: v in its destination, and a carry.
func (t *tracker) results(x *half, v affinetrack.Value, carry uint64) {
	in, s := x.in, x.in.Op.Signature()
	if s.Dst == code.P {
		t.setPredicate(x, in.D, v.Base&1 != 0)
	} else {
		d := code.Row{Slot: s.Dst, Row: in.D}
		if !t.Ideal && !t.compareRow(x, d, v) {
			return
		}
		t.finish(x, d, v, true)
	}
	if s.Dst2 == code.P {
		t.setPredicate(x, in.F, carry != 0)
	}
}

// setPredicate records that a predicate is the same in all lanes of m.
func (t *tracker) setPredicate(x *half, row int32, value bool) {
	all := uint32(0)
	if value {
		all = regfile.Full
	}
	have := x.bits(row)
	if t.Ideal {
		if p := have & x.m; p != 0 && p != x.m {
			t.step.compact = false
		}
		return
	}
	if bad := (have ^ all) & x.m; bad != 0 {
		t.mismatch(x, bad, "the compact predicate is %v, but not in lanes %s", value, lanesList(uint64(bad)))
		return
	}
	t.tagPredicate(x, row, value)
}

func (t *tracker) tagPredicate(x *half, row int32, value bool) {
	e := x.truth(row)
	if e.value != value {
		e.mask = 0
	}
	e.value = value
	e.mask |= x.m
}

// comparison follows a comparison: p = t op c, q = !t op c (manual 9.7.6.2).
func (t *tracker) comparison(x *half) {
	in, s := x.in, x.in.Op.Signature()
	src := [2]affinetrack.Operand{x.operand(0, code.Row{Slot: s.Src[0], Row: in.A}), x.operand(1, code.Row{Slot: s.Src[1], Row: in.B})}
	known := t.unit.Has(&s.Operation, src[:], x.m)
	if known {
		t.step.see(src[0].Class())
		t.step.see(src[1].Class())
	}
	if t.Ideal {
		for _, o := range x.writes() {
			p := x.bits(o.Row) & x.m
			t.step.compact = t.step.compact && known && (p == 0 || p == x.m)
		}
		return
	}
	knownC, c := true, uint32(0) // of the predicate it is combined with
	if in.Imm != alu.BoolNone {
		_, knownC = x.predicate(2, in.C)
		c = t.seen[x.h].c
	}
	v, answer := t.unit.Execute(&s.Operation, src[:], x.m)
	switch answer {
	case affinetrack.OnLanes:
		t.generic(x)
		return
	case affinetrack.Once:
		v.Base, _ = alu.Single[in.Op](src[0].Base, src[1].Base, 0, 0, in.Imm)
	}
	outcome := -uint32(v.Base & 1)
	wantP, wantQ := alu.Combine(outcome, c, in.Imm)
	// The results are uniform if the predicate they are combined with is, or
	// makes no difference.
	p0, q0 := alu.Combine(outcome, 0, in.Imm)
	p1, q1 := alu.Combine(outcome, regfile.Full, in.Imm)
	for _, d := range []struct {
		row     int32
		want    uint32
		uniform bool
	}{{in.D, wantP, knownC || p0 == p1}, {in.F, wantQ, knownC || q0 == q1}} {
		if d.row == code.NoRow {
			continue
		}
		if bad := (x.bits(d.row) ^ d.want) & x.m; bad != 0 {
			t.mismatch(x, bad, "the comparison comes out as %v in every lane, but not in lanes %s", outcome != 0, lanesList(uint64(bad)))
			return
		}
		if d.uniform {
			t.tagPredicate(x, d.row, d.want&x.m != 0)
		} else {
			x.truth(d.row).mask &^= x.m
		}
	}
}

// special follows the read of a special register, or of the address of a local
// variable.
func (t *tracker) special(x *half) {
	d := x.writes()[0]
	v, ok := x.w.sourceValue(x.h, x.in, x.m)
	if d.Slot == code.R {
		v.Base, v.Stride = v.Base&0xffff_ffff, v.Stride&0xffff_ffff
	}
	ok = ok && t.Allows(v, d.Slot.Bits())
	if ok && !t.Ideal && !t.compareRow(x, d, v) {
		return
	}
	t.finish(x, d, v, ok)
}

// address describes the address of an access, its offset left out, if it is compact;
// a fixed address is uniform. It is compared with those of the lanes.
func (t *tracker) address(x *half) (v affinetrack.Value, ok bool) {
	a := x.access()
	switch {
	case a.Addr == code.NoSlot:
		ok = true
	case t.Rules.Has(x.w.cta.code.Sources[x.in.Src].Form.Affine):
		if v, ok = x.source(0, code.Row{Slot: a.Addr, Row: x.in.A}); !ok || t.Ideal {
			break
		}
		if bad := notHolding(&t.seen[x.h].addr, a.Addr, v, x.m); bad != 0 {
			i := bits.TrailingZeros32(bad)
			t.mismatch(x, 1<<i, "the compact address is %s, but lane %d has %s", v, i, hexAddr(t.seen[x.h].addr[i]))
		}
	}
	t.step.addr = affinetrack.Generic
	if ok {
		t.step.addr = v.Class()
	}
	return v, ok
}

// load follows a load. From a uniform address it loads once; the value is
// uniform unless memory is the thread's own.
func (t *tracker) load(x *half) {
	a := x.access()
	v, ok := t.address(x)
	if x.w.err != nil {
		return
	}
	own := a.Frame || a.Space == ptx.Local || a.Space == ptx.Generic && ok && mem.InWindow(a.At(v.Base), ptx.Local)
	once := ok && v.Uniform() && !own && (t.Loads == affinetrack.AnyUniform || t.Loads == affinetrack.ParamLoads && a.Space == ptx.Param)
	for _, e := range a.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		d := code.Row{Slot: e.Slot, Row: e.Row}
		if t.Ideal {
			c := t.classOf(x, d)
			t.step.data = max(t.step.data, c)
			if c != affinetrack.Uniform || !once {
				t.step.compact = false
			}
			continue
		}
		if !once {
			t.step.data = affinetrack.Generic
			t.step.compact = false
			t.overwrite(x, d)
			continue
		}
		t.step.data = max(t.step.data, affinetrack.Uniform)
		u := x.first(d)
		if notHolding(&t.row, d.Slot, u, x.m) != 0 { // another CTA has stored there meanwhile
			t.step.compact = false
			t.overwrite(x, d)
			continue
		}
		t.finish(x, d, u, true)
	}
}

// classOf is the class of a value, generic if it is not compact.
func classOf(v affinetrack.Value, ok bool) affinetrack.Class {
	if !ok {
		return affinetrack.Generic
	}
	return v.Class()
}

// classOf is the class of a register that the instruction has read or written.
func (t *tracker) classOf(x *half, o code.Row) affinetrack.Class {
	if t.Ideal {
		return classOf(x.describe(o))
	}
	v := x.held(o)
	return classOf(v.Value, v.mask&x.m == x.m)
}

// warp follows an instruction that has one result for all lanes that name the
// same lanes in their membermasks.
func (t *tracker) warp(x *half) {
	ok := true
	if n := x.in.Op.Signature().Member; n > 0 {
		v, known := x.source(int(n)-1, code.Row{Slot: code.R, Row: x.in.Sources()[n-1]})
		ok = known && v.Uniform()
	}
	d := x.writes()[0]
	v := x.first(d)
	if ok && !t.compareRow(x, d, v) {
		return
	}
	t.finish(x, d, v, ok)
}

// store follows a store. To affine addresses it computes one.
func (t *tracker) store(x *half) {
	a := x.access()
	if t.address(x); x.w.err != nil {
		return
	}
	for _, e := range a.Elems {
		if e.Slot != code.NoSlot {
			t.step.data = max(t.step.data, t.classOf(x, code.Row{Slot: e.Slot, Row: e.Row}))
		}
	}
}

// begin starts a PTX instruction: what its operands are is counted before it
// changes them.
func (t *tracker) begin(e *Event) {
	src := &t.ref.Sources[e.Index]
	t.step = step{active: e.Active, src: src, compact: true, held: true}
	n := &t.counts[e.Index]
	t.before = *n
	n.Execs++
	n.Lanes += int64(bits.OnesCount64(e.Active))
	t.lanes[bits.OnesCount64(e.Active)]++
	if e.Active != e.warp.live {
		n.Diverged++
	}
	t.countRegisters(&n.Reads, e, src.Reads, e.Reads)
}

// countRegisters counts register operands by class, for the lanes that execute the
// instruction.
func (t *tracker) countRegisters(n *affinetrack.Shares, e *Event, list []ptx.RegID, values []Value) {
	for h := range e.warp.files {
		m := uint32(e.Lanes >> (32 * h))
		if m == 0 {
			continue
		}
		t.half = half{t: t, w: e.warp, h: h, base: t.base(e.frame), m: m}
		for i, r := range list {
			at := &t.step.src.Func.Regs[r]
			if at.Slot == code.P {
				continue
			}
			class := func(row int32, values []uint64) affinetrack.Class {
				if t.Ideal {
					return classOf(describe((*regfile.Row64)(values[regfile.Lanes*h:]), at.Slot, m))
				}
				v := t.half.held(code.Row{Slot: at.Slot, Row: row})
				return classOf(v.Value, v.mask&m == m)
			}
			var v Value
			if t.Ideal {
				v = values[i]
			}
			c := class(at.Row, v.Low)
			if at.Wide {
				c = max(c, class(at.High, v.High))
			}
			n.Count(c)
		}
	}
}

// end finishes a PTX instruction: what has become of its results is counted.
func (t *tracker) end(e *Event) {
	st, s := &t.step, t.step.src
	if e.apart {
		st.compact = false
		t.receive(e)
	}
	if e.Lanes == 0 && s.Form.Class != ptx.ClassControl { // a branch that no lane takes has decided so
		return
	}
	n := &t.counts[e.Index]
	n.Expansions += st.expand
	if s.Call == nil {
		t.countRegisters(&n.Writes, e, s.Writes, e.Writes)
	}
	label := affinetrack.Uniform
	switch c := s.Form.Class; {
	case c == ptx.ClassControl || c == ptx.ClassBarrier || c == ptx.ClassMisc:
		st.compact = false // nothing is computed
	case c == ptx.ClassMemory && st.addr != affinetrack.Unknown:
		label = st.addr
		n.Addresses.Count(st.addr)
		n.Data.Count(st.data)
		st.compact = st.compact && s.Form.Affine == ptx.AffineLoad
	case !st.compact:
		label = affinetrack.Generic
	default:
		label = max(label, st.class)
	}
	n.Label.Count(label)
	switch {
	case !st.compact || len(s.Writes) == 0:
	case st.held:
		n.Compact++
	default:
		n.Suppressed++
	}
}

// branch compares a conditional branch's compact predicate, if it has one, with
// the lanes that take it.
func (t *tracker) branch(e *Event) {
	src := &t.ref.Sources[e.Index]
	if src.Guard == 0 || t.ref.Instrs[src.Code.End-1].Op != code.Branch {
		return
	}
	n := &t.counts[e.Index]
	n.Branches++
	if !t.Rules.Has(ptx.AffineBranch) {
		return
	}
	row, neg := code.GuardRow(src.Guard)
	decided, value := true, false
	for h := range e.warp.files {
		m := uint32(e.Active >> (32 * h))
		if m == 0 {
			continue
		}
		x := half{t: t, w: e.warp, h: h, base: t.base(e.frame), m: m}
		var v, ok bool
		if set := uint32(e.Lanes>>(32*h)) & m; t.Ideal {
			v, ok = (set != 0) != neg, set == 0 || set == m
		} else {
			v, ok = x.predicate(0, row)
		}
		if !ok || h > 0 && uint32(e.Active) != 0 && v != value {
			decided = false
		}
		value = v
	}
	if !decided {
		return
	}
	n.Decided++
	want := uint64(0)
	if value != neg {
		want = e.Active
	}
	if e.Lanes != want {
		e.warp.fail(e.source, e.Lanes^want, ErrMismatch, "%v: the branch is decided by its predicate, %v in every lane, but not so for lanes %s", ErrMismatch, value, lanesList(e.Lanes^want))
	}
}

// call opens the registers of the function that lanes are in now. If other lanes have
// registers there, what is held of theirs stays.
func (t *tracker) call(e *Event) {
	w, base, n := e.warp, t.base(e.frame), t.ref.Funcs[e.frame.fn.Index].Frame
	others := w.above(base, func(fr *frame) regfile.Size { return t.base(fr).Add(t.ref.Funcs[fr.fn.Index].Frame) })
	for h := range w.files {
		f := &t.tags[w.id][h]
		f.open(base, n)
		m := uint32(e.Lanes >> (32 * h))
		if others>>(32*h)&regfile.Full == 0 {
			m = regfile.Full
		}
		for i := range n.R {
			t.forget(&f.r[base.R+i], m)
		}
		for i := range n.Q {
			t.forget(&f.q[base.Q+i], m)
		}
		for i := range n.P {
			f.p[base.P+i].mask &^= m
		}
	}
}

// receive records that lanes have got the results of an instruction otherwise than by an
// operation: of a call, at a barrier, together with others.
func (t *tracker) receive(e *Event) {
	src := &t.ref.Sources[e.Index]
	for h := range e.warp.files {
		m := uint32(e.Lanes >> (32 * h))
		if m == 0 {
			continue
		}
		x := half{t: t, w: e.warp, h: h, base: t.base(e.frame), m: m}
		for _, r := range src.Writes {
			switch at := &src.Func.Regs[r]; at.Slot {
			case code.NoSlot:
			case code.P:
				x.truth(at.Row).mask &^= m
			default:
				t.forget(x.tag(code.Row{Slot: at.Slot, Row: at.Row}), m)
				if at.Wide {
					t.forget(x.tag(code.Row{Slot: at.Slot, Row: at.High}), m)
				}
			}
		}
	}
}

// forget records that lanes have got a register's value.
func (t *tracker) forget(c *tag, m uint32) {
	if t.Masked {
		c.mask &^= m
	} else {
		c.mask = 0
	}
}

// Save copies what has been counted so far, and the tags.
func (s *statistics) Save() any {
	state := savedStatistics{spare: slices.Clone(s.spare)}
	for _, t := range s.all {
		state.trackers = append(state.trackers, t.clone())
	}
	return state
}

// Restore takes over what Save has copied. Trackers that are newer have counted nothing.
func (s *statistics) Restore(state any) {
	saved := state.(savedStatistics)
	s.spare = slices.Clone(saved.spare)
	for i, t := range s.all {
		if i < len(saved.trackers) {
			*t = *saved.trackers[i].clone()
			continue
		}
		*t = *newTracker(s)
		s.spare = append(s.spare, t)
	}
}

type savedStatistics struct {
	trackers []*tracker
	spare    []*tracker
}

// clone is a copy. It finds out anew where frames lie, which are others in a state that is
// restored.
func (t *tracker) clone() *tracker {
	n := *t
	n.counts, n.lanes, n.bases = slices.Clone(t.counts), slices.Clone(t.lanes), map[*frame]regfile.Size{}
	n.tags = make([][]tags, len(t.tags))
	for i, halves := range t.tags {
		for _, f := range halves {
			n.tags[i] = append(n.tags[i], tags{slices.Clone(f.r), slices.Clone(f.q), slices.Clone(f.p)})
		}
	}
	return &n
}
