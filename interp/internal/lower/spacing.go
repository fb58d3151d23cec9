package lower

// This file finds out how far apart the values of neighbouring lanes are, as far as that is
// always the same number: it follows the thread index through additions and products
// with constants to the addresses of memory accesses. An access whose lanes are proved to be
// at one place, or side by side, need not compare them.
//
// What is known holds among the lanes that execute an instruction together, and changes
// along their way. Lanes that a branch has diverged go on by themselves, each knowing of the others
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
	Stride int64
	Group  uint8 // lanes of a group: Whole or Half

	// Wraps says that numbers of 32 bits may have become wider that had wrapped round between
	// two lanes of a group: then what is above is By times the number of lanes and some multiple
	// of 2³², which is not zero if that shows at all.
	Wraps bool

	Bound Bound
}

// Groups of lanes.
const (
	HalfRow  = regfile.Lanes / 2 // either half of the warp, or, of 64 lanes, of one of their two rows
	WholeRow = regfile.Lanes     // all lanes, or those of such a row
)

// Bound is whether numbers have been held between bounds that all lanes have in common: then a lane has By more than
// the one before it at most, and less only if the outermost lanes of a group are less apart, too. That needs
// a bound of zero or more below, for differences of 32 bits to be what they seem.
type Bound uint8

// How numbers may be bound.
const (
	Unbound      Bound = iota
	BoundAbove         // not from below
	BoundBetween       // and neither negative nor different
	Shifted            // that, and then the same added to all
)

// unwritten is the spacing of what nothing has written yet: any.
var unwritten = Spacing{Group: 2 * WholeRow}

// Class is that of such values.
func (s Spacing) Class() affinetrack.Class {
	switch {
	case s.Group < WholeRow || s.Wraps || s.Bound != Unbound:
		return affinetrack.Generic
	case s.Stride == 0:
		return affinetrack.Uniform
	}
	return affinetrack.Affine
}

// uniform reports whether all lanes have the same.
func (s Spacing) uniform() bool { return s.Class() == affinetrack.Uniform }

// knownUniform reports whether all lanes have the same, as far as is known yet.
func (s Spacing) knownUniform() bool { return s == unwritten || s.uniform() }

// uniformInGroup reports whether the lanes of a group have the same.
func (s Spacing) uniformInGroup() bool { return s.Group >= HalfRow && s == Spacing{Group: s.Group} }

// merge is what holds of values that are the one or the other, in all lanes.
func (s Spacing) merge(t Spacing) Spacing {
	switch {
	case s == unwritten:
		return t
	case t == unwritten:
		return s
	case s.Stride != t.Stride || s.Bound != t.Bound:
		return Spacing{}
	}
	return Spacing{Stride: s.Stride, Group: min(s.Group, t.Group), Wraps: s.Wraps || t.Wraps, Bound: s.Bound}
}

// add is the spacing of a sum. Two numbers that may have wrapped round in different lanes, or are bound in different
// lanes, are too much.
func (s Spacing) add(t Spacing) Spacing {
	sum := Spacing{Stride: s.Stride + t.Stride, Group: min(s.Group, t.Group), Wraps: s.Wraps || t.Wraps}
	if s.Bound != Unbound || t.Bound != Unbound {
		sum.Bound = Shifted
		if !s.uniformInGroup() && !t.uniformInGroup() {
			return Spacing{}
		}
	}
	if sum.Group < HalfRow || s.Wraps && t.Wraps {
		return Spacing{}
	}
	return sum
}

// maxBound is what bound numbers may be apart: so many differences of 32 bits are no multiple of two to the width.
const maxBound = 1 << 31

// scale is the spacing of a multiple.
func (s Spacing) scale(n int64) Spacing {
	by := s.Stride * n
	if s.Group < HalfRow || s.Bound != Unbound && (n < 1 || n > maxBound || by > maxBound) {
		return Spacing{}
	}
	s.Stride = by
	return s
}

// widen is the spacing of numbers of 32 bits made 64. Over a group they wrap round once at most.
func (s Spacing) widen() Spacing {
	if !s.wrapsOnce() {
		return Spacing{}
	}
	s.Wraps = s.Stride != 0
	return s
}

