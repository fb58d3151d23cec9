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
	pairs [][]pair    // by block
	ends  [][]rowPair // what the end reads besides its guard, by block
	parts []Parts     // by PTX instruction, once somebody wants to know
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

	reads    []rowPair
	fresh    []rowPair   // of reads, those to compare before it runs on the lanes: see settle
	kept     uint64      // bits i: reads[i] is a row that its run overwrites
	unwanted uint64      // bits i: nobody wants writes[i] but what runs on the lanes: see unwanted
	as       *code.Instr // in, or what was folded

	work            work  // of the run that begins here: see inRuns
	operand, result int32 // where what is kept of its operands and results is, in a run
	operation       int32 // of its PTX instruction's Parts
}

// work is what is to be done for a run: an instruction and those behind it that execute
// together with it.
type work struct {
	len     int
	sources []rowPair // to be compared before they run on the lanes
	results []rowPair // of those that do not
	ways    shares
	proved  int  // behind the last that is, from the first on
	kept    bool // there are operands to be kept
}

// rowPair is the places of a register: in the code that is checked, where it may be a
// constant, and in the reference.
type rowPair struct{ row, ref code.Row }

// newReference matches a kernel's code with its reference.
func newReference(c, ref *Kernel) *reference {
	r := &reference{Kernel: ref, pairs: make([][]pair, len(c.Blocks)), ends: make([][]rowPair, len(c.Blocks))}
	fixed := 0
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for pc := b.First; pc <= b.Last; pc++ {
			for ; fixed < len(c.Fixed) && c.Fixed[fixed].Before == pc; fixed++ {
				p := pair{from: pc, to: pc, as: &c.Fixed[fixed].Instr, ref: &ref.Fixed[fixed].Instr, kernel: alu.Vec[ref.Fixed[fixed].Op], computes: true, plain: true}
				p.reads, p.writes = c.operands(p.as, ref, p.ref)
				r.pairs[i] = append(r.pairs[i], p)
			}
			if pc < b.Last {
				p := pair{in: &c.Instrs[pc], from: pc, to: pc + 1, as: &c.Instrs[pc], ref: &ref.Instrs[pc], kernel: alu.Vec[ref.Instrs[pc].Op]}
				p.reads, p.writes = c.operands(p.in, ref, p.ref)
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
		inRuns(r.pairs[i])
		r.ends[i] = endingOf(c, b, ref)
	}
	if len(c.Funcs) == 1 && !c.Funcs[0].Allocates { // calls and allocations read more than is listed
		r.unwanted()
	}
	return r
}

// unwanted finds which results on the lanes the reference need not have: those that are read
// in their block alone, on the lanes, without being compared.
func (r *reference) unwanted() {
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
		want := func(list []rowPair) {
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
				want(p.writes)
			}
			for _, o := range p.writes {
				written[o.ref] = true
			}
		}
		guard(r.End(&r.Blocks[i]).Guard)
		want(r.ends[i])
	}
	for i := range r.pairs {
		for k := range r.pairs[i] {
			p := &r.pairs[i][k]
			for n, o := range p.writes {
				if n < 64 && !wanted[o.ref] {
					p.unwanted |= 1 << n
				}
			}
		}
	}
}

// settle finds what of that which the instructions of a block read has been compared in the
// block, for all its lanes. Before they run on the lanes that is rows that have been compared
// or copied, and that no instruction has named since but those that run on the lanes as well;
// of addresses it is what instructions have left that do not.
func settle(pairs []pair) {
	rows, compact := pairSet{}, pairSet{}
	for i := range pairs {
		p := &pairs[i]
		p.guarded = p.ref.Guard != 0 || p.in != nil && p.in.Guard != 0
		if p.ref.Op.Collective() { // other lanes may go on from here
			clear(rows)
			clear(compact)
			p.fresh = p.reads
			continue
		}
		if p.fresh = p.reads; p.onLanes {
			p.fresh = rows.without(p.reads)
		}
		p.known = len(p.reads) > 0 && compact[p.reads[0]]
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
type pairSet map[rowPair]bool

func (s pairSet) add(list []rowPair) {
	for _, o := range list {
		s[o] = true
	}
}

func (s pairSet) remove(list []rowPair) {
	for _, o := range list {
		delete(s, o)
	}
}

// change removes registers whose rows others get now, in either way.
func (s pairSet) change(list []rowPair) {
	for _, o := range list {
		for r := range s {
			if r != o && (r.row == o.row || r.ref == o.ref) {
				delete(s, r)
			}
		}
	}
}

// without is those of a list that are not in the set.
func (s pairSet) without(list []rowPair) (rest []rowPair) {
	for _, o := range list {
		if !s[o] {
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
func inRuns(pairs []pair) {
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
		workOf(rest[:n])
		rest = rest[n:]
	}
}

// workOf tells the instructions of a run what is to be done for those from each on, and where
// what is kept of operands and results is.
func workOf(list []pair) {
	var sources, results []rowPair
	operand, result := int32(0), int32(0)
	for i := range list {
		p := &list[i]
		p.operand, p.result = operand, result
		operand, result = operand+int32(len(p.reads)), result+int32(len(p.writes))
		if p.onLanes {
			sources = append(sources, p.fresh...)
		} else {
			results = append(results, p.writes...)
		}
	}
	overwritten, rest := map[code.Row]bool{}, work{}
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
		rest.len++
		rest.ways = rest.ways.with(p)
		if rest.proved > 0 || p.proved {
			rest.proved++
		}
		rest.kept = rest.kept || p.kept != 0
		if p.onLanes {
			rest.sources = sources[len(sources)-len(rest.sources)-len(p.fresh):]
		} else {
			rest.results = results[len(results)-len(rest.results)-len(p.writes):]
		}
		p.work = rest
	}
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
		if slot := s.Src[i]; slot != code.NoSlot && (i < 2 || !s.Compares() || in.Imm != alu.BoolNone) {
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
