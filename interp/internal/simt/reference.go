package simt

// This file pairs the code that check mode checks with that of its reference.

import (
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
)

// reference is a kernel lowered for reference, and how its instructions correspond to
// those of the code that is checked. Blocks, functions, sources and accesses have the
// same indices in both.
type reference struct {
	*Kernel
	pairs  [][]pair // by block
	blocks []inBoth // by block
	parts  []Parts  // by PTX instruction, once somebody wants to know
}

// pair is an instruction of the reference, and the same in the code that is checked.
type pair struct {
	in     *code.Instr // nil: it was folded into a constant of the launch
	ref    *code.Instr
	kernel alu.Kernel // of ref, if it is one of package alu
	writes []rowPair

	onLanes  bool  // it runs as in vector mode
	computes bool  // it does not, and only computes: kernels of package alu, special registers, what was folded
	plain    bool  // it computes, or waits for no others
	guarded  bool  // in one of the ways at least
	proved   bool  // a result is taken to be uniform without a look at tags
	known    bool  // the address of its access has been compared in the block: see settle
	from, to int32 // its pc and the next; of what was folded, the pc where it was, and that again

	reads  []rowPair
	fresh  []rowPair   // of reads, those to compare before it runs on the lanes: see settle
	wanted []rowPair   // of writes, those that the reference needs if it runs on the lanes: see want
	kept   uint64      // bits i: reads[i] is a row that its run overwrites
	as     *code.Instr // in, or what was folded

	single *run // of this alone

	operand, result int32 // where what is kept of its operands and results is, in a run
	operation       int32 // of its PTX instruction's Parts
}

// run is instructions that execute together: see inRuns.
type run struct {
	pairs   []pair
	instrs  []code.Instr // of the code that is checked
	course  course
	guarded bool // it is one with a guard
	kept    bool // there are operands to be kept
	ways    shares
	proved  int       // behind the last that is, from the first on
	sources []rowPair // to be compared before they run on the lanes
	results []rowPair
	wanted  []rowPair // of results, those that the reference needs if they have run on the lanes
}

// course is how a run executes in both ways.
type course uint8

const (
	beside  course = iota // by the engine, and by the reference if that can be
	abreast               // by the engine, then by the reference: they only compute
	once                  // on the lanes, once for both
)

// inBoth is what a block executes in both ways.
type inBoth struct {
	runs  []run
	guard int32     // of the reference's end
	reads []rowPair // what the end reads besides
}

// rowPair is the places of a register: in the code that is checked, where it may be a
// constant, and in the reference.
type rowPair struct{ row, ref code.Row }

// newReference matches a kernel's code with its reference.
func newReference(c, ref *Kernel) *reference {
	r := &reference{Kernel: ref, blocks: make([]inBoth, len(c.Blocks)), pairs: make([][]pair, len(c.Blocks))}
	fixed := 0
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for pc := b.First; pc <= b.Last; pc++ {
			for ; fixed < len(c.Fixed) && c.Fixed[fixed].Before == pc; fixed++ {
				p := pair{from: pc, to: pc, as: &c.Fixed[fixed].Instr, ref: &ref.Fixed[fixed].Instr, kernel: alu.Vec[ref.Fixed[fixed].Op], computes: true, plain: true}
				p.reads, p.writes = c.operands(p.as, ref, p.ref)
				p.wanted = p.writes
				r.pairs[i] = append(r.pairs[i], p)
			}
			if pc < b.Last {
				p := pair{in: &c.Instrs[pc], from: pc, to: pc + 1, as: &c.Instrs[pc], ref: &ref.Instrs[pc], kernel: alu.Vec[ref.Instrs[pc].Op]}
				p.reads, p.writes = c.operands(p.in, ref, p.ref)
				p.wanted = p.writes
				p.onLanes = p.in.How.Exec == code.OnLanes
				switch p.in.Op.Signature().Kind {
				case code.Arithmetic:
					p.computes, p.plain = !p.onLanes && alu.Vec[p.in.Op] != nil && p.kernel != nil, true
				case code.Read:
					p.computes, p.plain = !p.onLanes, true
				case code.Load, code.Store:
					p.plain = p.onLanes
				}
				p.proved = slices.ContainsFunc(p.writes, func(o rowPair) bool { return c.Funcs[b.Func].KeptIn(o.row)&code.IsProved != 0 })
				r.pairs[i] = append(r.pairs[i], p)
			}
		}
		settle(r.pairs[i])
		r.blocks[i].guard, r.blocks[i].reads = ref.End(&ref.Blocks[i]).Guard, endingOf(c, b, ref)
	}
	if len(c.Funcs) == 1 && !c.Funcs[0].Allocates { // calls and allocations read more than is listed
		r.want()
	}
	for i, pairs := range r.pairs {
		r.blocks[i].runs = inRuns(pairs, c.Instrs)
		for j := range pairs {
			one := runOf(pairs[j:j+1], c.Instrs)
			pairs[j].single = &one
		}
	}
	return r
}

