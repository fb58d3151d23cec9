package lower

// This file lowers control flow, barriers, and collective instructions of a warp.

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// endBlock makes instr the end of the current block, as part of the current PTX instruction.
func (l *lowerer) endBlock(instr code.Instr) {
	l.block.end = l.withSource(instr)
}

func lowerBra(l *lowerer, instr *ptx.Instr) {
	l.endBlock(code.Instr{Op: code.Branch})
	target, ir := instr.Ops[0].Block().Index, l.curIR
	l.addFixup(func(b *block) {
		b.Target, b.Reconverge = l.starts[target], l.irPostDominator(ir)
		l.fallThrough(b, ir)
	})
}

// fallThrough sets the block to which b, the last block of IR block ir, continues without a branch: the first block of
// the next IR block, or the function's exit.
func (l *lowerer) fallThrough(b *block, ir int) {
	b.Next = l.exit()
	if ir+1 < len(l.starts) {
		b.Next = l.starts[ir+1]
	}
}

func lowerBrx(l *lowerer, instr *ptx.Instr) {
	index := l.source(&instr.Ops[0], ptx.U32, code.R)
	side := len(l.tables.Targets)
	l.endBlock(code.Instr{Op: code.BranchIndex, A: index, Side: int32(side)})
	l.tables.Targets = append(l.tables.Targets, nil)
	table, ir := instr.Ops[1].Table(), l.curIR
	l.addFixup(func(b *block) {
		for _, t := range table.Blocks {
			l.tables.Targets[side] = append(l.tables.Targets[side], l.starts[t.Index])
		}
		b.Reconverge = l.irPostDominator(ir)
		l.fallThrough(b, ir)
	})
}

// lowerRet lowers ret. Lanes that return wait at the function's exit for the remaining lanes. A kernel has no caller, so
// lanes that return from it end.
func lowerRet(l *lowerer, instr *ptx.Instr) {
	if l.fn.Entry {
		lowerExit(l, instr)
		return
	}
	l.endBlock(code.Instr{Op: code.Return})
	ir := l.curIR
	l.addFixup(func(b *block) {
		b.Target, b.Reconverge = l.exit(), l.irPostDominator(ir)
		l.fallThrough(b, ir)
	})
}

func lowerExit(l *lowerer, instr *ptx.Instr) {
	l.endBlock(code.Instr{Op: code.Exit})
	l.block.EndsLanes = l.guard == 0 && len(l.block.instrs) == 0 && l.block.Sources.Len() == 1
	ir := l.curIR
	l.addFixup(func(b *block) { l.fallThrough(b, ir) })
}

// builtin is a function of the device runtime, with the sizes of its parameters and result in bytes. Size 0 stands for
// the size of an address, which is also the size of size_t.
type builtin struct {
	op     code.Op
	params []int
	rets   []int
}

// builtins lists the functions of the device runtime.
var builtins = map[string]builtin{
	"vprintf":      {code.Vprintf, []int{0, 0}, []int{4}},
	"malloc":       {code.Malloc, []int{0}, []int{0}},
	"free":         {code.Free, []int{0}, nil},
	"__assertfail": {code.AssertFail, []int{0, 0, 4, 0, 0}, nil},
}

// signature returns the signature of the function in a module whose addresses have addressBits bits, 32 or 64.
func (b *builtin) signature(addressBits int) *ptx.Func {
	variables := func(sizes []int) (vars []*ptx.Var) {
		for _, size := range sizes {
			t := ptx.B32
			if size == 0 && addressBits == 64 {
				t = ptx.B64
			}
			vars = append(vars, &ptx.Var{Space: ptx.Param, Type: t})
		}
		return vars
	}
	return &ptx.Func{Params: variables(b.params), Rets: variables(b.rets)}
}