// wrapsOnce reports whether numbers of 32 bits wrap round once at most from the first lane of a group to the last.
func (s Spacing) wrapsOnce() bool {
	const limit = 1 << 31 / WholeRow
	return s.Group >= HalfRow && -limit <= s.Stride && s.Stride <= limit
}

// narrow is the spacing of numbers made, or computed with, 32 bits, of which multiples of 2³² are nothing. multiplied
// says that bound ones have been multiplied there.
func (s Spacing) narrow(multiplied bool) Spacing {
	if s.Bound != Unbound && (multiplied || s.Stride != int64(int32(s.Stride))) {
		return Spacing{}
	}
	s.Stride, s.Wraps = int64(int32(s.Stride)), false
	return s
}

// clamp is the spacing of the lesser or greater of each number and one of b, as numbers with a sign. atLeast is what b is
// at least, if that is a constant.
func (s Spacing) clamp(b Spacing, below bool, atLeast int64) Spacing {
	switch {
	case !b.uniformInGroup() || !s.wrapsOnce() || s.Stride <= 0 || s.Bound == Shifted:
		return Spacing{}
	case s.Bound == BoundBetween:
	case below && atLeast >= 0:
		s.Bound = BoundBetween
	default:
		s.Bound = BoundAbove
	}
	s.Group = min(s.Group, b.Group)
	return s
}

// spacer is the analysis of a function.
type spacer struct {
	*lowerer
	mayWait bool

	unspaced bool // there is too much to follow, and nothing is known between blocks

	mayBeDivergent []bool // blocks that some live lanes may execute without the others
	untracked      []bool // … and where lanes may be together by other ways than from a branch to where its ways meet
	allUntracked   bool   // that is so of all of them

	blocksVisited int // blocks, between branches and where their ways meet
	givenUp       bool

	// Of rows that blocks read from others: their places among those, or none; by block, what is known where it
	// begins, what is written in it, and what of that and others it forgets, where lanes meet.
	rowIndex  [code.P + 1][]int32
	rows      []code.Row
	atBlock   [][]Spacing
	written   [][]bool
	forgotten [][]bool

	inBlock [code.P + 1][]knownSpacing // in the block that is looked at
	epoch   int32                      // of what holds there
	block   int                        // it

	queued  []bool  // blocks that are in queue
	queue   []int32 // of separate
	changed []bool  // blocks that there is something new of
}

// knownSpacing is what is known of a row in an epoch.
type knownSpacing struct {
	Spacing
	epoch int32
}

// noIndex is that of rows that no block reads from others.
const noIndex = -1

// These bound what is remembered of blocks, their number times that of rows, and how often they are gone through to where
// ways meet.
const (
	maxSpacings = 1 << 20
	maxVisits   = 1 << 20
)

// findSpacings finds the spacing of all that instructions write, and the patterns of accesses. Those hold until lanes go on
// without others that they were to meet, for that is seen to then; the plan has to hold in any case.
func (l *lowerer) findSpacings() {
	l.collectNodes()
	s := l.findSpacing(false)
	for b := range l.blocks {
		s.visitBlock(b, func(instr *node, _ Spacing) {
			if instr.sig.Side == code.AccessSide {
				m := s.nodeAccess(instr)
				m.Pattern, m.Stride = patternOf(m, s.spacingOf(code.Row{Slot: m.Addr, Row: instr.A}))
			}
		})
	}
	if !l.opt.Affine {
		return
	}
	if l.opt.Reconvergence == UnlessWaiting && slices.ContainsFunc(l.blocks, func(b block) bool { return b.MayWait }) {
		s = l.findSpacing(true)
	}
	for b := range l.blocks {
		s.visitBlock(b, func(instr *node, result Spacing) { instr.spacing = result })
	}
	l.mayBeDivergent, l.unspaced = s.mayBeDivergent, s.unspaced
}

