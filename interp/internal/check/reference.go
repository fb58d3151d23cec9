package check

// This file pairs the instructions of the engine with the instructions of the reference.

import (
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// NewReference pairs the code of a kernel with its reference.
func NewReference(c, ref *machine.Kernel) *machine.Reference {
	r := &machine.Reference{Kernel: ref, CheckedBlocks: make([]machine.CheckedBlock, len(c.Blocks)), Pairs: make([][]machine.InstrPair, len(c.Blocks))}
	fixed := 0
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for pc := b.First; pc <= b.Last; pc++ {
			for ; fixed < len(c.Fixed) && c.Fixed[fixed].BeforePC == pc; fixed++ {
				p := machine.InstrPair{From: pc, To: pc, Original: &c.Fixed[fixed].Instr, Reference: &ref.Fixed[fixed].Instr, Kernel: alu.Vec[ref.Fixed[fixed].Op], Computes: true, Combinable: true}
				p.Reads, p.Writes = c.PairOperands(p.Original, ref, p.Reference)
				p.Needed = p.Writes
				r.Pairs[i] = append(r.Pairs[i], p)
			}
			if pc < b.Last {
				p := machine.InstrPair{Instr: &c.Instrs[pc], From: pc, To: pc + 1, Original: &c.Instrs[pc], Reference: &ref.Instrs[pc], Kernel: alu.Vec[ref.Instrs[pc].Op]}
				p.Reads, p.Writes = c.PairOperands(p.Instr, ref, p.Reference)
				p.Needed = p.Writes
				p.OnLanes = p.Instr.Plan.Exec == code.OnLanes
				switch p.Instr.Op.Signature().Kind {
				case code.Arithmetic:
					p.Computes, p.Combinable = !p.OnLanes && alu.Vec[p.Instr.Op] != nil && p.Kernel != nil, true
				case code.Read:
					p.Computes, p.Combinable = !p.OnLanes, true
				case code.Load, code.Store:
					p.Combinable = p.OnLanes
				}
				p.Proved = slices.ContainsFunc(p.Writes, func(rows machine.RowPair) bool { return c.Funcs[b.Func].KeepingOf(rows.Row)&code.StorageProved != 0 })
				r.Pairs[i] = append(r.Pairs[i], p)
			}
		}
		findUncheckedReads(r.Pairs[i])
		r.CheckedBlocks[i].EndGuard, r.CheckedBlocks[i].EndReads = ref.End(&ref.Blocks[i]).Guard, endReads(c, b, ref)
	}
	if len(c.Funcs) == 1 && !c.Funcs[0].Allocates { // calls and allocations read more than is listed
		findNeededResults(r)
	}
	for i, pairs := range r.Pairs {
		r.CheckedBlocks[i].Runs = divideIntoRuns(pairs, c.Instrs)
		for j := range pairs {
			single := newRun(pairs[j:j+1], c.Instrs)
			pairs[j].SingleRun = &single
		}
	}
	return r
}

// findNeededResults leaves out results on the lanes that the reference does not need: they are read in their own block
// only, on the lanes, and are never compared.
func findNeededResults(r *machine.Reference) {
	wanted, in := map[code.Row]bool{}, map[code.Row]int{} // by row of the reference: whether it is, and the block that names it
	for i, pairs := range r.Pairs {
		written := map[code.Row]bool{}
		name := func(list []machine.RowPair) {
			for _, rows := range list {
				if block, ok := in[rows.Reference]; ok && block != i {
					wanted[rows.Reference] = true
				}
				in[rows.Reference] = i
			}
		}
		need := func(list []machine.RowPair) {
			for _, rows := range list {
				wanted[rows.Reference] = true
			}
		}
		guard := func(g int32) {
			if row, _ := code.GuardRow(g); g != 0 {
				wanted[code.Row{Slot: code.P, Row: row}] = true
			}
		}
		for k := range pairs {
			p := &pairs[k]
			guard(p.Reference.Guard)
			name(p.Reads)
			for _, rows := range p.Reads {
				if !p.OnLanes || !written[rows.Reference] || slices.Contains(p.UncheckedReads, rows) {
					wanted[rows.Reference] = true
				}
			}
			name(p.Writes)
			if p.Guarded || !p.OnLanes {
				need(p.Writes)
			}
			for _, rows := range p.Writes {
				written[rows.Reference] = true
			}
		}
		guard(r.CheckedBlocks[i].EndGuard)
		need(r.CheckedBlocks[i].EndReads)
	}
	for i := range r.Pairs {
		for k := range r.Pairs[i] {
			p := &r.Pairs[i][k]
			p.Needed = slices.DeleteFunc(slices.Clone(p.Writes), func(rows machine.RowPair) bool { return !wanted[rows.Reference] })
		}
	}
}

