package lower

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
	"errors"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// execution is how an instruction executes.
type execution struct {
	exec   code.Exec
	expand []code.Row // what it reads that may be only in its shadow
	dirty  []code.Row // what it writes that may have been in its shadow
}

// analysis is the work on a function lowered for a trial.
type analysis struct {
	*lowerer

	class  [code.P + 1][]affinetrack.Class // by slot and row; Unknown: not written
	pinned [code.P + 1][]bool              // stay Generic
	both   [code.P + 1][]bool              // kept code.InBoth
	proved [code.P + 1][]bool
	fixed  [code.P + 1][]bool
	weight []float64 // of blocks: how often they are expected to run
}

// plan decides how the rows of the function are kept, and how its instructions execute.
// Those that write constants of the launch go to l.folded.
func (l *lowerer) plan() {
	a := &analysis{lowerer: l}
	for s := range l.virtual {
		n := len(l.virtual[s].kept)
		a.class[s] = make([]affinetrack.Class, n)
		a.pinned[s] = make([]bool, n)
		a.both[s] = make([]bool, n)
		a.proved[s] = make([]bool, n)
		a.fixed[s] = make([]bool, n)
	}
	a.pin()
	a.fix()
	a.weigh()
	a.refine()
	if l.fn.Entry {
		a.prove()
	}
	for s := range l.virtual {
		for row := range l.virtual[s].kept {
			l.virtual[s].kept[row] = a.keeping(code.Slot(s), int32(row))
		}
	}
	kept := func(r code.Row) code.Keeping { return l.virtual[r.Slot].kept[r.Row] }
	for i := range a.nodes {
		in := &a.nodes[i]
		in.How = l.tables.HowOf(in.Instr, a.execution(in).exec, kept)
	}
	a.fold()
}

// fold takes the instructions out of the code that write constants of the launch.
func (a *analysis) fold() {
	for b := range a.blocks {
		kept := a.blocks[b].instrs[:0]
		for _, in := range a.blocks[b].instrs {
			if a.fixes(a.tables.Writes(nil, &in)) {
				a.folded = append(a.folded, folded{in, int32(b), int32(len(kept))})
			} else {
				kept = append(kept, in)
			}
		}
		a.blocks[b].instrs = kept
	}
}

func (a *analysis) keeping(s code.Slot, row int32) code.Keeping {
	switch {
	case s != code.R && s != code.Q:
		return code.InLanes
	case a.fixed[s][row]:
		return code.IsFixed
	case a.class[s][row] == affinetrack.Generic || a.class[s][row] == affinetrack.Unknown:
		return code.InLanes
	}
	k := code.InShadow
	if a.both[s][row] {
		k |= code.InBoth
	}
	if a.proved[s][row] {
		k |= code.IsProved
	}
	return k
}

// each calls f for every instruction.
func (a *analysis) each(f func(in *node)) {
	for i := range a.nodes {
		f(&a.nodes[i])
	}
}

// pin marks what instructions of blocks do not write alone, and the upper halves of 128-bit registers,
// which memory accesses do not expand.
func (a *analysis) pin() {
	a.elsewhere(func(o code.Row) { a.pinned[o.Slot][o.Row] = true })
	for _, r := range a.rows {
		if r.wide {
			a.pinned[r.Slot][r.High] = true
		}
	}
}

