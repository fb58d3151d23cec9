package lower

// This file is the pass space. It computes the spacing (affinetrack.Spacing) of the values in each row: the distance from
// lane to lane, where it is the same for all lanes. It follows the thread index through arithmetic to the addresses of
// memory accesses. An access whose lanes are proved to be at the same place or at consecutive places need not compare
// addresses.
//
// A spacing applies to the lanes that execute an instruction together. After lanes have diverged at a branch, it applies
// to the lanes on the same path. Where paths reconverge, nothing is known of the rows that were written on any of them.

import (
	"errors"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// spacer is the analysis of a function.
type spacer struct {
	*lowerer
	mayWait bool // waiting lanes may continue without all lanes of their reconvergence

	unspaced bool // the function is too large; nothing is known across blocks

	mayBeDivergent []bool // blocks that a part of the live lanes may execute alone
	untracked      []bool // blocks where, in addition, lanes may be together after different paths from a branch
	allUntracked   bool   // untracked applies to all possibly divergent blocks

	blocksVisited int  // number of blocks visited between branches and their reconvergence points
	givenUp       bool // blocksVisited has exceeded maxVisits: see giveUp

	// Cross-block rows are the rows written and read in different blocks.
	rows     []code.Row
	rowIndex [code.P + 1][]int32 // index in rows, by slot and row; noIndex for other rows

	// By block and index in rows.
	atBlock   [][]affinetrack.Spacing // spacing at the start of the block
	written   [][]bool                // the block writes the row
	forgotten [][]bool                // the spacing at the start of the block is unknown, because lanes reconverge there

	inBlock [code.P + 1][]knownSpacing // spacings of the rows that the current block has written, by slot and row
	epoch   int32                      // epoch of the valid entries in inBlock
	block   int                        // the current block; noBlock: nothing is known from before
	args    affinetrack.SpacingArgs    // arguments of the current transfer

	queued  []bool  // blocks in queue
	queue   []int32 // work list of markDivergent
	changed []bool  // blocks with new information at their start
}

// knownSpacing is the spacing of a row in an epoch.
type knownSpacing struct {
	affinetrack.Spacing
	epoch int32
}

// noIndex is the index of rows that are not cross-block rows.
const noIndex = -1

// Limits of the analysis.
const (
	maxSpacings = 1 << 20 // stored spacings: blocks times cross-block rows
	maxVisits   = 1 << 20 // see blocksVisited
)

// findSpacings computes the spacings of all results, and the patterns of accesses. The patterns need not hold after an
// early release, because it is detected at run time. The spacings, on which the plan depends, must hold in any case.
func (l *lowerer) findSpacings() {
	l.collectNodes()
	s := l.findSpacing(false)
	for b := range l.blocks {
		s.visitBlock(b, func(instr *node, _ affinetrack.Spacing) {
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
		s.visitBlock(b, func(instr *node, result affinetrack.Spacing) { instr.spacing = result })
	}
	l.mayBeDivergent, l.unspaced = s.mayBeDivergent, s.unspaced
}

// findSpacing runs the analysis. waiting is true if waiting lanes may continue without all lanes of their reconvergence.
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
	// Every change of a spacing loses information, so there is a limit to the number of changes.
	const steps = 6 // largest number of changes of a row's spacing at the start of a block
	for limit := (n + 1) * (steps*len(s.rows) + 3); s.propagate(); limit-- {
		if limit < 0 {
			panic(errors.New("BUG: spacing does not settle"))
		}
	}
	return s
}

// patternOf returns the pattern of an access whose addresses have the given spacing, and for AnyStride the distance of the
// lanes' addresses in bytes.
func patternOf(m *code.Access, spacing affinetrack.Spacing) (p code.Pattern, distance int) {
	const limit = 1 << 20 // largest distance
	switch {
	case spacing.Bound == affinetrack.BoundAbove || m.Addr == code.NoSlot || m.Atom != nil || m.Tile != nil || len(m.Elems) != 1 || spacing.IsUnwritten() || spacing.Group < affinetrack.HalfRow:
	case spacing.IsUniformInGroup():
		return code.SameAddress, 0
	case spacing.Stride == int64(m.Bytes):
		return code.Contiguous, 0
	case m.Bytes <= 8 && spacing.Stride > 0 && spacing.Stride <= limit && spacing.Stride%int64(m.Bytes) == 0:
		return code.AnyStride, int(spacing.Stride)
	}
	return code.AnyPattern, 0
}

// findCrossBlockRows sets rows and rowIndex. A row that a block reads before it writes it is a cross-block row.
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

// guardOf returns the predicate row of a guard.
func guardOf(guard int32) code.Row {
	p, _ := code.GuardRow(guard)
	return code.Row{Slot: code.P, Row: p}
}

// forgetAll makes no row a cross-block row, so that nothing is known across blocks.
func (s *spacer) forgetAll() {
	s.rows = nil
	for slot := range s.rowIndex {
		for i := range s.rowIndex[slot] {
			s.rowIndex[slot][i] = noIndex
		}
	}
}

// initBlocks initialises the state of all blocks, before the first call of propagate.
func (s *spacer) initBlocks() {
	for b := range s.blocks {
		s.atBlock = append(s.atBlock, slices.Repeat([]affinetrack.Spacing{affinetrack.Unwritten()}, len(s.rows)))
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
			first[i] = affinetrack.Spacing{}
		}
	}
	s.eachOtherWrite(nothing)
	for slot := range s.virtual {
		for _, row := range s.virtual[slot].zero { // a row read before it is written may hold any value
			nothing(code.Row{Slot: code.Slot(slot), Row: row})
		}
	}
	for b := range s.blocks {
		s.changed[b] = true
		// A part of the lanes may call a function. In it these lanes may be a single warp split, because the remaining
		// lanes wait elsewhere.
		s.mayBeDivergent[b], s.untracked[b] = !s.fn.Entry, !s.fn.Entry
	}
}

// markWritten records the rows written by a block.
func (s *spacer) markWritten(b int, rows []code.Row) {
	for _, o := range rows {
		if i := s.rowIndex[o.Slot][o.Row]; i != noIndex {
			s.written[b][i] = true
		}
	}
}

// propagate visits all blocks with new information, and reports whether there were any.
func (s *spacer) propagate() (changed bool) {
	for b := range s.blocks {
		if !s.changed[b] {
			continue
		}
		s.changed[b], changed = false, true
		s.visitBlock(b, func(*node, affinetrack.Spacing) {})
		s.separateAfter(b)
		after := func(i int) affinetrack.Spacing { return s.spacingOf(s.rows[i]) }
		results := s.tables.Writes(nil, &s.blocks[b].end)
		for _, to := range s.successors(b) {
			known := s.atBlock[to]
			for i := range known {
				now := known[i].Merge(after(i))
				if s.forgotten[to][i] || slices.Contains(results, s.rows[i]) {
					now = affinetrack.Spacing{}
				}
				if now != known[i] {
					known[i], s.changed[to] = now, true
				}
			}
		}
	}
	return changed
}

// visitBlock calls visit for every instruction of a block, with the spacing of its result. During the call, spacingOf
// gives the spacings before the instruction.
func (s *spacer) visitBlock(b int, visit func(instr *node, result affinetrack.Spacing)) {
	s.block = b
	s.epoch++
	for k := range s.nodesOf(b) {
		instr := &s.nodesOf(b)[k]
		if s.untracked[b] && (instr.Op.Collective() || s.mayWait && s.blocks[b].MayWait) { // lanes may have waited here, and others joined them
			s.epoch++
			s.block = noBlock
		}
		var result affinetrack.Spacing
		if len(instr.writes) > 0 && !s.mayVary(instr.Guard) {
			result = s.transfer(instr)
		}
		visit(instr, result)
		for _, o := range instr.writes {
			now := result
			if instr.Guard != 0 {
				now = now.Merge(s.spacingOf(o))
			}
			s.inBlock[o.Slot][o.Row] = knownSpacing{now, s.epoch}
		}
	}
}

// spacingOf returns the spacing of an operand at the current instruction.
func (s *spacer) spacingOf(o code.Row) affinetrack.Spacing {
	if o.Slot == code.NoSlot || o.Row < 0 {
		return affinetrack.Spacing{Group: affinetrack.WholeRow}
	}
	if h := s.inBlock[o.Slot][o.Row]; h.epoch == s.epoch {
		return h.Spacing
	}
	if i := s.rowIndex[o.Slot][o.Row]; i != noIndex && s.block != noBlock && !s.untracked[s.block] {
		return s.atBlock[s.block][i]
	}
	return affinetrack.Spacing{}
}

// mayVary reports whether a guard may differ between lanes.
func (s *spacer) mayVary(guard int32) bool {
	return guard != 0 && !s.spacingOf(guardOf(guard)).IsUniform()
}

// transfer returns the spacing of an instruction's result.
func (s *spacer) transfer(instr *node) affinetrack.Spacing {
	for _, o := range instr.reads {
		if s.spacingOf(o).IsUnwritten() {
			return affinetrack.Unwritten() // until the analysis visits a writer of the operand
		}
	}
	switch instr.sig.Kind {
	case code.Arithmetic:
		a := &s.args
		a.Operation = instr.sig.Operation
		for i, row := range instr.Sources() {
			a.Spacings[i] = s.spacingOf(code.Row{Slot: instr.sig.Src[i], Row: row})
			a.Constants[i] = s.constantOperand(instr, i)
		}
		return affinetrack.Rules.TransferSpacing(a)
	case code.Read:
		return s.readSpacing(instr)
	case code.Load:
		return s.loadSpacing(instr)
	}
	return affinetrack.Spacing{}
}

// loadSpacing returns the spacing of a loaded value. If the address is the same in all lanes of a group, so is the value,
// except in local memory, of which each thread has its own.
func (s *spacer) loadSpacing(instr *node) affinetrack.Spacing {
	m := s.nodeAccess(instr)
	addr := s.spacingOf(code.Row{Slot: m.Addr, Row: instr.A})
	if m.Space != ptx.Generic && m.Space != ptx.Local && addr.IsUniformInGroup() {
		return addr
	}
	return affinetrack.Spacing{}
}

// constantOperand returns the value of source i of an instruction as the operation reads it, if the source is a constant.
func (s *spacer) constantOperand(instr *node, i int) affinetrack.Constant {
	row := instr.Sources()[i]
	switch slot := instr.sig.Src[i]; {
	case row >= 0 || row == code.NoRow:
	case slot == code.Q:
		return affinetrack.Constant{Value: int64(s.prog.Consts.Value64(row)), Known: true}
	case slot == code.R && instr.sig.Signed:
		return affinetrack.Constant{Value: int64(int32(s.prog.Consts.Value32(row))), Known: true}
	case slot == code.R:
		return affinetrack.Constant{Value: int64(s.prog.Consts.Value32(row)), Known: true}
	}
	return affinetrack.Constant{}
}

// readSpacing returns the spacing of a special register or of the address of a local variable.
func (l *lowerer) readSpacing(instr *node) affinetrack.Spacing {
	r := ptx.SpecialReg(instr.Imm)
	switch {
	case !instr.Op.Special() || !r.PerLane():
		return affinetrack.Spacing{Group: affinetrack.WholeRow}
	case r == ptx.LaneID:
		return affinetrack.Spacing{Stride: 1, Group: affinetrack.WholeRow}
	case r <= ptx.TidZ:
		return l.opt.TID[r-ptx.TidX]
	}
	return affinetrack.Spacing{}
}

// noBlock is no index of a block.
const noBlock = -1

// separateAfter marks the blocks that a part of the live lanes may execute alone because of block i, which has been
// visited. If lanes diverge at its end, these are the blocks up to their reconvergence point; if the lanes may continue
// without reconverging, all blocks that follow.
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
		// Without reconvergence, lanes may return at different times, and lanes outside the guard do not wait for the
		// remaining lanes.
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

// untrackAll marks all possibly divergent blocks as untracked, unless yes is false: lanes may be together there after
// different paths from a branch. The reason is a wait of lanes for other lanes of the warp. After the wait, all lanes at
// the same place become one warp split, including lanes that did not wait (warp.mergeSplits).
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

// mayDiverge reports whether a block ends in a branch at which live lanes may diverge. If one of the two target blocks
// does nothing but end its lanes, the other block has all remaining live lanes.
func (s *spacer) mayDiverge(b *block) bool {
	leaves := func(block int32) bool { return s.blocks[block].EndsLanes }
	return b.end.Op == code.BranchIndex || b.end.Op == code.Branch && s.mayVary(b.end.Guard) && !leaves(b.Target) && !leaves(b.Next)
}

// markDivergent marks the blocks of a list, and all blocks reachable from them without passing through block reconverge, as
// blocks that a part of the live lanes may execute alone.
func (s *spacer) markDivergent(list []int32, reconverge int32) {
	n := 0 // number of blocks in the queue; each block occurs once
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

// forget discards the spacings of cross-block rows at the start of block b; rows states for each whether to discard it.
func (s *spacer) forget(b int, rows []bool) {
	for i, forgotten := range rows {
		if !forgotten || s.forgotten[b][i] {
			continue
		}
		if s.forgotten[b][i] = true; s.atBlock[b][i] != affinetrack.Unwritten() && s.atBlock[b][i] != (affinetrack.Spacing{}) {
			s.atBlock[b][i], s.changed[b] = affinetrack.Spacing{}, true
		}
	}
}

// giveUp discards everything except spacings within single blocks. It bounds the time for functions where each of
// thousands of branches has thousands of divergent blocks.
func (s *spacer) giveUp() {
	s.givenUp = true
	s.untrackAll(true)
	for b := range s.blocks {
		s.mayBeDivergent[b], s.untracked[b], s.changed[b] = true, true, true
	}
}
