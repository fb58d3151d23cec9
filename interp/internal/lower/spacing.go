package lower

// This file finds out how far apart the values of neighbouring lanes are, as far as that is
// always the same number: it follows the thread index through additions and products
// with constants to the addresses of memory accesses. An access whose lanes are proved to be
// at one place, or side by side, need not compare them.
//
// What is known holds among the lanes that execute an instruction together, and changes
// along their way. Lanes that a branch has parted go on by themselves, each knowing of the others
// on the same way what it did. Where they meet again, nothing is known of what either
// has written in between.

import (
	"errors"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// Spacing is what is known of the values of a warp's lanes, in groups of neighbours: that
// each has By more than the one before it, modulo two to the width. The zero value is that
// nothing is known.
type Spacing struct {
	By   int64
	Over uint8 // lanes of a group: Whole or Half

	// Wraps says that numbers of 32 bits may have become wider that had wrapped round between
	// two lanes of a group: then what is above is By times the number of lanes and some multiple
	// of 2³², which is not zero if that shows at all.
	Wraps bool

	Bound Bound
}

// Groups of lanes.
const (
	Half  = regfile.Lanes / 2 // either half of the warp, or, of 64 lanes, of one of their two rows
	Whole = regfile.Lanes     // all lanes, or those of such a row
)

// Bound is whether numbers have been held between bounds that all lanes have in common: then a lane has By more than
// the one before it at most, and less only if the outermost lanes of a group are less apart, too. That needs
// a bound of zero or more below, for differences of 32 bits to be what they seem.
type Bound uint8

// How numbers may be bound.
const (
	Unbound Bound = iota
	Above         // not from below
	Between       // and neither negative nor different
	Moved         // that, and then the same added to all
)

// unwritten is the spacing of what nothing has written yet: any.
var unwritten = Spacing{Over: 2 * Whole}

// Class is that of such values.
func (s Spacing) Class() affinetrack.Class {
	switch {
	case s.Over < Whole || s.Wraps || s.Bound != Unbound:
		return affinetrack.Generic
	case s.By == 0:
		return affinetrack.Uniform
	}
	return affinetrack.Affine
}

// uniform reports whether all lanes have the same.
func (s Spacing) uniform() bool { return s.Class() == affinetrack.Uniform }

// alike reports whether all lanes have the same, as far as is known yet.
func (s Spacing) alike() bool { return s == unwritten || s.uniform() }

// level reports whether the lanes of a group have the same.
func (s Spacing) level() bool { return s.Over >= Half && s == Spacing{Over: s.Over} }

// or is what holds of values that are the one or the other, in all lanes.
func (s Spacing) or(t Spacing) Spacing {
	switch {
	case s == unwritten:
		return t
	case t == unwritten:
		return s
	case s.By != t.By || s.Bound != t.Bound:
		return Spacing{}
	}
	return Spacing{By: s.By, Over: min(s.Over, t.Over), Wraps: s.Wraps || t.Wraps, Bound: s.Bound}
}

// plus is the spacing of a sum. Two numbers that may have wrapped round in different lanes, or are bound in different
// lanes, are too much.
func (s Spacing) plus(t Spacing) Spacing {
	sum := Spacing{By: s.By + t.By, Over: min(s.Over, t.Over), Wraps: s.Wraps || t.Wraps}
	if s.Bound != Unbound || t.Bound != Unbound {
		sum.Bound = Moved
		if !s.level() && !t.level() {
			return Spacing{}
		}
	}
	if sum.Over < Half || s.Wraps && t.Wraps {
		return Spacing{}
	}
	return sum
}

// mostBound is what bound numbers may be apart: so many differences of 32 bits are no multiple of two to the width.
const mostBound = 1 << 31

// times is the spacing of a multiple.
func (s Spacing) times(n int64) Spacing {
	by := s.By * n
	if s.Over < Half || s.Bound != Unbound && (n < 1 || n > mostBound || by > mostBound) {
		return Spacing{}
	}
	s.By = by
	return s
}

// widened is the spacing of numbers of 32 bits made 64. Over a group they wrap round once at most.
func (s Spacing) widened() Spacing {
	if !s.small() {
		return Spacing{}
	}
	s.Wraps = s.By != 0
	return s
}

// small reports whether numbers of 32 bits wrap round once at most from the first lane of a group to the last.
func (s Spacing) small() bool {
	const most = 1 << 31 / Whole
	return s.Over >= Half && -most <= s.By && s.By <= most
}

// narrowed is the spacing of numbers made, or computed with, 32 bits, of which multiples of 2³² are nothing. multiplied
// says that bound ones have been multiplied there.
func (s Spacing) narrowed(multiplied bool) Spacing {
	if s.Bound != Unbound && (multiplied || s.By != int64(int32(s.By))) {
		return Spacing{}
	}
	s.By, s.Wraps = int64(int32(s.By)), false
	return s
}

// lesser is the spacing of the lesser or greater of each number and one of b, as numbers with a sign. atLeast is what b is
// at least, if that is a constant.
func (s Spacing) lesser(b Spacing, below bool, atLeast int64) Spacing {
	switch {
	case !b.level() || !s.small() || s.By <= 0 || s.Bound == Moved:
		return Spacing{}
	case s.Bound == Between:
	case below && atLeast >= 0:
		s.Bound = Between
	default:
		s.Bound = Above
	}
	s.Over = min(s.Over, b.Over)
	return s
}

// spacer is the analysis of a function.
type spacer struct {
	*lowerer
	waiting bool

	unspaced bool // there is too much to follow, and nothing is known between blocks

	apart []bool // blocks that some live lanes may execute without the others
	lost  []bool // … and where lanes may be together by other ways than from a branch to where its ways meet
	mixed bool   // that is so of all of them

	walked  int // blocks, between branches and where their ways meet
	givenUp bool

	// Of rows that blocks read from others: their places among those, or none; by block, what is known where it
	// begins, what is written in it, and what of that and others it forgets, where lanes meet.
	place   [code.P + 1][]int32
	rows    []code.Row
	before  [][]Spacing
	writes  [][]bool
	forgets [][]bool

	here  [code.P + 1][]fact // in the block that is looked at
	epoch int32              // of what holds there
	block int                // it

	between []bool  // blocks that are in queue
	queue   []int32 // of separate
	news    []bool  // blocks that there is something new of
}

// fact is what is known of a row in an epoch.
type fact struct {
	Spacing
	epoch int32
}

// noPlace is that of rows that no block reads from others.
const noPlace = -1

// These bound what is remembered of blocks, their number times that of rows, and how often they are gone through to where
// ways meet.
const (
	mostSpaced = 1 << 20
	mostWalked = 1 << 20
)

// space finds the spacing of all that instructions write, and the patterns of accesses. Those hold until lanes go on
// without others that they were to meet, for that is seen to then; the plan has to hold in any case.
func (l *lowerer) space() {
	l.collect()
	s := l.spaced(false)
	for b := range l.blocks {
		s.through(b, func(in *node, _ Spacing) {
			if in.sig.Side == code.AccessSide {
				m := s.accessed(in)
				m.Pattern, m.Apart = patternOf(m, s.of(code.Row{Slot: m.Addr, Row: in.A}))
			}
		})
	}
	if !l.opt.Affine {
		return
	}
	if l.opt.Keeps == UnlessWaiting && slices.ContainsFunc(l.blocks, func(b block) bool { return b.MayWait }) {
		s = l.spaced(true)
	}
	for b := range l.blocks {
		s.through(b, func(in *node, result Spacing) { in.spacing = result })
	}
	l.apart, l.unspaced = s.apart, s.unspaced
}

// spaced is the analysis when all is found. waiting says that lanes which may wait for others may go on without those that
// they were to meet.
func (l *lowerer) spaced(waiting bool) *spacer {
	n := len(l.blocks)
	s := &spacer{
		lowerer: l, waiting: waiting,
		apart: make([]bool, n), lost: make([]bool, n), between: make([]bool, n), queue: make([]int32, n), news: make([]bool, n),
	}
	s.cross()
	if n*len(s.rows) > mostSpaced {
		s.unspaced = true
		s.forgetAll()
	}
	s.begin()
	// Whatever is known becomes less by every step.
	const steps = 6
	for most := (n + 1) * (steps*len(s.rows) + 3); s.settle(); most-- {
		if most < 0 {
			panic(errors.New("BUG: spacing does not settle"))
		}
	}
	return s
}

// patternOf is how the lanes' elements lie, by the spacing of their addresses.
func patternOf(m *code.Access, at Spacing) (p code.Pattern, apart int) {
	const most = 1 << 20
	switch {
	case at.Bound == Above || m.Addr == code.NoSlot || m.Atom != nil || m.Tile != nil || len(m.Elems) != 1 || at == unwritten || at.Over < Half:
	case at.level():
		return code.OnePlace, 0
	case at.By == int64(m.Bytes):
		return code.SideBySide, 0
	case m.Bytes <= 8 && at.By > 0 && at.By <= most && at.By%int64(m.Bytes) == 0:
		return code.Spread, int(at.By)
	}
	return code.AnyPattern, 0
}

// cross finds the rows that blocks read from others, and where they are written.
func (s *spacer) cross() {
	for slot := range s.virtual {
		n := len(s.virtual[slot].kept)
		s.place[slot], s.here[slot] = slices.Repeat([]int32{noPlace}, n), make([]fact, n)
	}
	for b := range s.blocks {
		s.epoch++
		read := func(o code.Row) {
			if s.here[o.Slot][o.Row].epoch != s.epoch && s.place[o.Slot][o.Row] == noPlace {
				s.place[o.Slot][o.Row] = int32(len(s.rows))
				s.rows = append(s.rows, o)
			}
		}
		for k := range s.nodesOf(b) {
			in := &s.nodesOf(b)[k]
			for _, o := range in.reads {
				read(o)
			}
			if in.Guard != 0 {
				read(guardOf(in.Guard))
				for _, o := range in.writes {
					read(o)
				}
			}
			for _, o := range in.writes {
				s.here[o.Slot][o.Row].epoch = s.epoch
			}
		}
		if end := &s.blocks[b].end; end.Guard != 0 {
			read(guardOf(end.Guard))
		}
	}
}

// guardOf is the row of a guard.
func guardOf(guard int32) code.Row {
	p, _ := code.GuardRow(guard)
	return code.Row{Slot: code.P, Row: p}
}

// forgetAll has nothing be known from block to block.
func (s *spacer) forgetAll() {
	s.rows = nil
	for slot := range s.place {
		for i := range s.place[slot] {
			s.place[slot][i] = noPlace
		}
	}
}

// begin readies what is known of blocks.
func (s *spacer) begin() {
	for b := range s.blocks {
		s.before = append(s.before, slices.Repeat([]Spacing{unwritten}, len(s.rows)))
		s.writes = append(s.writes, make([]bool, len(s.rows)))
		s.forgets = append(s.forgets, make([]bool, len(s.rows)))
		for k := range s.nodesOf(b) {
			in := &s.nodesOf(b)[k]
			s.marks(b, in.writes)
		}
		s.marks(b, s.tables.Writes(nil, &s.blocks[b].end))
	}
	first := s.before[0]
	nothing := func(o code.Row) {
		if i := s.place[o.Slot][o.Row]; i != noPlace {
			first[i] = Spacing{}
		}
	}
	s.elsewhere(nothing)
	for slot := range s.virtual {
		for _, row := range s.virtual[slot].zero { // what is read before it is written holds anything
			nothing(code.Row{Slot: code.Slot(slot), Row: row})
		}
	}
	for b := range s.blocks {
		s.news[b] = true
		// Lanes may call a function without the others, and become one strand in it because others wait elsewhere.
		s.apart[b], s.lost[b] = !s.fn.Entry, !s.fn.Entry
	}
}

// marks notes what a block writes.
func (s *spacer) marks(b int, rows []code.Row) {
	for _, o := range rows {
		if i := s.place[o.Slot][o.Row]; i != noPlace {
			s.writes[b][i] = true
		}
	}
}

// settle looks at all blocks of which there is something new, and reports whether less is known then.
func (s *spacer) settle() (changed bool) {
	for b := range s.blocks {
		if !s.news[b] {
			continue
		}
		s.news[b], changed = false, true
		s.through(b, func(*node, Spacing) {})
		s.parts(b)
		after := func(i int) Spacing { return s.of(s.rows[i]) }
		results := s.tables.Writes(nil, &s.blocks[b].end)
		for _, to := range s.successors(b) {
			known := s.before[to]
			for i := range known {
				now := known[i].or(after(i))
				if s.forgets[to][i] || slices.Contains(results, s.rows[i]) {
					now = Spacing{}
				}
				if now != known[i] {
					known[i], s.news[to] = now, true
				}
			}
		}
	}
	return changed
}

// through calls f for every instruction of a block and what it writes, with what is known before it.
func (s *spacer) through(b int, f func(in *node, result Spacing)) {
	s.block = b
	s.epoch++
	for k := range s.nodesOf(b) {
		in := &s.nodesOf(b)[k]
		if s.lost[b] && (in.Op.Collective() || s.waiting && s.blocks[b].MayWait) { // lanes may have waited there for others
			s.epoch++
			s.block = nowhere
		}
		var result Spacing
		if len(in.writes) > 0 && !s.varies(in.Guard) {
			result = s.transfer(in)
		}
		f(in, result)
		for _, o := range in.writes {
			now := result
			if in.Guard != 0 {
				now = now.or(s.of(o))
			}
			s.here[o.Slot][o.Row] = fact{now, s.epoch}
		}
	}
}

// of is the spacing of an operand where it is read.
func (s *spacer) of(o code.Row) Spacing {
	if o.Slot == code.NoSlot || o.Row < 0 {
		return Spacing{Over: Whole}
	}
	if h := s.here[o.Slot][o.Row]; h.epoch == s.epoch {
		return h.Spacing
	}
	if i := s.place[o.Slot][o.Row]; i != noPlace && s.block != nowhere && !s.lost[s.block] {
		return s.before[s.block][i]
	}
	return Spacing{}
}

// varies reports whether a guard may hold in some lanes and not in others.
func (s *spacer) varies(guard int32) bool { return guard != 0 && !s.of(guardOf(guard)).alike() }

// transfer is the spacing of what an instruction writes.
func (s *spacer) transfer(in *node) Spacing {
	same := Spacing{Over: Whole} // the operands, if each is the same in all lanes
	for _, o := range in.reads {
		switch k := s.of(o); {
		case k == unwritten:
			return unwritten // until it is
		case !k.level():
			same = Spacing{}
		default:
			same.Over = min(same.Over, k.Over)
		}
	}
	switch in.sig.Kind {
	case code.Arithmetic:
		if !same.level() {
			return s.arithmetic(in)
		}
		return same
	case code.Read:
		return s.read(in)
	case code.Load:
		if m := s.accessed(in); m.Space != ptx.Generic && m.Space != ptx.Local && same.level() { // local memory is everybody's own
			return same
		}
	}
	return Spacing{}
}

// arithmetic is transfer of an operation on operands that are not all the same.
func (s *spacer) arithmetic(in *node) (sum Spacing) {
	operand := func(i int) Spacing {
		k := s.of(code.Row{Slot: in.sig.Src[i], Row: in.Sources()[i]})
		if k.Bound == Above && in.sig.Fast != affinetrack.NoFast {
			return Spacing{} // that it is not from below, too, is all that helps
		}
		return k
	}
	a, multiplied := operand(0), false
	switch in.sig.Fast {
	case affinetrack.NoFast:
		sum = s.chosen(in, a, operand(1))
	case affinetrack.FastMove, affinetrack.FastNarrow:
		sum = a
	case affinetrack.FastAdd:
		sum = a.plus(operand(1))
	case affinetrack.FastSub:
		sum = a.plus(operand(1).times(-1))
	case affinetrack.FastNeg, affinetrack.FastNot:
		sum = a.times(-1)
	case affinetrack.FastWiden:
		sum = a.widened()
	case affinetrack.FastMul:
		sum, multiplied = s.product(in, a, operand(1))
	case affinetrack.FastMad:
		sum, multiplied = s.product(in, a, operand(1))
		sum = sum.plus(operand(2))
	case affinetrack.FastMulWide:
		sum, _ = s.product(in, a.widened(), operand(1).widened())
	case affinetrack.FastMadWide:
		sum, _ = s.product(in, a.widened(), operand(1).widened())
		sum = sum.plus(operand(2))
	case affinetrack.FastShl:
		if n, ok := s.constant(in, 1); ok && 0 <= n && n < int64(in.sig.Slot) {
			sum, multiplied = a.times(1<<n), true
		}
	}
	if in.sig.Slot == 32 {
		return sum.narrowed(multiplied || in.sig.Fast == affinetrack.FastNarrow)
	}
	return sum
}

// chosen is the spacing of what an operation chooses of its first two operands.
func (s *spacer) chosen(in *node, a, b Spacing) Spacing {
	below := false
	switch in.sig.Rule {
	case ptx.AffineSelect:
		if s.of(code.Row{Slot: in.sig.Src[2], Row: in.C}).alike() {
			return a.or(b)
		}
		return Spacing{}
	case ptx.AffineMax:
		below = true
	case ptx.AffineMin:
	default:
		return Spacing{}
	}
	if !in.sig.Signed || in.sig.Width != 32 || in.sig.Out != 32 {
		return Spacing{}
	}
	bound := 1 // the operand that is the same in all lanes
	if a.level() {
		a, b, bound = b, a, 0
	}
	n, ok := s.constant(in, bound)
	if !ok {
		n = -1
	}
	return a.lesser(b, below, n)
}

// product is the spacing of a product of the first two operands, whose spacing is a and b, and whether it is a multiple of one.
func (s *spacer) product(in *node, a, b Spacing) (product Spacing, multiple bool) {
	if a.level() && b.level() {
		return Spacing{Over: min(a.Over, b.Over)}, false
	}
	if n, ok := s.constant(in, 1); ok {
		return a.times(n), true
	}
	if n, ok := s.constant(in, 0); ok {
		return b.times(n), true
	}
	return Spacing{}, false
}

// constant is the value of an operand that is a constant, as the operation reads it.
func (s *spacer) constant(in *node, i int) (int64, bool) {
	row := in.Sources()[i]
	switch slot := in.sig.Src[i]; {
	case row >= 0 || row == code.NoRow:
		return 0, false
	case slot == code.Q:
		return int64(s.prog.Consts.Value64(row)), true
	case slot == code.R && in.sig.Signed:
		return int64(int32(s.prog.Consts.Value32(row))), true
	case slot == code.R:
		return int64(s.prog.Consts.Value32(row)), true
	}
	return 0, false
}

// read is the spacing of a special register or of the address of a local variable.
func (l *lowerer) read(in *node) Spacing {
	r := ptx.SpecialReg(in.Imm)
	switch {
	case !in.Op.Special() || !r.PerLane():
		return Spacing{Over: Whole}
	case r == ptx.LaneID:
		return Spacing{By: 1, Over: Whole}
	case r <= ptx.TidZ:
		return l.opt.TID[r-ptx.TidX]
	}
	return Spacing{}
}

// nowhere is no block.
const nowhere = -1

// parts marks the blocks that lanes may execute without others because of block i, which has been gone through: those between
// its end, if that sends lanes different ways, and where they meet again; and all that follow, if they may go on without
// meeting.
func (s *spacer) parts(i int) {
	if s.givenUp {
		return
	}
	b, apart := &s.blocks[i], s.apart[i]
	waits := slices.ContainsFunc(b.instrs, func(in code.Instr) bool { return in.Op.Collective() && (apart || s.varies(in.Guard)) })
	if waits || s.waiting && apart && b.MayWait {
		s.mix(waits)
		s.separate([]int32{int32(i)}, nowhere)
		return
	}
	join := int32(nowhere)
	switch b.end.Op.Signature().Side {
	case code.BarrierSide:
		if !apart && !s.varies(b.end.Guard) {
			return
		}
		s.mix(true)
	case code.CallSide:
		// Without joins, lanes may return at different times, and those that the guard
		// leaves out do not wait for the others.
		if !s.callsMayWait && s.opt.Keeps != Never {
			return
		}
		s.mix(s.callsMayWait && (apart || s.varies(b.end.Guard)))
	default:
		if !s.branches(b) {
			return
		}
		if s.opt.Keeps != Never {
			join = b.Join
		}
	}
	s.separate(s.successors(i), join)
}

// mix has all lanes that are not with the others be together by other ways than from a branch to where its ways meet, if yes: where
// some of a warp's lanes have waited for others, all become one strand that stand at the same place, also such as have not waited
// (simt.warp.unite).
func (s *spacer) mix(yes bool) {
	if !yes || s.mixed {
		return
	}
	s.mixed = true
	for b, apart := range s.apart {
		if apart && !s.lost[b] {
			s.lost[b], s.news[b] = true, true
		}
	}
}

// branches reports whether a block ends in a branch that may send live lanes different
// ways. Where one way is nothing but the kernel's end, those that go there have ended, and
// the others are all that live.
func (s *spacer) branches(b *block) bool {
	leaves := func(block int32) bool { return s.blocks[block].Leaves }
	return b.end.Op == code.BranchIndex || b.end.Op == code.Branch && s.varies(b.end.Guard) && !leaves(b.Target) && !leaves(b.Next)
}

// separate marks the blocks of a list as ones that lanes may execute without the others,
// and those that control can go to from there up to block join, where lanes meet.
func (s *spacer) separate(list []int32, join int32) {
	n := 0 // blocks in the queue, each once
	add := func(list []int32) {
		for _, j := range list {
			if j != join && !s.between[j] {
				s.between[j] = true
				s.queue[n] = j
				n++
			}
		}
	}
	add(list)
	for i := 0; i < n; i++ {
		j := s.queue[i]
		lost := s.mixed || join == nowhere
		if !s.apart[j] || lost && !s.lost[j] {
			s.apart[j], s.lost[j], s.news[j] = true, s.lost[j] || lost, true
		}
		add(s.successors(int(j)))
	}
	if s.walked += n; s.walked > mostWalked {
		s.giveUp()
	}
	for _, j := range s.queue[:n] {
		s.between[j] = false
		if join != nowhere {
			s.forget(int(join), s.writes[j])
		}
	}
}

// forget has nothing be known of rows where a block begins.
func (s *spacer) forget(b int, rows []bool) {
	for i, forgotten := range rows {
		if !forgotten || s.forgets[b][i] {
			continue
		}
		if s.forgets[b][i] = true; s.before[b][i] != unwritten && s.before[b][i] != (Spacing{}) {
			s.before[b][i], s.news[b] = Spacing{}, true
		}
	}
}

// giveUp has nothing be known but in blocks by themselves: of thousands of branches each may have thousands of blocks to part.
func (s *spacer) giveUp() {
	s.givenUp = true
	s.mix(true)
	for b := range s.blocks {
		s.apart[b], s.lost[b], s.news[b] = true, true, true
	}
}
