package lower

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
	lives [code.P + 1][]life  // by row
	frame regfile.Size
	kept  [code.P + 1][]code.Keeping // by place
}

// allocate gives the function's rows their places, and all that names rows the new ones;
// and those of the reference, which knows nothing of the plan.
func (l *lowerer) allocate() {
	lives := l.lives()
	if ref := l.prog.Ref; ref != nil {
		l.twin = l.clone(ref.Funcs[l.fn.Index])
		l.twin.unplan()
		l.twin.move(l.twin.assign(lives, false, l.unset))
	}
	l.move(l.assign(lives, l.opt.Pack, l.unset))
}

// clone is a copy of the draft, of a function to be that is a copy, too, and goes to fn.
func (d *draft) clone(fn *code.Func) *draft {
	*fn = *d.fn
	c := *d
	c.fn = fn
	c.folded = slices.Clone(d.folded)
	c.blocks = slices.Clone(d.blocks)
	for i := range c.blocks {
		c.blocks[i].instrs = slices.Clone(c.blocks[i].instrs)
	}
	return &c
}

// unplan forgets what the plan has decided, and what is proved of accesses.
func (d *draft) unplan() {
	for s := range d.virtual {
		d.virtual[s].kept = make([]code.Keeping, len(d.virtual[s].kept))
	}
	for i := range d.blocks {
		for k := range d.blocks[i].instrs {
			d.blocks[i].instrs[k].How = code.How{}
		}
	}
	d.tables.Access = slices.Clone(d.tables.Access)
	for i := range d.tables.Access {
		d.tables.Access[i].Pattern, d.tables.Access[i].Apart = code.AnyPattern, 0
	}
}

// move gives all that names rows the new ones.
func (d *draft) move(a *allocation) {
	fn := d.fn
	fn.Frame, fn.Kept = a.frame, a.kept
	for s := range d.virtual {
		for _, row := range d.virtual[s].zero {
			fn.Zero = append(fn.Zero, code.Row{Slot: code.Slot(s), Row: a.row(code.Slot(s), row)})
		}
	}
	if fn.Allocates {
		fn.Taken = a.row(code.R, fn.Taken)
	}
	fn.Formals, fn.Results = a.places(fn.Formals), a.places(fn.Results)
	fn.Regs = d.locations(a)
	d.tables.Access, d.tables.Calls, d.tables.Fragments = slices.Clone(d.tables.Access), slices.Clone(d.tables.Calls), slices.Clone(d.tables.Fragments)
	d.tables.Textures = slices.Clone(d.tables.Textures)
	for i := range d.blocks {
		b := &d.blocks[i]
		for i := range b.instrs {
			d.instruction(a, &b.instrs[i])
		}
		d.instruction(a, &b.end)
	}
	for i := range d.folded {
		d.instruction(a, &d.folded[i].Instr)
	}
}

// assign gives each row its place. With packing, rows whose lives (over the instructions
// in order) do not overlap share one: each lane is a thread of its own, so what holds
// for a thread's registers holds for a column of the file. Temporaries share rows in any
// case. Only what is kept in the same way shares a row. unset makes a constant of the
// launch.
func (d *draft) assign(lives []life, pack bool, unset func(code.Slot) int32) *allocation {
	type pool struct {
		slot code.Slot
		kept code.Keeping
		temp bool
	}
	a := &allocation{}
	pools := map[pool]*rowPool{}
	count := [code.P + 1]int32{}
	for s := range d.virtual {
		a.rows[s] = make([]int32, len(d.virtual[s].kept))
		a.lives[s] = make([]life, len(d.virtual[s].kept))
		for i := range a.rows[s] {
			a.rows[s][i] = code.NoRow
		}
	}
	for _, f := range lives {
		a.lives[f.Slot][f.Row.Row] = f
		v := &d.virtual[f.Slot]
		from := pool{f.Slot, v.kept[f.Row.Row], v.temp[f.Row.Row] != 0 && !pack}
		if from.kept == code.IsFixed {
			a.rows[f.Slot][f.Row.Row] = unset(f.Slot)
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
			a.kept[f.Slot] = append(a.kept[f.Slot], from.kept)
		}
		rows.use(row, f.last)
		a.rows[f.Slot][f.Row.Row] = row
	}
	a.frame = regfile.Size{R: int(count[code.R]), Q: int(count[code.Q]), P: int(count[code.P])}
	return a
}

// lives are the lives of the rows that are used, by their beginnings.
func (l *lowerer) lives() []life {
	f := l.fn.Func
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
	if statics, _ := f.Statics(); len(l.byFunc) > 1 {
		for _, r := range statics { // likewise
			touch(r, 0)
			touch(r, at)
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

func (a *allocation) guard(g int32) int32 {
	if g == 0 {
		return 0
	}
	p, negated := code.GuardRow(g)
	return code.Guard(a.row(code.P, p), negated)
}

func (a *allocation) places(list []code.Place) []code.Place {
	list = slices.Clone(list)
	for i, p := range list {
		list[i].Row = a.row(p.Slot, p.Row)
	}
	return list
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

// instruction gives an instruction its new rows, and its entry in the side tables theirs.
func (d *draft) instruction(a *allocation, in *code.Instr) {
	s := in.Op.Signature()
	in.Guard = a.guard(in.Guard)
	in.D, in.F = a.row(s.Dst, in.D), a.row(s.Dst2, in.F)
	for i, row := range []*int32{&in.A, &in.B, &in.C, &in.E} {
		*row = a.row(s.Src[i], *row)
	}
	switch s.Side {
	case code.AccessSide:
		m := &d.tables.Access[in.Side]
		in.A = a.row(m.Addr, in.A)
		m.Elems = a.elems(m.Elems, m.Size)
		if m.Atom != nil {
			atom := *m.Atom
			atom.B, atom.C = a.elems(atom.B, m.Size), a.elems(atom.C, m.Size)
			m.Atom = &atom
		}
	case code.CallSide:
		c := &d.tables.Calls[in.Side]
		c.Args, c.Rets = a.places(c.Args), a.places(c.Rets)
	case code.FragmentSide:
		f := &d.tables.Fragments[in.Side]
		f.D, f.A, f.B, f.C, f.E = a.elems(f.D, 0), a.elems(f.A, 0), a.elems(f.B, 0), a.elems(f.C, 0), a.elems(f.E, 0)
	case code.TextureSide:
		x := &d.tables.Textures[in.Side]
		x.D = a.elems(x.D, 0)
		for i := range x.Sources {
			x.Sources[i] = a.elems(x.Sources[i], 0)
		}
	}
}