// lowerCall lowers a call to the end of a block, so that the warp can be in another function between this block and the
// next. An indirect call has a block of its own, which lanes with different targets execute once for each target.
func lowerCall(l *lowerer, instr *ptx.Instr) {
	c := instr.Call
	site := code.CallSite{Target: -1}
	for i := range c.Args {
		site.Args = append(site.Args, l.actualPlace(&c.Args[i]))
	}
	for i := range c.Rets {
		site.Rets = append(site.Rets, l.actualPlace(&c.Rets[i]))
	}
	call := code.Instr{Op: code.Call, Side: int32(len(l.tables.Calls))}
	if f, ok := c.Target.Sym().(*ptx.Func); ok {
		if def, ok := l.module.Lookup(f.Name).(*ptx.Func); ok {
			f = def
		}
		if !f.Defined {
			provided, ok := builtins[f.Name]
			if !ok {
				l.refuse("a call of %s, which is declared but not defined,", f.Name)
			}
			signature := provided.signature(l.module.AddressSize)
			if len(f.Rets) == 0 {
				signature.Rets = nil // a declaration may omit the result
			}
			if msg := f.Mismatch(signature); msg != "" {
				l.refuse("a call of %s, which is declared at %s as %s and is %s in the device runtime (%s),", f.Name, f.Pos, f.Signature(), signature.Signature(), msg)
			}
			call.Op = provided.op
			l.tables.Calls = append(l.tables.Calls, site)
			l.emit(call)
			return
		}
		site.Target = l.byFunc[f]
	} else {
		ref := l.rows[c.Target.Reg]
		site.Call = c
		call.Op, call.A = bySlot(ref.Slot, code.CallR, code.CallQ), ref.Row
	}
	if shared := l.moduleRegisters(); len(shared) > 0 {
		regs, _ := l.fn.Func.Statics()
		src := &l.prog.Sources[l.sourceIndex()]
		site.Args, site.Rets, src.Writes = append(site.Args, shared...), append(site.Rets, shared...), append(src.Writes, regs...)
	}
	l.tables.Calls = append(l.tables.Calls, site)
	if site.Target < 0 || l.fn.Allocates { // a block of its own, which lanes may execute separately
		l.block.Sources.End--
		l.openBlock().Sources.First--
		l.block.Caution = code.SeparateCalls
	}
	if instr.Pending != nil && len(instr.Pending.Completes) > 0 { // the called function commits groups of its own
		l.emitCompletion(instr, code.WaitGroups{All: true})
	}
	l.endBlock(call)
	l.openBlock()
}

// actualPlace returns the place of a call's argument or result.
func (l *lowerer) actualPlace(o *ptx.Operand) code.ParamPlace {
	switch o.Kind {
	case ptx.SinkOperand:
		return code.ParamPlace{Slot: code.R, Row: l.newTemp(code.R), Size: 4}
	case ptx.SymOperand:
		if v, ok := o.Sym().(*ptx.Var); ok {
			if offset, local := l.locals[v]; local {
				return code.ParamPlace{Offset: offset, Size: l.frameSize(v)}
			}
		}
		return code.ParamPlace{Slot: code.Q, Row: l.source(o, ptx.U64, code.Q), Size: 8}
	case ptx.ImmOperand:
		if o.Imm.Kind == ptx.F32Imm {
			return code.ParamPlace{Slot: code.R, Row: l.constant(code.R, o.Imm.Bits), Size: 4}
		}
		return code.ParamPlace{Slot: code.Q, Row: l.constant(code.Q, o.Imm.Bits), Size: 8}
	case ptx.VecOperand:
		l.refuse("a vector argument")
	}
	ref := l.rows[o.Reg]
	return code.ParamPlace{Slot: ref.Slot, Row: ref.Row, Size: (l.fn.Func.Regs[o.Reg].Type.Bits() + 7) / 8}
}

func lowerTrap(l *lowerer, instr *ptx.Instr) { l.emit(code.Instr{Op: code.Trap}) }

func lowerBrkpt(l *lowerer, instr *ptx.Instr) { l.emit(code.Instr{Op: code.Brkpt}) }

func lowerNanosleep(l *lowerer, instr *ptx.Instr) {
	a := l.source(&instr.Ops[0], ptx.U32, code.R)
	l.emit(code.Instr{Op: code.Nanosleep, A: a})
}

// lowerBar lowers bar and barrier, including bar.warp.sync and barrier.cluster.
func lowerBar(l *lowerer, instr *ptx.Instr) {
	bar := code.BarrierOp{Aligned: instr.Form.Effects.HasAll(ptx.Aligned)}
	o := code.Instr{Op: code.Barrier, B: code.NoRow, Side: int32(len(l.tables.Barriers))}
	switch {
	case instr.Has("warp"):
		l.warpOnly(instr)
		o.Op, bar = code.BarrierWarp, code.BarrierOp{Kind: code.BarWarp}
		o.A = l.source(instr.Arg("a"), ptx.B32, code.R)
	case instr.Has("cluster"):
		o.Op, bar.Kind = code.BarrierCluster, code.BarClusterWait
		if instr.Has("arrive") {
			bar.Kind = code.BarClusterArrive
		}
	default:
		l.ctaBarrier(instr, &o, &bar)
	}
	l.tables.Barriers = append(l.tables.Barriers, bar)
	l.endBlock(o)
	l.openBlock()
}

