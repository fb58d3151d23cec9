package interp

// This file lowers control flow, barriers, and what the lanes of a warp do
// together.

import (
	"gemu/interp/internal/alu"
	"gemu/ptx"
	"gemu/regfile"
)

// end finishes the present block with a terminator and opens the next.
func (l *lowerer) end(t terminator) *block {
	b := l.cur
	b.term, b.guard, b.src = t, l.guard, l.src
	return b
}

func lowerBra(l *lowerer, in *ptx.Instr) {
	l.end(termBranch)
	target, ir := in.Ops[0].Block.Index, l.curIR
	l.later(func(b *block) {
		b.target, b.join = l.starts[target], l.irJoin(ir)
		l.fallThrough(b, ir)
	})
}

// fallThrough sets where the end of IR block ir goes on: the next block, or the
// function's exit.
func (l *lowerer) fallThrough(b *block, ir int) {
	b.next = l.fn.exit
	if ir+1 < len(l.starts) {
		b.next = l.starts[ir+1]
	}
}

func lowerBrx(l *lowerer, in *ptx.Instr) {
	index := operandRef{alu.R, l.source(&in.Ops[0], ptx.U32, alu.R)}
	l.end(termIndex).index = index
	table, ir := in.Ops[1].Table, l.curIR
	l.later(func(b *block) {
		for _, t := range table.Blocks {
			b.targets = append(b.targets, l.starts[t.Index])
		}
		b.join = l.irJoin(ir)
		l.fallThrough(b, ir)
	})
}

// lowerRet: lanes that return wait for the others at the function's exit. From
// a kernel a lane returns to nobody: it ends.
func lowerRet(l *lowerer, in *ptx.Instr) {
	if l.fn.fn.Entry {
		lowerExit(l, in)
		return
	}
	l.end(termReturn)
	ir := l.curIR
	l.later(func(b *block) {
		b.join = l.irJoin(ir)
		l.fallThrough(b, ir)
	})
}

func lowerExit(l *lowerer, in *ptx.Instr) {
	b := l.end(termExit)
	b.leaves = l.guard == 0 && len(b.insts) == 0 && b.n == 1
	ir := l.curIR
	l.later(func(b *block) { l.fallThrough(b, ir) })
}

// lowerCall ends a block, so that the warp can be in another function between
// it and the next. An indirect call has a block of its own: lanes with different
// targets execute it once per target.
func lowerCall(l *lowerer, in *ptx.Instr) {
	c := in.Call
	site := &callSite{}
	for i := range c.Args {
		site.args = append(site.args, l.actual(&c.Args[i]))
	}
	for i := range c.Rets {
		site.rets = append(site.rets, l.actual(&c.Rets[i]))
	}
	if f, ok := c.Target.Sym.(*ptx.Func); ok {
		if def, ok := l.mod.Lookup(f.Name).(*ptx.Func); ok {
			f = def
		}
		if !f.Defined {
			run := builtins[f.Name]
			if run == nil {
				l.refuse("a call of %s, which is declared but not defined,", f.Name)
			}
			l.emit(inst{lane: run, call: site}, placeRows(site.args), placeRows(site.rets))
			return
		}
		site.target = l.byFunc[f]
	} else {
		ref := l.rows[c.Target.Reg]
		site.pointer = operandRef{ref.slot, ref.row}
	}
	if site.target == nil || l.fn.allocates { // a block of its own, which lanes may execute apart
		l.cur.n--
		l.cur.srcs = l.cur.srcs[:l.cur.n]
		l.open()
		l.cur.n, l.cur.srcs = 1, []*instr{l.src}
	}
	l.end(termCall).call = site
	l.open()
}

// placeRows are the places that are rows.
func placeRows(list []place) []operandRef {
	var refs []operandRef
	for _, p := range list {
		refs = append(refs, operandRef{p.slot, p.row})
	}
	return refs
}

