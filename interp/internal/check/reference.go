package check

// This file pairs the instructions of the engine with the instructions of the reference, and divides each block into runs.

import (
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// NewReference pairs the code c of a kernel with its reference lowering ref.
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
	if len(c.Funcs) == 1 && !c.Funcs[0].Allocates { // calls and allocations read registers that Reads does not list
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

// findNeededResults sets Needed: it leaves out results on the lanes that the reference need not have. These are results
// that only the same block reads, only on the lanes, and that are never compared.
func findNeededResults(r *machine.Reference) {
	wanted := map[code.Row]bool{} // rows of the reference that it must have
	naming := map[code.Row]int{}  // by row of the reference: the block that last named it
	for i, pairs := range r.Pairs {
		written := map[code.Row]bool{}
		name := func(list []machine.RowPair) {
			for _, rows := range list {
				if block, ok := naming[rows.Reference]; ok && block != i {
					wanted[rows.Reference] = true
				}
				naming[rows.Reference] = i
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
		for j := range pairs {
			p := &pairs[j]
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
		for j := range r.Pairs[i] {
			p := &r.Pairs[i][j]
			p.Needed = slices.DeleteFunc(slices.Clone(p.Writes), func(rows machine.RowPair) bool { return !wanted[rows.Reference] })
		}
	}
}

// findUncheckedReads sets UncheckedReads and AddressChecked of the instructions of a block: it finds the operands that the
// block has not compared yet when an instruction reads them.
//
// An instruction on the lanes need not compare a row that was compared or copied earlier in the block, if only instructions
// on the lanes have read or written the row since. An access need not compare an address register that a compact
// instruction of the block has written, if no other instruction has written it since.
func findUncheckedReads(pairs []machine.InstrPair) {
	rows, compact := newPairSet(), newPairSet()
	for i := range pairs {
		p := &pairs[i]
		p.Guarded = p.Reference.Guard != 0 || p.Instr != nil && p.Instr.Guard != 0
		if p.Reference.Op.Collective() { // lanes that wait for others may continue with the next instruction
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

// pairSet is a set of registers (pairs of a row of the engine and a row of the reference).
type pairSet struct {
	members map[machine.RowPair]bool
	// rows[0] has the present and former members by row of the engine, rows[1] by row of the reference.
	rows [2]map[code.Row][]machine.RowPair
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

// overwrite removes the registers that share a row with a register of the list, in the engine or in the reference, except
// the listed registers themselves.
func (s *pairSet) overwrite(list []machine.RowPair) {
	for _, rows := range list {
		present := s.members[rows]
		s.removeRow(0, rows.Row)
		s.removeRow(1, rows.Reference)
		if present {
			s.add([]machine.RowPair{rows})
		}
	}
}

// removeRow removes the registers in a row: of the engine if side is 0, of the reference if side is 1.
func (s *pairSet) removeRow(side int, row code.Row) {
	s.remove(s.rows[side][row])
	delete(s.rows[side], row)
}

func (s *pairSet) clear() {
	clear(s.members)
	clear(s.rows[0])
	clear(s.rows[1])
}

// without returns the elements of a list that are not in the set.
func (s *pairSet) without(list []machine.RowPair) (missing []machine.RowPair) {
	for _, rows := range list {
		if !s.members[rows] {
			missing = append(missing, rows)
		}
	}
	return missing
}

// maxRunLength is the maximum number of instructions of a run.
const maxRunLength = 32

// divideIntoRuns divides a block into runs of neighbouring instructions. An instruction with a guard, and an instruction
// that can block, is a run of its own. The instructions of any other run all execute on the lanes (once, for engine and
// reference), or none does: in a mixed run a wrong compact instruction could spoil a row, and both engine and reference
// would then read this row.
//
// Operands are compared before a run and results after it. So a run writes no row twice, and no instruction of a run writes
// an operand that a later instruction of the run must compare.
func divideIntoRuns(pairs []machine.InstrPair, instrs []code.Instr) (runs []machine.InstrRun) {
	for rest := pairs; len(rest) > 0; {
		first := &rest[0]
		rows, refs := map[code.Row]bool{}, map[code.Row]bool{} // written rows of the engine and of the reference
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

// assignSaveSlots sets OperandIndex and ResultIndex, the indices of an instruction's operands and results in the saved
// state, and OverwrittenReads.
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

// newRun returns the run of the listed instructions; instrs is the code of the engine.
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

// endReads lists the operands of a block's end, without its guard.
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