// fix finds the registers that have the same value wherever they are read in a launch:
// parameters of the kernel, extents of the grid, and what is computed of these, written in
// one place that all their readers come from. They become constants, that the launch
// begins with.
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
		if d.Slot == code.P || writers[d.Slot][d.Row] != 1 || a.pinned[d.Slot][d.Row] {
			return
		}
		switch in.sig.Kind {
		case code.Arithmetic:
		case code.Read:
			if !in.Op.Special() || !ptx.SpecialReg(in.Imm).Fixed() {
				return
			}
		case code.Load:
			m := a.accessed(in)
			if m.Space != ptx.Param || len(m.Elems) != 1 || m.AtFixed() == nil {
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

// fixes reports whether what an instruction writes is a constant of the launch.
func (a *analysis) fixes(writes []code.Row) bool {
	return len(writes) == 1 && a.fixed[writes[0].Slot][writes[0].Row]
}

// weigh estimates how often blocks run: eight times for each loop they are in. A
// jump back to a block is taken to be a loop of all the blocks in between.
func (a *analysis) weigh() {
	depth := make([]int, len(a.blocks)+1) // loops that begin at a block, less those that end before
	for i := range a.blocks {
		for _, t := range a.successors(i) {
			if int(t) <= i {
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
	a.settled(func() (changed bool) {
		a.each(func(in *node) {
			for _, o := range in.writes {
				if c := &a.class[o.Slot][o.Row]; *c < affinetrack.Generic {
					if r := a.transfer(in, o); r > *c {
						*c, changed = r, true
					}
				}
			}
		})
		return changed
	})
}

// settled repeats a step until it changes nothing. Each moves a row or a block one way, so
// that there is an end.
func (a *analysis) settled(step func() (changed bool)) {
	most := len(a.blocks)
	for s := range a.class {
		most += int(affinetrack.Generic) * len(a.class[s])
	}
	for n := 0; step(); n++ {
		if n > most {
			panic(errors.New("BUG: the plan does not settle"))
		}
	}
}

// transfer is the best class of what an instruction writes to o.
func (a *analysis) transfer(in *node, o code.Row) affinetrack.Class {
	switch in.sig.Kind {
	case code.Arithmetic:
		var list []affinetrack.Class
		for i, row := range in.Sources() {
			if s := in.sig.Src[i]; s != code.NoSlot {
				list = append(list, a.of(s, row)) // constants are operands, too
			}
		}
		return affinetrack.Transfer(in.sig.Rule, list)
	case code.Read:
		return a.read(in).Class()
	case code.Load:
		m := a.accessed(in)
		if m.Space == ptx.Local || a.of(m.Addr, in.A) != affinetrack.Uniform {
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

// compactKernel is how a kernel executes whose operands may be compact.
func compactKernel(s *code.Signature) code.Exec {
	if mixed(s) {
		return code.CompactMixed
	}
	return code.CompactOne + code.Exec(s.Sources()-1) // of four: CompactMixed
}

// mixed reports whether a kernel has predicates beside its operands.
func mixed(s *code.Signature) bool {
	return s.Dst2 != code.NoSlot || slices.Contains(s.Src[:], code.P)
}

// execution chooses how an instruction executes, given the classes.
func (a *analysis) execution(in *node) execution {
	var e execution
	e.expand = keep(in.reads, func(o code.Row) bool { return a.keeping(o.Slot, o.Row)&(code.InShadow|code.InBoth) == code.InShadow })
	e.dirty = keep(in.writes, func(o code.Row) bool { return a.keeping(o.Slot, o.Row)&code.InShadow != 0 })
	s := in.sig
	switch s.Kind {
	case code.Arithmetic:
		switch {
		case s.Compares() && a.comparesCompactly(in):
			e.exec = code.CompactCompare
		case len(e.dirty) == 0:
		case a.proved[e.dirty[0].Slot][e.dirty[0].Row] && !mixed(s):
			e.exec = code.ProvedOne + code.Exec(s.Sources()-1)
		default:
			e.exec = compactKernel(s)
		}
	case code.Read:
		if len(e.dirty) > 0 {
			e.exec = code.CompactSource
		}
	case code.Load, code.Store:
		switch {
		case len(e.dirty) > 0:
			e.exec = code.CompactLoad
		case !a.accessesCompactly(in):
		case a.accessed(in).Space == ptx.Local:
			e.exec = code.CompactLocal
		case s.Kind == code.Load:
			e.exec = code.CompactLoad
		default:
			e.exec = code.CompactStore
		}
	}
	if e.exec == code.OnLanes && len(e.expand) > 0 {
		e.exec = code.Expanded
	}
	return e
}

// The costs of executions by machine code, in tenths of nanoseconds of the machine this was written on: only
// their ratios matter. Those of rows are of instructions that do not wait for each other (BenchmarkProgressions). What is
// compact often waits for what has just been written, and that is counted in full: the workloads are fastest so.
const (
	costRow     = 15  // anything over the lanes, of 32 bits; and of these:
	costWide    = 26  // of 64 bits
	costSpecial = 250 // a special function, or a division
	costBeside  = 25  // a memory access whose lanes are proved to lie side by side, or at one place
	costAccess  = 60  // any other
	costCompact = 30  // anything on compact operands, proved uniform or not, but:
	costAlone   = 240 // a special function of them: what comes next waits for it as for that of all lanes
	costVector  = 40  // a memory access at a compact address
	costTag     = 4   // finding that an operand is in its row
)

// costFill is that of writing a compact operand to its row.
func costFill(s code.Slot) float64 {
	if s == code.Q {
		return costWide
	}
	return costRow
}

// onLanes is the cost of an instruction over the lanes. Of rows that are in use in part it is the same.
func (a *analysis) onLanes(in *node) float64 {
	switch in.sig.Kind {
	case code.Load, code.Store:
		switch m := a.accessed(in); {
		case m.Addr == code.NoSlot:
		case m.Pattern == code.OnePlace || m.Pattern == code.SideBySide:
			return costBeside
		default:
			return costAccess
		}
	case code.Arithmetic:
		if a.special(in) {
			return costSpecial
		}
		if in.sig.Dst == code.Q || in.sig.Src[0] == code.Q {
			return costWide
		}
	}
	return costRow
}

// special reports whether an operation is a special function, or a division.
func (a *analysis) special(in *node) bool {
	return a.prog.Sources[in.Src].Form.Class == ptx.ClassSFU
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
		if a.fixes(in.writes) {
			return
		}
		w := a.weight[in.block]
		e := a.execution(in)
		s := in.sig
		lanes := a.onLanes(in)
		switch {
		case len(e.dirty) > 0 || s.Compares() && a.comparesCompactly(in):
			compact := float64(costCompact)
			if s.Kind == code.Arithmetic && a.special(in) {
				compact = costAlone
			}
			if in.spacing.Over < Whole && !a.unspaced && len(e.dirty) > 0 { // it often cannot be: lanes apart have written an operand, or it is loaded
				compact += costTag + costFill(e.dirty[0].Slot) + lanes
			}
			cost += w * compact
			for _, o := range e.dirty {
				saved[o.Slot][o.Row] += w * (lanes - compact)
				written[o.Slot][o.Row] += w
			}
			return
		case (s.Kind == code.Load || s.Kind == code.Store) && a.accessesCompactly(in):
			cost += w * costVector
			saved[a.accessed(in).Addr][in.A] += w * (lanes - costVector)
			for _, o := range e.expand {
				if o.Slot != a.accessed(in).Addr || o.Row != in.A {
					wanted[o.Slot][o.Row] += w
				}
			}
			return
		}
		cost += w * lanes
		for _, o := range e.expand {
			wanted[o.Slot][o.Row] += w
		}
	})
	for s := range saved {
		for i, n := range wanted[s] {
			extra := 0.0
			switch {
			case n == 0 || a.opt.Eager:
			case n >= written[s][i]:
				a.both[s][i] = true
				extra = written[s][i] * costFill(code.Slot(s))
			default:
				extra = n * (costTag + costFill(code.Slot(s)))
			}
			cost += extra
			saved[s][i] -= extra
		}
	}
	return cost, saved
}

// compact reports whether an operand may be compact.
func (a *analysis) compact(s code.Slot, row int32) bool {
	return row < 0 || a.keeping(s, row) != code.InLanes // fixed ones too
}

// accessesCompactly reports whether a memory access may be executed at a compact
// address: in local memory, at a uniform one.
func (a *analysis) accessesCompactly(in *node) bool {
	m := a.accessed(in)
	return m.Addr != code.NoSlot && a.compact(m.Addr, in.A) && (m.Space != ptx.Local || a.of(m.Addr, in.A) == affinetrack.Uniform)
}

func (a *analysis) comparesCompactly(in *node) bool {
	s := in.sig
	return a.compact(s.Src[0], in.A) && a.compact(s.Src[1], in.B)
}

// refine pins rows that are not worth being compact: one after another those that
// cost more than they save by themselves, if the function gets cheaper by it, for
// others may depend on them. If there are more than are tried, all together first.
func (a *analysis) refine() {
	a.classify()
	cost, saved := a.settle()
	if a.opt.Eager {
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
		trials := min(mostTrials, mostWork/max(len(a.nodes), 1))
		if len(bad) > trials {
			pin := func(is bool) {
				for _, r := range bad {
					a.pinned[r.at.Slot][r.at.Row] = is
				}
				a.classify()
			}
			pin(true)
			if c, s := a.settle(); c < cost {
				cost, saved = c, s
				continue
			}
			pin(false)
			bad = bad[:trials]
		}
		for _, r := range bad {
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

// prove finds the rows that are provably uniform, and compact: those that only instructions write which all
// lanes execute that live, with results that are the same in all, and with operands that are such rows.
func (a *analysis) prove() {
	for s := range a.proved {
		for i, elsewhere := range a.pinned[s] {
			a.proved[s][i] = !elsewhere
		}
		for _, row := range a.virtual[s].zero { // what is read before it is written holds anything
			a.proved[s][row] = false
		}
	}
	holds := func(o code.Row) bool { return a.fixed[o.Slot][o.Row] || a.proved[o.Slot][o.Row] }
	a.settled(func() (changed bool) {
		a.each(func(in *node) {
			if in.Guard == 0 && !a.apart[in.block] && in.spacing.uniform() && !slices.ContainsFunc(in.reads, func(o code.Row) bool { return !holds(o) }) {
				return
			}
			for _, o := range in.writes {
				if p := &a.proved[o.Slot][o.Row]; *p {
					*p, changed = false, true
				}
			}
		})
		return changed
	})
}

func keep(list []code.Row, ok func(code.Row) bool) []code.Row {
	var out []code.Row
	for _, o := range list {
		if ok(o) {
			out = append(out, o)
		}
	}
	return out
}