// actual is the place of a call's argument or result.
func (l *lowerer) actual(o *ptx.Operand) place {
	switch o.Kind {
	case ptx.SinkOperand:
		return place{slot: alu.R, row: l.temp(alu.R), size: 4}
	case ptx.SymOperand:
		if v, ok := o.Sym.(*ptx.Var); ok {
			if at, local := l.locals[v]; local {
				return place{off: at, size: l.bytes(v)}
			}
		}
		return place{slot: alu.Q, row: l.source(o, ptx.U64, alu.Q), size: 8}
	case ptx.ImmOperand:
		if o.Imm.Kind == ptx.F32Imm {
			return place{slot: alu.R, row: l.konst(alu.R, o.Imm.Bits), size: 4}
		}
		return place{slot: alu.Q, row: l.konst(alu.Q, o.Imm.Bits), size: 8}
	case ptx.VecOperand:
		l.refuse("a vector argument")
	}
	ref := l.rows[o.Reg]
	return place{slot: ref.slot, row: ref.row, size: (l.fn.fn.Regs[o.Reg].Type.Bits() + 7) / 8}
}

func lowerTrap(l *lowerer, in *ptx.Instr) { l.emit(inst{lane: trapLane}, nil, nil) }

func trapLane(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	w.fail(in.src, uint64(m)<<(32*h), ErrTrap, "%v", ErrTrap)
}

func lowerBrkpt(l *lowerer, in *ptx.Instr) { l.emit(inst{lane: brkptLane}, nil, nil) }

func brkptLane(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	w.fail(in.src, uint64(m)<<(32*h), ErrBreakpoint, "%v", ErrBreakpoint)
}

func lowerNanosleep(l *lowerer, in *ptx.Instr) { l.emit(inst{lane: sleepLane}, nil, nil) }

// sleepLane lets other warps run. How long is not modelled: the duration is
// allowed to be anything from zero (manual 9.7.19.2).
func sleepLane(w *warp, h int, f *regfile.File, in *inst, m uint32) { w.yield = true }

// lowerBar lowers bar and barrier; bar.warp.sync too.
func lowerBar(l *lowerer, in *ptx.Instr) {
	if in.Has("warp") {
		l.warpOnly(in)
		l.end(termBarrier).bar = &barrierOp{kind: barWarp, id: operandRef{alu.R, l.source(in.Arg("a"), ptx.B32, alu.R)}, dst: noRow}
		l.open()
		return
	}
	if in.Has("cluster") {
		l.refuse("%s", in.Text)
	}
	op := &barrierOp{dst: noRow, aligned: in.Form.Effects.Has(ptx.Aligned)}
	ref := func(o *ptx.Operand) operandRef {
		return operandRef{alu.R, l.source(o, ptx.U32, alu.R)}
	}
	op.id = ref(in.Arg("a"))
	if o := in.Arg("b"); o.Kind != ptx.NoOperand {
		op.count = ref(o)
	}
	switch {
	case in.Has("arrive"):
		op.kind = barArrive
	case in.Has("red"):
		c := *in.Arg("c")
		op.neg = c.Neg && c.Kind == ptx.RegOperand
		if op.neg {
			c.Neg = false
		}
		op.pred = l.source(&c, ptx.Pred, alu.P)
		d := &in.Ops[0]
		switch {
		case in.Has("popc"):
			op.kind = barPopc
		case in.Has("and"):
			op.kind = barAnd
		default:
			op.kind = barOr
		}
		if d.Kind == ptx.RegOperand {
			op.dst = l.rows[d.Reg].row
		}
	}
	l.end(termBarrier).bar = op
	l.open()
}

// warpOnly refuses an instruction whose meaning PTX gives for warps of 32 lanes
// alone, when they have another width.
func (l *lowerer) warpOnly(in *ptx.Instr) {
	if l.width != 32 {
		l.refuse("%s with warps of %d lanes instead of 32", in.Text, l.width)
	}
}

