package simt

// This file pairs the code that check mode checks with that of its reference.

import (
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/probe"
)

// reference is a kernel lowered for reference, and how its instructions correspond to
// those of the code that is checked. Blocks, functions, sources and accesses have the
// same indices in both.
type reference struct {
	*Kernel
	pairs      [][]instrPair      // by block
	blocks     []checkedBlock     // by block
	operations []probe.Operations // by PTX instruction, once somebody wants to know
}

// instrPair is an instruction of the reference, and the same in the code that is checked.
type instrPair struct {
	instr  *code.Instr // nil: it was folded into a constant of the launch
	ref    *code.Instr
	kernel alu.Kernel // of ref, if it is one of package alu
	writes []rowPair

	onLanes        bool  // it runs as in vector mode
	computes       bool  // it does not, and only computes: kernels of package alu, special registers, what was folded
	combinable     bool  // it computes, or waits for no others
	guarded        bool  // in one of the ways at least
	proved         bool  // a result is taken to be uniform without a look at tags
	addressChecked bool  // the address of its access has been compared in the block: see settle
	from, to       int32 // its pc and the next; of what was folded, the pc where it was, and that again

	reads            []rowPair
	uncheckedReads   []rowPair   // of reads, those to compare before it runs on the lanes: see settle
	needed           []rowPair   // of writes, those that the reference needs if it runs on the lanes: see want
	overwrittenReads uint64      // bits i: reads[i] is a row that its run overwrites
	original         *code.Instr // in, or what was folded

	singleRun *instrRun // of this alone

	operandIndex, resultIndex int32 // where what is kept of its operands and results is, in a run
	operationIndex            int32 // of its PTX instruction's Parts
}

// instrRun is instructions that execute together: see divideIntoRuns.
type instrRun struct {
	pairs         []instrPair
	instrs        []code.Instr // of the code that is checked
	kind          runKind
	guarded       bool // it is one with a guard
	savesOperands bool // there are operands to be kept
	counts        runCounts
	provedEnd     int       // behind the last that is, from the first on
	sources       []rowPair // to be compared before they run on the lanes
	results       []rowPair
	needed        []rowPair // of results, those that the reference needs if they have run on the lanes
}

// runKind is how a run executes in both ways.
type runKind uint8

const (
	singleRun runKind = iota // by the engine, and by the reference if that can be
	batchRun                 // by the engine, then by the reference: they only compute
	sharedRun                // on the lanes, once for both
)

// checkedBlock is what a block executes in both ways.
type checkedBlock struct {
	runs     []instrRun
	endGuard int32     // of the reference's end
	endReads []rowPair // what the end reads besides
}

// rowPair is the places of a register: in the code that is checked, where it may be a
// constant, and in the reference.
type rowPair struct{ row, ref code.Row }

// newReference matches a kernel's code with its reference.
func newReference(c, ref *Kernel) *reference {
	r := &reference{Kernel: ref, blocks: make([]checkedBlock, len(c.Blocks)), pairs: make([][]instrPair, len(c.Blocks))}
	fixed := 0
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for pc := b.First; pc <= b.Last; pc++ {
			for ; fixed < len(c.Fixed) && c.Fixed[fixed].BeforePC == pc; fixed++ {
				p := instrPair{from: pc, to: pc, original: &c.Fixed[fixed].Instr, ref: &ref.Fixed[fixed].Instr, kernel: alu.Vec[ref.Fixed[fixed].Op], computes: true, combinable: true}
				p.reads, p.writes = c.operands(p.original, ref, p.ref)
				p.needed = p.writes
				r.pairs[i] = append(r.pairs[i], p)
			}
			if pc < b.Last {
				p := instrPair{instr: &c.Instrs[pc], from: pc, to: pc + 1, original: &c.Instrs[pc], ref: &ref.Instrs[pc], kernel: alu.Vec[ref.Instrs[pc].Op]}
				p.reads, p.writes = c.operands(p.instr, ref, p.ref)
				p.needed = p.writes
				p.onLanes = p.instr.Plan.Exec == code.OnLanes
				switch p.instr.Op.Signature().Kind {
				case code.Arithmetic:
					p.computes, p.combinable = !p.onLanes && alu.Vec[p.instr.Op] != nil && p.kernel != nil, true
				case code.Read:
					p.computes, p.combinable = !p.onLanes, true
				case code.Load, code.Store:
					p.combinable = p.onLanes
				}
				p.proved = slices.ContainsFunc(p.writes, func(rows rowPair) bool { return c.Funcs[b.Func].KeepingOf(rows.row)&code.StorageProved != 0 })
				r.pairs[i] = append(r.pairs[i], p)
			}
		}
		findUncheckedReads(r.pairs[i])
		r.blocks[i].endGuard, r.blocks[i].endReads = ref.End(&ref.Blocks[i]).Guard, endReads(c, b, ref)
	}
	if len(c.Funcs) == 1 && !c.Funcs[0].Allocates { // calls and allocations read more than is listed
		r.findNeededResults()
	}
	for i, pairs := range r.pairs {
		r.blocks[i].runs = divideIntoRuns(pairs, c.Instrs)
		for j := range pairs {
			single := newRun(pairs[j:j+1], c.Instrs)
			pairs[j].singleRun = &single
		}
	}
	return r
}

