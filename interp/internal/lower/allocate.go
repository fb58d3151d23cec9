package lower

// This file is the pass allocate. It maps virtual rows, of which each register and each temporary has its own, to rows of
// the register file, which registers may share. A row of the register file is called the place of a virtual row.

import (
	"cmp"
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// liveRange is a virtual row with the first and the last PTX instruction that needs it. Instructions are counted from 1; 0
// is the start of the function.
type liveRange struct {
	code.Row
	first, last int
}

// allocation maps virtual rows to places in the register file.
type allocation struct {
	rows       [code.P + 1][]int32     // place of each virtual row, by slot; NoRow if the row is not used
	liveRanges [code.P + 1][]liveRange // live range of each virtual row, by slot
	frame      regfile.Size
	residence  [code.P + 1][]code.Storage // storage of each place, by slot
}

// allocate maps the function's virtual rows to places, and replaces them in the operands. If a reference is requested, it
// does the same for a copy of the draft without the plan.
func (l *lowerer) allocate() {
	ranges := l.liveRanges()
	if ref := l.prog.Reference; ref != nil {
		l.referenceDraft = l.clone(ref.Funcs[l.fn.Index])
		l.referenceDraft.clearPlan()
		l.referenceDraft.applyAllocation(l.referenceDraft.assign(ranges, false, l.unsetConstant))
	}
	l.applyAllocation(l.assign(ranges, l.opt.Pack, l.unsetConstant))
}

// clone returns a copy of the draft as the draft of fn, to which it copies the draft's function.
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

// clearPlan removes the plan's decisions and the proved patterns of accesses.
func (d *draft) clearPlan() {
	for s := range d.virtual {
		d.virtual[s].residence = make([]code.Storage, len(d.virtual[s].residence))
	}
	for i := range d.blocks {
		for k := range d.blocks[i].instrs {
			d.blocks[i].instrs[k].Plan = code.ExecPlan{}
		}
	}
	d.tables.Access = slices.Clone(d.tables.Access)
	for i := range d.tables.Access {
		d.tables.Access[i].Pattern, d.tables.Access[i].Stride = code.AnyPattern, 0
	}
}

// applyAllocation replaces all virtual rows by their places.
func (d *draft) applyAllocation(a *allocation) {
	fn := d.fn
	fn.Frame, fn.Keeping = a.frame, a.residence
	for s := range d.virtual {
		for _, row := range d.virtual[s].zero {
			fn.Zero = append(fn.Zero, code.Row{Slot: code.Slot(s), Row: a.row(code.Slot(s), row)})
		}
	}
	if fn.Allocates {
		fn.AddressTaken = a.row(code.R, fn.AddressTaken)
	}
	fn.Formals, fn.Results = a.places(fn.Formals), a.places(fn.Results)
	fn.SetRegs(d.locations(a))
	d.tables.Access, d.tables.Calls, d.tables.Fragments = slices.Clone(d.tables.Access), slices.Clone(d.tables.Calls), slices.Clone(d.tables.Fragments)
	d.tables.Textures = slices.Clone(d.tables.Textures)
	for i := range d.blocks {
		b := &d.blocks[i]
		for i := range b.instrs {
			d.moveInstr(a, &b.instrs[i])
		}
		d.moveInstr(a, &b.end)
	}
	for i := range d.folded {
		d.moveInstr(a, &d.folded[i].Instr)
	}
}

// assign gives each virtual row its place. If pack is set, rows with the same storage whose live ranges do not overlap
// share a place. Temporaries share places in any case. Live ranges are intervals of the PTX instructions in program order.
// Sharing is valid under divergence, too: each lane is a thread of its own, so an argument about the registers of one
// thread applies to each column of the register file. unset adds a constant whose value each launch sets.
func (d *draft) assign(ranges []liveRange, pack bool, unset func(code.Slot) int32) *allocation {
	type pool struct {
		slot      code.Slot
		residence code.Storage
		temp      bool
	}
	a := &allocation{}
	pools := map[pool]*rowPool{}
	count := [code.P + 1]int32{}
	for s := range d.virtual {
		a.rows[s] = make([]int32, len(d.virtual[s].residence))
		a.liveRanges[s] = make([]liveRange, len(d.virtual[s].residence))
		for i := range a.rows[s] {
			a.rows[s][i] = code.NoRow
		}
	}
	for _, live := range ranges {
		a.liveRanges[live.Slot][live.Row.Row] = live
		v := &d.virtual[live.Slot]
		key := pool{live.Slot, v.residence[live.Row.Row], v.temporaryOf[live.Row.Row] != 0 && !pack}
		if key.residence == code.StorageFixed {
			a.rows[live.Slot][live.Row.Row] = unset(live.Slot)
			continue
		}
		rows := pools[key]
		if rows == nil {
			rows = &rowPool{}
			pools[key] = rows
		}
		row := int32(-1)
		if pack || key.temp {
			row = rows.take(live.first)
		}
		if row < 0 {
			row = count[live.Slot]
			count[live.Slot]++
			a.residence[live.Slot] = append(a.residence[live.Slot], key.residence)
		}
		rows.use(row, live.last)
		a.rows[live.Slot][live.Row.Row] = row
	}
	a.frame = regfile.Size{R: int(count[code.R]), Q: int(count[code.Q]), P: int(count[code.P])}
	return a
}

// liveRanges returns the live ranges of the used rows, sorted by their start.
func (l *lowerer) liveRanges() []liveRange {
	f := l.fn.Func
	regs := make([]liveRange, len(f.Regs))
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
	starts := make([]int, len(f.Blocks)+1) // number of instructions before each block
	at := 0
	for i, b := range f.Blocks {
		for _, instr := range b.Instrs {
			at++
			for r := range instr.Uses() {
				touch(r, at)
			}
			for r := range instr.Defs() {
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
			if v.Reg != ptx.NoReg { // calls read and write it
				touch(v.Reg, 0)
				touch(v.Reg, at)
			}
		}
	}
	if statics, _ := f.Statics(); len(l.byFunc) > 1 {
		for _, r := range statics { // calls read and write it, too
			touch(r, 0)
			touch(r, at)
		}
	}
	var ranges []liveRange
	for r, ref := range l.rows {
		if regs[r].last < 0 {
			continue // never used
		}
		ranges = append(ranges, liveRange{code.Row{Slot: ref.Slot, Row: ref.Row}, regs[r].first, regs[r].last})
		if ref.wide {
			ranges = append(ranges, liveRange{code.Row{Slot: ref.Slot, Row: ref.High}, regs[r].first, regs[r].last})
		}
	}
	for s := range l.virtual {
		for _, row := range l.virtual[s].kept {
			ranges = append(ranges, liveRange{code.Row{Slot: code.Slot(s), Row: row}, 0, at})
		}
		for row, temp := range l.virtual[s].temporaryOf {
			if temp != 0 {
				ranges = append(ranges, liveRange{code.Row{Slot: code.Slot(s), Row: int32(row)}, int(temp), int(temp)})
			}
		}
	}
	slices.SortStableFunc(ranges, func(a, b liveRange) int { return cmp.Compare(a.first, b.first) })
	return ranges
}

// row returns the place of a virtual row; constants and absent operands stay the same.
func (a *allocation) row(s code.Slot, row int32) int32 {
	if s == code.NoSlot || row < 0 {
		return row
	}
	return a.rows[s][row]
}

// guard returns a guard with the place of its predicate; 0 stays 0.
func (a *allocation) guard(g int32) int32 {
	if g == 0 {
		return 0
	}
	p, negated := code.GuardRow(g)
	return code.Guard(a.row(code.P, p), negated)
}

// places returns the places of parameters, arguments or results with their rows replaced.
func (a *allocation) places(list []code.ParamPlace) []code.ParamPlace {
	list = slices.Clone(list)
	for i, p := range list {
		list[i].Row = a.row(p.Slot, p.Row)
	}
	return list
}

// elems returns elements of size bytes with their rows replaced. Only elements of 16 bytes have a row for the upper half.
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

// moveInstr replaces the rows of an instruction, and of its entry in the side tables, by their places.
func (d *draft) moveInstr(a *allocation, instr *code.Instr) {
	s := instr.Op.Signature()
	instr.Guard = a.guard(instr.Guard)
	instr.D, instr.F = a.row(s.Dst, instr.D), a.row(s.Dst2, instr.F)
	for i, row := range []*int32{&instr.A, &instr.B, &instr.C, &instr.E} {
		*row = a.row(s.Src[i], *row)
	}
	switch s.Side {
	case code.AccessSide:
		m := &d.tables.Access[instr.Side]
		instr.A = a.row(m.Addr, instr.A)
		m.Elems = a.elems(m.Elems, m.Size)
		if m.Atom != nil {
			atom := *m.Atom
			atom.B, atom.C = a.elems(atom.B, m.Size), a.elems(atom.C, m.Size)
			m.Atom = &atom
		}
	case code.CallSide:
		c := &d.tables.Calls[instr.Side]
		c.Args, c.Rets = a.places(c.Args), a.places(c.Rets)
	case code.FragmentSide:
		f := &d.tables.Fragments[instr.Side]
		f.D, f.A, f.B, f.C, f.E = a.elems(f.D, 0), a.elems(f.A, 0), a.elems(f.B, 0), a.elems(f.C, 0), a.elems(f.E, 0)
	case code.TextureSide:
		x := &d.tables.Textures[instr.Side]
		x.D = a.elems(x.D, 0)
		for i := range x.Sources {
			x.Sources[i] = a.elems(x.Sources[i], 0)
		}
	}
}
