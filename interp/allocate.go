package interp

// This file allocates rows: it maps the rows of selected code, of which each register
// and each temporary has its own, to those of the register file.

import (
	"cmp"
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// life is a row of selected code with the first and the last PTX instruction that it is
// needed at, counted from 1; 0 is the function's begin.
type life struct {
	code.Row
	first, last int
}

// allocation is where the rows of selected code are.
type allocation struct {
	rows  [code.P + 1][]int32 // by row; NoRow: it is not used
	frame regfile.Size
}

// allocate gives the function's rows their places, and its code, tables and parameters
// the new rows.
func (l *lowerer) allocate() {
	a := l.assign(l.opt.pack)
	fn := l.fn
	fn.frame = a.frame
	for s, zero := range map[code.Slot]*[]int32{code.R: &fn.zeroR, code.Q: &fn.zeroQ, code.P: &fn.zeroP} {
		for _, row := range l.virtual[s].zero {
			if at := a.row(s, row); at >= 0 {
				*zero = append(*zero, at)
			}
		}
	}
	if fn.allocates {
		fn.taken = a.row(code.R, fn.taken)
	}
	a.places(fn.params)
	a.places(fn.rets)
	for _, in := range l.instrs[l.first:] {
		in.guard = a.guard(in.guard)
		a.registers(in.reads)
		a.registers(in.writes)
	}
	for i := range l.blocks[fn.entry:] {
		b := &l.blocks[int(fn.entry)+i]
		b.guard = a.guard(b.guard)
		b.index = a.at(b.index)
		if b.call != nil {
			a.places(b.call.Args)
			a.places(b.call.Rets)
			b.call.pointer = a.at(b.call.pointer)
		}
		if b.bar != nil {
			a.barrier(b.bar)
		}
		for i := range b.insts {
			l.move(&a, &b.insts[i])
		}
	}
	for i := range l.folded {
		l.move(&a, &l.folded[i].Instr)
	}
	l.prepared.fixed = append(l.prepared.fixed, l.folded...)
}

// assign gives each row its place. With packing, rows whose lives (over the instructions
// in order) do not overlap share one: each lane is a thread of its own, so what holds
// for a thread's registers holds for a column of the file. Temporaries share rows in any
// case. Only what is kept in the same way shares a row.
func (l *lowerer) assign(pack bool) allocation {
	type pool struct {
		slot code.Slot
		kept keeping
		temp bool
	}
	var a allocation
	pools := map[pool]*rowPool{}
	count := [code.P + 1]int32{}
	for s := range l.virtual {
		a.rows[s] = make([]int32, len(l.virtual[s].kept))
		for i := range a.rows[s] {
			a.rows[s][i] = code.NoRow
		}
	}
	for _, f := range l.lives() {
		v := &l.virtual[f.Slot]
		from := pool{f.Slot, v.kept[f.Row.Row], v.temp[f.Row.Row] != 0 && !pack}
		if from.kept == isFixed {
			a.rows[f.Slot][f.Row.Row] = l.unset(f.Slot)
			continue
		}
		rows := pools[from]
		if rows == nil {
			rows = &rowPool{}
			pools[from] = rows
		}
		row := int32(-1)
		if pack || from.temp {
			row = rows.take(f.first)
		}
		if row < 0 {
			row = count[f.Slot]
			count[f.Slot]++
		}
		rows.use(row, f.last)
		a.rows[f.Slot][f.Row.Row] = row
	}
	a.frame = regfile.Size{R: int(count[code.R]), Q: int(count[code.Q]), P: int(count[code.P])}
	return a
}

// lives are the lives of the rows that are used, by their beginnings.
func (l *lowerer) lives() []life {
	f := l.fn.fn
	regs := make([]life, len(f.Regs))
	touch := func(r ptx.RegID, at int) {
		if regs[r].last < 0 {
			regs[r].first = at
		}
		regs[r].first = min(regs[r].first, at)
		regs[r].last = max(regs[r].last, at)
	}
	for i := range regs {
		regs[i].last = -1
	}
	starts := make([]int, len(f.Blocks)+1) // instructions in front of each block
	at := 0
	for i, b := range f.Blocks {
		for _, in := range b.Instrs {
			at++
			for r := range in.Uses() {
				touch(r, at)
			}
			for r := range in.Defs() {
				touch(r, at)
			}
		}
		starts[i+1] = at
	}
	for r := range regs {
		if first, last, ok := l.live.Extent(ptx.RegID(r)); ok {
			touch(ptx.RegID(r), starts[first])
			touch(ptx.RegID(r), starts[last])
		}
	}
	for _, list := range [][]*ptx.Var{f.Params, f.Rets} {
		for _, v := range list {
			if v.Reg != ptx.NoReg { // read and written by calls
				touch(v.Reg, 0)
				touch(v.Reg, at)
			}
		}
	}
	var lives []life
	for r, ref := range l.rows {
		if regs[r].last < 0 {
			continue // never mentioned
		}
		lives = append(lives, life{code.Row{Slot: ref.Slot, Row: ref.Row}, regs[r].first, regs[r].last})
		if ref.wide {
			lives = append(lives, life{code.Row{Slot: ref.Slot, Row: ref.High}, regs[r].first, regs[r].last})
		}
	}
	for s := range l.virtual {
		for _, row := range l.virtual[s].global {
			lives = append(lives, life{code.Row{Slot: code.Slot(s), Row: row}, 0, at})
		}
		for row, temp := range l.virtual[s].temp {
			if temp != 0 {
				lives = append(lives, life{code.Row{Slot: code.Slot(s), Row: int32(row)}, int(temp), int(temp)})
			}
		}
	}
	slices.SortStableFunc(lives, func(a, b life) int { return cmp.Compare(a.first, b.first) })
	return lives
}

// row is the place of a row; constants, and what is none, stay.
func (a *allocation) row(s code.Slot, row int32) int32 {
	if s == code.NoSlot || row < 0 {
		return row
	}
	return a.rows[s][row]
}

func (a *allocation) at(r code.Row) code.Row {
	return code.Row{Slot: r.Slot, Row: a.row(r.Slot, r.Row)}
}

func (a *allocation) guard(g int32) int32 {
	if g == 0 {
		return 0
	}
	p, negated := code.GuardRow(g)
	return code.Guard(a.row(code.P, p), negated)
}

func (a *allocation) places(list []code.Place) {
	for i, p := range list {
		list[i].Row = a.row(p.Slot, p.Row)
	}
}

func (a *allocation) registers(list []register) {
	for i, r := range list {
		list[i].Row, list[i].High = a.row(r.Slot, r.Row), a.row(r.Slot, r.High)
	}
}

func (a *allocation) barrier(b *barrierOp) {
	b.id, b.count = a.at(b.id), a.at(b.count)
	b.pred = a.row(code.P, b.pred)
	if b.kind == barPopc {
		b.dst = a.row(code.R, b.dst)
	} else {
		b.dst = a.row(code.P, b.dst)
	}
}

func (a *allocation) elems(list []code.Elem, size int) []code.Elem {
	list = slices.Clone(list)
	for i, e := range list {
		list[i].Row = a.row(e.Slot, e.Row)
		if size == 16 {
			list[i].High = a.row(e.Slot, e.High)
		}
	}
	return list
}

// move gives an instruction its new rows, and an entry of its own in the side table.
func (l *lowerer) move(a *allocation, in *code.Instr) {
	s := in.Op.Signature()
	in.Guard = a.guard(in.Guard)
	in.D, in.F = a.row(s.Dst, in.D), a.row(s.Dst2, in.F)
	sources := []*int32{&in.A, &in.B, &in.C, &in.E}
	for i, row := range sources {
		*row = a.row(s.Src[i], *row)
	}
	switch s.Side {
	case code.AccessSide:
		m := l.tables.Access[in.Side]
		in.A = a.row(m.Addr, in.A)
		m.Elems = a.elems(m.Elems, m.Size)
		if m.Atom != nil {
			atom := *m.Atom
			atom.B, atom.C = a.elems(atom.B, m.Size), a.elems(atom.C, m.Size)
			m.Atom = &atom
		}
		in.Side = int32(len(l.Access))
		l.Access = append(l.Access, m)
	case code.CallSide:
		c := l.tables.Calls[in.Side]
		c = code.Call{Args: slices.Clone(c.Args), Rets: slices.Clone(c.Rets)}
		a.places(c.Args)
		a.places(c.Rets)
		in.Side = int32(len(l.Calls))
		l.Calls = append(l.Calls, c)
	}
}