// want leaves out results on the lanes that the reference need not have: those that are read
// in their block alone, on the lanes, without being compared.
func (r *reference) want() {
	wanted, in := map[code.Row]bool{}, map[code.Row]int{} // by row of the reference: whether it is, and the block that names it
	for i, pairs := range r.pairs {
		written := map[code.Row]bool{}
		name := func(list []rowPair) {
			for _, o := range list {
				if block, ok := in[o.ref]; ok && block != i {
					wanted[o.ref] = true
				}
				in[o.ref] = i
			}
		}
		need := func(list []rowPair) {
			for _, o := range list {
				wanted[o.ref] = true
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
			for _, o := range p.reads {
				if !p.onLanes || !written[o.ref] || slices.Contains(p.fresh, o) {
					wanted[o.ref] = true
				}
			}
			name(p.writes)
			if p.guarded || !p.onLanes {
				need(p.writes)
			}
			for _, o := range p.writes {
				written[o.ref] = true
			}
		}
		guard(r.blocks[i].guard)
		need(r.blocks[i].reads)
	}
	for i := range r.pairs {
		for k := range r.pairs[i] {
			p := &r.pairs[i][k]
			p.wanted = slices.DeleteFunc(slices.Clone(p.writes), func(o rowPair) bool { return !wanted[o.ref] })
		}
	}
}

// settle finds what of that which the instructions of a block read has been compared in the
// block, for all its lanes. Before they run on the lanes that is rows that have been compared
// or copied, and that no instruction has named since but those that run on the lanes as well;
// of addresses it is what instructions have left that do not.
func settle(pairs []pair) {
	rows, compact := newPairSet(), newPairSet()
	for i := range pairs {
		p := &pairs[i]
		p.guarded = p.ref.Guard != 0 || p.in != nil && p.in.Guard != 0
		if p.ref.Op.Collective() { // other lanes may go on from here
			rows.clear()
			compact.clear()
			p.fresh = p.reads
			continue
		}
		if p.fresh = p.reads; p.onLanes {
			p.fresh = rows.without(p.reads)
		}
		p.known = len(p.reads) > 0 && compact.has[p.reads[0]]
		if p.onLanes && !p.guarded {
			rows.add(p.reads)
		}
		rows.change(p.writes)
		compact.change(p.writes)
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
	has  map[rowPair]bool
	rows [2]map[code.Row][]rowPair // in each way, what is or has been in the set, by row
}

func newPairSet() *pairSet {
	return &pairSet{map[rowPair]bool{}, [2]map[code.Row][]rowPair{{}, {}}}
}

func (s *pairSet) add(list []rowPair) {
	for _, o := range list {
		if !s.has[o] {
			s.has[o] = true
			s.rows[0][o.row] = append(s.rows[0][o.row], o)
			s.rows[1][o.ref] = append(s.rows[1][o.ref], o)
		}
	}
}

func (s *pairSet) remove(list []rowPair) {
	for _, o := range list {
		delete(s.has, o)
	}
}

// change removes registers whose rows others get now, in either way.
func (s *pairSet) change(list []rowPair) {
	for _, o := range list {
		in := s.has[o]
		s.empty(0, o.row)
		s.empty(1, o.ref)
		if in {
			s.add([]rowPair{o})
		}
	}
}

// empty removes the registers that are in a row.
func (s *pairSet) empty(way int, row code.Row) {
	s.remove(s.rows[way][row])
	delete(s.rows[way], row)
}

func (s *pairSet) clear() {
	clear(s.has)
	clear(s.rows[0])
	clear(s.rows[1])
}

// without is those of a list that are not in the set.
func (s *pairSet) without(list []rowPair) (rest []rowPair) {
	for _, o := range list {
		if !s.has[o] {
			rest = append(rest, o)
		}
	}
	return rest
}

// longestRun is how many instructions execute together at most.
const longestRun = 32

// inRuns finds which instructions of a block execute together: neighbours without guards of
// which none can keep another waiting, and that run all on the lanes, once for both, or all
// otherwise. (If they were mixed, a row that one of the latter spoils would be what both read.)
// Sources are compared before the first and results behind the last. So no row is written
// twice, and what is to be compared before an instruction is not written by those before it.
func inRuns(pairs []pair, instrs []code.Instr) (runs []run) {
	for rest := pairs; len(rest) > 0; {
		first := &rest[0]
		rows, refs := map[code.Row]bool{}, map[code.Row]bool{} // that are written
		joins := func(p *pair) bool {
			if p.onLanes != first.onLanes || !p.plain || !first.plain || p.guarded || first.guarded {
				return false
			}
			written := func(o rowPair) bool { return rows[o.row] || refs[o.ref] }
			return !slices.ContainsFunc(p.writes, written) && !(p.onLanes && slices.ContainsFunc(p.fresh, written))
		}
		n := 0
		for n < min(len(rest), longestRun) && (n == 0 || joins(&rest[n])) {
			for _, o := range rest[n].writes {
				rows[o.row], refs[o.ref] = true, true
			}
			n++
		}
		keep(rest[:n])
		runs = append(runs, runOf(rest[:n], instrs))
		rest = rest[n:]
	}
	return runs
}

// keep finds which operands of a run have to be kept, and where that is, and results.
func keep(list []pair) {
	operand, result := int32(0), int32(0)
	for i := range list {
		p := &list[i]
		p.operand, p.result = operand, result
		operand, result = operand+int32(len(p.reads)), result+int32(len(p.writes))
	}
	overwritten := map[code.Row]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		p := &list[i]
		for _, o := range p.writes {
			overwritten[o.row] = true
		}
		for k, o := range p.reads {
			if k < 64 && o.row.Slot != code.P && overwritten[o.row] {
				p.kept |= 1 << k
			}
		}
	}
}

// runOf is instructions as a run; instrs is the code that is checked.
func runOf(list []pair, instrs []code.Instr) run {
	first, last := &list[0], &list[len(list)-1]
	out := run{pairs: list, instrs: instrs[first.from:last.to], guarded: first.guarded, results: slices.Clip(first.writes), wanted: slices.Clip(first.wanted)}
	switch {
	case first.onLanes:
		out.course, out.sources = once, slices.Clip(first.fresh)
	case first.computes:
		out.course = abreast
	}
	for i := range list {
		p := &list[i]
		out.ways = out.ways.with(p)
		out.kept = out.kept || p.kept != 0
		if p.proved {
			out.proved = i + 1
		}
		if i == 0 {
			continue
		}
		out.results, out.wanted = append(out.results, p.writes...), append(out.wanted, p.wanted...)
		if out.course == once {
			out.sources = append(out.sources, p.fresh...)
		}
	}
	return out
}

// operands pairs the rows that an instruction reads and writes with those of its
// reference.
func (c *Kernel) operands(in *code.Instr, ref *Kernel, rin *code.Instr) (reads, writes []rowPair) {
	read, written := named(&c.Tables, in)
	refRead, refWritten := named(&ref.Tables, rin)
	return pairRows(read, refRead), pairRows(written, refWritten)
}

// named lists what an instruction reads, its guard left out, and writes. It is written
// down here once more, for what package code derives is among what is checked.
func named(t *code.Tables, in *code.Instr) (reads, writes []code.Row) {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		if slot := s.Src[i]; slot != code.NoSlot {
			reads = append(reads, code.Row{Slot: slot, Row: row})
		}
	}
	writes = []code.Row{{Slot: s.Dst, Row: in.D}, {Slot: s.Dst2, Row: in.F}}
	elems := func(rows *[]code.Row, list []code.Elem, size int) {
		for _, e := range list {
			if *rows = append(*rows, code.Row{Slot: e.Slot, Row: e.Row}); size > 8 {
				*rows = append(*rows, code.Row{Slot: e.Slot, Row: e.High})
			}
		}
	}
	places := func(rows *[]code.Row, list []code.Place) {
		for _, p := range list {
			*rows = append(*rows, code.Row{Slot: p.Slot, Row: p.Row})
		}
	}
	switch s.Side {
	case code.AccessSide:
		a := &t.Access[in.Side]
		reads = append(reads, code.Row{Slot: a.Addr, Row: in.A})
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
		places(&reads, t.Calls[in.Side].Args)
		places(&writes, t.Calls[in.Side].Rets)
	case code.FragmentSide:
		f := &t.Fragments[in.Side]
		elems(&reads, f.A, 0)
		elems(&reads, f.B, 0)
		elems(&reads, f.C, 0)
		elems(&reads, f.E, 0)
		elems(&writes, f.D, 0)
	case code.TextureSide:
		x := &t.Textures[in.Side]
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
	for i, o := range list {
		if o.Slot != code.NoSlot && ref[i].Row >= 0 {
			pairs = append(pairs, rowPair{o, ref[i]})
		}
	}
	return pairs
}

// endingOf lists what the end of a block reads besides its guard.
func endingOf(c *Kernel, b *code.Block, ref *Kernel) []rowPair {
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

// find is the pair of an instruction of the block that pc is in, as a run.
func (r *reference) find(pc int32, in *code.Instr) []pair {
	block := r.pairs[r.Block(pc).Index]
	for i := range block {
		if block[i].in == in {
			return block[i : i+1]
		}
	}
	panic("BUG: an instruction without a reference")
}
