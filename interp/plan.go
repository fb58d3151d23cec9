package interp

// This file decides, before a kernel is lowered for affine mode, how each of its
// instructions will execute: on vectors as ever, on compact operands where their
// tags allow, on single values without a look at tags, because a uniform result is
// proved, or once for the whole launch.
//
// The analysis works on code that has been lowered for a trial, in which every
// register and every temporary has a row of its own. It finds the best class each
// row can have, as the greatest fixpoint of package affinetrack's Transfer over
// all instructions that write it; leaves out the rows whose tags would cost more
// than they save; and proves what it can. A register proved uniform is written by
// instructions with proved operands only, in blocks that all lanes which have not
// ended execute together: so whoever reads it finds it compact.

import (
	"cmp"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/ptx"
	"gemu/regfile"
)

// keeping is how a register is kept in affine mode. Rows are only shared by
// registers that are kept in the same way.
type keeping uint8

const (
	inLanes  keeping = 0         // in its row, always
	inShadow keeping = 1 << iota // in its shadow, if the shadow's tag says so
	inBoth                       // … and then in its row as well: its readers want the lanes as often as not
	isProved                     // … and the tag always says so
	isFixed                      // among the constants: it has one value in the whole launch
)

// plan is what is decided for a function.
type plan struct {
	regs  []keeping            // by ptx.RegID
	temps [alu.P + 1][]keeping // by slot, in the order they are made
	spare [alu.P + 1]int       // by slot: kept temporaries that an instruction needs at most
	insts []lane               // how instructions execute, in the order they are emitted; nil: as in vector mode
}

// execution is how an instruction executes.
type execution struct {
	lane   lane         // nil: as in vector mode
	expand []operandRef // what it reads that may be only in its shadow
	dirty  []operandRef // what it writes that may have been in its shadow
}

// analysis is the work on a function lowered for a trial.
type analysis struct {
	fn     *function
	blocks []block
	first  int32 // index of the first of them
	base   [alu.P + 1]int32
	tid    [3]affinetrack.Class
	lanes  float64 // of rows that are in use, as a part of all

	class  [alu.P + 1][]affinetrack.Class // by slot and row; Unknown: not written
	pinned [alu.P + 1][]bool              // stay Generic
	both   [alu.P + 1][]bool              // kept inBoth
	proved [alu.P + 1][]bool
	fixed  [alu.P + 1][]bool
	weight []float64 // of blocks: how often they are expected to run
}

// analyse makes the plan of a function whose trial code is given.
func analyse(l *lowerer, fn *function) *plan {
	a := &analysis{fn: fn, first: fn.entry, blocks: l.blocks[fn.entry : fn.exit+1], tid: l.opt.tid, lanes: float64(min(l.opt.lanes, regfile.Lanes)) / regfile.Lanes}
	a.base = [...]int32{alu.R: int32(l.base.R), alu.Q: int32(l.base.Q), alu.P: int32(l.base.P)}
	size := [...]int{alu.R: l.base.R + l.maxTemps.R, alu.Q: l.base.Q + l.maxTemps.Q, alu.P: l.base.P + l.maxTemps.P}
	for s, n := range size {
		a.class[s] = make([]affinetrack.Class, n)
		a.pinned[s] = make([]bool, n)
		a.both[s] = make([]bool, n)
		a.proved[s] = make([]bool, n)
		a.fixed[s] = make([]bool, n)
	}
	a.pin(l.rows)
	if fn.fn.Entry {
		a.fix()
	}
	a.weigh()
	a.refine()
	if fn.fn.Entry {
		a.prove()
	}
	p := &plan{}
	for _, r := range l.rows {
		p.regs = append(p.regs, a.keeping(r.slot, r.row))
	}
	for s := alu.R; s <= alu.P; s++ {
		for row := a.base[s]; int(row) < len(a.class[s]); row++ {
			p.temps[s] = append(p.temps[s], a.keeping(s, row))
		}
	}
	var src *instr
	var temps [alu.P + 1]map[int32]bool
	a.eachInst(func(_ int, in *inst) {
		p.insts = append(p.insts, a.execution(in).lane)
		if in.src != src {
			src, temps = in.src, [alu.P + 1]map[int32]bool{alu.R: {}, alu.Q: {}, alu.P: {}}
		}
		for _, o := range in.uses.writes {
			if o.row >= a.base[o.slot] && a.keeping(o.slot, o.row)&inShadow != 0 {
				temps[o.slot][o.row] = true
				p.spare[o.slot] = max(p.spare[o.slot], len(temps[o.slot]))
			}
		}
	})
	return p
}

