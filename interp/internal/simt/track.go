package simt

// This file is a policy's view of a launch, for its statistics: what a machine with a
// shadow affine register file would hold compactly, under the rules of a policy. It
// executes nothing. Beside each register of the reference (check.go) it keeps a tag of
// its own; it is told of each instruction, computes what the policy's rules make of the
// tags, and compares that with what the lanes have got.
//
// It follows Kim et al. 2013, section 4, with two schemes for divergence. The
// paper's has one entry per register for the whole warp: results under divergence
// or a guard are written to the lanes, and if the register was compact before, its
// old value is expanded for the other lanes first (section 4.3). With a masked
// policy the entry also says which lanes it is about, and results stay compact.

import (
	"fmt"
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// tracker is the tags of a CTA's warps, and what is counted of them.
type tracker struct {
	affinetrack.Unit
	counts []affinetrack.Counts // by Source.Index
	lanes  []int64              // instructions by number of active lanes

	step   step
	before affinetrack.Counts // of its instruction, before it
	half   half               // the present one
}

// newTracker makes the tracker of a CTA.
func newTracker(g *Grid) *tracker {
	return &tracker{
		Unit:   affinetrack.NewUnit(g.policy, g.rules),
		counts: make([]affinetrack.Counts, len(g.code.Sources)),
		lanes:  make([]int64, g.code.Width+1),
	}
}

// step is the PTX instruction under way, for one half of the warp after the
// other.
type step struct {
	src     *code.Source
	compact bool              // all it has done so far was compact
	held    bool              // … and its results were kept so
	class   affinetrack.Class // the least structured operand or result
	addr    affinetrack.Class // of memory instructions
	data    affinetrack.Class
	expand  int64
}

// see takes an operand or result into account.
func (s *step) see(c affinetrack.Class) { s.class = max(s.class, c) }

// value describes a register for the lanes of m, if it is compact there.
func (t *tracker) value(f *regfile.File, s code.Slot, row int32, m uint32) (affinetrack.Value, bool) {
	if t.Ideal {
		return describe(f, s, row, m)
	}
	c := f.Shadow32
	if s == code.Q {
		c = f.Shadow64
	}
	e := c(row)
	return affinetrack.Value{Base: e.Base, Stride: e.Stride}, e.Holds(m)
}

func describe(f *regfile.File, s code.Slot, row int32, m uint32) (affinetrack.Value, bool) {
	if s == code.Q {
		r := f.Src64(row)
		return affinetrack.Describe(m, 64, func(i int) uint64 { return r[i] })
	}
	r := f.Src32(row)
	return affinetrack.Describe(m, 32, func(i int) uint64 { return uint64(r[i]) })
}

// predicate tells whether a predicate is the same in all lanes of m, and what.
func (t *tracker) predicate(f *regfile.File, row int32, m uint32) (value, ok bool) {
	if t.Ideal {
		p := f.SrcP(row) & m
		return p != 0, p == 0 || p == m
	}
	e := f.ShadowP(row)
	return e.Value, e.Mask&m == m
}

// classOf is the class of a register for the lanes of m.
func (t *tracker) classOf(f *regfile.File, s code.Slot, row int32, m uint32) affinetrack.Class {
	if v, ok := t.value(f, s, row, m); ok {
		return v.Class()
	}
	return affinetrack.Generic
}

// half is an instruction about to execute for half a warp, in the reference.
type half struct {
	w    *warp
	h    int
	p    *pair
	f    *regfile.File
	in   *code.Instr
	m    uint32 // lanes that execute
	live uint32 // lanes that have not ended
	keep bool   // results may stay compact
	rows [20]code.Row
}

// exec executes an instruction for the lanes of m in half h.
func (t *tracker) exec(w *warp, h int, p *pair, m uint32) {
	x := &t.half
	*x = half{w: w, h: h, p: p, f: &w.check.files[h], in: p.ref, m: m, live: uint32(w.live >> (32 * h))}
	x.keep = t.Masked || w.mask == w.live && p.ref.Guard == 0
	switch code.Signatures[p.ref.Op].Kind {
	case code.Arithmetic:
		t.arithmetic(x)
	case code.Read:
		t.source(x)
	case code.Load:
		t.load(x)
	case code.Store:
		t.store(x)
	case code.Warp:
		t.warp(x)
	default:
		if x.execute() {
			t.generic(x)
		}
	}
}

// reads and writes are the rows that the instruction reads and writes.
func (x *half) reads() []code.Row  { return x.w.check.Reads(x.rows[:0], x.in) }
func (x *half) writes() []code.Row { return x.w.check.Writes(x.rows[:0], x.in) }

// access is the memory access of the instruction.
func (x *half) access() *code.Access { return &x.w.check.Access[x.in.Side] }

// execute executes the instruction, and reports whether that went well.
func (x *half) execute() bool {
	x.w.both(x.p, x.h, x.m)
	return x.w.err == nil
}

// expand writes a compact register to the lanes of m.
func expand(f *regfile.File, o code.Row, m uint32) {
	switch {
	case o.Row < 0:
	case o.Slot == code.R:
		f.Expand32(o.Row, m)
	case o.Slot == code.Q:
		f.Expand64(o.Row, m)
	}
}

func firstLane(f *regfile.File, o code.Row, m uint32) affinetrack.Value {
	i := bits.TrailingZeros32(m) & 31
	if o.Slot == code.Q {
		return affinetrack.Value{Base: f.Row64(o.Row)[i]}
	}
	return affinetrack.Value{Base: uint64(f.Row32(o.Row)[i])}
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
		class := x.w.src(x.in).Form.Class
		if v, ok = describe(x.f, d.Slot, d.Row, x.m); ok && v.Stride != 0 && (class == ptx.ClassFP || class == ptx.ClassSFU) {
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
	c, m := shadowOf(x.f, d), x.m
	if !t.Masked { // the whole warp executes
		m = regfile.Full
	}
	switch rest := c.Mask &^ m & x.live; {
	case rest == 0:
	case c.Base == v.Base && c.Stride == v.Stride:
		c.Mask |= m
		return
	default:
		t.step.expand++
	}
	*c = regfile.Compact{Base: v.Base, Stride: v.Stride, Mask: m}
}

// overwrite records that the lanes of m hold a register's value.
func (t *tracker) overwrite(x *half, d code.Row) {
	switch {
	case t.Ideal:
	case d.Slot == code.P:
		x.f.ShadowP(d.Row).Mask &^= x.m
	case t.Masked:
		shadowOf(x.f, d).Mask &^= x.m
	default:
		c := shadowOf(x.f, d)
		if c.Mask != 0 && (x.in.Guard != 0 || x.w.mask != x.w.live) {
			t.step.expand++ // lazy expansion: the old value stays that of the other lanes
		}
		*c = regfile.Compact{}
	}
}

func shadowOf(f *regfile.File, o code.Row) *regfile.Compact {
	if o.Slot == code.Q {
		return f.Shadow64(o.Row)
	}
	return f.Shadow32(o.Row)
}

func fillRow(f *regfile.File, o code.Row, v affinetrack.Value, m uint32) {
	if o.Slot == code.Q {
		regfile.Fill64(f.Row64(o.Row), v.Base, v.Stride, m)
		return
	}
	regfile.Fill32(f.Row32(o.Row), uint32(v.Base), uint32(v.Stride), m)
}

// compareRow compares a compact result with the lanes.
func (t *tracker) compareRow(x *half, d code.Row, v affinetrack.Value) bool {
	bad := notHolding(x.f, d, v, x.m)
	if bad == 0 {
		return true
	}
	lane := bits.TrailingZeros32(bad)
	t.mismatch(x, bad, "the compact result is %s, but lane %d has %#x", v, lane, inRow(x.f, d, lane))
	return false
}

// notHolding is the lanes of m where a row does not hold a compact value.
func notHolding(f *regfile.File, d code.Row, v affinetrack.Value, m uint32) uint32 {
	if d.Slot == code.Q {
		return differing(f.Row64(d.Row), v.Base, v.Stride, m)
	}
	return differing(f.Row32(d.Row), uint32(v.Base), uint32(v.Stride), m)
}

// differing is the lanes i of m where a row does not hold base + i·stride.
func differing[T mem.Slot](row *[regfile.Lanes]T, base, stride T, m uint32) (bad uint32) {
	if m == regfile.Full {
		diff, want := T(0), base
		for _, have := range row {
			diff |= have ^ want
			want += stride
		}
		if diff == 0 {
			return 0
		}
	}
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		if row[i] != base+T(i)*stride {
			bad |= 1 << i
		}
	}
	return bad
}

// mismatch stops the warp: compact execution went wrong.
func (t *tracker) mismatch(x *half, lanes uint32, format string, args ...any) {
	tr := x.w.fail(x.w.src(x.in), uint64(lanes)<<(32*x.h), ErrMismatch, "%v: rule %s of %s: "+format, append([]any{ErrMismatch, code.Signatures[x.in.Op].Rule, x.w.src(x.in).Text}, args...)...)
	for i, o := range x.reads() {
		switch {
		case o.Slot == code.P:
			set := "no lane"
			if p := x.f.Pred(o.Row) & x.m; p != 0 {
				set = "lanes " + lanesList(uint64(p))
			}
			tr.Notes = append(tr.Notes, fmt.Sprintf("operand %d: a predicate, set in %s", i, set))
		default:
			if v, ok := t.value(x.f, o.Slot, o.Row, x.m); ok {
				tr.Notes = append(tr.Notes, fmt.Sprintf("operand %d: %s", i, v))
			} else {
				tr.Notes = append(tr.Notes, fmt.Sprintf("operand %d: generic", i))
			}
		}
	}
}

// arithmetic executes a kernel.
func (t *tracker) arithmetic(x *half) {
	in, f, s := x.in, x.f, &code.Signatures[x.in.Op]
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
			src[i] = t.predicateOperand(f, row, x.m)
		default:
			if src[i] = t.operand(f, slot, row, x.m); src[i].Held == x.m {
				t.step.see(src[i].Class())
			}
		}
	}
	if t.Ideal {
		known := t.Has(&s.Operation, src[:n], x.m)
		if !x.execute() {
			return
		}
		if known {
			t.results(x, affinetrack.Value{}, 0)
		} else {
			t.generic(x)
		}
		return
	}
	v, answer := t.Execute(&s.Operation, src[:n], x.m)
	var carry uint64
	if answer == affinetrack.Once {
		v.Base, carry = alu.Single[in.Op](src[0].Base, src[1].Base, src[2].Base, src[3].Base, in.Imm)
	}
	switch {
	case !x.execute():
	case answer == affinetrack.OnLanes:
		t.generic(x)
	default:
		t.results(x, v, carry)
	}
}