// findUncheckedReads finds the operands that a block has not compared yet when an instruction reads them. An
// instruction on the lanes may skip rows that were compared or copied in the block, if only instructions on the lanes
// have named them since. An access may skip address registers that compact instructions of the block have left.
func findUncheckedReads(pairs []machine.InstrPair) {
	rows, compact := newPairSet(), newPairSet()
	for i := range pairs {
		p := &pairs[i]
		p.Guarded = p.Reference.Guard != 0 || p.Instr != nil && p.Instr.Guard != 0
		if p.Reference.Op.Collective() { // waiting lanes may continue from here
			rows.clear()
			compact.clear()
			p.UncheckedReads = p.Reads
			continue
		}
		if p.UncheckedReads = p.Reads; p.OnLanes {
			p.UncheckedReads = rows.without(p.Reads)
		}
		p.AddressChecked = len(p.Reads) > 0 && compact.members[p.Reads[0]]
		if p.OnLanes && !p.Guarded {
			rows.add(p.Reads)
		}
		rows.overwrite(p.Writes)
		compact.overwrite(p.Writes)
		switch {
		case p.OnLanes:
			compact.remove(p.Writes)
			if !p.Guarded {
				rows.add(p.Writes)
			}
		default: // it may materialise its operands
			rows.remove(p.Reads)
			rows.remove(p.Writes)
			if !p.Guarded {
				compact.add(p.Writes)
			}
		}
	}
}

// pairSet is a set of registers.
type pairSet struct {
	members map[machine.RowPair]bool
	rows    [2]map[code.Row][]machine.RowPair // by row, for the engine and the reference: present and former members of the set
}

func newPairSet() *pairSet {
	return &pairSet{map[machine.RowPair]bool{}, [2]map[code.Row][]machine.RowPair{{}, {}}}
}

func (s *pairSet) add(list []machine.RowPair) {
	for _, rows := range list {
		if !s.members[rows] {
			s.members[rows] = true
			s.rows[0][rows.Row] = append(s.rows[0][rows.Row], rows)
			s.rows[1][rows.Reference] = append(s.rows[1][rows.Reference], rows)
		}
	}
}

func (s *pairSet) remove(list []machine.RowPair) {
	for _, rows := range list {
		delete(s.members, rows)
	}
}

// overwrite removes the registers whose rows are overwritten, in the engine or in the reference.
func (s *pairSet) overwrite(list []machine.RowPair) {
	for _, rows := range list {
		in := s.members[rows]
		s.removeRow(0, rows.Row)
		s.removeRow(1, rows.Reference)
		if in {
			s.add([]machine.RowPair{rows})
		}
	}
}

// removeRow removes the registers that are in a row.
func (s *pairSet) removeRow(target int, row code.Row) {
	s.remove(s.rows[target][row])
	delete(s.rows[target], row)
}

func (s *pairSet) clear() {
	clear(s.members)
	clear(s.rows[0])
	clear(s.rows[1])
}

// without returns the elements of a list that are not in the set.
func (s *pairSet) without(list []machine.RowPair) (rest []machine.RowPair) {
	for _, rows := range list {
		if !s.members[rows] {
			rest = append(rest, rows)
		}
	}
	return rest
}

// maxRunLength is the maximum number of instructions of a run.
const maxRunLength = 32