func (a *analysis) keeping(s alu.Slot, row int32) keeping {
	switch {
	case s != alu.R && s != alu.Q:
		return inLanes
	case a.fixed[s][row]:
		return isFixed
	case a.class[s][row] == affinetrack.Generic || a.class[s][row] == affinetrack.Unknown:
		return inLanes
	}
	k := inShadow
	if a.both[s][row] {
		k |= inBoth
	}
	if a.proved[s][row] {
		k |= isProved
	}
	return k
}

// eachInst calls f for every instruction, with its block.
func (a *analysis) eachInst(f func(b int, in *inst)) {
	for i := range a.blocks {
		for j := range a.blocks[i].insts {
			f(i, &a.blocks[i].insts[j])
		}
	}
}

// pin marks what is written otherwise than by an instruction of a block:
// parameters and results of calls, results of barriers; and 128-bit registers.
func (a *analysis) pin(regs []rowRef) {
	places := func(list []place) {
		for _, p := range list {
			if p.slot != alu.NoSlot {
				a.pinned[p.slot][p.row] = true
			}
		}
	}
	places(a.fn.params)
	places(a.fn.rets)
	for _, r := range regs {
		if r.wide {
			a.pinned[r.slot][r.row], a.pinned[r.slot][r.row+1] = true, true
		}
	}
	for i := range a.blocks {
		b := &a.blocks[i]
		if b.call != nil {
			places(b.call.rets)
		}
		if b.bar != nil && b.bar.dst != noRow {
			s := alu.P
			if b.bar.kind == barPopc {
				s = alu.R
			}
			a.pinned[s][b.bar.dst] = true
		}
	}
}

// fix finds the registers of a kernel that have the same value wherever they are
// read in a launch: parameters, extents of the grid, and what is computed of these,
// written in one place that all their readers come from. They become constants,
// that the launch begins with.
func (a *analysis) fix() {
	writers := [alu.P + 1][]int{}
	for s := range a.fixed {
		writers[s] = make([]int, len(a.fixed[s]))
	}
	a.eachInst(func(_ int, in *inst) {
		for _, o := range in.uses.writes {
			writers[o.slot][o.row]++
		}
	})
	for s, list := range [...][]int32{alu.R: a.fn.zeroR, alu.Q: a.fn.zeroQ, alu.P: a.fn.zeroP} {
		for _, row := range list { // may be read before it is written
			writers[s][row]++
		}
	}
	a.eachInst(func(_ int, in *inst) {
		if in.guard != 0 || len(in.uses.writes) != 1 {
			return
		}
		d := in.uses.writes[0]
		if d.slot == alu.P || d.row >= a.base[d.slot] || writers[d.slot][d.row] != 1 || a.pinned[d.slot][d.row] {
			return
		}
		switch in.form.kind {
		case asArithmetic:
		case asSource:
			if !in.form.special || !fixedSreg(ptx.SpecialReg(in.Imm)) {
				return
			}
		case asLoad:
			if in.mem.space != ptx.Param || in.mem.frame || in.mem.addr != alu.NoSlot || len(in.mem.elems) != 1 || in.mem.atFixed() == nil {
				return
			}
		default:
			return
		}
		for _, r := range in.uses.reads {
			if !a.fixed[r.slot][r.row] {
				return
			}
		}
		a.fixed[d.slot][d.row] = true
	})
}

// fixes reports whether an instruction writes a constant of the launch.
func (a *analysis) fixes(in *inst) bool {
	w := in.uses.writes
	return len(w) == 1 && a.fixed[w[0].slot][w[0].row]
}

// weigh estimates how often blocks run: eight times for each loop they are in. A
// jump back to a block is taken to be a loop of all the blocks in between.
func (a *analysis) weigh() {
	a.weight = make([]float64, len(a.blocks))
	for i := range a.weight {
		a.weight[i] = 1
	}
	for i := range a.blocks {
		for _, t := range a.successors(i) {
			for j := t; j <= i; j++ {
				a.weight[j] = min(8*a.weight[j], 8*8*8*8)
			}
		}
	}
}

// successors lists the blocks that control can go to from block i.
func (a *analysis) successors(i int) []int {
	b := &a.blocks[i]
	var list []int32
	switch b.term {
	case termNext, termCall, termBarrier:
		list = []int32{b.next}
	case termBranch:
		list = []int32{b.target, b.next}
	case termReturn:
		list = []int32{a.fn.exit, b.next}
	case termIndex:
		list = append(list, b.targets...)
		list = append(list, b.next)
	case termExit:
		if b.guard != 0 {
			list = []int32{b.next}
		}
	}
	var in []int
	for _, t := range list {
		if t -= a.first; t >= 0 && int(t) < len(a.blocks) {
			in = append(in, int(t))
		}
	}
	return in
}