// operand is a register as the unit wants it for the lanes of m.
func (t *tracker) operand(f *regfile.File, s code.Slot, row int32, m uint32) affinetrack.Operand {
	if v, ok := t.value(f, s, row, m); ok {
		return affinetrack.Operand{Value: v, Held: m}
	}
	return affinetrack.Operand{}
}

// predicateOperand is a predicate as the unit wants it for the lanes of m.
func (t *tracker) predicateOperand(f *regfile.File, row int32, m uint32) (o affinetrack.Operand) {
	v, ok := t.predicate(f, row, m)
	if ok {
		o.Held = m
	}
	if v {
		o.Base = 1
	}
	return o
}

// results records the results of a kernel: v in its destination, and a carry.
func (t *tracker) results(x *half, v affinetrack.Value, carry uint64) {
	in, s := x.in, &code.Signatures[x.in.Op]
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
	switch {
	case t.Ideal:
		if p := x.f.Pred(row) & x.m; p != 0 && p != x.m {
			t.step.compact = false
		}
		return
	default:
		if bad := (x.f.Pred(row) ^ all) & x.m; bad != 0 {
			t.mismatch(x, bad, "the compact predicate is %v, but not in lanes %s", value, lanesList(uint64(bad)))
			return
		}
	}
	t.tagPredicate(x, row, value)
}