// findSpacing is the analysis when all is found. waiting says that lanes which may wait for others may go on without those that
// they were to meet.
func (l *lowerer) findSpacing(waiting bool) *spacer {
	n := len(l.blocks)
	s := &spacer{
		lowerer: l, mayWait: waiting,
		mayBeDivergent: make([]bool, n), untracked: make([]bool, n), queued: make([]bool, n), queue: make([]int32, n), changed: make([]bool, n),
	}
	s.findCrossBlockRows()
	if n*len(s.rows) > maxSpacings {
		s.unspaced = true
		s.forgetAll()
	}
	s.initBlocks()
	// Whatever is known becomes less by every step.
	const steps = 6
	for limit := (n + 1) * (steps*len(s.rows) + 3); s.propagate(); limit-- {
		if limit < 0 {
			panic(errors.New("BUG: spacing does not settle"))
		}
	}
	return s
}

// patternOf is how the lanes' elements lie, by the spacing of their addresses.
func patternOf(m *code.Access, spacing Spacing) (p code.Pattern, distance int) {
	const limit = 1 << 20
	switch {
	case spacing.Bound == BoundAbove || m.Addr == code.NoSlot || m.Atom != nil || m.Tile != nil || len(m.Elems) != 1 || spacing == unwritten || spacing.Group < HalfRow:
	case spacing.uniformInGroup():
		return code.SameAddress, 0
	case spacing.Stride == int64(m.Bytes):
		return code.Contiguous, 0
	case m.Bytes <= 8 && spacing.Stride > 0 && spacing.Stride <= limit && spacing.Stride%int64(m.Bytes) == 0:
		return code.AnyStride, int(spacing.Stride)
	}
	return code.AnyPattern, 0
}