// ctaBarrier completes o and bar for a barrier of the CTA.
func (l *lowerer) ctaBarrier(instr *ptx.Instr, o *code.Instr, bar *code.BarrierOp) {
	o.A = l.source(instr.Arg("a"), ptx.U32, code.R)
	if count := instr.Arg("b"); count.Kind != ptx.NoOperand {
		o.B = l.source(count, ptx.U32, code.R)
	}
	switch {
	case instr.Has("arrive"):
		bar.Kind = code.BarArrive
	case instr.Has("red"):
		c := *instr.Arg("c")
		bar.Neg = c.Neg && c.Kind == ptx.RegOperand
		if bar.Neg {
			c.Neg = false
		}
		o.C = l.source(&c, ptx.Pred, code.P)
		o.D = l.predicate(&instr.Ops[0])
		switch {
		case instr.Has("popc"):
			o.Op, bar.Kind = code.BarrierPopc, code.BarPopc
		case instr.Has("and"):
			o.Op, bar.Kind = code.BarrierVote, code.BarAnd
		default:
			o.Op, bar.Kind = code.BarrierVote, code.BarOr
		}
	}
}

// warpOnly refuses an instruction that PTX defines only for warps of 32 lanes, if warps have another width.
func (l *lowerer) warpOnly(instr *ptx.Instr) {
	if l.prog.Width != 32 {
		l.refuse("%s with warps of %d lanes instead of 32", instr.Text, l.prog.Width)
	}
}

func lowerShfl(l *lowerer, instr *ptx.Instr) {
	l.warpOnly(instr)
	modes := map[string]uint64{"up": code.ShflUp, "down": code.ShflDown, "bfly": code.ShflBfly, "idx": code.ShflIdx}
	o := code.Instr{
		Op: code.Shfl,
		D:  l.target(instr.Arg("d"), code.R), F: l.predicate(instr.Arg("p")),
		A: l.source(instr.Arg("a"), ptx.B32, code.R), B: l.source(instr.Arg("b"), ptx.B32, code.R), C: l.source(instr.Arg("c"), ptx.B32, code.R),
		Imm: lookUp(modes, instr.Slot("mode")),
	}
	if instr.Has("sync") {
		o.Op, o.E = code.ShflSync, l.source(instr.Arg("e"), ptx.B32, code.R)
	}
	l.emit(o)
}

func lowerVote(l *lowerer, instr *ptx.Instr) {
	l.warpOnly(instr)
	modes := map[string]uint64{"all": code.VoteAll, "any": code.VoteAny, "uni": code.VoteUni}
	mode, vote := modes[instr.Slot("mode")]
	o := code.Instr{Op: code.Ballot, A: l.source(instr.Arg("a"), ptx.Pred, code.P), Imm: mode}
	sync := instr.Has("sync")
	if sync {
		o.B = l.source(instr.Arg("b"), ptx.B32, code.R)
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
		o.D = l.predicate(instr.Arg("d"))
	} else {
		o.D = l.target(instr.Arg("d"), code.R)
	}
	l.emit(o)
}

func lowerMatch(l *lowerer, instr *ptx.Instr) {
	l.warpOnly(instr)
	t := instr.Type()
	s := code.SlotOf(t)
	o := code.Instr{
		Op: bySlot(s, code.Match32, code.Match64),
		D:  l.target(instr.Arg("d"), code.R), F: code.NoRow, A: l.source(instr.Arg("a"), t, s), B: l.source(instr.Arg("b"), ptx.B32, code.R),
	}
	if instr.Has("all") {
		o.Imm = 1
		o.F = l.predicate(instr.Arg("p"))
	}
	l.emit(o)
}

func lowerActivemask(l *lowerer, instr *ptx.Instr) {
	l.warpOnly(instr)
	l.emit(code.Instr{Op: code.Activemask, D: l.target(&instr.Ops[0], code.R)})
}

func lowerRedux(l *lowerer, instr *ptx.Instr) {
	l.warpOnly(instr)
	o := code.Instr{Op: code.Redux, D: l.target(&instr.Ops[0], code.R), A: l.source(instr.Arg("a"), instr.Type(), code.R), B: l.source(instr.Arg("b"), ptx.B32, code.R)}
	if instr.Type() == ptx.F32 {
		m := alu.Modifiers{Abs: instr.Has("abs"), NaN: instr.Has("NaN")}
		o.Op, o.Imm = code.ReduxFloat, code.FloatReduction{Op: code.OpNamed(instr.Slot("op") + ".any.f32"), Imm: uint32(m.Imm())}.Packed()
	} else {
		o.Imm = code.Reduction{Op: lookUp(atomicOps, instr.Slot("op")), Type: instr.Type()}.Imm()
	}
	l.emit(o)
}

func lowerElect(l *lowerer, instr *ptx.Instr) {
	l.warpOnly(instr)
	l.emit(code.Instr{Op: code.Elect, D: l.target(instr.Arg("d"), code.R), F: l.predicate(instr.Arg("p")), A: l.source(instr.Arg("b"), ptx.B32, code.R)})
}