func (t *tracker) tagPredicate(x *half, row int32, value bool) {
	e := x.f.ShadowP(row)
	if e.Value != value {
		e.Mask = 0
	}
	e.Value = value
	e.Mask |= x.m
}

// comparison executes a comparison: p = t op c, q = !t op c (manual 9.7.6.2).
func (t *tracker) comparison(x *half) {
	in, f, s := x.in, x.f, &code.Signatures[x.in.Op]
	src := [2]affinetrack.Operand{t.operand(f, s.Src[0], in.A, x.m), t.operand(f, s.Src[1], in.B, x.m)}
	known := t.Has(&s.Operation, src[:], x.m)
	if known {
		t.step.see(src[0].Class())
		t.step.see(src[1].Class())
	}
	knownC, c := true, uint32(0) // of the predicate it is combined with
	if in.Imm != alu.BoolNone {
		_, knownC = t.predicate(f, in.C, x.m)
		c = f.SrcP(in.C)
	}
	v, answer := t.Execute(&s.Operation, src[:], x.m)
	if answer == affinetrack.Once {
		v.Base, _ = alu.Single[in.Op](src[0].Base, src[1].Base, 0, 0, in.Imm)
	}
	if !x.execute() {
		return
	}
	if t.Ideal {
		for _, o := range x.writes() {
			_, same := t.predicate(f, o.Row, x.m)
			t.step.compact = t.step.compact && known && same
		}
		return
	}
	if answer == affinetrack.OnLanes {
		t.generic(x)
		return
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
		if bad := (f.Pred(d.row) ^ d.want) & x.m; bad != 0 {
			t.mismatch(x, bad, "the comparison comes out as %v in every lane, but not in lanes %s", outcome != 0, lanesList(uint64(bad)))
			return
		}
		if d.uniform {
			t.tagPredicate(x, d.row, d.want&x.m != 0)
		} else {
			f.ShadowP(d.row).Mask &^= x.m
		}
	}
}

