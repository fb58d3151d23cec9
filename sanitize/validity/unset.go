package validity

// This file finds the instructions that may handle a register without a value. Compilers leave registers unwritten on paths on which
// their values do not matter. A warp with such registers needs the events of these instructions only, as long as nothing else makes
// a register invalid.

import "gemu/ptx"

// rowSet is a set of rows of a function.
type rowSet []uint64

func (s rowSet) has(row int) bool { return row >= 0 && s[row/64]>>(row%64)&1 != 0 }

func (s rowSet) add(row int) {
	if row >= 0 {
		s[row/64] |= 1 << (row % 64)
	}
}

func (s rowSet) remove(row int) {
	if row >= 0 {
		s[row/64] &^= 1 << (row % 64)
	}
}

// hasAny reports whether one of the rows is in the set.
func (s rowSet) hasAny(rows []int) bool {
	for _, r := range rows {
		if s.has(r) {
			return true
		}
	}
	return false
}

// addAll adds all rows of o, and reports whether the set has changed.
func (s rowSet) addAll(o rowSet) (changed bool) {
	for i := range s {
		changed = changed || o[i]&^s[i] != 0
		s[i] |= o[i]
	}
	return changed
}

// taintedPart limits the tainted instructions to 1/taintedPart of a program. If there are more, it takes less time to receive all events
// until the registers are written. Tests set it to 1.
var taintedPart = 4

// findTainted sets step.tainted, and plan.easesUnset. Lanes at different places may exchange values, so if one such instruction is
// tainted, all are.
func (p *plan) findTainted() {
	steps := map[*ptx.Instr]*step{}
	for i := range p.steps {
		steps[p.steps[i].instr] = &p.steps[i]
	}
	crosses := false
	for _, f := range p.funcs {
		if len(f.unset) > 0 {
			crosses = f.taint(steps, false) || crosses
		}
	}
	if crosses {
		for _, f := range p.funcs {
			f.taint(steps, true)
		}
	}
	n := 0
	for i := range p.steps {
		if p.steps[i].tainted {
			n++
		}
	}
	if p.easesUnset = n <= len(p.steps)/taintedPart; !p.easesUnset {
		for i := range p.steps {
			p.steps[i].tainted = false
		}
	}
}

// taint sets step.tainted of the function's instructions: a register that the instruction uses or writes may be unwritten, or computed
// from unwritten registers. It reports whether an instruction that lanes at different places may execute together is tainted; with
// crossing, all of these count as tainted.
func (f *function) taint(steps map[*ptx.Instr]*step, crossing bool) (crosses bool) {
	n := (f.rows + 63) / 64
	in := make([]rowSet, len(f.fn.Blocks)) // the rows that may be invalid at the beginning of each block
	for i := range in {
		in[i] = make(rowSet, n)
	}
	for i := range f.unset {
		in[0].add(f.row(&f.unset[i]))
	}
	pending := []int{0}
	queued := make([]bool, len(in))
	visited := make([]bool, len(in))
	for len(pending) > 0 {
		b := f.fn.Blocks[pending[len(pending)-1]]
		pending = pending[:len(pending)-1]
		queued[b.Index], visited[b.Index] = false, true
		rows := append(rowSet(nil), in[b.Index]...)
		for _, instr := range b.Instrs {
			if s := steps[instr]; s != nil {
				s.taint(rows, crossing)
				crosses = crosses || s.tainted && s.crossesPlaces
			}
		}
		for _, next := range b.Succs {
			if changed := in[next.Index].addAll(rows); (changed || !visited[next.Index]) && !queued[next.Index] {
				queued[next.Index] = true
				pending = append(pending, next.Index)
			}
		}
	}
	return crosses
}

// taint sets tainted, and updates the rows that may be invalid.
func (s *step) taint(rows rowSet, crossing bool) {
	crossing = crossing && s.crossesPlaces
	s.tainted = s.tainted || crossing || rows.has(s.guard)
	for i := range s.uses {
		s.tainted = s.tainted || rows.has(s.uses[i].row) || rows.has(s.uses[i].high)
	}
	for i := range s.actions {
		a := &s.actions[i]
		invalid := crossing || rows.hasAny(a.sources)
		s.tainted = s.tainted || invalid || rows.hasAny(a.results)
		for _, r := range a.results {
			switch {
			case invalid && !a.behavior.isMemory() && a.behavior != behaviorNone:
				rows.add(r)
			case s.guard < 0:
				rows.remove(r)
			}
		}
	}
}