// divideIntoRuns divides a block into runs: neighbouring instructions without guards, none of which can block, that all
// execute on the lanes, once for engine and reference, or all otherwise. (In a mixed run, both would read a row that a
// wrong compact instruction has spoiled.) Operands are compared before a run and results after it. So a run writes no
// row twice, and no instruction of it writes an operand that must be compared for a later instruction.
func divideIntoRuns(pairs []machine.InstrPair, instrs []code.Instr) (runs []machine.InstrRun) {
	for rest := pairs; len(rest) > 0; {
		first := &rest[0]
		rows, refs := map[code.Row]bool{}, map[code.Row]bool{} // that are written
		canCombine := func(p *machine.InstrPair) bool {
			if p.OnLanes != first.OnLanes || !p.Combinable || !first.Combinable || p.Guarded || first.Guarded {
				return false
			}
			written := func(o machine.RowPair) bool { return rows[o.Row] || refs[o.Reference] }
			return !slices.ContainsFunc(p.Writes, written) && !(p.OnLanes && slices.ContainsFunc(p.UncheckedReads, written))
		}
		n := 0
		for n < min(len(rest), maxRunLength) && (n == 0 || canCombine(&rest[n])) {
			for _, o := range rest[n].Writes {
				rows[o.Row], refs[o.Reference] = true, true
			}
			n++
		}
		assignSaveSlots(rest[:n])
		runs = append(runs, newRun(rest[:n], instrs))
		rest = rest[n:]
	}
	return runs
}

// assignSaveSlots assigns the operands and results of a run that must be saved to places in the saved state.
func assignSaveSlots(list []machine.InstrPair) {
	operand, result := int32(0), int32(0)
	for i := range list {
		p := &list[i]
		p.OperandIndex, p.ResultIndex = operand, result
		operand, result = operand+int32(len(p.Reads)), result+int32(len(p.Writes))
	}
	overwritten := map[code.Row]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		p := &list[i]
		for _, rows := range p.Writes {
			overwritten[rows.Row] = true
		}
		for k, rows := range p.Reads {
			if k < 64 && rows.Row.Slot != code.P && overwritten[rows.Row] {
				p.OverwrittenReads |= 1 << k
			}
		}
	}
}

// newRun makes a run of instructions; instrs is the code of the engine.
func newRun(list []machine.InstrPair, instrs []code.Instr) machine.InstrRun {
	first, last := &list[0], &list[len(list)-1]
	out := machine.InstrRun{Pairs: list, Instrs: instrs[first.From:last.To], Guarded: first.Guarded, Results: slices.Clip(first.Writes), Needed: slices.Clip(first.Needed)}
	if first.OnLanes {
		out.OnLanes, out.Sources = true, slices.Clip(first.UncheckedReads)
	}
	for i := range list {
		p := &list[i]
		out.Counts = addToCounts(out.Counts, p)
		out.SavesOperands = out.SavesOperands || p.OverwrittenReads != 0
		if p.Proved {
			out.ProvedEnd = i + 1
		}
		if i == 0 {
			continue
		}
		out.Results, out.Needed = append(out.Results, p.Writes...), append(out.Needed, p.Needed...)
		if out.OnLanes {
			out.Sources = append(out.Sources, p.UncheckedReads...)
		}
	}
	return out
}

// endReads lists the operands of a block's end, its guard left out.
func endReads(c *machine.Kernel, b *code.Block, ref *machine.Kernel) []machine.RowPair {
	end, rend := c.End(b), ref.End(b)
	reads, _ := c.PairOperands(end, ref, rend)
	if end.Op == code.Pop {
		fn, rfn := c.Funcs[b.Func], ref.Funcs[b.Func]
		for i, o := range fn.Results {
			if o.Slot != code.NoSlot {
				reads = append(reads, machine.RowPair{Row: code.Row{Slot: o.Slot, Row: o.Row}, Reference: code.Row{Slot: o.Slot, Row: rfn.Results[i].Row}})
			}
		}
	}
	return reads
}
