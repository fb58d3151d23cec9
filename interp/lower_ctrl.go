package interp

// This file lowers control flow, barriers, and what the lanes of a warp do
// together.

import (
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
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
	target, ir := in.Ops[0].Block().Index, l.curIR
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
	index := code.Row{Slot: code.R, Row: l.source(&in.Ops[0], ptx.U32, code.R)}
	l.end(termIndex).index = index
	table, ir := in.Ops[1].Table(), l.curIR
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
		site.Args = append(site.Args, l.actual(&c.Args[i]))
	}
	for i := range c.Rets {
		site.Rets = append(site.Rets, l.actual(&c.Rets[i]))
	}
	if f, ok := c.Target.Sym().(*ptx.Func); ok {
		if def, ok := l.mod.Lookup(f.Name).(*ptx.Func); ok {
			f = def
		}
		if !f.Defined {
			op, ok := builtins[f.Name]
			if !ok {
				l.refuse("a call of %s, which is declared but not defined,", f.Name)
			}
			l.tables.Calls = append(l.tables.Calls, site.Call)
			l.emit(code.Instr{Op: op, Side: int32(len(l.tables.Calls) - 1)})
			return
		}
		site.target = l.byFunc[f]
	} else {
		ref := l.rows[c.Target.Reg]
		site.pointer = code.Row{Slot: ref.Slot, Row: ref.Row}
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

// actual is the place of a call's argument or result.
func (l *lowerer) actual(o *ptx.Operand) code.Place {
	switch o.Kind {
	case ptx.SinkOperand:
		return code.Place{Slot: code.R, Row: l.temp(code.R), Size: 4}
	case ptx.SymOperand:
		if v, ok := o.Sym().(*ptx.Var); ok {
			if at, local := l.locals[v]; local {
				return code.Place{Off: at, Size: l.bytes(v)}
			}
		}
		return code.Place{Slot: code.Q, Row: l.source(o, ptx.U64, code.Q), Size: 8}
	case ptx.ImmOperand:
		if o.Imm.Kind == ptx.F32Imm {
			return code.Place{Slot: code.R, Row: l.konst(code.R, o.Imm.Bits), Size: 4}
		}
		return code.Place{Slot: code.Q, Row: l.konst(code.Q, o.Imm.Bits), Size: 8}
	case ptx.VecOperand:
		l.refuse("a vector argument")
	}
	ref := l.rows[o.Reg]
	return code.Place{Slot: ref.Slot, Row: ref.Row, Size: (l.fn.fn.Regs[o.Reg].Type.Bits() + 7) / 8}
}

func lowerTrap(l *lowerer, in *ptx.Instr) { l.emit(code.Instr{Op: code.Trap}) }

func lowerBrkpt(l *lowerer, in *ptx.Instr) { l.emit(code.Instr{Op: code.Brkpt}) }

func trapLane(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	kind := ErrTrap
	if in.Op == code.Brkpt {
		kind = ErrBreakpoint
	}
	w.fail(w.src(in), uint64(m)<<(32*h), kind, "%v", kind)
}

func lowerNanosleep(l *lowerer, in *ptx.Instr) {
	a := l.source(&in.Ops[0], ptx.U32, code.R)
	l.emit(code.Instr{Op: code.Nanosleep, A: a})
}

// sleepLane lets other warps run, and the time pass for which the lanes sleep: the
// longest of them, exactly (manual 9.7.19.2 allows from nothing to twice as much).
func sleepLane(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	w.yield = true
	longest := uint32(0)
	for a := f.Src32(in.A); m != 0; m &= m - 1 {
		longest = max(longest, a[bits.TrailingZeros32(m)&31])
	}
	w.cta.slept += int64(longest)
}

// lowerBar lowers bar and barrier; bar.warp.sync too.
func lowerBar(l *lowerer, in *ptx.Instr) {
	if in.Has("warp") {
		l.warpOnly(in)
		l.end(termBarrier).bar = &barrierOp{kind: barWarp, id: code.Row{Slot: code.R, Row: l.source(in.Arg("a"), ptx.B32, code.R)}, dst: code.NoRow}
		l.open()
		return
	}
	if in.Has("cluster") {
		l.refuse("%s", in.Text)
	}
	op := &barrierOp{dst: code.NoRow, aligned: in.Form.Effects.Has(ptx.Aligned)}
	ref := func(o *ptx.Operand) code.Row {
		return code.Row{Slot: code.R, Row: l.source(o, ptx.U32, code.R)}
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
		op.pred = l.source(&c, ptx.Pred, code.P)
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
			op.dst = l.rows[d.Reg].Row
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
	o := code.Instr{
		Op: code.Shfl,
		D:  l.target(in.Arg("d"), code.R), F: l.predicate(in.Arg("p")),
		A: l.source(in.Arg("a"), ptx.B32, code.R), B: l.source(in.Arg("b"), ptx.B32, code.R), C: l.source(in.Arg("c"), ptx.B32, code.R),
		Imm: modes[in.Slot("mode")],
	}
	if in.Has("sync") {
		o.Op, o.E = code.ShflSync, l.source(in.Arg("e"), ptx.B32, code.R)
	}
	l.emit(o)
}

func lowerVote(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	modes := map[string]uint64{"all": voteAll, "any": voteAny, "uni": voteUni}
	mode, vote := modes[in.Slot("mode")]
	o := code.Instr{Op: code.Ballot, A: l.source(in.Arg("a"), ptx.Pred, code.P), Imm: mode}
	sync := in.Has("sync")
	if sync {
		o.B = l.source(in.Arg("b"), ptx.B32, code.R)
	}
	switch {
	case vote && sync:
		o.Op = code.VoteSync
	case vote:
		o.Op = code.Vote
	case sync:
		o.Op = code.BallotSync
	}
	if vote {
		o.D = l.predicate(in.Arg("d"))
	} else {
		o.D = l.target(in.Arg("d"), code.R)
	}
	l.emit(o)
}

func lowerMatch(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	t := in.Type()
	s := code.SlotOf(t)
	o := code.Instr{
		Op: bySlot(s, code.Match32, code.Match64),
		D:  l.target(in.Arg("d"), code.R), F: code.NoRow, A: l.source(in.Arg("a"), t, s), B: l.source(in.Arg("b"), ptx.B32, code.R),
	}
	if in.Has("all") {
		o.Imm = 1
		o.F = l.predicate(in.Arg("p"))
	}
	l.emit(o)
}

func lowerActivemask(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	l.emit(code.Instr{Op: code.Activemask, D: l.target(&in.Ops[0], code.R)})
}

func lowerRedux(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	o := code.Instr{Op: code.Redux, D: l.target(&in.Ops[0], code.R), A: l.source(in.Arg("a"), in.Type(), code.R), B: l.source(in.Arg("b"), ptx.B32, code.R)}
	if in.Type() == ptx.F32 {
		spec := alu.FloatSpec{Op: alu.FMin, Abs: in.Has("abs"), NaN: in.Has("NaN")}
		if in.Has("max") {
			spec.Op = alu.FMax
		}
		o.Op, o.Imm = code.ReduxFloat, spec.Imm()
	} else {
		o.Imm = code.Reduction{Op: atomicOps[in.Slot("op")], Type: in.Type()}.Imm()
	}
	l.emit(o)
}

func lowerElect(l *lowerer, in *ptx.Instr) {
	l.warpOnly(in)
	l.emit(code.Instr{Op: code.Elect, D: l.target(in.Arg("d"), code.R), F: l.predicate(in.Arg("p")), A: l.source(in.Arg("b"), ptx.B32, code.R)})
}