// findNeededResults leaves out results on the lanes that the reference need not have: those that are read
// in their block alone, on the lanes, without being compared.
func (r *reference) findNeededResults() {
	wanted, in := map[code.Row]bool{}, map[code.Row]int{} // by row of the reference: whether it is, and the block that names it
	for i, pairs := range r.pairs {
		written := map[code.Row]bool{}
		name := func(list []rowPair) {
			for _, rows := range list {
				if block, ok := in[rows.ref]; ok && block != i {
					wanted[rows.ref] = true
				}
				in[rows.ref] = i
			}
		}
		need := func(list []rowPair) {
			for _, rows := range list {
				wanted[rows.ref] = true
			}
		}
		guard := func(g int32) {
			if row, _ := code.GuardRow(g); g != 0 {
				wanted[code.Row{Slot: code.P, Row: row}] = true
			}
		}
		for k := range pairs {
			p := &pairs[k]
			guard(p.ref.Guard)
			name(p.reads)
			for _, rows := range p.reads {
				if !p.onLanes || !written[rows.ref] || slices.Contains(p.uncheckedReads, rows) {
					wanted[rows.ref] = true
				}
			}
			name(p.writes)
			if p.guarded || !p.onLanes {
				need(p.writes)
			}
			for _, rows := range p.writes {
				written[rows.ref] = true
			}
		}
		guard(r.blocks[i].endGuard)
		need(r.blocks[i].endReads)
	}
	for i := range r.pairs {
		for k := range r.pairs[i] {
			p := &r.pairs[i][k]
			p.needed = slices.DeleteFunc(slices.Clone(p.writes), func(rows rowPair) bool { return !wanted[rows.ref] })
		}
	}
}

// findUncheckedReads finds what of that which the instructions of a block read has been compared in the
// block, for all its lanes. Before they run on the lanes that is rows that have been compared
// or copied, and that no instruction has named since but those that run on the lanes as well;
// of addresses it is what instructions have left that do not.
func findUncheckedReads(pairs []instrPair) {
	rows, compact := newPairSet(), newPairSet()
	for i := range pairs {
		p := &pairs[i]
		p.guarded = p.ref.Guard != 0 || p.instr != nil && p.instr.Guard != 0
		if p.ref.Op.Collective() { // other lanes may go on from here
			rows.clear()
			compact.clear()
			p.uncheckedReads = p.reads
			continue
		}
		if p.uncheckedReads = p.reads; p.onLanes {
			p.uncheckedReads = rows.without(p.reads)
		}
		p.addressChecked = len(p.reads) > 0 && compact.members[p.reads[0]]
		if p.onLanes && !p.guarded {
			rows.add(p.reads)
		}
		rows.overwrite(p.writes)
		compact.overwrite(p.writes)
		switch {
		case p.onLanes:
			compact.remove(p.writes)
			if !p.guarded {
				rows.add(p.writes)
			}
		default: // it may expand what it reads
			rows.remove(p.reads)
			rows.remove(p.writes)
			if !p.guarded {
				compact.add(p.writes)
			}
		}
	}
}