// of is the class of an operand; that of a constant is uniform, and what has not
// been written yet is as uniform as anything.
func (a *analysis) of(s alu.Slot, row int32) affinetrack.Class {
	if row < 0 || a.fixed[s][row] {
		return affinetrack.Uniform
	}
	return max(a.class[s][row], affinetrack.Uniform)
}

// classify computes the classes of all rows.
func (a *analysis) classify() {
	for s := range a.class {
		for i := range a.class[s] {
			a.class[s][i] = affinetrack.Unknown
			if a.pinned[s][i] {
				a.class[s][i] = affinetrack.Generic
			}
		}
	}
	for changed := true; changed; {
		changed = false
		a.eachInst(func(_ int, in *inst) {
			for _, o := range in.uses.writes {
				if c := &a.class[o.slot][o.row]; *c < affinetrack.Generic {
					if r := a.transfer(in, o); r > *c {
						*c, changed = r, true
					}
				}
			}
		})
	}
}

// transfer is the best class of what an instruction writes to o.
func (a *analysis) transfer(in *inst, o operandRef) affinetrack.Class {
	switch in.form.kind {
	case asArithmetic:
		var list []affinetrack.Class
		pred := affinetrack.Uniform
		for _, r := range in.uses.reads {
			if r.slot == alu.P {
				pred = max(pred, a.of(r.slot, r.row))
			} else {
				list = append(list, a.of(r.slot, r.row))
			}
		}
		return affinetrack.Transfer(in.form.rule, list, pred)
	case asSource:
		return a.source(in)
	case asLoad:
		m := in.mem
		if m.frame || m.space == ptx.Local || m.addr != alu.NoSlot && a.of(m.addr, m.row) != affinetrack.Uniform {
			return affinetrack.Generic
		}
		for _, o := range in.uses.writes { // all or none of a vector
			if a.class[o.slot][o.row] == affinetrack.Generic {
				return affinetrack.Generic
			}
		}
		return affinetrack.Uniform
	}
	return affinetrack.Generic
}

// source is the class of a special register or the address of a local variable.
func (a *analysis) source(in *inst) affinetrack.Class {
	if !in.form.special {
		return affinetrack.Uniform
	}
	switch r := ptx.SpecialReg(in.Imm); {
	case !perLane(r):
		return affinetrack.Uniform
	case r >= ptx.TidX && r <= ptx.TidZ:
		return a.tid[r-ptx.TidX]
	case r == ptx.LaneID:
		return affinetrack.Affine
	}
	return affinetrack.Generic
}

// execution chooses how an instruction executes, given the classes.
func (a *analysis) execution(in *inst) execution {
	var e execution
	e.expand = keep(in.uses.reads, func(o operandRef) bool { return a.keeping(o.slot, o.row)&(inShadow|inBoth) == inShadow })
	e.dirty = keep(in.uses.writes, func(o operandRef) bool { return a.keeping(o.slot, o.row)&inShadow != 0 })
	switch f := in.form; f.kind {
	case asArithmetic:
		all, some, provable := true, false, len(e.dirty) == 1 && in.op.Dst2 == alu.NoSlot
		for _, r := range in.uses.reads {
			if r.slot != alu.P {
				all = all && a.compact(r.slot, r.row)
				some = some || r.row >= 0
				provable = provable && (r.row < 0 || a.fixed[r.slot][r.row] || a.proved[r.slot][r.row])
			} else {
				provable = false
			}
		}
		switch {
		case in.op.Compare && all && some:
			e.lane = affineCompare
		case in.op.Compare || in.op.Dst == alu.P || len(e.dirty) == 0:
		case provable && a.proved[e.dirty[0].slot][e.dirty[0].row]:
			e.lane = provedArithmetic(in)
		default:
			e.lane = affineArithmetic(in)
		}
	case asSource:
		if len(e.dirty) > 0 {
			e.lane = affineSource
		}
	case asLoad:
		switch {
		case len(e.dirty) > 0:
			e.lane = affineLoad
		case !a.accessesCompactly(in):
		case in.mem.space == ptx.Local:
			e.lane = affineLocal
		default:
			e.lane = affineLoad
		}
	case asStore:
		switch {
		case !a.accessesCompactly(in):
		case in.mem.space == ptx.Local:
			e.lane = affineLocal
		default:
			e.lane = affineStore
		}
	}
	if e.lane == nil && len(e.expand) > 0 {
		e.lane = affineGeneric
	}
	return e
}