// source executes the read of a special register, or of the address of a local
// variable.
func (t *tracker) source(x *half) {
	d := x.writes()[0]
	v, ok := x.w.sourceValue(x.h, x.in, x.m)
	v, ok = fitSlot(v, d.Slot), ok && t.Allows(fitSlot(v, d.Slot), slotBits(d.Slot))
	if !x.execute() || ok && !t.Ideal && !t.compareRow(x, d, v) {
		return
	}
	t.finish(x, d, v, ok)
}

func slotBits(s code.Slot) int {
	if s == code.Q {
		return 64
	}
	return 32
}

// fitSlot reduces a value to a slot's width.
func fitSlot(v affinetrack.Value, s code.Slot) affinetrack.Value {
	if s == code.R {
		return affinetrack.Value{Base: v.Base & 0xffffffff, Stride: v.Stride & 0xffffffff}
	}
	return v
}

// address describes the address of an access, its offset left out, if it is compact;
// a fixed address is uniform. It is compared with those of the lanes.
func (t *tracker) address(x *half) (v affinetrack.Value, ok bool) {
	if a := x.access(); a.Addr == code.NoSlot {
		ok = true
	} else if t.Rules.Has(x.w.src(x.in).Form.Affine) {
		if v, ok = t.value(x.f, a.Addr, x.in.A, x.m); ok && !t.Ideal {
			t.verifyAddresses(x, v)
		}
	}
	t.step.addr = affinetrack.Generic
	if ok {
		t.step.addr = v.Class()
	}
	return v, ok
}

// verifyAddresses compares compact addresses with those of the lanes.
func (t *tracker) verifyAddresses(x *half, v affinetrack.Value) {
	d := code.Row{Slot: x.access().Addr, Row: x.in.A}
	if d.Row < 0 {
		return
	}
	if bad := notHolding(x.f, d, v, x.m); bad != 0 {
		i := bits.TrailingZeros32(bad)
		t.mismatch(x, 1<<i, "the compact address is %s, but lane %d has %s", v, i, hexAddr(inRow(x.f, d, i)))
	}
}

// load executes a load. From a uniform address it loads once; the value is
// uniform unless memory is the thread's own.
func (t *tracker) load(x *half) {
	w, f, a := x.w, x.f, x.access()
	v, ok := t.address(x)
	if w.err != nil {
		return
	}
	own := a.Frame || a.Space == ptx.Local || a.Space == ptx.Generic && ok && mem.InWindow(a.At(v.Base), ptx.Local)
	once := ok && v.Uniform() && !own && (t.Loads == affinetrack.AnyUniform || t.Loads == affinetrack.ParamLoads && a.Space == ptx.Param)
	if !x.execute() {
		return
	}
	for _, e := range a.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		d := code.Row{Slot: e.Slot, Row: e.Row}
		if t.Ideal {
			c := t.classOf(f, d.Slot, d.Row, x.m)
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
		u := firstLane(f, d, x.m)
		if bad := notHolding(f, d, u, x.m); bad != 0 { // another CTA has stored there meanwhile
			t.step.compact = false
			t.overwrite(x, d)
			continue
		}
		t.finish(x, d, u, true)
	}
}