func lowerShfl(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	modes := map[string]uint64{"up": shflUp, "down": shflDown, "bfly": shflBfly, "idx": shflIdx}
	o := regfile.Operands{
		D: l.target(in.Arg("d"), alu.R), E: l.predicate(in.Arg("p")),
		A: l.source(in.Arg("a"), ptx.B32, alu.R), B: l.source(in.Arg("b"), ptx.B32, alu.R), C: l.source(in.Arg("c"), ptx.B32, alu.R),
		Imm: modes[in.Slot("mode")],
	}
	o.F = o.A
	if in.Has("sync") {
		o.F = l.source(in.Arg("e"), ptx.B32, alu.R)
		o.Imm |= warpSync
	}
	l.emit(inst{Operands: o, lane: shfl, collective: &shflTogether}, rows(alu.R, o.A, o.B, o.C, o.F), append(rows(alu.R, o.D), operandRef{alu.P, o.E}))
}

func lowerVote(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	modes := map[string]uint64{"all": voteAll, "any": voteAny, "uni": voteUni, "": voteBallot}
	o := regfile.Operands{A: l.source(in.Arg("a"), ptx.Pred, alu.P), Imm: modes[in.Slot("mode")]}
	if in.Has("sync") {
		o.C = l.source(in.Arg("b"), ptx.B32, alu.R)
		o.Imm |= warpSync
	}
	d, together := operandRef{alu.P, 0}, &voteTogether
	if o.Imm&^warpSync == voteBallot {
		together = &ballotTogether
		d = operandRef{alu.R, l.target(in.Arg("d"), alu.R)}
	} else {
		d.row = l.predicate(in.Arg("d"))
	}
	o.D = d.row
	reads := rows(alu.P, o.A)
	if in.Has("sync") {
		reads = append(reads, operandRef{alu.R, o.C})
	}
	l.emit(inst{Operands: o, lane: vote, collective: together}, reads, []operandRef{d})
}

func lowerMatch(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	t := in.Type()
	o := regfile.Operands{D: l.target(in.Arg("d"), alu.R), E: noRow, A: l.source(in.Arg("a"), t, slotOf(t)), C: l.source(in.Arg("b"), ptx.B32, alu.R), Imm: warpSync}
	together := &matchTogether
	if t.Bits() == 64 {
		o.Imm |= matchWide
		together = &matchWideTogether
	}
	if in.Has("all") {
		o.Imm |= matchAll
		o.E = l.predicate(in.Arg("p"))
	}
	l.emit(inst{Operands: o, lane: match, collective: together}, append(rows(slotOf(t), o.A), operandRef{alu.R, o.C}), append(rows(alu.R, o.D), operandRef{alu.P, o.E}))
}

func lowerActivemask(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	d := l.target(&in.Ops[0], alu.R)
	l.emit(inst{Operands: regfile.Operands{D: d}, lane: activemask}, nil, rows(alu.R, d))
}

func lowerRedux(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	o := regfile.Operands{D: l.target(&in.Ops[0], alu.R), A: l.source(in.Arg("a"), in.Type(), alu.R), C: l.source(in.Arg("b"), ptx.B32, alu.R)}
	if in.Type() == ptx.F32 {
		spec := alu.FloatSpec{Op: alu.FMin, Abs: in.Has("abs"), NaN: in.Has("NaN")}
		if in.Has("max") {
			spec.Op = alu.FMax
		}
		o.Imm = spec.Imm()
		l.emit(inst{Operands: o, lane: reduxFloat, collective: &reduxFloatTogether}, rows(alu.R, o.A, o.C), rows(alu.R, o.D))
		return
	}
	a := &rmw{op: atomicOps[in.Slot("op")], typ: in.Type()}
	l.emit(inst{Operands: o, mem: &access{atom: a}, lane: redux, collective: &reduxTogether}, rows(alu.R, o.A, o.C), rows(alu.R, o.D))
}

func lowerElect(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	o := regfile.Operands{D: l.target(in.Arg("d"), alu.R), E: l.predicate(in.Arg("p")), C: l.source(in.Arg("b"), ptx.B32, alu.R)}
	l.emit(inst{Operands: o, lane: elect, collective: &electTogether}, rows(alu.R, o.C), append(rows(alu.R, o.D), operandRef{alu.P, o.E}))
}