// The costs of executions, in nanoseconds of the machine this was written on: only
// their ratios matter.
const (
	costRow     = 16  // anything over the lanes; and of these:
	costSpecial = 150 // a special function, or a division
	costThread  = 60  // the thread index
	costAccess  = 45  // a memory access
	costCompact = 8   // anything on compact operands
	costVector  = 16  // a memory access at a compact address
	costTag     = 4   // finding that an operand is in its row
	costFill    = 10  // writing it there
)

// fewLanes is how many lanes a warp may have for tags to cost more than they save.
const fewLanes = 4

// onLanes is the cost of an instruction over the lanes: in full rows a lane costs a
// third of what it does in others.
func (a *analysis) onLanes(in *inst) float64 {
	cost := fullRow(in)
	if a.lanes == 1 {
		return cost
	}
	return costTag + (cost-costTag)*min(1, 3*a.lanes)
}

// fullRow is the cost of an instruction over 32 lanes.
func fullRow(in *inst) float64 {
	switch in.form.kind {
	case asSource:
		if in.form.special && perLane(ptx.SpecialReg(in.Imm)) {
			return costThread
		}
	case asLoad, asStore:
		if in.mem.addr != alu.NoSlot {
			return costAccess
		}
	case asArithmetic:
		if in.src.Form.Class == ptx.ClassSFU {
			return costSpecial
		}
	}
	return costRow
}

// settle chooses the rows to be kept in both places, given the classes, and
// returns the cost of the function. saved is what each row contributes by being
// compact itself, whatever comes of it in others.
func (a *analysis) settle() (cost float64, saved [alu.P + 1][]float64) {
	var written, wanted [alu.P + 1][]float64 // how often; wanted by instructions over the lanes
	for s := range a.class {
		clear(a.both[s])
		saved[s] = make([]float64, len(a.class[s]))
		written[s] = make([]float64, len(a.class[s]))
		wanted[s] = make([]float64, len(a.class[s]))
	}
	a.eachInst(func(b int, in *inst) {
		if a.fixes(in) {
			return
		}
		w := a.weight[b]
		e := a.execution(in)
		lanes := a.onLanes(in)
		switch {
		case e.lane == nil || in.form.kind == asVector || in.form.kind == asWarp:
			cost += w * lanes
		case len(e.dirty) > 0 || in.form.kind == asArithmetic && in.op.Compare && a.comparesCompactly(in):
			cost += w * costCompact
			for _, o := range e.dirty {
				saved[o.slot][o.row] += w * (lanes - costCompact)
				written[o.slot][o.row] += w
			}
			return
		case in.mem != nil && a.accessesCompactly(in):
			cost += w * costVector
			if in.mem.row >= 0 && !a.fixed[in.mem.addr][in.mem.row] {
				saved[in.mem.addr][in.mem.row] += w * (lanes - costVector)
			}
			for _, o := range e.expand {
				if o.slot != in.mem.addr || o.row != in.mem.row {
					wanted[o.slot][o.row] += w
				}
			}
			return
		default:
			cost += w * lanes
		}
		for _, o := range e.expand {
			wanted[o.slot][o.row] += w
		}
	})
	for s := range saved {
		for i, n := range wanted[s] {
			extra := 0.0
			switch {
			case n == 0:
			case n >= written[s][i]:
				a.both[s][i] = true
				extra = written[s][i] * costFill
			default:
				extra = n * (costTag + costFill)
			}
			cost += extra
			saved[s][i] -= extra
		}
	}
	return cost, saved
}

// compact reports whether an operand may be compact.
func (a *analysis) compact(s alu.Slot, row int32) bool {
	return row < 0 || a.keeping(s, row) != inLanes // fixed ones too
}

// accessesCompactly reports whether a memory access may be executed at a compact
// address: in local memory, at a uniform one.
func (a *analysis) accessesCompactly(in *inst) bool {
	m := in.mem
	return m.addr != alu.NoSlot && a.compact(m.addr, m.row) && (m.space != ptx.Local || a.of(m.addr, m.row) == affinetrack.Uniform)
}

func (a *analysis) comparesCompactly(in *inst) bool {
	return a.compact(in.op.Src[0], in.A) && a.compact(in.op.Src[1], in.B)
}