// pairSet is a set of registers.
type pairSet struct {
	members map[rowPair]bool
	rows    [2]map[code.Row][]rowPair // in each way, what is or has been in the set, by row
}

func newPairSet() *pairSet {
	return &pairSet{map[rowPair]bool{}, [2]map[code.Row][]rowPair{{}, {}}}
}

func (s *pairSet) add(list []rowPair) {
	for _, rows := range list {
		if !s.members[rows] {
			s.members[rows] = true
			s.rows[0][rows.row] = append(s.rows[0][rows.row], rows)
			s.rows[1][rows.ref] = append(s.rows[1][rows.ref], rows)
		}
	}
}

func (s *pairSet) remove(list []rowPair) {
	for _, rows := range list {
		delete(s.members, rows)
	}
}

// overwrite removes registers whose rows others get now, in either way.
func (s *pairSet) overwrite(list []rowPair) {
	for _, rows := range list {
		in := s.members[rows]
		s.removeRow(0, rows.row)
		s.removeRow(1, rows.ref)
		if in {
			s.add([]rowPair{rows})
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

// without is those of a list that are not in the set.
func (s *pairSet) without(list []rowPair) (rest []rowPair) {
	for _, rows := range list {
		if !s.members[rows] {
			rest = append(rest, rows)
		}
	}
	return rest
}

// maxRunLength is how many instructions execute together at most.
const maxRunLength = 32

// divideIntoRuns finds which instructions of a block execute together: neighbours without guards of
// which none can keep another waiting, and that run all on the lanes, once for both, or all
// otherwise. (If they were mixed, a row that one of the latter spoils would be what both read.)
// Sources are compared before the first and results behind the last. So no row is written
// twice, and what is to be compared before an instruction is not written by those before it.
func divideIntoRuns(pairs []instrPair, instrs []code.Instr) (runs []instrRun) {
	for rest := pairs; len(rest) > 0; {
		first := &rest[0]
		rows, refs := map[code.Row]bool{}, map[code.Row]bool{} // that are written
		reconvergences := func(p *instrPair) bool {
			if p.onLanes != first.onLanes || !p.combinable || !first.combinable || p.guarded || first.guarded {
				return false
			}
			written := func(o rowPair) bool { return rows[o.row] || refs[o.ref] }
			return !slices.ContainsFunc(p.writes, written) && !(p.onLanes && slices.ContainsFunc(p.uncheckedReads, written))
		}
		n := 0
		for n < min(len(rest), maxRunLength) && (n == 0 || reconvergences(&rest[n])) {
			for _, o := range rest[n].writes {
				rows[o.row], refs[o.ref] = true, true
			}
			n++
		}
		assignSaveSlots(rest[:n])
		runs = append(runs, newRun(rest[:n], instrs))
		rest = rest[n:]
	}
	return runs
}

// assignSaveSlots finds which operands of a run have to be kept, and where that is, and results.
func assignSaveSlots(list []instrPair) {
	operand, result := int32(0), int32(0)
	for i := range list {
		p := &list[i]
		p.operandIndex, p.resultIndex = operand, result
		operand, result = operand+int32(len(p.reads)), result+int32(len(p.writes))
	}
	overwritten := map[code.Row]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		p := &list[i]
		for _, rows := range p.writes {
			overwritten[rows.row] = true
		}
		for k, rows := range p.reads {
			if k < 64 && rows.row.Slot != code.P && overwritten[rows.row] {
				p.overwrittenReads |= 1 << k
			}
		}
	}
}

// newRun is instructions as a run; instrs is the code that is checked.
func newRun(list []instrPair, instrs []code.Instr) instrRun {
	first, last := &list[0], &list[len(list)-1]
	out := instrRun{pairs: list, instrs: instrs[first.from:last.to], guarded: first.guarded, results: slices.Clip(first.writes), needed: slices.Clip(first.needed)}
	switch {
	case first.onLanes:
		out.kind, out.sources = sharedRun, slices.Clip(first.uncheckedReads)
	case first.computes:
		out.kind = batchRun
	}
	for i := range list {
		p := &list[i]
		out.counts = out.counts.with(p)
		out.savesOperands = out.savesOperands || p.overwrittenReads != 0
		if p.proved {
			out.provedEnd = i + 1
		}
		if i == 0 {
			continue
		}
		out.results, out.needed = append(out.results, p.writes...), append(out.needed, p.needed...)
		if out.kind == sharedRun {
			out.sources = append(out.sources, p.uncheckedReads...)
		}
	}
	return out
}

// operands pairs the rows that an instruction reads and writes with those of its
// reference.
func (c *Kernel) operands(instr *code.Instr, ref *Kernel, rin *code.Instr) (reads, writes []rowPair) {
	read, written := namedRows(&c.Tables, instr)
	refRead, refWritten := namedRows(&ref.Tables, rin)
	return pairRows(read, refRead), pairRows(written, refWritten)
}

// namedRows lists what an instruction reads, its guard left out, and writes. It is written
// down here once more, for what package code derives is among what is checked.
func namedRows(t *code.Tables, instr *code.Instr) (reads, writes []code.Row) {
	s := instr.Op.Signature()
	for i, row := range instr.Sources() {
		if slot := s.Src[i]; slot != code.NoSlot {
			reads = append(reads, code.Row{Slot: slot, Row: row})
		}
	}
	writes = []code.Row{{Slot: s.Dst, Row: instr.D}, {Slot: s.Dst2, Row: instr.F}}
	elems := func(rows *[]code.Row, list []code.Elem, size int) {
		for _, e := range list {
			if *rows = append(*rows, code.Row{Slot: e.Slot, Row: e.Row}); size > 8 {
				*rows = append(*rows, code.Row{Slot: e.Slot, Row: e.High})
			}
		}
	}
	places := func(rows *[]code.Row, list []code.ParamPlace) {
		for _, p := range list {
			*rows = append(*rows, code.Row{Slot: p.Slot, Row: p.Row})
		}
	}
	switch s.Side {
	case code.AccessSide:
		a := &t.Access[instr.Side]
		reads = append(reads, code.Row{Slot: a.Addr, Row: instr.A})
		if a.Store {
			elems(&reads, a.Elems, a.Size)
		} else {
			elems(&writes, a.Elems, a.Size)
		}
		if a.Atom != nil {
			elems(&reads, a.Atom.B, a.Size)
			elems(&reads, a.Atom.C, a.Size)
		}
	case code.CallSide:
		places(&reads, t.Calls[instr.Side].Args)
		places(&writes, t.Calls[instr.Side].Rets)
	case code.FragmentSide:
		f := &t.Fragments[instr.Side]
		elems(&reads, f.A, 0)
		elems(&reads, f.B, 0)
		elems(&reads, f.C, 0)
		elems(&reads, f.E, 0)
		elems(&writes, f.D, 0)
	case code.TextureSide:
		x := &t.Textures[instr.Side]
		for _, list := range x.Sources {
			elems(&reads, list, 0)
		}
		elems(&writes, x.D, 0)
	}
	return reads, writes
}

// pairRows pairs rows, constants of the reference left out.
func pairRows(list, ref []code.Row) []rowPair {
	var pairs []rowPair
	for i, row := range list {
		if row.Slot != code.NoSlot && ref[i].Row >= 0 {
			pairs = append(pairs, rowPair{row, ref[i]})
		}
	}
	return pairs
}

// endReads lists what the end of a block reads besides its guard.
func endReads(c *Kernel, b *code.Block, ref *Kernel) []rowPair {
	end, rend := c.End(b), ref.End(b)
	reads, _ := c.operands(end, ref, rend)
	if end.Op == code.Pop {
		fn, rfn := c.Funcs[b.Func], ref.Funcs[b.Func]
		for i, o := range fn.Results {
			if o.Slot != code.NoSlot {
				reads = append(reads, rowPair{code.Row{Slot: o.Slot, Row: o.Row}, code.Row{Slot: o.Slot, Row: rfn.Results[i].Row}})
			}
		}
	}
	return reads
}

// find returns the pair of an instruction of the block that contains pc.
func (r *reference) find(pc int32, instr *code.Instr) *instrPair {
	block := r.pairs[r.Block(pc).Index]
	for i := range block {
		if block[i].instr == instr {
			return &block[i]
		}
	}
	panic("BUG: an instruction without a reference")
}
