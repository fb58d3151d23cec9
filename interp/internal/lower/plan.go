package lower

// This file is the pass plan. It decides how each instruction of a function executes in affine mode: on lanes, as in
// vector mode; on compact operands if the shadows of the operands hold the lanes' values when it executes; once and without
// checking shadows, because its result is proved uniform; or once for the whole launch.
//
// The analysis works on virtual rows. First it computes the most regular class that each row can have: the fixpoint of
// affinetrack.Transfer over all writers of the row. Then it excludes the rows whose shadows would cost more than they save.
// Finally it proves rows uniform: a row is proved if all its writers have proved operands and are in blocks that all live
// lanes execute together. The readers of a proved row always find it compact.

import (
	"cmp"
	"errors"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// execution is the way an instruction executes.
type execution struct {
	exec        code.Exec
	materialise []code.Row // operands whose value may be only in the shadow
	dropsShadow []code.Row // results whose shadow may hold an older value
}

// analysis is the state of the pass plan.
type analysis struct {
	*lowerer

	// By slot and virtual row.
	class          [code.P + 1][]affinetrack.Class // Unknown if the row is not written
	pinned         [code.P + 1][]bool              // the class stays Generic
	inBoth         [code.P + 1][]bool              // the storage is code.StorageBoth
	proved         [code.P + 1][]bool              // proved uniform: see proveUniform
	launchConstant [code.P + 1][]bool              // see findLaunchConstants

	weight []float64 // estimated number of executions of each block
}

// plan decides the storage of the function's virtual rows and the execution of its instructions. It moves the instructions
// that compute launch constants to l.folded.
func (l *lowerer) plan() {
	a := &analysis{lowerer: l}
	for s := range l.virtual {
		n := len(l.virtual[s].residence)
		a.class[s] = make([]affinetrack.Class, n)
		a.pinned[s] = make([]bool, n)
		a.inBoth[s] = make([]bool, n)
		a.proved[s] = make([]bool, n)
		a.launchConstant[s] = make([]bool, n)
	}
	a.pinOtherWrites()
	a.findLaunchConstants()
	a.estimateWeights()
	a.refine()
	if l.fn.Entry {
		a.proveUniform()
	}
	for s := range l.virtual {
		for row := range l.virtual[s].residence {
			l.virtual[s].residence[row] = a.residenceOf(code.Slot(s), int32(row))
		}
	}
	kept := func(r code.Row) code.Storage { return l.virtual[r.Slot].residence[r.Row] }
	for i := range a.nodes {
		instr := &a.nodes[i]
		instr.Plan = l.tables.PlanOf(instr.Instr, a.execution(instr).exec, kept)
	}
	a.foldLaunchConstants()
}

// foldLaunchConstants moves the instructions that compute launch constants from their blocks to a.folded.
func (a *analysis) foldLaunchConstants() {
	for b := range a.blocks {
		kept := a.blocks[b].instrs[:0]
		for _, instr := range a.blocks[b].instrs {
			if a.isLaunchConstant(a.tables.Writes(nil, &instr)) {
				a.folded = append(a.folded, folded{instr, int32(b), int32(len(kept))})
			} else {
				kept = append(kept, instr)
			}
		}
		a.blocks[b].instrs = kept
	}
}

// residenceOf returns the storage of a virtual row that follows from the analysis so far.
func (a *analysis) residenceOf(s code.Slot, row int32) code.Storage {
	switch {
	case s != code.R && s != code.Q:
		return code.StorageLanes
	case a.launchConstant[s][row]:
		return code.StorageFixed
	case a.class[s][row] == affinetrack.Generic || a.class[s][row] == affinetrack.Unknown:
		return code.StorageLanes
	}
	k := code.StorageShadow
	if a.inBoth[s][row] {
		k |= code.StorageBoth
	}
	if a.proved[s][row] {
		k |= code.StorageProved
	}
	return k
}

// each calls visit for every instruction within blocks, in order.
func (a *analysis) each(visit func(instr *node)) {
	for i := range a.nodes {
		visit(&a.nodes[i])
	}
}

// pinOtherWrites pins the rows that change outside instructions of blocks (see eachOtherWrite), and the upper halves of
// 128-bit registers, which memory accesses do not materialise.
func (a *analysis) pinOtherWrites() {
	a.eachOtherWrite(func(o code.Row) { a.pinned[o.Slot][o.Row] = true })
	for _, r := range a.rows {
		if r.wide {
			a.pinned[r.Slot][r.High] = true
		}
	}
}

// findLaunchConstants finds the launch constants: rows with the same value at every read in a launch. These are parameters
// of the kernel, extents of the grid, and values computed from them, if the row has a single writer that precedes all
// readers. They become constants that are computed when a launch begins.
func (a *analysis) findLaunchConstants() {
	writers := [code.P + 1][]int{}
	for s := range a.launchConstant {
		writers[s] = make([]int, len(a.launchConstant[s]))
	}
	a.each(func(instr *node) {
		for _, o := range instr.writes {
			writers[o.Slot][o.Row]++
		}
	})
	for s := range a.virtual {
		for _, row := range a.virtual[s].zero { // may be read before it is written
			writers[s][row]++
		}
	}
	a.each(func(instr *node) {
		w := instr.writes
		if instr.Guard != 0 || len(w) != 1 {
			return
		}
		d := w[0]
		if d.Slot == code.P || writers[d.Slot][d.Row] != 1 || a.pinned[d.Slot][d.Row] {
			return
		}
		switch instr.sig.Kind {
		case code.Arithmetic:
		case code.Read:
			if !instr.Op.Special() || !ptx.SpecialReg(instr.Imm).Fixed() {
				return
			}
		case code.Load:
			m := a.nodeAccess(instr)
			if m.Space != ptx.Param || len(m.Elems) != 1 || m.FixedPointer() == nil {
				return
			}
		default:
			return
		}
		for _, r := range instr.reads {
			if !a.launchConstant[r.Slot][r.Row] {
				return
			}
		}
		a.launchConstant[d.Slot][d.Row] = true
	})
}

// isLaunchConstant reports whether the rows that an instruction writes are a single launch constant.
func (a *analysis) isLaunchConstant(writes []code.Row) bool {
	return len(writes) == 1 && a.launchConstant[writes[0].Slot][writes[0].Row]
}

// estimateWeights estimates how often each block runs: eight times as often for each enclosing loop, for at most four
// loops. A jump back to a block counts as a loop of all blocks from the target to the jump.
func (a *analysis) estimateWeights() {
	depth := make([]int, len(a.blocks)+1) // loops beginning at a block, minus loops ended before it
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

// classOf returns the class of an operand. A constant is uniform, and so is a row before its first write.
func (a *analysis) classOf(s code.Slot, row int32) affinetrack.Class {
	if row < 0 || a.launchConstant[s][row] {
		return affinetrack.Uniform
	}
	return max(a.class[s][row], affinetrack.Uniform)
}

// classify computes the classes of all rows, given the pinned rows.
func (a *analysis) classify() {
	for s := range a.class {
		for i := range a.class[s] {
			a.class[s][i] = affinetrack.Unknown
			if a.pinned[s][i] {
				a.class[s][i] = affinetrack.Generic
			}
		}
	}
	a.untilStable(func() (changed bool) {
		a.each(func(instr *node) {
			for _, o := range instr.writes {
				if c := &a.class[o.Slot][o.Row]; *c < affinetrack.Generic {
					if r := a.transfer(instr, o); r > *c {
						*c, changed = r, true
					}
				}
			}
		})
		return changed
	})
}

// untilStable repeats a step until it changes nothing. It terminates because each step moves a row or a block in one
// direction only.
func (a *analysis) untilStable(step func() (changed bool)) {
	limit := len(a.blocks)
	for s := range a.class {
		limit += int(affinetrack.Generic) * len(a.class[s])
	}
	for n := 0; step(); n++ {
		if n > limit {
			panic(errors.New("BUG: the plan does not settle"))
		}
	}
}

// transfer returns the best class of the result o of an instruction.
func (a *analysis) transfer(instr *node, o code.Row) affinetrack.Class {
	switch instr.sig.Kind {
	case code.Arithmetic:
		var list []affinetrack.Class
		for i, row := range instr.Sources() {
			if s := instr.sig.Src[i]; s != code.NoSlot {
				list = append(list, a.classOf(s, row)) // constants are operands, too
			}
		}
		return affinetrack.Transfer(instr.sig.Rule, list)
	case code.Read:
		return a.readSpacing(instr).Class()
	case code.Load:
		m := a.nodeAccess(instr)
		if m.Space == ptx.Local || a.classOf(m.Addr, instr.A) != affinetrack.Uniform {
			return affinetrack.Generic
		}
		for _, o := range instr.writes { // the elements of a vector are all compact or none is
			if a.class[o.Slot][o.Row] == affinetrack.Generic {
				return affinetrack.Generic
			}
		}
		return affinetrack.Uniform
	}
	return affinetrack.Generic
}

// compactKernel returns the way to execute a kernel on operands that may be compact.
func compactKernel(s *code.Signature) code.Exec {
	if hasPredicates(s) {
		return code.CompactMixed
	}
	return code.CompactOne + code.Exec(s.Sources()-1) // with four sources: CompactMixed
}

// hasPredicates reports whether a kernel has predicates among its operands.
func hasPredicates(s *code.Signature) bool {
	return s.Dst2 != code.NoSlot || slices.Contains(s.Src[:], code.P)
}

// execution returns the way an instruction executes, given the classes and the rows in both places.
func (a *analysis) execution(instr *node) execution {
	var e execution
	e.materialise = filter(instr.reads, func(o code.Row) bool {
		return a.residenceOf(o.Slot, o.Row)&(code.StorageShadow|code.StorageBoth) == code.StorageShadow
	})
	e.dropsShadow = filter(instr.writes, func(o code.Row) bool { return a.residenceOf(o.Slot, o.Row)&code.StorageShadow != 0 })
	s := instr.sig
	switch s.Kind {
	case code.Arithmetic:
		switch {
		case s.Compares() && a.comparesCompactly(instr):
			e.exec = code.CompactCompare
		case len(e.dropsShadow) == 0:
		case a.proved[e.dropsShadow[0].Slot][e.dropsShadow[0].Row] && !hasPredicates(s):
			e.exec = code.ProvedOne + code.Exec(s.Sources()-1)
		default:
			e.exec = compactKernel(s)
		}
	case code.Read:
		if len(e.dropsShadow) > 0 {
			e.exec = code.CompactSource
		}
	case code.Load, code.Store:
		switch {
		case len(e.dropsShadow) > 0:
			e.exec = code.CompactLoad
		case !a.accessesCompactly(instr):
		case a.nodeAccess(instr).Space == ptx.Local:
			e.exec = code.CompactLocal
		case s.Kind == code.Load:
			e.exec = code.CompactLoad
		default:
			e.exec = code.CompactStore
		}
	}
	if e.exec == code.OnLanes && len(e.materialise) > 0 {
		e.exec = code.Materialised
	}
	return e
}

// The costs of execution in machine code, in tenths of a nanosecond on the machine where this was written; only their
// ratios matter. The costs of instructions on lanes are measured for independent instructions (BenchmarkProgressions). A
// compact instruction often waits for the result of the preceding instruction. Its cost includes this latency in full,
// because the workloads are fastest with it.
const (
	costRow            = 15  // any instruction on lanes of 32 bits, except:
	costWide           = 26  // on lanes of 64 bits
	costSpecial        = 250 // a special function, or a division
	costNeighbours     = 25  // a memory access with lanes proved to be at consecutive places or at the same place
	costAccess         = 60  // any other memory access
	costCompact        = 30  // any instruction on compact operands, proved uniform or not, except:
	costCompactSpecial = 240 // a special function on compact operands; its latency is the same as on all lanes
	costVector         = 40  // a memory access at a compact address
	costTag            = 4   // detection of an operand in its row
)

// costFill returns the cost of writing a compact operand to its row.
func costFill(s code.Slot) float64 {
	if s == code.Q {
		return costWide
	}
	return costRow
}

// costOnLanes returns the cost of an instruction on lanes. It does not depend on the number of active lanes.
func (a *analysis) costOnLanes(instr *node) float64 {
	switch instr.sig.Kind {
	case code.Load, code.Store:
		switch m := a.nodeAccess(instr); {
		case m.Addr == code.NoSlot:
		case m.Pattern == code.SameAddress || m.Pattern == code.Contiguous:
			return costNeighbours
		default:
			return costAccess
		}
	case code.Arithmetic:
		if a.isSpecial(instr) {
			return costSpecial
		}
		if instr.sig.Dst == code.Q || instr.sig.Src[0] == code.Q {
			return costWide
		}
	}
	return costRow
}

// isSpecial reports whether an operation is a special function or a division.
func (a *analysis) isSpecial(instr *node) bool {
	return a.prog.Sources[instr.Src].Form.Class == ptx.ClassSFU
}

// chooseBoth selects the rows to keep both compactly and on lanes, given the classes. It returns the cost of the function,
// and for each row the cost that its own compactness saves, without the effect on other rows; negative if it costs more.
func (a *analysis) chooseBoth() (cost float64, saved [code.P + 1][]float64) {
	var written, wanted [code.P + 1][]float64 // weighted numbers of writes, and of reads by instructions on lanes
	for s := range a.class {
		clear(a.inBoth[s])
		saved[s] = make([]float64, len(a.class[s]))
		written[s] = make([]float64, len(a.class[s]))
		wanted[s] = make([]float64, len(a.class[s]))
	}
	a.each(func(instr *node) {
		if a.isLaunchConstant(instr.writes) {
			return
		}
		w := a.weight[instr.block]
		e := a.execution(instr)
		s := instr.sig
		lanes := a.costOnLanes(instr)
		switch {
		case len(e.dropsShadow) > 0 || s.Compares() && a.comparesCompactly(instr):
			compact := float64(costCompact)
			if s.Kind == code.Arithmetic && a.isSpecial(instr) {
				compact = costCompactSpecial
			}
			if instr.spacing.Group < affinetrack.WholeRow && !a.unspaced && len(e.dropsShadow) > 0 { // the result is often not compact: diverged lanes have written an operand, or an operand is loaded
				compact += costTag + costFill(e.dropsShadow[0].Slot) + lanes
			}
			cost += w * compact
			for _, o := range e.dropsShadow {
				saved[o.Slot][o.Row] += w * (lanes - compact)
				written[o.Slot][o.Row] += w
			}
			return
		case (s.Kind == code.Load || s.Kind == code.Store) && a.accessesCompactly(instr):
			cost += w * costVector
			saved[a.nodeAccess(instr).Addr][instr.A] += w * (lanes - costVector)
			for _, o := range e.materialise {
				if o.Slot != a.nodeAccess(instr).Addr || o.Row != instr.A {
					wanted[o.Slot][o.Row] += w
				}
			}
			return
		}
		cost += w * lanes
		for _, o := range e.materialise {
			wanted[o.Slot][o.Row] += w
		}
	})
	for s := range saved {
		for i, n := range wanted[s] {
			extra := 0.0
			switch {
			case n == 0 || a.opt.Eager:
			case n >= written[s][i]:
				a.inBoth[s][i] = true
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

// mayBeCompact reports whether an operand may be compact.
func (a *analysis) mayBeCompact(s code.Slot, row int32) bool {
	return row < 0 || a.residenceOf(s, row) != code.StorageLanes // including constants of the launch
}

// accessesCompactly reports whether a memory access may execute at a compact address; in local memory the address must
// be uniform.
func (a *analysis) accessesCompactly(instr *node) bool {
	m := a.nodeAccess(instr)
	return m.Addr != code.NoSlot && a.mayBeCompact(m.Addr, instr.A) && (m.Space != ptx.Local || a.classOf(m.Addr, instr.A) == affinetrack.Uniform)
}

// comparesCompactly reports whether a comparison may execute on compact operands.
func (a *analysis) comparesCompactly(instr *node) bool {
	s := instr.sig
	return a.mayBeCompact(s.Src[0], instr.A) && a.mayBeCompact(s.Src[1], instr.B)
}

// refine pins the rows that are not worth keeping compact. It tries to pin each row whose own saving is negative, the most
// negative first, and leaves it pinned if this reduces the cost of the whole function, because the classes of other rows
// may depend on it. If there are too many such rows, it first tries to pin all of them together.
func (a *analysis) refine() {
	a.classify()
	cost, saved := a.chooseBoth()
	if a.opt.Eager {
		return
	}
	for range 4 {
		type row struct {
			row   code.Row
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
		trials := min(maxTrials, maxWork/max(len(a.nodes), 1))
		if len(bad) > trials {
			pin := func(pinned bool) {
				for _, r := range bad {
					a.pinned[r.row.Slot][r.row.Row] = pinned
				}
				a.classify()
			}
			pin(true)
			if c, s := a.chooseBoth(); c < cost {
				cost, saved = c, s
				continue
			}
			pin(false)
			bad = bad[:trials]
		}
		for _, r := range bad {
			a.pinned[r.row.Slot][r.row.Row] = true
			a.classify()
			if c, s := a.chooseBoth(); c < cost {
				cost, saved, better = c, s, true
			} else {
				a.pinned[r.row.Slot][r.row.Row] = false
			}
		}
		if !better {
			break
		}
	}
	a.classify()
	a.chooseBoth()
}

// Limits of the time that refine spends on a function with many registers.
const (
	maxTrials = 64      // rows to try in a pass
	maxWork   = 1 << 20 // instructions to visit in a pass
)

// proveUniform finds the rows that are provably uniform and compact. All live lanes must execute every writer of such a
// row together. The result of each writer must be the same in all lanes, and its operands must be proved, too.
func (a *analysis) proveUniform() {
	for s := range a.proved {
		for i, otherWrites := range a.pinned[s] {
			a.proved[s][i] = !otherWrites
		}
		for _, row := range a.virtual[s].zero { // a row read before it is written may hold any value
			a.proved[s][row] = false
		}
	}
	holds := func(o code.Row) bool { return a.launchConstant[o.Slot][o.Row] || a.proved[o.Slot][o.Row] }
	a.untilStable(func() (changed bool) {
		a.each(func(instr *node) {
			if instr.Guard == 0 && !a.mayBeDivergent[instr.block] && instr.spacing.IsUniform() && !slices.ContainsFunc(instr.reads, func(o code.Row) bool { return !holds(o) }) {
				return
			}
			for _, o := range instr.writes {
				if p := &a.proved[o.Slot][o.Row]; *p {
					*p, changed = false, true
				}
			}
		})
		return changed
	})
}

// filter returns the rows for which ok is true.
func filter(list []code.Row, ok func(code.Row) bool) []code.Row {
	var out []code.Row
	for _, o := range list {
		if ok(o) {
			out = append(out, o)
		}
	}
	return out
}