// warp executes an instruction that has one result for all lanes that name the
// same lanes in their membermasks.
func (t *tracker) warp(x *half) {
	ok := true
	if n := code.Signatures[x.in.Op].Member; n > 0 {
		mask := x.in.Sources()[n-1]
		v, known := t.value(x.f, code.R, mask, x.m)
		ok = known && v.Uniform()
	}
	if !x.execute() {
		return
	}
	d := x.writes()[0]
	v := firstLane(x.f, d, x.m)
	if ok && !t.compareRow(x, d, v) {
		return
	}
	t.finish(x, d, v, ok)
}

// store executes a store. To affine addresses it computes one.
func (t *tracker) store(x *half) {
	w, f, a := x.w, x.f, x.access()
	if t.address(x); w.err != nil {
		return
	}
	for _, e := range a.Elems {
		if e.Slot != code.NoSlot {
			t.step.data = max(t.step.data, t.classOf(f, e.Slot, e.Row, x.m))
		}
	}
	x.execute()
}

// forget records that the lanes of m have got a register's value otherwise than by
// an instruction under way: as a result of a call, or at a barrier.
func (t *tracker) forget(f *regfile.File, o code.Row, m uint32) {
	switch {
	case o.Slot == code.NoSlot || o.Row < 0:
	case o.Slot == code.P:
		f.ShadowP(o.Row).Mask &^= m
	case t.Masked:
		shadowOf(f, o).Mask &^= m
	default:
		shadowOf(f, o).Mask = 0
	}
}

// begin starts a PTX instruction: what its operands are is counted before it
// changes them.
func (t *tracker) begin(w *warp, s *code.Source) {
	t.step = step{src: s, compact: true, held: true}
	n := &t.counts[s.Index]
	t.before = *n
	n.Execs++
	n.Lanes += int64(bits.OnesCount64(w.mask))
	t.lanes[bits.OnesCount64(w.mask)]++
	if w.mask != w.live {
		n.Diverged++
	}
	for h := range w.check.files {
		f := &w.check.files[h]
		m := uint32(w.mask >> (32 * h))
		if s.Guard != 0 {
			m &= guardMask(f, s.Guard)
		}
		if m != 0 {
			t.countRegisters(&n.Reads, f, s.Func, s.Reads, m)
		}
	}
}

// undo takes back that a PTX instruction has begun.
func (t *tracker) undo(w *warp) {
	t.counts[t.step.src.Index] = t.before
	t.lanes[bits.OnesCount64(w.mask)]--
}

// countRegisters counts register operands by class.
func (t *tracker) countRegisters(n *affinetrack.Shares, f *regfile.File, fn *code.Func, list []ptx.RegID, m uint32) affinetrack.Class {
	worst := affinetrack.Unknown
	for _, r := range list {
		at := &fn.Regs[r]
		if at.Slot == code.P {
			continue
		}
		c := t.classOf(f, at.Slot, at.Row, m)
		if at.Wide {
			c = max(c, t.classOf(f, at.Slot, at.High, m))
		}
		n.Count(c)
		worst = max(worst, c)
	}
	return worst
}

// end finishes a PTX instruction: what has become of its results is counted.
// lanes are those that have executed it.
func (t *tracker) end(w *warp, s *code.Source, lanes uint64) {
	if lanes == 0 && s.Form.Class != ptx.ClassControl { // a branch that no lane takes has decided so
		return
	}
	n := &t.counts[s.Index]
	st := &t.step
	n.Expansions += st.expand
	for h := range w.files {
		if m := uint32(lanes >> (32 * h)); m != 0 && s.Call == nil {
			t.countRegisters(&n.Writes, &w.check.files[h], s.Func, s.Writes, m)
		}
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

// decide compares a conditional branch's compact predicate, if it has one, with
// the lanes: taken are those for which it holds.
func (t *tracker) decide(w *warp, end *code.Instr, taken uint64) {
	src := w.src(end)
	n := &t.counts[src.Index]
	n.Branches++
	if !t.Rules.Has(ptx.AffineBranch) {
		return
	}
	row, neg := code.GuardRow(end.Guard)
	decided, value := true, false
	for h := range w.check.files {
		m := uint32(w.mask >> (32 * h))
		if m == 0 {
			continue
		}
		v, ok := t.predicate(&w.check.files[h], row, m)
		if !ok || h > 0 && uint32(w.mask) != 0 && v != value {
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
		want = w.mask
	}
	if taken != want {
		w.fail(src, taken^want, ErrMismatch, "%v: the branch is decided by its predicate, %v in every lane, but not so for lanes %s", ErrMismatch, value, lanesList(taken^want))
	}
}