// refine pins rows that are not worth being compact: one after another those that
// cost more than they save by themselves, if the function gets cheaper by it, for
// others may depend on them.
func (a *analysis) refine() {
	a.classify()
	cost, saved := a.settle()
	for range 4 {
		type row struct {
			operandRef
			saved float64
		}
		var bad []row
		for s := range saved {
			for i, v := range saved[s] {
				if v < 0 && !a.pinned[s][i] {
					bad = append(bad, row{operandRef{alu.Slot(s), int32(i)}, v})
				}
			}
		}
		slices.SortStableFunc(bad, func(x, y row) int { return cmp.Compare(x.saved, y.saved) })
		better := false
		for _, r := range bad[:min(len(bad), mostTrials)] {
			a.pinned[r.slot][r.row] = true
			a.classify()
			if c, s := a.settle(); c < cost {
				cost, saved, better = c, s, true
			} else {
				a.pinned[r.slot][r.row] = false
			}
		}
		if !better {
			break
		}
	}
	a.classify()
	a.settle()
}

// mostTrials bounds the time that is spent on a kernel of many registers.
const mostTrials = 64

// prove finds the rows that are provably uniform: it assumes it of all that the
// classes allow, and takes away what does not hold.
func (a *analysis) prove() {
	for s := range a.proved {
		for i, c := range a.class[s] {
			a.proved[s][i] = c == affinetrack.Uniform && !a.fixed[s][i]
		}
	}
	drop := func(o operandRef) bool {
		was := a.proved[o.slot][o.row]
		a.proved[o.slot][o.row] = false
		return was
	}
	// What is read before it is written holds anything.
	for s, list := range [...][]int32{alu.R: a.fn.zeroR, alu.Q: a.fn.zeroQ, alu.P: a.fn.zeroP} {
		for _, row := range list {
			drop(operandRef{alu.Slot(s), row})
		}
	}
	apart := make([]bool, len(a.blocks)) // blocks that some live lanes may execute without the others
	holds := func(o operandRef) bool { return o.row < 0 || a.fixed[o.slot][o.row] || a.proved[o.slot][o.row] }
	for changed := true; changed; {
		changed = false
		for i := range a.blocks {
			if a.splits(i, apart[i], holds) && a.separate(i, apart) {
				changed = true
			}
		}
		a.eachInst(func(b int, in *inst) {
			sound := !apart[b] && in.guard == 0
			switch in.form.kind {
			case asArithmetic:
			case asSource:
				sound = sound && a.source(in) == affinetrack.Uniform
			case asLoad:
				sound = sound && in.mem.space != ptx.Generic // local memory is everybody's own
			default:
				sound = false
			}
			for _, o := range in.uses.reads {
				sound = sound && holds(o)
			}
			if sound {
				return
			}
			for _, o := range in.uses.writes {
				if drop(o) {
					changed = true
				}
			}
		})
	}
}

// splits reports whether the end of block i may send live lanes different ways. apart
// tells that some lanes may be there without the others: at a barrier that lets those
// go on they need not meet where they otherwise would.
// Where one way is nothing but the kernel's end, those that go there have ended,
// and the others are all that live.
func (a *analysis) splits(i int, apart bool, holds func(operandRef) bool) bool {
	b := &a.blocks[i]
	switch b.term {
	case termIndex:
		return true
	case termBarrier:
		return !b.bar.aligned && (b.guard != 0 || apart)
	case termBranch:
		row := b.guard - 1
		if b.guard < 0 {
			row = -b.guard - 1
		}
		if b.guard == 0 || holds(operandRef{alu.P, row}) {
			return false
		}
		leaves := func(pc int32) bool { return a.blocks[pc-a.first].leaves }
		return !leaves(b.target) && !leaves(b.next)
	case termReturn:
		return b.guard != 0 && !a.blocks[a.fn.exit-a.first].leaves
	}
	return false
}

// separate marks the blocks between the end of block i and where its lanes meet
// again; after a barrier that not all come to, all that follow. It reports
// whether there were new ones.
func (a *analysis) separate(i int, apart []bool) bool {
	join := int(a.blocks[i].join - a.first)
	if a.blocks[i].term == termBarrier {
		join = -1
	}
	found := false
	var seen = make([]bool, len(a.blocks))
	var visit func(j int)
	visit = func(j int) {
		if j == join || seen[j] {
			return
		}
		seen[j] = true
		if !apart[j] {
			apart[j], found = true, true
		}
		for _, t := range a.successors(j) {
			visit(t)
		}
	}
	for _, t := range a.successors(i) {
		visit(t)
	}
	return found
}