// findCrossBlockRows finds the rows that blocks read from others, and where they are written.
func (s *spacer) findCrossBlockRows() {
	for slot := range s.virtual {
		n := len(s.virtual[slot].residence)
		s.rowIndex[slot], s.inBlock[slot] = slices.Repeat([]int32{noIndex}, n), make([]knownSpacing, n)
	}
	for b := range s.blocks {
		s.epoch++
		read := func(o code.Row) {
			if s.inBlock[o.Slot][o.Row].epoch != s.epoch && s.rowIndex[o.Slot][o.Row] == noIndex {
				s.rowIndex[o.Slot][o.Row] = int32(len(s.rows))
				s.rows = append(s.rows, o)
			}
		}
		for k := range s.nodesOf(b) {
			instr := &s.nodesOf(b)[k]
			for _, o := range instr.reads {
				read(o)
			}
			if instr.Guard != 0 {
				read(guardOf(instr.Guard))
				for _, o := range instr.writes {
					read(o)
				}
			}
			for _, o := range instr.writes {
				s.inBlock[o.Slot][o.Row].epoch = s.epoch
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
	for slot := range s.rowIndex {
		for i := range s.rowIndex[slot] {
			s.rowIndex[slot][i] = noIndex
		}
	}
}

// initBlocks readies what is known of blocks.
func (s *spacer) initBlocks() {
	for b := range s.blocks {
		s.atBlock = append(s.atBlock, slices.Repeat([]Spacing{unwritten}, len(s.rows)))
		s.written = append(s.written, make([]bool, len(s.rows)))
		s.forgotten = append(s.forgotten, make([]bool, len(s.rows)))
		for k := range s.nodesOf(b) {
			instr := &s.nodesOf(b)[k]
			s.markWritten(b, instr.writes)
		}
		s.markWritten(b, s.tables.Writes(nil, &s.blocks[b].end))
	}
	first := s.atBlock[0]
	nothing := func(o code.Row) {
		if i := s.rowIndex[o.Slot][o.Row]; i != noIndex {
			first[i] = Spacing{}
		}
	}
	s.eachOtherWrite(nothing)
	for slot := range s.virtual {
		for _, row := range s.virtual[slot].zero { // what is read before it is written holds anything
			nothing(code.Row{Slot: code.Slot(slot), Row: row})
		}
	}
	for b := range s.blocks {
		s.changed[b] = true
		// Lanes may call a function without the others, and become one warp split in it because others wait elsewhere.
		s.mayBeDivergent[b], s.untracked[b] = !s.fn.Entry, !s.fn.Entry
	}
}

// markWritten notes what a block writes.
func (s *spacer) markWritten(b int, rows []code.Row) {
	for _, o := range rows {
		if i := s.rowIndex[o.Slot][o.Row]; i != noIndex {
			s.written[b][i] = true
		}
	}
}

// propagate looks at all blocks of which there is something new, and reports whether less is known then.
func (s *spacer) propagate() (changed bool) {
	for b := range s.blocks {
		if !s.changed[b] {
			continue
		}
		s.changed[b], changed = false, true
		s.visitBlock(b, func(*node, Spacing) {})
		s.separateAfter(b)
		after := func(i int) Spacing { return s.spacingOf(s.rows[i]) }
		results := s.tables.Writes(nil, &s.blocks[b].end)
		for _, to := range s.successors(b) {
			known := s.atBlock[to]
			for i := range known {
				now := known[i].merge(after(i))
				if s.forgotten[to][i] || slices.Contains(results, s.rows[i]) {
					now = Spacing{}
				}
				if now != known[i] {
					known[i], s.changed[to] = now, true
				}
			}
		}
	}
	return changed
}

// visitBlock calls f for every instruction of a block and what it writes, with what is known before it.
func (s *spacer) visitBlock(b int, visit func(instr *node, result Spacing)) {
	s.block = b
	s.epoch++
	for k := range s.nodesOf(b) {
		instr := &s.nodesOf(b)[k]
		if s.untracked[b] && (instr.Op.Collective() || s.mayWait && s.blocks[b].MayWait) { // lanes may have waited there for others
			s.epoch++
			s.block = noBlock
		}
		var result Spacing
		if len(instr.writes) > 0 && !s.mayVary(instr.Guard) {
			result = s.transfer(instr)
		}
		visit(instr, result)
		for _, o := range instr.writes {
			now := result
			if instr.Guard != 0 {
				now = now.merge(s.spacingOf(o))
			}
			s.inBlock[o.Slot][o.Row] = knownSpacing{now, s.epoch}
		}
	}
}

// spacingOf is the spacing of an operand where it is read.
func (s *spacer) spacingOf(o code.Row) Spacing {
	if o.Slot == code.NoSlot || o.Row < 0 {
		return Spacing{Group: WholeRow}
	}
	if h := s.inBlock[o.Slot][o.Row]; h.epoch == s.epoch {
		return h.Spacing
	}
	if i := s.rowIndex[o.Slot][o.Row]; i != noIndex && s.block != noBlock && !s.untracked[s.block] {
		return s.atBlock[s.block][i]
	}
	return Spacing{}
}

// mayVary reports whether a guard may hold in some lanes and not in others.
func (s *spacer) mayVary(guard int32) bool {
	return guard != 0 && !s.spacingOf(guardOf(guard)).knownUniform()
}

// transfer is the spacing of what an instruction writes.
func (s *spacer) transfer(instr *node) Spacing {
	same := Spacing{Group: WholeRow} // the operands, if each is the same in all lanes
	for _, o := range instr.reads {
		switch k := s.spacingOf(o); {
		case k == unwritten:
			return unwritten // until it is
		case !k.uniformInGroup():
			same = Spacing{}
		default:
			same.Group = min(same.Group, k.Group)
		}
	}
	switch instr.sig.Kind {
	case code.Arithmetic:
		if !same.uniformInGroup() {
			return s.arithmetic(instr)
		}
		return same
	case code.Read:
		return s.readSpacing(instr)
	case code.Load:
		if m := s.nodeAccess(instr); m.Space != ptx.Generic && m.Space != ptx.Local && same.uniformInGroup() { // local memory is everybody's own
			return same
		}
	}
	return Spacing{}
}

// arithmetic is transfer of an operation on operands that are not all the same.
func (s *spacer) arithmetic(instr *node) (sum Spacing) {
	operand := func(i int) Spacing {
		k := s.spacingOf(code.Row{Slot: instr.sig.Src[i], Row: instr.Sources()[i]})
		if k.Bound == BoundAbove && instr.sig.Fast != affinetrack.NoFast {
			return Spacing{} // that it is not from below, too, is all that helps
		}
		return k
	}
	a, multiplied := operand(0), false
	switch instr.sig.Fast {
	case affinetrack.NoFast:
		sum = s.selectSpacing(instr, a, operand(1))
	case affinetrack.FastMove, affinetrack.FastNarrow:
		sum = a
	case affinetrack.FastAdd:
		sum = a.add(operand(1))
	case affinetrack.FastSub:
		sum = a.add(operand(1).scale(-1))
	case affinetrack.FastNeg, affinetrack.FastNot:
		sum = a.scale(-1)
	case affinetrack.FastWiden:
		sum = a.widen()
	case affinetrack.FastMul:
		sum, multiplied = s.productSpacing(instr, a, operand(1))
	case affinetrack.FastMad:
		sum, multiplied = s.productSpacing(instr, a, operand(1))
		sum = sum.add(operand(2))
	case affinetrack.FastMulWide:
		sum, _ = s.productSpacing(instr, a.widen(), operand(1).widen())
	case affinetrack.FastMadWide:
		sum, _ = s.productSpacing(instr, a.widen(), operand(1).widen())
		sum = sum.add(operand(2))
	case affinetrack.FastShl:
		if n, ok := s.constantOperand(instr, 1); ok && 0 <= n && n < int64(instr.sig.Slot) {
			sum, multiplied = a.scale(1<<n), true
		}
	}
	if instr.sig.Slot == 32 {
		return sum.narrow(multiplied || instr.sig.Fast == affinetrack.FastNarrow)
	}
	return sum
}

// selectSpacing is the spacing of what an operation chooses of its first two operands.
func (s *spacer) selectSpacing(instr *node, a, b Spacing) Spacing {
	below := false
	switch instr.sig.Rule {
	case ptx.AffineSelect:
		if s.spacingOf(code.Row{Slot: instr.sig.Src[2], Row: instr.C}).knownUniform() {
			return a.merge(b)
		}
		return Spacing{}
	case ptx.AffineMax:
		below = true
	case ptx.AffineMin:
	default:
		return Spacing{}
	}
	if !instr.sig.Signed || instr.sig.Width != 32 || instr.sig.Out != 32 {
		return Spacing{}
	}
	bound := 1 // the operand that is the same in all lanes
	if a.uniformInGroup() {
		a, b, bound = b, a, 0
	}
	n, ok := s.constantOperand(instr, bound)
	if !ok {
		n = -1
	}
	return a.clamp(b, below, n)
}

// productSpacing is the spacing of a product of the first two operands, whose spacing is a and b, and whether it is a multiple of one.
func (s *spacer) productSpacing(instr *node, a, b Spacing) (product Spacing, multiple bool) {
	if a.uniformInGroup() && b.uniformInGroup() {
		return Spacing{Group: min(a.Group, b.Group)}, false
	}
	if n, ok := s.constantOperand(instr, 1); ok {
		return a.scale(n), true
	}
	if n, ok := s.constantOperand(instr, 0); ok {
		return b.scale(n), true
	}
	return Spacing{}, false
}

// constantOperand is the value of an operand that is a constant, as the operation reads it.
func (s *spacer) constantOperand(instr *node, i int) (int64, bool) {
	row := instr.Sources()[i]
	switch slot := instr.sig.Src[i]; {
	case row >= 0 || row == code.NoRow:
		return 0, false
	case slot == code.Q:
		return int64(s.prog.Consts.Value64(row)), true
	case slot == code.R && instr.sig.Signed:
		return int64(int32(s.prog.Consts.Value32(row))), true
	case slot == code.R:
		return int64(s.prog.Consts.Value32(row)), true
	}
	return 0, false
}

// readSpacing is the spacing of a special register or of the address of a local variable.
func (l *lowerer) readSpacing(instr *node) Spacing {
	r := ptx.SpecialReg(instr.Imm)
	switch {
	case !instr.Op.Special() || !r.PerLane():
		return Spacing{Group: WholeRow}
	case r == ptx.LaneID:
		return Spacing{Stride: 1, Group: WholeRow}
	case r <= ptx.TidZ:
		return l.opt.TID[r-ptx.TidX]
	}
	return Spacing{}
}

// noBlock is no block.
const noBlock = -1

// separateAfter marks the blocks that lanes may execute without others because of block i, which has been gone through: those between
// its end, if that sends lanes different ways, and where they meet again; and all that follow, if they may go on without
// meeting.
func (s *spacer) separateAfter(i int) {
	if s.givenUp {
		return
	}
	b, apart := &s.blocks[i], s.mayBeDivergent[i]
	mayWait := slices.ContainsFunc(b.instrs, func(instr code.Instr) bool { return instr.Op.Collective() && (apart || s.mayVary(instr.Guard)) })
	if mayWait || s.mayWait && apart && b.MayWait {
		s.untrackAll(mayWait)
		s.markDivergent([]int32{int32(i)}, noBlock)
		return
	}
	reconverge := int32(noBlock)
	switch b.end.Op.Signature().Side {
	case code.BarrierSide:
		if !apart && !s.mayVary(b.end.Guard) {
			return
		}
		s.untrackAll(true)
	case code.CallSide:
		// Without joins, lanes may return at different times, and those that the guard
		// leaves out do not wait for the others.
		if !s.callsMayWait && s.opt.Reconvergence != Never {
			return
		}
		s.untrackAll(s.callsMayWait && (apart || s.mayVary(b.end.Guard)))
	default:
		if !s.mayDiverge(b) {
			return
		}
		if s.opt.Reconvergence != Never {
			reconverge = b.Reconverge
		}
	}
	s.markDivergent(s.successors(i), reconverge)
}

// untrackAll has all lanes that are not with the others be together by other ways than from a branch to where its ways meet, if yes: where
// some of a warp's lanes have waited for others, all become one warp split that stand at the same place, also such as have not waited
// (simt.warp.unite).
func (s *spacer) untrackAll(yes bool) {
	if !yes || s.allUntracked {
		return
	}
	s.allUntracked = true
	for b, apart := range s.mayBeDivergent {
		if apart && !s.untracked[b] {
			s.untracked[b], s.changed[b] = true, true
		}
	}
}

// mayDiverge reports whether a block ends in a branch that may send live lanes different
// ways. Where one way is nothing but the kernel's end, those that go there have ended, and
// the others are all that live.
func (s *spacer) mayDiverge(b *block) bool {
	leaves := func(block int32) bool { return s.blocks[block].EndsLanes }
	return b.end.Op == code.BranchIndex || b.end.Op == code.Branch && s.mayVary(b.end.Guard) && !leaves(b.Target) && !leaves(b.Next)
}

// markDivergent marks the blocks of a list as ones that lanes may execute without the others,
// and those that control can go to from there up to block join, where lanes meet.
func (s *spacer) markDivergent(list []int32, reconverge int32) {
	n := 0 // blocks in the queue, each once
	add := func(list []int32) {
		for _, j := range list {
			if j != reconverge && !s.queued[j] {
				s.queued[j] = true
				s.queue[n] = j
				n++
			}
		}
	}
	add(list)
	for i := 0; i < n; i++ {
		j := s.queue[i]
		untracked := s.allUntracked || reconverge == noBlock
		if !s.mayBeDivergent[j] || untracked && !s.untracked[j] {
			s.mayBeDivergent[j], s.untracked[j], s.changed[j] = true, s.untracked[j] || untracked, true
		}
		add(s.successors(int(j)))
	}
	if s.blocksVisited += n; s.blocksVisited > maxVisits {
		s.giveUp()
	}
	for _, j := range s.queue[:n] {
		s.queued[j] = false
		if reconverge != noBlock {
			s.forget(int(reconverge), s.written[j])
		}
	}
}

// forget has nothing be known of rows where a block begins.
func (s *spacer) forget(b int, rows []bool) {
	for i, forgotten := range rows {
		if !forgotten || s.forgotten[b][i] {
			continue
		}
		if s.forgotten[b][i] = true; s.atBlock[b][i] != unwritten && s.atBlock[b][i] != (Spacing{}) {
			s.atBlock[b][i], s.changed[b] = Spacing{}, true
		}
	}
}

// giveUp has nothing be known but in blocks by themselves: of thousands of branches each may have thousands of blocks to part.
func (s *spacer) giveUp() {
	s.givenUp = true
	s.untrackAll(true)
	for b := range s.blocks {
		s.mayBeDivergent[b], s.untracked[b], s.changed[b] = true, true, true
	}
}
