package interp

// This file decides, for affine mode, how each instruction of a function will execute:
// on vectors as ever, on compact operands where their tags allow, on single values
// without a look at tags, because a uniform result is proved, or once for the whole
// launch.
//
// The analysis works on selected code, in which every register and every temporary has
// a row of its own. It finds the best class each row can have, as the greatest fixpoint
// of package affinetrack's Transfer over all instructions that write it; leaves out the
// rows whose tags would cost more than they save; and proves what it can. A register
// proved uniform is written by instructions with proved operands only, in blocks that
// all lanes which have not ended execute together: so whoever reads it finds it compact.

import (
	"cmp"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
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

// node is an instruction with the rows it reads and writes.
type node struct {
	*code.Instr
	sig           *code.Signature
	block         int
	reads, writes []code.Row
}

// execution is how an instruction executes.
type execution struct {
	exec   code.Exec
	expand []code.Row // what it reads that may be only in its shadow
	dirty  []code.Row // what it writes that may have been in its shadow
}

// analysis is the work on a function lowered for a trial.
type analysis struct {
	*lowerer
	blocks []block // of the function
	nodes  []node
	lanes  float64 // of rows that are in use, as a part of all

	class  [code.P + 1][]affinetrack.Class // by slot and row; Unknown: not written
	pinned [code.P + 1][]bool              // stay Generic
	both   [code.P + 1][]bool              // kept inBoth
	proved [code.P + 1][]bool
	fixed  [code.P + 1][]bool
	weight []float64 // of blocks: how often they are expected to run
}

// plan decides how the rows of the function are kept, and how its instructions execute.
// Those that write constants of the launch go to l.folded.
func (l *lowerer) plan() {
	fn := l.fn
	a := &analysis{lowerer: l, blocks: l.blocks[fn.entry : fn.exit+1], lanes: float64(min(l.opt.lanes, regfile.Lanes)) / regfile.Lanes}
	for s := range l.virtual {
		n := len(l.virtual[s].kept)
		a.class[s] = make([]affinetrack.Class, n)
		a.pinned[s] = make([]bool, n)
		a.both[s] = make([]bool, n)
		a.proved[s] = make([]bool, n)
		a.fixed[s] = make([]bool, n)
	}
	a.collect()
	a.pin()
	if fn.fn.Entry {
		a.fix()
	}
	a.weigh()
	a.refine()
	if fn.fn.Entry {
		a.prove()
	}
	for s := code.R; s <= code.Q; s++ {
		for row := range l.virtual[s].kept {
			l.virtual[s].kept[row] = a.keeping(s, int32(row))
		}
	}
	for i := range a.nodes {
		a.nodes[i].How = a.how(&a.nodes[i])
	}
	a.fold()
}

// collect lists the instructions.
func (a *analysis) collect() {
	var rows []code.Row
	for b := range a.blocks {
		for i := range a.blocks[b].insts {
			in := &a.blocks[b].insts[i]
			start := len(rows)
			rows = a.tables.Reads(rows, in)
			mid := len(rows)
			rows = a.tables.Writes(rows, in)
			a.nodes = append(a.nodes, node{Instr: in, sig: in.Op.Signature(), block: b, reads: rows[start:mid:mid], writes: rows[mid:len(rows):len(rows)]})
		}
	}
}

// how is how an instruction executes, and what that does to its operands.
func (a *analysis) how(in *node) code.How {
	e := a.execution(in)
	h := code.How{Exec: e.exec}
	if e.exec == code.OnLanes {
		return h
	}
	listed := e.expand
	for i, row := range in.Sources() {
		slot := in.sig.Src[i]
		if i == 0 && in.sig.Side == code.AccessSide {
			slot = a.access(in).Addr
		}
		if len(listed) > 0 && listed[0] == (code.Row{Slot: slot, Row: row}) {
			h.Expand |= 1 << i
			listed = listed[1:]
		}
	}
	if len(listed) > 0 {
		h.Expand |= code.OperandList
	}
	h.Dirty = len(e.dirty) > 0
	h.Both = slices.ContainsFunc(e.dirty, func(o code.Row) bool { return a.both[o.Slot][o.Row] })
	return h
}

// fold takes the instructions out of the code that write constants of the launch.
func (a *analysis) fold() {
	for b := range a.blocks {
		kept := int32(0)
		for i := range a.blocks[b].insts {
			if in := &a.blocks[b].insts[i]; a.folds(in) {
				a.folded = append(a.folded, fixedInstr{*in, a.fn.entry + int32(b), kept})
			} else {
				kept++
			}
		}
		a.blocks[b].insts = slices.DeleteFunc(a.blocks[b].insts, func(in code.Instr) bool { return a.folds(&in) })
	}
}

// folds reports whether an instruction writes a constant of the launch.
func (a *analysis) folds(in *code.Instr) bool {
	w := a.tables.Writes(nil, in)
	return len(w) == 1 && a.fixed[w[0].Slot][w[0].Row]
}

func (a *analysis) keeping(s code.Slot, row int32) keeping {
	switch {
	case s != code.R && s != code.Q:
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

// each calls f for every instruction.
func (a *analysis) each(f func(in *node)) {
	for i := range a.nodes {
		f(&a.nodes[i])
	}
}

// access is what a memory instruction accesses.
func (a *analysis) access(in *node) *code.Access { return &a.tables.Access[in.Side] }

// pin marks what is written otherwise than by an instruction of a block:
// parameters and results of calls, results of barriers, what alloca takes; and 128-bit
// registers.
func (a *analysis) pin() {
	places := func(list []code.Place) {
		for _, p := range list {
			if p.Slot != code.NoSlot {
				a.pinned[p.Slot][p.Row] = true
			}
		}
	}
	places(a.fn.params)
	places(a.fn.rets)
	for _, r := range a.rows {
		if r.wide {
			a.pinned[r.Slot][r.Row], a.pinned[r.Slot][r.High] = true, true
		}
	}
	if a.fn.allocates {
		a.pinned[code.R][a.fn.taken] = true
	}
	for i := range a.blocks {
		b := &a.blocks[i]
		if b.call != nil {
			places(b.call.Rets)
		}
		if b.bar != nil && b.bar.dst != code.NoRow {
			s := code.P
			if b.bar.kind == barPopc {
				s = code.R
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
	writers := [code.P + 1][]int{}
	for s := range a.fixed {
		writers[s] = make([]int, len(a.fixed[s]))
	}
	a.each(func(in *node) {
		for _, o := range in.writes {
			writers[o.Slot][o.Row]++
		}
	})
	for s := range a.virtual {
		for _, row := range a.virtual[s].zero { // may be read before it is written
			writers[s][row]++
		}
	}
	a.each(func(in *node) {
		w := in.writes
		if in.Guard != 0 || len(w) != 1 {
			return
		}
		d := w[0]
		if d.Slot == code.P || a.virtual[d.Slot].temp[d.Row] != 0 || writers[d.Slot][d.Row] != 1 || a.pinned[d.Slot][d.Row] {
			return
		}
		switch in.sig.Kind {
		case code.Arithmetic:
		case code.Source:
			if !special(in) || !fixedSreg(ptx.SpecialReg(in.Imm)) {
				return
			}
		case code.Load:
			m := a.access(in)
			if m.Space != ptx.Param || m.Frame || m.Addr != code.NoSlot || len(m.Elems) != 1 || atFixed(m) == nil {
				return
			}
		default:
			return
		}
		for _, r := range in.reads {
			if !a.fixed[r.Slot][r.Row] {
				return
			}
		}
		a.fixed[d.Slot][d.Row] = true
	})
}

// fixes reports whether an instruction writes a constant of the launch.
func (a *analysis) fixes(in *node) bool {
	w := in.writes
	return len(w) == 1 && a.fixed[w[0].Slot][w[0].Row]
}

// weigh estimates how often blocks run: eight times for each loop they are in. A
// jump back to a block is taken to be a loop of all the blocks in between.
func (a *analysis) weigh() {
	depth := make([]int, len(a.blocks)+1) // loops that begin at a block, less those that end before
	for i := range a.blocks {
		for _, t := range a.successors(i) {
			if t <= i {
				depth[t]++
				depth[i+1]--
			}
		}
	}
	a.weight = make([]float64, len(a.blocks))
	loops := 0
	for i := range a.weight {
		loops += depth[i]
		a.weight[i] = float64(uint(1) << (3 * min(loops, 4)))
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
		if t -= a.fn.entry; t >= 0 && int(t) < len(a.blocks) {
			in = append(in, int(t))
		}
	}
	return in
}

// of is the class of an operand; that of a constant is uniform, and what has not
// been written yet is as uniform as anything.
func (a *analysis) of(s code.Slot, row int32) affinetrack.Class {
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
		a.each(func(in *node) {
			for _, o := range in.writes {
				if c := &a.class[o.Slot][o.Row]; *c < affinetrack.Generic {
					if r := a.transfer(in, o); r > *c {
						*c, changed = r, true
					}
				}
			}
		})
	}
}

// transfer is the best class of what an instruction writes to o.
func (a *analysis) transfer(in *node, o code.Row) affinetrack.Class {
	switch in.sig.Kind {
	case code.Arithmetic:
		var list []affinetrack.Class
		pred := affinetrack.Uniform
		for i, row := range in.Sources() {
			switch s := in.sig.Src[i]; s {
			case code.NoSlot:
			case code.P:
				pred = max(pred, a.of(s, row))
			default:
				list = append(list, a.of(s, row)) // constants are operands, too
			}
		}
		return affinetrack.Transfer(in.sig.Rule, list, pred)
	case code.Source:
		return a.source(in)
	case code.Load:
		m := a.access(in)
		if m.Frame || m.Space == ptx.Local || m.Addr != code.NoSlot && a.of(m.Addr, in.A) != affinetrack.Uniform {
			return affinetrack.Generic
		}
		for _, o := range in.writes { // all or none of a vector
			if a.class[o.Slot][o.Row] == affinetrack.Generic {
				return affinetrack.Generic
			}
		}
		return affinetrack.Uniform
	}
	return affinetrack.Generic
}

// source is the class of a special register or the address of a local variable.
func (a *analysis) source(in *node) affinetrack.Class {
	if !special(in) {
		return affinetrack.Uniform
	}
	switch r := ptx.SpecialReg(in.Imm); {
	case !perLane(r):
		return affinetrack.Uniform
	case r >= ptx.TidX && r <= ptx.TidZ:
		return a.opt.tid[r-ptx.TidX]
	case r == ptx.LaneID:
		return affinetrack.Affine
	}
	return affinetrack.Generic
}

// compactKernel is how a kernel executes whose operands may be compact.
func compactKernel(s *code.Signature) code.Exec {
	n := s.Sources()
	if n == 0 || n > 3 || slices.Contains(s.Src[:], code.P) {
		return code.CompactMixed
	}
	return code.CompactOne + code.Exec(n-1)
}

// special reports whether an operation of kind Source reads a special register.
func special(in *node) bool {
	return in.Op == code.Sreg16 || in.Op == code.Sreg32 || in.Op == code.Sreg64
}

// execution chooses how an instruction executes, given the classes.
func (a *analysis) execution(in *node) execution {
	var e execution
	e.expand = keep(in.reads, func(o code.Row) bool { return a.keeping(o.Slot, o.Row)&(inShadow|inBoth) == inShadow })
	e.dirty = keep(in.writes, func(o code.Row) bool { return a.keeping(o.Slot, o.Row)&inShadow != 0 })
	s := in.sig
	switch s.Kind {
	case code.Arithmetic:
		all, some, provable := true, false, len(e.dirty) == 1 && s.Dst2 == code.NoSlot
		for _, r := range in.reads {
			if r.Slot != code.P {
				all = all && a.compact(r.Slot, r.Row)
				some = some || r.Row >= 0
				provable = provable && (r.Row < 0 || a.fixed[r.Slot][r.Row] || a.proved[r.Slot][r.Row])
			} else {
				provable = false
			}
		}
		switch {
		case s.Compare && all && some:
			e.exec = code.CompactCompare
		case s.Compare || s.Dst == code.P || len(e.dirty) == 0:
		case provable && a.proved[e.dirty[0].Slot][e.dirty[0].Row]:
			e.exec = code.ProvedNone + code.Exec(s.Sources())
		default:
			e.exec = compactKernel(s)
		}
	case code.Source:
		if len(e.dirty) > 0 {
			e.exec = code.CompactSource
		}
	case code.Load:
		switch {
		case len(e.dirty) > 0:
			e.exec = code.CompactLoad
		case !a.accessesCompactly(in):
		case a.access(in).Space == ptx.Local:
			e.exec = code.CompactLocal
		default:
			e.exec = code.CompactLoad
		}
	case code.Store:
		switch {
		case !a.accessesCompactly(in):
		case a.access(in).Space == ptx.Local:
			e.exec = code.CompactLocal
		default:
			e.exec = code.CompactStore
		}
	}
	if e.exec == code.OnLanes && len(e.expand) > 0 {
		e.exec = code.Expanded
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
func (a *analysis) onLanes(in *node) float64 {
	cost := a.fullRow(in)
	if a.lanes == 1 {
		return cost
	}
	return costTag + (cost-costTag)*min(1, 3*a.lanes)
}

// fullRow is the cost of an instruction over 32 lanes.
func (a *analysis) fullRow(in *node) float64 {
	switch in.sig.Kind {
	case code.Source:
		if special(in) && perLane(ptx.SpecialReg(in.Imm)) {
			return costThread
		}
	case code.Load, code.Store:
		if a.access(in).Addr != code.NoSlot {
			return costAccess
		}
	case code.Arithmetic:
		if a.instrs[in.Src].Form.Class == ptx.ClassSFU {
			return costSpecial
		}
	}
	return costRow
}

// settle chooses the rows to be kept in both places, given the classes, and
// returns the cost of the function. saved is what each row contributes by being
// compact itself, whatever comes of it in others.
func (a *analysis) settle() (cost float64, saved [code.P + 1][]float64) {
	var written, wanted [code.P + 1][]float64 // how often; wanted by instructions over the lanes
	for s := range a.class {
		clear(a.both[s])
		saved[s] = make([]float64, len(a.class[s]))
		written[s] = make([]float64, len(a.class[s]))
		wanted[s] = make([]float64, len(a.class[s]))
	}
	a.each(func(in *node) {
		if a.fixes(in) {
			return
		}
		w := a.weight[in.block]
		e := a.execution(in)
		s := in.sig
		lanes := a.onLanes(in)
		switch {
		case e.exec == code.OnLanes || s.Kind == code.Plain || s.Kind == code.Warp:
			cost += w * lanes
		case len(e.dirty) > 0 || s.Compare && a.comparesCompactly(in):
			cost += w * costCompact
			for _, o := range e.dirty {
				saved[o.Slot][o.Row] += w * (lanes - costCompact)
				written[o.Slot][o.Row] += w
			}
			return
		case s.Side == code.AccessSide && a.accessesCompactly(in):
			cost += w * costVector
			if in.A >= 0 && !a.fixed[a.access(in).Addr][in.A] {
				saved[a.access(in).Addr][in.A] += w * (lanes - costVector)
			}
			for _, o := range e.expand {
				if o.Slot != a.access(in).Addr || o.Row != in.A {
					wanted[o.Slot][o.Row] += w
				}
			}
			return
		default:
			cost += w * lanes
		}
		for _, o := range e.expand {
			wanted[o.Slot][o.Row] += w
		}
	})
	for s := range saved {
		for i, n := range wanted[s] {
			extra := 0.0
			switch {
			case n == 0 || a.opt.eager:
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
func (a *analysis) compact(s code.Slot, row int32) bool {
	return row < 0 || a.keeping(s, row) != inLanes // fixed ones too
}

// accessesCompactly reports whether a memory access may be executed at a compact
// address: in local memory, at a uniform one.
func (a *analysis) accessesCompactly(in *node) bool {
	m := a.access(in)
	return m.Addr != code.NoSlot && a.compact(m.Addr, in.A) && (m.Space != ptx.Local || a.of(m.Addr, in.A) == affinetrack.Uniform)
}

func (a *analysis) comparesCompactly(in *node) bool {
	s := in.sig
	return a.compact(s.Src[0], in.A) && a.compact(s.Src[1], in.B)
}

// refine pins rows that are not worth being compact: one after another those that
// cost more than they save by themselves, if the function gets cheaper by it, for
// others may depend on them.
func (a *analysis) refine() {
	a.classify()
	cost, saved := a.settle()
	if a.opt.eager {
		return
	}
	for range 4 {
		type row struct {
			at    code.Row
			saved float64
		}
		var bad []row
		for s := range saved {
			for i, v := range saved[s] {
				if v < 0 && !a.pinned[s][i] {
					bad = append(bad, row{code.Row{Slot: code.Slot(s), Row: int32(i)}, v})
				}
			}
		}
		slices.SortStableFunc(bad, func(x, y row) int { return cmp.Compare(x.saved, y.saved) })
		better := false
		for _, r := range bad[:min(len(bad), mostTrials, mostWork/max(len(a.nodes), 1))] {
			a.pinned[r.at.Slot][r.at.Row] = true
			a.classify()
			if c, s := a.settle(); c < cost {
				cost, saved, better = c, s, true
			} else {
				a.pinned[r.at.Slot][r.at.Row] = false
			}
		}
		if !better {
			break
		}
	}
	a.classify()
	a.settle()
}

// These bound the time that is spent on a kernel of many registers: trials, and
// instructions looked at in them.
const (
	mostTrials = 64
	mostWork   = 1 << 20
)

// prove finds the rows that are provably uniform: it assumes it of all that the
// classes allow, and takes away what does not hold.
func (a *analysis) prove() {
	for s := range a.proved {
		for i, c := range a.class[s] {
			a.proved[s][i] = c == affinetrack.Uniform && !a.fixed[s][i]
		}
	}
	drop := func(o code.Row) bool {
		was := a.proved[o.Slot][o.Row]
		a.proved[o.Slot][o.Row] = false
		return was
	}
	// What is read before it is written holds anything.
	for s := range a.virtual {
		for _, row := range a.virtual[s].zero {
			drop(code.Row{Slot: code.Slot(s), Row: row})
		}
	}
	apart := make([]bool, len(a.blocks)) // blocks that some live lanes may execute without the others
	holds := func(o code.Row) bool { return o.Row < 0 || a.fixed[o.Slot][o.Row] || a.proved[o.Slot][o.Row] }
	for changed := true; changed; {
		changed = false
		for i := range a.blocks {
			if a.splits(i, apart[i], holds) && a.separate(i, apart) {
				changed = true
			}
		}
		a.each(func(in *node) {
			sound := !apart[in.block] && in.Guard == 0
			switch in.sig.Kind {
			case code.Arithmetic:
			case code.Source:
				sound = sound && a.source(in) == affinetrack.Uniform
			case code.Load:
				sound = sound && a.access(in).Space != ptx.Generic // local memory is everybody's own
			default:
				sound = false
			}
			for _, o := range in.reads {
				sound = sound && holds(o)
			}
			if sound {
				return
			}
			for _, o := range in.writes {
				if drop(o) {
					changed = true
				}
			}
		})
	}
}

// splits reports whether the end of block i may send live lanes different ways, or an
// instruction of it that waits for lanes. apart tells that some lanes may be there without
// the others: at a barrier that lets those go on they need not meet where they otherwise
// would.
// Where one way is nothing but the kernel's end, those that go there have ended,
// and the others are all that live.
func (a *analysis) splits(i int, apart bool, holds func(code.Row) bool) bool {
	b := &a.blocks[i]
	varies := func(guard int32) bool {
		p, _ := code.GuardRow(guard)
		return guard != 0 && !holds(code.Row{Slot: code.P, Row: p})
	}
	if a.opt.keeps != always && slices.ContainsFunc(b.insts, func(in code.Instr) bool { return in.Op.Collective() && varies(in.Guard) }) {
		return true
	}
	switch b.term {
	case termIndex:
		return true
	case termBarrier:
		return varies(b.guard) || !b.bar.aligned && apart
	case termCall:
		return a.callsMayWait
	case termBranch:
		leaves := func(pc int32) bool { return a.blocks[pc-a.fn.entry].leaves }
		return varies(b.guard) && !leaves(b.target) && !leaves(b.next)
	case termReturn:
		return b.guard != 0 && !a.blocks[a.fn.exit-a.fn.entry].leaves
	}
	return false
}

// separate marks the blocks that lanes may execute without the others which block i
// sends different ways: those between its end and where they meet again; all that follow
// where the policy may not keep them there. It reports whether there were new ones.
func (a *analysis) separate(i int, apart []bool) bool {
	var between []bool
	var visit func(j, join int)
	visit = func(j, join int) {
		if j == join || between[j] {
			return
		}
		between[j] = true
		for _, t := range a.successors(j) {
			visit(t, join)
		}
	}
	from := func(join int) {
		between = make([]bool, len(a.blocks))
		for _, t := range a.successors(i) {
			visit(t, join)
		}
	}
	meet := false
	if b := &a.blocks[i]; (b.term == termBranch || b.term == termIndex || b.term == termReturn) && a.opt.keeps != never {
		from(int(b.join - a.fn.entry))
		meet = true
		for j := range between {
			if between[j] && a.opt.keeps == unlessWaiting && a.waits(&a.blocks[j]) {
				meet = false
			}
		}
	}
	if !meet {
		from(-1)
		between[i] = between[i] || a.opt.keeps != always && a.waits(&a.blocks[i])
	}
	found := false
	for j := range between {
		if between[j] && !apart[j] {
			apart[j], found = true, true
		}
	}
	return found
}

// waits reports whether lanes may wait in a block for others while those go on.
func (a *analysis) waits(b *block) bool {
	return b.mayWait || b.term == termBarrier && !b.bar.aligned || b.term == termCall && a.callsMayWait ||
		slices.ContainsFunc(b.insts, func(in code.Instr) bool { return in.Op.Collective() })
}
